"""What home says, complete without what years have piled up."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from learning.cards.workspace import open_desk, rate
from learning.history.history import History
from learning.pages.today import overview
from tests.builders import make_vault
from vault.log.events import Rating
from vault.vault import Vault

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
DECK = "# {0}\n\nQ: What is {0}?\nA: This.\n<!-- card {0}{0}{0}{0}{0} -->\n"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    decks = {f"learning/flashcards/{name}.md": DECK.format(name) for name in ("aa", "bb", "cc")}
    made = make_vault(tmp_path / "vault", decks)
    rate(open_desk(made, NOW), "aaaaaaaaaa", Rating.EASY, via="cli")
    return made


def test_home_reads_neither_the_whole_log_nor_any_deck(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault.index.stamps.RACY_NS", -1_000_000_000)  # stamps are believed at once
    overview(vault, NOW, None)  # decks and log are known from here on

    def refused(*_: object) -> None:
        raise AssertionError("what years have piled up was read")

    monkeypatch.setattr(History, "whole", refused)
    monkeypatch.setattr("vault.model.card.parse_deck", refused)
    found = overview(vault, NOW, None)
    assert (found.cards, found.concepts, found.new, found.done) == (3, 3, 2, 1)
