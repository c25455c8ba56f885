"""The note of a run that is not settled: one that cannot be read, one of another machine's, and decks that wait."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from compiler.agent_session import begin, open_runs
from learning.cards.workspace import open_desk
from tests.compiler.agent_scene import DECK, Scene
from vault.audit.agent_runs import Run, all_runs, at_work, held_back, open_count, refuse_beside_agents
from vault.config.user import state_folder
from vault.errors import Damaged, Refused
from vault.process import identity as process
from vault.process.identity import this_process

BROKEN = {
    "torn": "{",
    "empty": "",
    "no object": "[]",
    "no run": "{}",
    "an empty run": '{"run": {}}',
    "all processes": '{"run": {"id": "@", "at": "", "command": [], "process": {"pid": -1, "host": "", "machine": "",'
    ' "started": ""}}, "manifest": {"files": {}}}',
    "no manifest": '{"run": {"id": "@", "at": "", "command": [], "process": {"pid": 1, "host": "", "machine": "",'
    ' "started": ""}}, "manifest": []}',
}


def note(scene: Scene, run: Run) -> Path:
    return state_folder(scene.vault.settings.vault_id) / run.path


def began(scene: Scene, at: datetime) -> Run:
    return begin(scene.vault, ["claude"], at)


@pytest.mark.parametrize("name", BROKEN)
def test_a_note_that_cannot_be_read_is_named_and_reviews_go_on(scene: Scene, name: str) -> None:
    run = began(scene, datetime.now(UTC) + timedelta(days=1))
    note(scene, run).write_text(BROKEN[name].replace("@", run.id))
    with pytest.raises(Damaged, match="cannot be read") as found:
        all_runs(scene.vault)
    assert found.value.where == str(note(scene, run)) and "mv " in found.value.hint
    assert open_desk(scene.vault, scene.now()).cards
    assert at_work(scene.vault) and open_count(scene.vault) == 1


@pytest.mark.parametrize("name", BROKEN)
def test_decks_touched_since_a_run_whose_note_is_broken_wait(scene: Scene, name: str) -> None:
    run = began(scene, datetime.now(UTC) - timedelta(days=1))
    note(scene, run).write_text(BROKEN[name].replace("@", run.id))
    assert held_back(scene.vault) == {deck.path for deck in scene.vault.decks()}


def _manifest(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        record = json.loads(path.read_text())
        change(record["manifest"])
        path.write_text(json.dumps(record))

    return apply


@pytest.mark.parametrize(
    "broken",
    [
        _manifest(lambda manifest: manifest.update(files=[])),
        _manifest(lambda manifest: manifest["files"].update({DECK: []})),
        _manifest(lambda manifest: manifest["files"].update({DECK: {"sha256": 1}})),
        _manifest(lambda manifest: manifest["files"].update({DECK: None})),
    ],
)
def test_a_deck_of_which_nothing_can_be_told_waits(scene: Scene, broken: Callable[[Path], None]) -> None:
    run = began(scene, datetime.now(UTC) - timedelta(days=1))
    broken(note(scene, run))
    assert DECK in held_back(scene.vault)
    scene.run = run
    with pytest.raises(Damaged, match="cannot be read"):
        scene.settle()


def test_a_deck_that_vanishes_while_it_is_looked_at_keeps_no_other_from_waiting(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.begin()
    scene.write(DECK, "Q: cheese?\nA: Cheese.\n")
    real = type(scene.vault).paths

    def with_a_ghost(vault: Any, folder: str, suffix: str) -> list[str]:
        return [f"{folder}/a-ghost.md", *real(vault, folder, suffix)]

    monkeypatch.setattr(type(scene.vault), "paths", with_a_ghost)
    assert held_back(scene.vault) == {"learning/flashcards/a-ghost.md", DECK}


# --- whether the agent lives ----------------------------------------------------------------------------------------


def _run(at: datetime, **process: Any) -> Run:
    return Run("0" * 26, at.isoformat(), ("claude",), replace(this_process(), **process))


def test_a_process_of_this_machine_lives_or_does_not() -> None:
    now = datetime.now(UTC)
    assert _run(now - timedelta(days=99)).may_live
    assert not _run(now, started="another-boot 1").may_live
    assert not _run(now, host="renamed", machine=this_process().machine or "m", started="another-boot 1").may_live or (
        not this_process().machine
    )
    assert not _run(now, pid=2**40).may_live


@pytest.mark.parametrize("machine", ["", "0123456789ab"])
def test_the_word_of_another_machine_counts_for_some_hours_only(machine: str) -> None:
    now = datetime.now(UTC)
    there = {"host": "elsewhere", "machine": machine, "pid": os.getpid()}
    assert _run(now - timedelta(hours=1), **there).may_live
    assert not _run(now - timedelta(days=1), **there).may_live
    assert not replace(_run(now, **there), at="never").may_live


def test_the_way_on_beside_a_run_of_another_machines(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(process, "_host", lambda: "elsewhere")
        elsewhere.setattr(process, "_machine", lambda: "")
        run = began(scene, datetime.now(UTC))
    with pytest.raises(Refused, match="have not been checked yet") as found:
        refuse_beside_agents(scene.vault)
    assert str(note(scene, run)) in found.value.hint and open_runs(scene.vault) == []
    record = json.loads(note(scene, run).read_text())
    record["run"]["at"] = "2026-01-01T00:00:00Z"
    note(scene, run).write_text(json.dumps(record))
    assert [r.id for r in open_runs(scene.vault)] == [run.id]
