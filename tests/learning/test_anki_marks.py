"""Suspension comes home from Anki: the newest word counts, in whatever order packages are imported, and once."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from pathlib import Path

import pytest

from learning.anki.import_package import ImportReport
from learning.cards.workspace import open_desk
from tests.learning.anki_packages import brought_in
from tests.learning.marks import mark
from tests.learning.test_anki_import_hostile import database
from tests.learning.test_anki_import_hostile import package as written
from vault.ids import CardId
from vault.log.events import Resume
from vault.log.ledger import NOTES
from vault.vault import Vault

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
NOTHING = ImportReport().marks
BORN = 1_763_000_000  # the second at which the notes were made


def package(folder: Path, *words: tuple[int, bool], reviews: tuple[int, ...] = (), twins: bool = False) -> Path:
    """A card as (second, suspended) tells; with `twins`, a note of the same GUID for each word."""
    assert twins or len(words) == 1
    made = []
    for n, (second, suspended) in enumerate(words):
        number, queue = BORN * 1000 + n, -1 if suspended else 0
        made.append(f"insert into notes values ({number}, 'guid', 1, {BORN}, '', 'what?\x1fthat')")
        made.append(f"insert into cards values ({number}, {number}, 1, 0, 0, {BORN + second}, 0, {queue}, 0)")
    rows = [f"insert into revlog values ({BORN * 1000 + ms}, {BORN * 1000}, 1, 900, 1, 2500)" for ms in reviews]
    return written(folder, database(*made, *rows))


def brought(vault: Vault, packed: Path) -> ImportReport:
    return brought_in(vault, packed, NOW)


def card_of(vault: Vault) -> CardId:
    (placed,) = (p for p in open_desk(vault, NOW).cards.values() if p.card.question == "what?")
    return placed.id


def suspended(vault: Vault) -> bool:
    return open_desk(vault, NOW).state(card_of(vault)).suspended


def log(vault: Vault) -> bytes:
    return vault.read_bytes("learning/reviews.jsonl") or b""


STORIES = [
    ((10, True), (20, False), (30, True)),
    ((10, False), (20, True), (30, False)),
    ((10, True), (20, True), (15, False)),
    ((10, True), (10, False)),
    ((0, True), (1, False)),
    ((10, True), (20, False), (20, True)),
]


@pytest.mark.parametrize(
    ("story", "order"), [(n, order) for n, s in enumerate(STORIES) for order in itertools.permutations(range(len(s)))]
)
def test_the_newest_word_of_anki_counts_in_any_order_and_is_said_once(
    vault: Vault, story: int, order: tuple[int, ...]
) -> None:
    words = STORIES[story]
    for n in (*order, *order):
        brought(vault, package(vault.root.parent, words[n]))
    assert suspended(vault) is max(words)[1]
    told = log(vault)
    for n in (*order, *reversed(order)):
        assert brought(vault, package(vault.root.parent, words[n])).marks == NOTHING
    assert log(vault) == told


def test_of_two_cards_in_anki_that_are_one_here_the_one_touched_last_tells(vault: Vault) -> None:
    brought(vault, package(vault.root.parent, (0, False)))
    both = package(vault.root.parent, (10, True), (20, False), twins=True)
    for _ in range(3):
        brought(vault, both)
        assert not suspended(vault) and not log(vault)
    other = package(vault.root.parent, (30, True), (20, False), twins=True)
    assert brought(vault, other).marks == NOTHING | {"suspended": 1}
    assert brought(vault, other).marks == NOTHING
    assert suspended(vault)


def test_a_leech_suspended_by_its_very_answer_is_suspended_here(vault: Vault) -> None:
    leech = package(vault.root.parent, (40, True), reviews=(40_700,))
    assert brought(vault, leech).marks["suspended"] == 1 and suspended(vault)
    told = log(vault)
    brought(vault, leech)
    assert log(vault) == told


def test_a_review_known_before_in_the_second_of_the_suspension_leaves_it_standing(vault: Vault) -> None:
    brought(vault, package(vault.root.parent, (40, False), reviews=(40_700,)))
    assert brought(vault, package(vault.root.parent, (40, True), reviews=(40_700,))).marks["suspended"] == 1


def test_a_card_reviewed_after_an_older_suspension_is_not_suspended(vault: Vault) -> None:
    brought(vault, package(vault.root.parent, (50, False), reviews=(50_100,)))
    brought(vault, package(vault.root.parent, (40, True)))
    assert not suspended(vault)


def test_what_the_human_says_here_stands_while_anki_says_nothing_new(vault: Vault) -> None:
    brought(vault, package(vault.root.parent, (10, True)))
    mark(open_desk(vault, NOW), card_of(vault), Resume, via="cli")
    for word in ((10, True), (20, True)):
        brought(vault, package(vault.root.parent, word))
        assert not suspended(vault)


def test_cards_that_nobody_touched_are_not_written_down(vault: Vault) -> None:
    brought(vault, package(vault.root.parent, (0, False)))
    assert vault.read_bytes(NOTES) is None
    brought(vault, package(vault.root.parent, (60, False), reviews=(60_000,)))
    assert vault.read_bytes(NOTES) is None
