from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cli import main
from cli.command_list import COMMANDS
from tests.commands import Run
from vault.locks import lock


def test_every_command_has_help_with_an_explanation(run: Run) -> None:
    listing = run("-h")
    assert listing.code == 0
    for name, (_, words) in COMMANDS.items():
        assert name in listing.stdout and words.split(",")[0].split(".")[0] in listing.stdout
        shown = run(name, "-h")
        assert shown.code == 0 and shown.stdout.startswith(f"Usage: retain {name}"), shown.stderr


def test_the_whole_way_from_a_document_to_a_rated_card(run_process: Run, compiled: Path) -> None:
    due = run_process("due", "--json", cwd=compiled).json()
    assert due["due"] == [] and len(due["new"]) > 3 and due["today"]["new"] == len(due["new"])
    assert {"id", "concept", "kind", "due", "retrievability"} <= set(due["new"][0])
    card = due["new"][0]["id"]
    rated = run_process("rate", card, "easy", "--json", cwd=compiled).json()
    assert rated["event"]["card"] == card and rated["event"]["rating"] == 4 and rated["interval_days"] > 0
    assert rated["event"]["crc"] in (compiled / "learning/reviews.jsonl").read_text()
    page = (compiled / "learning/_review.md").read_text()
    assert rated["due"][:10] in page
    assert run_process("undo", "--json", cwd=compiled).json()["voided"]["id"] == rated["event"]["id"]
    assert run_process("undo", cwd=compiled).code == 2
    status = run_process("status", "--json", cwd=compiled).json()
    assert status["sources"] == 2 and status["cards"] == status["new"] == len(due["new"])
    assert set(status["gaps"]) == {"structural", "epistemic", "learner"}


def test_a_rating_dated_before_the_last_one_is_refused_and_nothing_is_written(run: Run, compiled: Path) -> None:
    card = run("due", "--json", cwd=compiled).json()["new"][0]["id"]
    done = run("rate", card, "good", "--at", "2026-11-01T10:00+01:00", cwd=compiled)
    assert done.code == 0 and f"{card} good: due 2026-11-" in done.stdout
    before = (compiled / "learning/reviews.jsonl").read_bytes()
    refused = run("rate", card, "good", "--at", "2026-10-01T10:00+01:00", cwd=compiled)
    assert refused.code == 3 and "before" in refused.stderr
    assert run("rate", card, "good", "--at", "2026-11-05T10:00", cwd=compiled).code == 2
    assert run("rate", card, "superb", cwd=compiled).code == 2
    assert (compiled / "learning/reviews.jsonl").read_bytes() == before


def test_compile_says_what_it_did_and_does_nothing_twice(run: Run, compiled: Path) -> None:
    again = run("compile", "--json", cwd=compiled).json()
    assert again["written"] == [] and again["sources"]["unchanged"] == 2
    assert {"sources", "articles", "claims", "cards", "gaps", "cost", "failures"} <= set(again)
    (compiled / "raw/articles/new.md").write_text(
        "# Sleep\n\nSleep is a state of rest in which memories are replayed.\n"
    )
    dry = run("compile", "--dry-run", "--json", cwd=compiled).json()
    assert "wiki/concepts/sleep.md" in dry["written"] and not (compiled / "wiki/concepts/sleep.md").exists()
    told = run("compile", "raw/articles/new.md", "--progress", "jsonl", cwd=compiled)
    assert told.code == 0 and (compiled / "wiki/concepts/sleep.md").exists()
    events = [json.loads(line) for line in told.stderr.splitlines() if line.startswith("{")]
    assert {"event": "source", "done": 1, "of": 1, "path": "raw/articles/new.md"} in events
    assert run("compile", f"raw/{'a' * 300}.md", cwd=compiled).code == 2


def test_an_unreadable_source_is_one_line_and_exit_code_1(run: Run, compiled: Path) -> None:
    (compiled / "raw/articles/empty.md").write_bytes(b"")
    (compiled / "raw/articles/\x1b[31mred.md").write_bytes(b"   \n")
    done = run("compile", cwd=compiled)
    assert done.code == 1
    assert "raw/articles/empty.md: the file is empty" in done.stderr
    assert "\x1b" not in done.stderr + done.stdout
    assert run("verify", cwd=compiled).code == 0


def test_verify_and_trace_lead_back_to_the_source(run: Run, compiled: Path) -> None:
    verdict = run("verify", "--json", cwd=compiled).json()
    assert verdict["claims"] == verdict["verified"] > 5 and verdict["unverified"] == verdict["uncited"] == []
    card = run("due", "--json", cwd=compiled).json()["new"][0]["id"]
    traced = run("trace", card, "--json", cwd=compiled).json()
    raw = (compiled / traced["claims"][0]["source"]).read_text()
    assert traced["claims"][0]["quote"] in raw
    assert run("trace", "no such words", cwd=compiled).code == 2
    article = compiled / "wiki/concepts/retrieval-practice.md"
    article.write_text(article.read_text() + "\nIt cures everything.\n")
    assert run("verify", cwd=compiled).code == 1


def test_one_damaged_note_is_named_and_the_rest_is_traced(run: Run, compiled: Path) -> None:
    card = run("due", "--json", cwd=compiled).json()["new"][0]["id"]
    claim = run("trace", card, "--json", cwd=compiled).json()["claims"][0]["id"]
    for folder in ("wiki/summaries", "wiki/concepts"):
        (compiled / folder / "aaa.md").write_bytes(b"---\ntype: summary\n---\n\xff\n")
    for wanted, code in ((card, 0), (claim, 0), ("no such words", 2)):
        traced = run("trace", wanted, cwd=compiled)
        assert traced.code == code and "wiki/summaries/aaa.md:4: not UTF-8" in traced.stderr
    assert "wiki/concepts/aaa.md:4: not UTF-8" in traced.stderr


def test_gaps_are_listed_settled_and_stay_so(run: Run, needy: Path) -> None:
    gaps = run("gaps", "list", "--json", cwd=needy).json()["gaps"]
    assert gaps and {"id", "path", "line", "reason", "kind", "status"} <= set(gaps[0])
    assert run("gaps", "ignore", gaps[0]["id"], cwd=needy).code == 0
    assert run("gaps", "plan", gaps[1]["id"], cwd=needy).code == 0
    left = {g["id"]: g["status"] for g in run("gaps", "list", "--json", cwd=needy).json()["gaps"]}
    assert gaps[0]["id"] not in left and left[gaps[1]["id"]] == "planned"
    run("rebuild", cwd=needy)
    assert {g["id"]: g["status"] for g in run("gaps", "list", "--json", cwd=needy).json()["gaps"]} == left
    assert run("gaps", "resolve", "zzzzzzzzzz", cwd=needy).code == 2


def test_a_bad_id_among_good_ones_settles_no_gap(run: Run, needy: Path) -> None:
    ids = [g["id"] for g in run("gaps", "list", "--json", cwd=needy).json()["gaps"]][:2]
    ledger = needy / "ledger/decisions.jsonl"
    before = ledger.read_bytes() if ledger.exists() else b""
    refused = run("gaps", "ignore", ids[0], "zzzzzzzzzz", ids[1], "--json", cwd=needy)
    assert refused.code == 2 and refused.stdout == ""
    assert (ledger.read_bytes() if ledger.exists() else b"") == before
    settled = run("gaps", "ignore", *ids, ids[0], "--json", cwd=needy).json()["gaps"]
    assert [g["id"] for g in settled] == ids
    again = run("gaps", "ignore", *ids, cwd=needy)
    assert again.code == 2


def test_suspend_resume_and_flag_are_events_that_undo_takes_back(run: Run, compiled: Path) -> None:
    card = run("due", "--json", cwd=compiled).json()["new"][0]["id"]

    def queued() -> bool:
        return card in {c["id"] for c in run("due", "--json", cwd=compiled).json()["new"]}

    assert run("card", "suspend", card, cwd=compiled).code == 0 and not queued()
    assert run("card", "resume", card, cwd=compiled).code == 0 and queued()
    assert run("card", "bury", card, cwd=compiled).code == 0 and not queued()
    assert run("undo", cwd=compiled).code == 0 and queued()
    flagged = run("card", "flag", card, "--reason", "too long", "--json", cwd=compiled).json()
    assert flagged["event"]["reason"] == "too long"
    shown = run("card", "show", card, "--json", cwd=compiled).json()
    assert shown["id"] == card and shown["support"]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("due",), 2, "no retain.toml in this folder or its parent folders"),
        (("--vault", "nowhere", "due"), 2, "is not a vault"),
        (("due", "--vault", "nowhere"), 2, "is not a vault"),
        (("nonsense",), 2, "No such command"),
        (("compile", "--engine", "gpt"), 2, "no retain.toml"),
        (("rate",), 2, "Missing argument"),
    ],
)
def test_misuse_is_told_in_one_line_with_what_to_do(run: Run, arguments: tuple[str, ...], code: int, says: str) -> None:
    done = run(*arguments)
    assert done.code == code and says in done.stderr and "Traceback" not in done.stderr


def test_the_vault_is_found_from_inside_by_option_and_by_environment(run: Run, tmp_path: Path, compiled: Path) -> None:
    inside = compiled / "wiki" / "concepts"
    for done in (
        run("status", "--json", cwd=inside),
        run("--vault", "vault", "status", "--json"),
        run("status", "--vault", "vault", "--json"),
        run("status", "--json", env={"RETAIN_VAULT": str(compiled)}),
    ):
        assert done.code == 0 and done.json()["vault"]["root"] == str(compiled)


def test_a_newer_schema_is_left_alone(run: Run, compiled: Path) -> None:
    settings = compiled / "retain.toml"
    settings.write_text(re.sub('schema = ".*"', 'schema = "3.0.0"', settings.read_text()))
    before = {p: p.read_bytes() for p in compiled.rglob("*") if p.is_file()}
    for command in (("compile",), ("due",), ("status",), ("verify",), ("rebuild",), ("undo",), ("gaps",)):
        done = run(*command, cwd=compiled)
        assert done.code == 3 and "update retain" in done.stderr
    assert {p: p.read_bytes() for p in compiled.rglob("*") if p.is_file()} == before


def test_init_refuses_what_it_would_disturb_and_adopts_only_when_told(run: Run, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "mine.md").write_text("mine")
    (notes / ".gitignore").write_text("mine too")
    refused = run("init", "notes", "--no-git")
    assert (
        refused.code == 3
        and "--adopt" in refused.stderr
        and sorted(p.name for p in notes.iterdir()) == [".gitignore", "mine.md"]
    )
    assert run("init", "notes", "--adopt", "--no-git").code == 0
    assert (notes / "mine.md").read_text() == "mine" and (notes / ".gitignore").read_text() == "mine too"
    again = run("init", "notes", "--no-git")
    assert again.code == 3 and "already a vault" in again.stderr
    assert "Schema version:" in (notes / "AGENTS.md").read_text()


def test_add_keeps_the_humans_names_and_never_replaces(run: Run, tmp_path: Path, compiled: Path) -> None:
    folder = tmp_path / "given"
    (folder / "deep er").mkdir(parents=True)
    names = ["-dash.md", "#hash [x] | y.md", "deep er/注意力🧠.md", "deep er/U\u0308ber.md", "table.csv", "paper.pdf"]
    for name in names:
        (folder / name).write_text(f"# {name}")
    (folder / ".hidden.md").write_text("x")
    (folder / "link.md").symlink_to("/etc/hostname")
    added = run("add", str(folder), "--json", cwd=compiled).json()
    kinds = {"table.csv": "datasets", "paper.pdf": "papers"}
    assert sorted(added["added"]) == sorted(f"raw/{kinds.get(n, 'articles')}/{n}" for n in names)
    assert all((compiled / p).exists() for p in added["added"])
    again = run("add", str(folder), "--json", cwd=compiled).json()
    assert again["added"] == [] and len(again["unchanged"]) == len(names)
    (folder / "-dash.md").write_text("something else")
    clash = run("add", "--", "-dash.md", cwd=folder, env={"RETAIN_VAULT": str(compiled)})
    assert clash.code == 1 and "another file has that name" in clash.stderr and "newer version" in clash.stderr
    assert (compiled / "raw/articles/-dash.md").read_text() == "# -dash.md"


def test_hostile_modules_in_a_vault_are_never_run(run_process: Run, compiled: Path) -> None:
    trap = "import pathlib; pathlib.Path(r'{}').touch()\nraise SystemExit('trapped')\n"
    sprung = compiled / "sprung"
    names = (
        "compiler",
        "learning",
        "vault",
        "cli",
        "tui",
        "templates",
        "click",
        "json",
        "fsrs",
        "sitecustomize",
        "textual",
    )
    for name in names:
        (compiled / f"{name}.py").write_text(trap.format(sprung))
        package = compiled / "raw" / name
        package.mkdir()
        (package / "__init__.py").write_text(trap.format(sprung))
    (compiled / "usercustomize.py").write_text(trap.format(sprung))
    (compiled / "pyproject.toml").write_text("[tool.pytest]\n")
    (compiled / "raw/articles/more.md").write_text(
        "# Sleep\n\nSleep is a state of rest in which memories are replayed.\n"
    )
    for command in (("compile",), ("due",), ("rebuild",), ("trace", "recalling")):
        done = run_process(*command, cwd=compiled)
        assert "trapped" not in done.stderr + done.stdout and not sprung.exists(), command


def test_the_log_lists_the_builds(run: Run, compiled: Path) -> None:
    (build,) = run("log", "--json", cwd=compiled).json()["builds"]
    assert build["command"] == "compile" and re.match(r"sources 2 read; articles \d+ created", build["words"])


def test_a_defect_of_our_own_is_one_line_with_the_trace_in_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(COMMANDS, "broken", ("cli.no_such_room:door", "A command whose room is missing."))
    assert main.run(["broken"]) == 70
    told = capsys.readouterr().err
    trace = Path(told.rpartition("with the trace in ")[2].strip())
    assert "ModuleNotFoundError" in told and "Traceback" not in told
    assert "no_such_room" in trace.read_text() and "Traceback" in trace.read_text()
    trace.unlink()


def test_status_says_who_is_at_work_in_the_vault(run: Run, compiled: Path) -> None:
    assert run("status", "--json", cwd=compiled).json()["locks"] == []
    with lock(compiled, "review", purpose="reviewing") as holder:
        (told,) = run("status", "--json", cwd=compiled).json()["locks"]
        assert told == {"name": "review", **holder.facts()}
        assert f"process {os.getpid()} on" in run("status", cwd=compiled).stdout
    with lock(compiled, "publish", purpose="compiling"):
        (compiled / "raw/articles/new.md").write_text("# Sleep\n")
        held = run("compile", "--wait", "0.2", cwd=compiled)
        assert held.code == 3 and "compiling" in held.stderr
        assert f"waiting for process {os.getpid()} on" in held.stderr and "locked by process" in held.stderr


def test_no_instant_can_brick_the_log(run: Run, compiled: Path) -> None:
    card = run("due", "--json", cwd=compiled).json()["new"][0]["id"]
    for at in (
        "9999-12-31T23:59:59.999+00:00",
        "9999-12-31T23:59:59-14:00",
        "0001-01-01T00:00+14:00",
        "1969-01-01T00:00Z",
    ):
        refused = run("rate", card, "good", "--at", at, cwd=compiled)
        assert refused.code == 2 and "defect" not in refused.stderr
    assert run("rate", card, "good", "--at", "2027-01-01T09:00Z", cwd=compiled).code == 0
    assert run("undo", cwd=compiled).code == 0 and run("rate", card, "good", cwd=compiled).code == 0


def test_a_rating_counts_though_its_page_cannot_be_written(run: Run, compiled: Path) -> None:
    card = run("due", "--json", cwd=compiled).json()["new"][0]["id"]
    page = compiled / "learning/_review.md"
    page.unlink()
    page.mkdir()
    rated = run("rate", card, "good", "--json", cwd=compiled)
    assert rated.code == 0 and rated.json()["event"]["card"] == card and "saved in the review log" in rated.stderr
    assert len((compiled / "learning/reviews.jsonl").read_text().splitlines()) == 1


def test_a_working_directory_that_is_gone_is_no_defect(tmp_path: Path, compiled: Path) -> None:
    retain = Path(sys.executable).parent / "retain"
    script = f"mkdir gone && cd gone && rmdir ../gone && {retain} --vault {compiled} status --json"
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and json.loads(done.stdout)["sources"] == 2
    lost = subprocess.run(
        ["sh", "-c", script.replace(f"--vault {compiled} ", "")], cwd=tmp_path, capture_output=True, check=False
    )
    assert lost.returncode == 2
    script = f"mkdir gone && cd gone && rmdir ../gone && {retain} init new"
    new = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert new.returncode == 2 and new.stderr.startswith("retain: new: the working directory no longer exists\n")


def test_gaps_alone_lists_them_as_json_too(run: Run, compiled: Path) -> None:
    assert run("gaps", "--json", cwd=compiled).json() == run("gaps", "list", "--json", cwd=compiled).json()
