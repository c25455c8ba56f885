"""What the human's commands leave alone while an agent is at work: the promotion queue, and every tick on it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cli import main, output
from compiler.agent_session import begin, settle
from vault.layout import PROMOTION_QUEUE
from vault.log import ledger
from vault.vault import Vault, open_vault

DECK = "learning/flashcards/spacing-effect.md"
Call = Callable[..., str]


@pytest.fixture
def vault(compiled: Path) -> Vault:
    return open_vault(str(compiled), None, compiled)


@pytest.fixture
def call(vault: Vault, capsys: pytest.CaptureFixture[str]) -> Call:
    """One command in this process, which is to go well: what it printed on stdout."""

    def run(*arguments: str) -> str:
        capsys.readouterr()
        assert main.run(["--vault", str(vault.root), *arguments]) == output.DONE
        return capsys.readouterr().out

    return run


@pytest.fixture
def cards(vault: Vault, call: Call) -> list[str]:
    """The cards of a deck, of which the first has made its concept ripe for a thought."""
    deck = (vault.root / DECK).read_text()
    found = [part[:10] for part in deck.split("%% card ")[1:]]
    call("rate", found[0], "good")
    at = "2999-01-01T00:00:00.000Z"
    change = {"v": 1, "type": "change", "of": "card", "id": found[0], "at": at, "a": "New words."}
    with (vault.root / ledger.IDS).open("ab") as file:
        file.write(ledger.encode(change))
    return found


def candidates(call: Call) -> list[Any]:
    found: list[Any] = json.loads(call("insight", "--list", "--json"))["candidates"]
    return found


def now() -> datetime:
    return datetime.now(UTC)


def test_what_an_agent_ticks_is_no_decision_of_the_humans(vault: Vault, call: Call, cards: list[str]) -> None:
    assert len(candidates(call)) == 1
    queue = vault.root / PROMOTION_QUEUE
    asked = queue.read_text()
    run = begin(vault, ["claude"], now())
    queue.write_text(asked.replace("- [ ]", "- [x]"))
    for command in (["rate", cards[0], "good"], ["due"], ["status"], ["undo"]):
        call(*command)
        assert "- [x]" in queue.read_text()  # left to the settling
    settle(vault, run, now())
    assert queue.read_text() == asked and len(candidates(call)) == 1
    assert not any(e["type"] == "promotion" for e in vault.ledger_events(ledger.DECISIONS)[0])


def test_the_humans_reviews_are_not_taken_for_an_agents_work(vault: Vault, call: Call, cards: list[str]) -> None:
    queue = vault.root / PROMOTION_QUEUE
    queue.unlink(missing_ok=True)
    run = begin(vault, ["claude"], now())
    call("rate", cards[0], "good")
    call("status")
    settled = settle(vault, run, now())
    assert (settled.quarantined, settled.restored, settled.findings) == ([], [], [])
    assert not queue.exists()
    call("due")  # the pages were not taken for right meanwhile
    assert "- [ ]" in queue.read_text()


def test_in_a_cage_nothing_is_rendered(vault: Vault, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    (vault.root / PROMOTION_QUEUE).unlink(missing_ok=True)
    monkeypatch.setenv("RETAIN_CAGED", "1")
    call("due")
    assert not (vault.root / PROMOTION_QUEUE).exists()
    monkeypatch.delenv("RETAIN_CAGED")
    call("due")
    assert (vault.root / PROMOTION_QUEUE).exists()
