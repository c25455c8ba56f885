"""`retain gaps plan` as a user runs it: without an id the reading list, with one a decision."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from learning.cards.workspace import open_desk, rate
from tests.commands import Run
from vault.log.events import Rating
from vault.vault import open_vault


def test_the_plan_is_shown_by_subject_with_queries_to_copy(run: Run, needy: Path) -> None:
    done = run("gaps", "plan", "--limit", "2", cwd=needy)
    assert done.code == 0 and done.stdout.startswith(" 1. ") and "    search  " in done.stdout
    whole = run("gaps", "plan", "--limit", "99", "--json", cwd=needy).json()
    assert len(whole["subjects"]) == whole["of"] > 0
    first = whole["subjects"][0]
    told = {"rank", "path", "line", "what", "article", "waiting", "gaps", "queries", "works", "mentions"}
    assert set(first) == told
    page = (needy / first["path"]).read_text(encoding="utf-8").splitlines()
    assert page[first["line"] - 1] == f"## {first['what']}"
    assert all(gap["status"] == "open" and gap["fill"] for gap in first["gaps"])


def test_planning_and_ignoring_a_gap_shows_at_once_in_the_plan(run: Run, needy: Path) -> None:
    before = run("gaps", "plan", "--limit", "99", "--json", cwd=needy).json()["subjects"]
    subject = before[0]
    gap = subject["gaps"][0]["id"]
    assert run("gaps", "plan", gap, cwd=needy).stdout == f"{gap}  planned: {subject['what']}\n"
    planned = run("gaps", "plan", "--limit", "99", "--json", cwd=needy).json()["subjects"]
    assert [g["status"] for s in planned for g in s["gaps"] if g["id"] == gap] == ["planned"]
    assert "[planned]" in run("gaps", "plan", "--limit", "99", cwd=needy).stdout
    assert run("gaps", "ignore", gap, cwd=needy).code == 0
    after = run("gaps", "plan", "--limit", "99", "--json", cwd=needy).json()["subjects"]
    assert gap not in [g["id"] for s in after for g in s["gaps"]]


def test_without_a_list_the_plan_says_what_makes_one(run: Run, needy: Path) -> None:
    (needy / "learning/reading-list.md").unlink()
    assert "retain compile" in run("gaps", "plan", cwd=needy).stdout
    assert run("compile", cwd=needy).code == 0
    assert run("gaps", "plan", cwd=needy).stdout.startswith(" 1. ")


def test_an_id_that_fits_no_gap_is_answered_with_those_that_are_near(run: Run, needy: Path) -> None:
    gap = run("gaps", "list", "--json", cwd=needy).json()["gaps"][0]
    wrong = ("2" if gap["id"][0] != "2" else "3") + gap["id"][1:]
    for command in (("gaps", "plan", wrong), ("add", "--fills", wrong, str(needy / "retain.toml"))):
        done = run(*command, cwd=needy)
        assert done.code == 2 and "there is no gap with that id" in done.stderr and gap["id"] in done.stderr


def test_a_source_added_for_a_gap_shows_in_the_agenda(run: Run, needy: Path, tmp_path: Path) -> None:
    gap = run("gaps", "list", "--json", cwd=needy).json()["gaps"][0]
    (tmp_path / "about.md").write_text("# Something else\n\nIt is about something else.\n")
    added = run("add", "--fills", gap["id"], str(tmp_path / "about.md"), cwd=needy)
    assert added.code == 0 and gap["reason"] in added.stderr
    compiled_again = run("compile", cwd=needy)
    assert (
        f"added for the gap {gap['what']}, but does not fill it; still missing: {gap['fill']}" in compiled_again.stderr
    )
    assert f"{gap['what']}: {gap['reason']} (added: about.md)" in run("gaps", "list", "--all", cwd=needy).stdout


def test_the_list_sees_what_a_log_that_git_brought_changed(run: Run, compiled: Path) -> None:
    assert run("due", cwd=compiled).code == 0
    assert run("gaps", "list", "--kind", "learner", cwd=compiled).stdout == "no open gaps\n"
    now = datetime.now(UTC)
    desk = open_desk(open_vault(str(compiled), None, compiled), now)
    card = next(iter(desk.cards))
    for days in range(12, 0, -1):
        desk, _ = rate(desk, card, Rating.AGAIN, via="tui", dated=now - timedelta(days=days))
    (gap,) = run("gaps", "list", "--kind", "learner", "--json", cwd=compiled).json()["gaps"]
    assert gap["kind"] == "learner" and gap["reason"].startswith("forgotten ")


def test_the_list_tells_what_there_is_where_the_log_cannot_be_read(run: Run, needy: Path) -> None:
    wanted = run("gaps", "list", "--json", cwd=needy).json()["gaps"]
    (needy / "learning/reviews.jsonl").unlink(missing_ok=True)
    (needy / "learning/reviews.jsonl").mkdir()
    done = run("gaps", "list", "--json", cwd=needy)
    assert done.code == 0 and done.json()["gaps"] == wanted
