"""Cards as comma-separated values: what is read back is what the decks hold, and nothing acts."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.cards.workspace import open_desk
from learning.formats.csv import COLUMNS, cell, export_table, render_table
from vault.vault import Vault

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
FORMULAS = [
    "=1+1",
    "+1",
    "-1+cmd|' /C calc'!A0",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "  =1",
    '"=1',
    "'=1",
    "＝1",
    "＠a",
    "\ufeff=1",
    "|calc",
    "%0A=1",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_is_a_formula(text: str) -> None:
    assert cell(text).startswith("'")


@pytest.mark.parametrize("text", ["a = b", "1 - 2", "What is E=mc^2?", "", "mail@example.org", "数学"])
def test_words_stay_as_they_are(text: str) -> None:
    assert cell(text) == text


@given(st.text())
def test_what_stands_first_in_a_cell_never_acts(text: str) -> None:
    assert not cell(text)[:1] or cell(text)[0] not in "=+-@\t\r\n"


def test_each_card_is_a_row_that_is_read_back_whole(vault: Vault) -> None:
    desk = open_desk(vault, NOW)
    rows = list(csv.DictReader(io.StringIO(render_table(desk), newline="")))
    assert [row["id"] for row in rows] == list(desk.cards)
    assert tuple(rows[0]) == COLUMNS
    for row in rows:
        card = desk.cards[desk.card(row["id"]).id].card
        assert (row["question"], row["answer"]) == (card.question, card.answer)


def test_a_hostile_card_is_dead_in_the_file(vault: Vault, tmp_path: Path) -> None:
    deck = vault.root / "learning/flashcards/spacing-effect.md"
    deck.write_text(
        deck.read_text("utf-8").replace("A: Spread-out study", 'A: =HYPERLINK("http://x",A1)\x1b[2J study'), "utf-8"
    )
    out = tmp_path / "cards.csv"
    assert export_table(open_desk(vault, NOW), out) == 3
    text = out.read_text("utf-8-sig")
    assert "\"'=HYPERLINK(" in text and "\x1b" not in text
