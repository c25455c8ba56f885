"""What the human's commands do about an agent's work: take it back, settle what was left over, count it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cli import main, output
from compiler.agent_session import begin, settle
from vault.audit.agent_runs import all_runs
from vault.config.user import state_folder
from vault.vault import Vault, open_vault

AT = datetime(2026, 11, 22, 9, tzinfo=UTC)
Call = Callable[..., tuple[int, Any]]


@pytest.fixture
def vault(compiled: Path) -> Vault:
    return open_vault(str(compiled), None, compiled)


@pytest.fixture
def call(vault: Vault, capsys: pytest.CaptureFixture[str]) -> Call:
    """One command in this process: its exit code, and what it printed, as JSON if it was asked for that."""

    def run(*arguments: str) -> tuple[int, Any]:
        capsys.readouterr()
        code = main.run(["--vault", str(vault.root), *arguments])
        out = capsys.readouterr()
        return code, json.loads(out.out) if "--json" in arguments and out.out else out.out + out.err

    return run


def first(vault: Vault, folder: str, holding: str = "") -> Path:
    return next(p for p in sorted((vault.root / folder).glob("*.md")) if holding in p.read_text())


def page_with(vault: Vault) -> tuple[Path, str]:
    """An article, and a sentence of its own that stands in it once more after the agent's work."""
    page = first(vault, "wiki/concepts")
    sentence = next(line for line in page.read_text().split("\n") if "#^c-" in line and line[0].isalpha())
    return page, f"- {sentence}"


def agent(vault: Vault, work: Callable[[], object]) -> None:
    run = begin(vault, ["claude"], AT)
    work()
    settle(vault, run, AT)


def test_a_page_of_an_agents_is_counted_and_taken_back(vault: Vault, call: Call) -> None:
    page, line = page_with(vault)
    machine = page.read_text()
    agent(vault, lambda: page.write_text(f"{machine}\n{line}\n"))
    path = page.relative_to(vault.root).as_posix()
    assert line in page.read_text()
    assert call("status", "--json")[1]["agent"] == {"pages": 1, "open_runs": 0}
    assert call("compile", "--json")[1]["agent"] == {"pages": 1}
    assert "text by agents: 1" in call("status")[1]

    code, told = call("guard", "reject", path, "--json")
    assert code == output.DONE and told["rejected"] == [{"id": "", "path": path, "what": "page"}]
    assert page.read_text() == machine
    assert call("status", "--json")[1]["agent"]["pages"] == 0
    assert call("rebuild", "--json")[0] == output.DONE and page.read_text() == machine
    assert call("guard", "reject", path)[0] == output.USAGE  # nothing of an agent's is there any more


def test_a_page_that_the_human_edited_since_is_said_to_stay(
    vault: Vault, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, line = page_with(vault)
    agent(vault, lambda: page.write_text(f"{page.read_text()}\n{line}\n"))
    mine = f"{page.read_text()}\nMine.\n"
    page.write_text(mine)
    monkeypatch.chdir(page.parent)
    code, told = call("guard", "reject", "nowhere", page.name)  # from where it lies, by its name
    assert code == output.USAGE and "nowhere" in told  # what there is is taken back none the less
    assert f"the page wiki/concepts/{page.name} is unchanged because you have edited it since" in told
    assert page.read_text() == mine
    assert call("guard", "reject", page.name)[0] == output.USAGE
    assert call("status", "--json")[1]["agent"]["pages"] == 0


def _left_over(vault: Vault, work: Callable[[], object]) -> None:
    """A run whose process is gone before it was settled."""
    run = begin(vault, ["claude"], AT)
    work()
    taken = state_folder(vault.settings.vault_id) / run.path
    record = json.loads(taken.read_text())
    record["run"]["process"]["started"] = "another boot 1"
    taken.write_text(json.dumps(record))


@pytest.mark.parametrize("command", [["compile"], ["rebuild"], ["undo"], ["review", "--plain"]])
def test_the_next_command_of_the_humans_settles_what_was_left_over(
    vault: Vault, call: Call, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page, _ = page_with(vault)
    machine = page.read_text()
    _left_over(vault, lambda: page.write_text("<b>cheese</b>"))
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    told = call(*command)[1]
    assert "checking the changes of an earlier agent run" in told and page.read_text() == machine
    assert all_runs(vault) == []


def test_commands_that_look_only_say_that_something_is_left_over(vault: Vault, call: Call) -> None:
    page, _ = page_with(vault)
    _left_over(vault, lambda: page.write_text("<b>cheese</b>"))
    assert call("status", "--json")[1]["agent"]["open_runs"] == 1
    assert "1 run not checked yet" in call("status")[1]
    assert call("due", "--json")[0] == output.DONE and page.read_text() == "<b>cheese</b>"
    assert call("compile", "--dry-run")[0] == output.DONE and page.read_text() == "<b>cheese</b>"


def test_a_note_that_cannot_be_read_stops_no_review_and_a_compile_names_it(
    vault: Vault, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begin(vault, ["claude"], datetime.now(UTC) + timedelta(days=1))
    note = state_folder(vault.settings.vault_id) / run.path
    note.write_text('{"run": {}}')
    card = next(str(c.id) for deck in vault.decks() for c in deck.cards if c.id)
    code, told = call("rate", card, "good")
    assert code == output.DONE, told
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert call("review", "--plain")[0] == output.DONE
    assert call("status", "--json")[1]["agent"]["open_runs"] == 1
    (vault.root / "raw/new.md").write_text("# New\n\nNew words are here.\n")
    code, told = call("compile")
    assert code == output.REFUSED and str(note) in told and "mv " in told


def test_a_compile_beside_an_agent_at_work_is_refused_and_names_it(vault: Vault, call: Call) -> None:
    run = begin(vault, ["claude"], AT)
    (vault.root / "raw/new.md").write_text("# New\n\nNew words are here.\n")
    code, told = call("compile")
    assert code == output.REFUSED and run.id in told and "claude" in told
    settle(vault, run, AT)
    assert call("compile")[0] == output.DONE
