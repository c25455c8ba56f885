"""The wiki's log has one heading for each compile, question saved, check and note from the promotion queue."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from compiler.build.last_engine import last_engine
from tests.commands import Run
from vault.files.guard import Scope
from vault.inbox.suggestions import offered
from vault.log.entries import entries_in, record_event
from vault.log.ledger import BUILDS
from vault.vault import open_vault

AT = datetime(2999, 11, 21, 9, 30, tzinfo=UTC)  # after the compile of the fixture
HEADING = re.compile(r"## \[\d{4}-\d\d-\d\d\] (\S+) \| .+")


def headings(vault: Path) -> list[str]:
    return [line for line in (vault / "wiki/_log.md").read_text().split("\n") if line.startswith("#")][1:]


def test_what_was_done_is_a_heading_after_the_next_compile_and_after_a_rebuild(run: Run, compiled: Path) -> None:
    vault = open_vault(str(compiled), None, compiled)
    guard = vault.guard(Scope.LOG)
    before = offered(vault)
    record_event(guard, "question", "What is\nthe *spacing* effect?\x1b[2J", AT)
    record_event(guard, "lint", "2 links mended", AT)
    record_event(guard, "promotion", "Spacing effect", AT - timedelta(days=400))  # a clock that was set back
    assert run("compile", cwd=compiled).code == 0
    assert all(HEADING.fullmatch(line) for line in headings(compiled))
    assert [HEADING.fullmatch(line)[1] for line in headings(compiled)] == ["compile", "question", "lint", "promotion"]  # type: ignore[index]
    assert "the \\*spacing\\* effect?" in headings(compiled)[1] and "\x1b" not in headings(compiled)[1]
    assert headings(compiled)[1].startswith("## [2999-11-21] question | What is")
    page = (compiled / "wiki/_log.md").read_bytes()
    again = run("compile", cwd=compiled)
    assert again.code == 0 and "nothing changed" in again.stdout
    (compiled / "wiki/_log.md").unlink()
    assert run("rebuild", cwd=compiled).code == 0
    assert (compiled / "wiki/_log.md").read_bytes() == page
    # The last build is still known as such: which engine made it, and so what is suggested.
    assert last_engine(vault) == "extractive" and offered(vault) == before and before.compiled


def test_the_command_lists_them_with_the_builds(run: Run, compiled: Path) -> None:
    record_event(open_vault(str(compiled), None, compiled).guard(Scope.LOG), "question", "Why sleep?", AT)
    lines = run("log", cwd=compiled).stdout.splitlines()
    assert [line.split("  ")[1] for line in lines] == ["compile", "question"] and lines[1].endswith("Why sleep?")
    listed = run("log", "--json", cwd=compiled).json()
    assert [build["type"] for build in listed["builds"]] == ["build"]
    assert listed["entries"][1] == {"at": "2999-11-21T09:30:00.000Z", "kind": "question", "title": "Why sleep?"}


def test_lines_of_a_newer_version_and_two_clones_that_merge_are_no_obstacle(compiled: Path) -> None:
    vault = open_vault(str(compiled), None, compiled)
    line = '{"v":1,"type":"question","at":"2999-01-01T00:00:00.000Z","words":"Twice?"}\n'
    newer = '{"v":2,"type":"dream","at":"2999-01-01T00:00:00.000Z"}\n'
    with (compiled / BUILDS).open("a") as file:
        file.write(line + newer + line)
    events, problems = vault.ledger_events(BUILDS)
    assert [entry.kind for entry in entries_in(events)] == ["compile", "question"] and not problems
