"""Imported cards are siblings where Anki made them of one note, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from learning.cards.workspace import Desk, open_desk, rate
from tests.learning.anki_packages import brought_in
from tests.learning.test_anki_import_strangers import add, clock, made
from vault.log import ledger
from vault.log.events import Rating
from vault.vault import Vault, open_vault


def mixed(col: Any) -> None:
    add(col, "Cloze", ["{{c1::one}} and {{c2::two}} and {{c3::three}}"])
    add(col, "Basic (and reversed card)", ["there", "back"])
    for n in range(6):
        add(col, "Basic", [f"basic {n}", "x"])


@pytest.fixture
def bought(vault: Vault, tmp_path: Path) -> Vault:
    """A vault with one imported file of six basic cards, a reversed pair and three clozes of one note."""
    brought_in(vault, made(tmp_path, mixed), clock())
    for path in (vault.root / "learning/flashcards").glob("*.md"):
        if path.stem != "default":
            path.unlink()
    return open_vault(str(vault.root), None, vault.root)


def burying(vault: Vault) -> Vault:
    return replace(vault, settings=replace(vault.settings, bury_siblings=True))


def asked(desk: Desk) -> list[str]:
    return [desk.cards[item.card].card.question for item in desk.queue.today]


def of_note(question: str) -> str:
    return "pair" if question in ("there", "back") else "cloze" if "**" in question else question


def test_of_an_imported_file_only_cards_of_one_note_are_siblings(bought: Vault) -> None:
    whole, buried = open_desk(bought, clock()), open_desk(burying(bought), clock())
    assert not whole.cards.shadowed and len(whole.queue.today) == 11
    notes = [of_note(question) for question in asked(buried)]
    assert sorted(notes) == [*(f"basic {n}" for n in range(6)), "cloze", "pair"]


def test_a_note_met_today_has_no_second_card_today(bought: Vault) -> None:
    desk = open_desk(burying(bought), clock())
    there = next(card for card, placed in desk.cards.items() if placed.card.question == "there")
    after, _ = rate(desk, there, Rating.EASY, via="cli")
    assert sorted(map(of_note, asked(after))) == [*(f"basic {n}" for n in range(6)), "cloze"]


def test_siblings_of_a_note_are_apart_in_the_queue(bought: Vault) -> None:
    notes = [of_note(question) for question in asked(open_desk(bought, clock()))]
    assert all(one != other for one, other in pairwise(notes))


def test_decks_read_one_by_one_know_the_same_siblings_as_their_index(bought: Vault) -> None:
    desk = open_desk(bought, clock())
    again = open_desk(bought, clock())  # from the cache
    card = next(iter(desk.cards))
    double = bought.root / "learning/flashcards/double.md"
    double.write_text(f"# Double\n\nQ: q\nA: a\n<!-- card {card} -->\n")  # no index where an id stands twice
    plain = open_desk(bought, clock())
    assert plain.cards.shadowed
    groups = [{item.card: item.concept for item in d.queue.new} for d in (desk, again, plain)]
    assert groups[0] == groups[1] == groups[2]


def test_a_card_made_by_hand_in_an_imported_file_is_nobodys_sibling(bought: Vault) -> None:
    file = bought.root / "learning/flashcards/default.md"
    file.write_text(file.read_text() + "\nQ: mine 1\nA: x\n\nQ: mine 2\nA: y\n")
    buried = open_desk(burying(bought), clock())
    assert {"mine 1", "mine 2"} <= set(asked(buried)) and len(asked(buried)) == 10


def test_siblings_are_known_once_an_import_that_was_cut_off_has_told_the_ledger(bought: Vault) -> None:
    told = bought.root / ledger.IDS
    lines = told.read_bytes()
    told.write_bytes(b"")
    for path in (bought.root / ".retain").glob("learning.sqlite3*"):
        path.unlink()
    assert len(asked(open_desk(burying(bought), clock()))) == 11
    told.write_bytes(lines)  # no file of cards has changed
    assert len(asked(open_desk(burying(bought), clock()))) == 8
