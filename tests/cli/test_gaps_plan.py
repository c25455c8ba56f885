"""`retain gaps plan` as a user runs it: without an id the reading list, with one a decision."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from learning.cards.workspace import open_desk, rate
from tests.commands import Run
from vault.log.events import Rating
from vault.vault import open_vault

HALYARD = """# Halyard

A halyard is a rope that hoists a sail. A halyard is a line that ends at the head of a sail. A halyard is a rope that
runs over a block at the top of the mast.
"""  # three claims that say what it is, and none of any other kind


def test_the_plan_is_shown_by_subject_with_queries_to_copy(run: Run, compiled: Path) -> None:
    (compiled / "raw/articles/halyard.md").write_text(HALYARD)
    assert run("compile", cwd=compiled).code == 0
    done = run("gaps", "plan", "--limit", "2", cwd=compiled)
    assert (
        done.code == 0 and done.stdout.startswith(" 1. ") and "    search  " in done.stdout and "\n 2. " in done.stdout
    )
    whole = run("gaps", "plan", "--limit", "99", "--json", cwd=compiled).json()
    assert len(whole["subjects"]) == whole["of"] > 2
    first = whole["subjects"][0]
    told = {"rank", "path", "line", "what", "article", "waiting", "gaps", "queries", "works", "mentions"}
    assert set(first) == told
    page = (compiled / first["path"]).read_text(encoding="utf-8").splitlines()
    assert page[first["line"] - 1] == f"## {first['what']}"
    assert all(gap["status"] == "open" and gap["fill"] for gap in first["gaps"])


def test_planning_and_ignoring_a_gap_shows_at_once_in_the_plan(run: Run, compiled: Path) -> None:
    (compiled / "raw/articles/halyard.md").write_text(HALYARD)
    assert run("compile", cwd=compiled).code == 0
    before = run("gaps", "plan", "--limit", "99", "--json", cwd=compiled).json()["subjects"]
    subject = next(s for s in before if len(s["gaps"]) > 1)
    planned, ignored = (gap["id"] for gap in subject["gaps"][:2])
    assert run("gaps", "plan", planned, cwd=compiled).stdout == f"{planned}  planned: {subject['what']}\n"
    assert run("gaps", "ignore", ignored, cwd=compiled).code == 0
    after = run("gaps", "plan", "--limit", "99", "--json", cwd=compiled).json()["subjects"]
    status = {gap["id"]: gap["status"] for s in after for gap in s["gaps"]}
    assert status[planned] == "planned" and ignored not in status
    assert "[planned]" in run("gaps", "plan", "--limit", "99", cwd=compiled).stdout


def test_without_a_list_the_plan_says_what_makes_one(run: Run, compiled: Path) -> None:
    (compiled / "learning/reading-list.md").unlink()
    assert "retain compile" in run("gaps", "plan", cwd=compiled).stdout
    assert run("compile", cwd=compiled).code == 0
    assert run("gaps", "plan", cwd=compiled).stdout.startswith(" 1. ")


def test_an_id_that_fits_no_gap_is_answered_with_those_that_are_near(run: Run, compiled: Path) -> None:
    gap = run("gaps", "list", "--json", cwd=compiled).json()["gaps"][0]
    wrong = ("2" if gap["id"][0] != "2" else "3") + gap["id"][1:]
    for command in (("gaps", "plan", wrong), ("add", "--fills", wrong, str(compiled / "retain.toml"))):
        done = run(*command, cwd=compiled)
        assert done.code == 2 and "no gap has that id" in done.stderr and gap["id"] in done.stderr


def test_a_source_added_for_a_gap_shows_in_the_agenda(run: Run, compiled: Path, tmp_path: Path) -> None:
    gap = run("gaps", "list", "--json", cwd=compiled).json()["gaps"][0]
    (tmp_path / "about.md").write_text("# Something else\n\nIt is about something else.\n")
    added = run("add", "--fills", gap["id"], str(tmp_path / "about.md"), cwd=compiled)
    assert added.code == 0 and gap["reason"] in added.stderr
    compiled_again = run("compile", cwd=compiled)
    assert f"added for {gap['what']}, which it does not fill; still missing: {gap['fill']}" in compiled_again.stderr
    assert f"{gap['what']}: {gap['reason']} (added: about.md)" in run("gaps", "list", "--all", cwd=compiled).stdout


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


def test_the_list_tells_what_there_is_where_the_log_cannot_be_read(run: Run, compiled: Path) -> None:
    wanted = run("gaps", "list", "--json", cwd=compiled).json()["gaps"]
    (compiled / "learning/reviews.jsonl").unlink(missing_ok=True)
    (compiled / "learning/reviews.jsonl").mkdir()
    done = run("gaps", "list", "--json", cwd=compiled)
    assert done.code == 0 and done.json()["gaps"] == wanted
