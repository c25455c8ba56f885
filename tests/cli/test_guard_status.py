"""`retain guard status` beside notes of runs that nobody can read: what it names, and that its way on is one."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cli import main, output
from compiler.agent_session import begin
from vault.audit.agent_runs import Run
from vault.config.user import state_folder
from vault.vault import Vault, open_vault

AT = datetime.now(UTC) + timedelta(days=1)  # so that no deck counts as touched since the run began
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def vault(compiled: Path) -> Vault:
    return open_vault(str(compiled), None, compiled)


@pytest.fixture
def call(vault: Vault, capsys: pytest.CaptureFixture[str]) -> Call:
    """One command in this process: exit code, stdout, stderr."""

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main.run(["--vault", str(vault.root), *arguments])
        out = capsys.readouterr()
        return code, out.out, out.err

    return run


def note_of(vault: Vault, run: Run) -> Path:
    return state_folder(vault.settings.vault_id) / run.path


def _torn(note: Path) -> None:
    note.write_text('{"run": {}}')


def _without_files(note: Path) -> None:
    record = json.loads(note.read_text())
    del record["manifest"]["files"]
    note.write_text(json.dumps(record))


def _odd_plan(note: Path) -> None:
    note.write_text(json.dumps(json.loads(note.read_text()) | {"plan": {"puts": []}}))


def _lost_bytes(note: Path) -> None:
    puts = {"wiki/concepts/x.md": [None, "0" * 64]}
    plan = {"program": "", "puts": puts, "drops": {}, "clears": {}, "lines": {}}
    plan |= {"kept": [], "quarantined": [], "restored": [], "findings": [], "report": ""}
    note.write_text(json.dumps(json.loads(note.read_text()) | {"plan": plan}))


def _gone(note: Path) -> None:
    """As if the agent's process were no more."""
    record = json.loads(note.read_text())
    record["run"]["process"]["started"] = "another boot 1"
    note.write_text(json.dumps(record))


BROKEN = {"torn": _torn, "without files": _without_files, "an odd plan": _odd_plan, "lost bytes": _lost_bytes}


def _broken(vault: Vault, name: str) -> Path:
    note = note_of(vault, begin(vault, ["claude"], AT))
    _gone(note)
    BROKEN[name](note)
    return note


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_note_is_named_with_the_way_on_beside_everything_else(vault: Vault, call: Call, name: str) -> None:
    whole = call("guard", "status")[1].splitlines()
    note = _broken(vault, name)
    code, out, told = call("guard", "status")
    assert code == output.FINDINGS and set(whole) <= set(out.splitlines())
    assert f"mv {note} {note}.broken" in told and told.count(str(note)) == 3
    code, out, _ = call("guard", "status", "--json")
    facts = json.loads(out)
    assert code == output.FINDINGS and facts["level"] and facts["last_look"] is None
    (found,) = facts["broken_runs"]
    assert (found["id"], found["path"], found["line"]) == (note.stem, str(note), 0)
    assert found["reason"] and "mv " in found["hint"]


def test_a_run_that_can_be_read_is_shown_beside_one_that_cannot(vault: Vault, call: Call) -> None:
    note = note_of(vault, begin(vault, ["claude"], AT))
    _gone(note)
    other = note.with_name("0" * 26 + ".json")
    other.write_text("{")
    code, out, told = call("guard", "status")
    assert code == output.FINDINGS and "agent: claude, started" in out and str(other) in told and str(note) not in told


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look into every folder")
def test_a_folder_of_notes_that_cannot_be_looked_into_is_a_finding(vault: Vault, call: Call) -> None:
    folder = _broken(vault, "torn").parent
    folder.chmod(0)
    try:
        code, out, told = call("guard", "status")
    finally:
        folder.chmod(0o700)
    assert code == output.FINDINGS and "level" in out and str(folder) in told


@pytest.mark.parametrize("name", BROKEN)
def test_moved_away_every_command_goes_on_and_nothing_of_the_humans_is_lost(
    vault: Vault, call: Call, name: str
) -> None:
    (vault.root / "insights").mkdir(exist_ok=True)
    (vault.root / "insights/mine.md").write_text("Mine.\n")
    note = _broken(vault, name)
    page = sorted((vault.root / "wiki/concepts").glob("*.md"))[0]
    page.write_text(page.read_text() + "\nWhoever wrote this.\n")
    report_ = vault.root / "output/reports/r.md"
    report_.parent.mkdir(parents=True, exist_ok=True)
    report_.write_text("# Whoever wrote that\n")
    (vault.root / "raw/new.md").write_text("# New\n\nNew words are here.\n")
    code, _, told = call("compile")
    assert code == output.REFUSED and f"mv {note} {note}.broken" in told
    card = next(str(c.id) for deck in vault.decks() for c in deck.cards if c.id)
    assert call("rate", card, "good")[0] == output.DONE
    log = (vault.root / "learning/reviews.jsonl").read_bytes()
    kept = {p: p.read_bytes() for folder in ("insights", "raw") for p in (vault.root / folder).rglob("*.md")}

    command = next(part for part in told.split("`") if part.startswith("mv "))
    subprocess.run(shlex.split(command), check=True)
    assert call("guard", "status")[0] == output.DONE
    for words in (["compile"], ["rebuild"], ["due"], ["status"], ["undo"], ["rate", card, "easy"], ["compile"]):
        code, _, told = call(*words)
        assert code == output.DONE, told
    begin(vault, ["claude"], AT)
    assert "Whoever wrote this." in page.read_text() and report_.read_text() == "# Whoever wrote that\n"
    assert (vault.root / "learning/reviews.jsonl").read_bytes().startswith(log)
    assert all(path.read_bytes() == data for path, data in kept.items())


def test_in_a_cage_nothing_is_said_of_runs(vault: Vault, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    note = _broken(vault, "torn")
    monkeypatch.setenv("RETAIN_CAGED", "1")
    code, out, told = call("guard", "status")
    assert code == output.DONE and str(note) not in out + told
