"""The pages made by way of the index are, to the byte, those that are made without any."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from learning.cards.workspace import Desk, open_desk, rate, read_desk, undo_last
from learning.history import cut as log_cut
from learning.pages.render import save_pages
from learning.store import card_text as catalogues
from learning.store.card_text import Catalogue, catalogue, word_numbers
from learning.store.placed import concept_named
from tests.learning.marks import mark
from vault.config.settings import Settings, render_settings
from vault.errors import NotFound
from vault.ids import CardId
from vault.index import stamps
from vault.layout import GAPS, PROMOTION_QUEUE, REVIEW_PAGE
from vault.log.events import Bury, Flag, Rating, Resume, Suspend
from vault.model.card import CardKind, Deck
from vault.vault import Vault, open_vault

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
PAGES = (REVIEW_PAGE, GAPS, PROMOTION_QUEUE)
STEMS = ("sleep", "bridges", "Über Käse")
WORDS = "why does the slow old river carry so much sand down to the wide warm sea".split()


@pytest.fixture(autouse=True)
def old_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamps, "RACY_NS", -1_000_000_000)
    monkeypatch.setattr(log_cut, "LEAST", 12)
    monkeypatch.setattr(log_cut, "MOST", 40)


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    root = tmp_path / "mind"
    for folder in ("learning/flashcards", "wiki/concepts", "ledger", "output"):
        (root / folder).mkdir(parents=True)
    (root / "retain.toml").write_text(render_settings(Settings("01KB0000000000000000000000", "Mind")))
    chance = random.Random(5)
    for n, stem in enumerate(STEMS):
        write_deck(root, stem, [CardId(f"c{n}{k}0000000") for k in range(5)], chance)
    (root / "wiki/concepts/sleep.md").write_text("# Sleep\n\nIt rests.\n")
    return open_vault(str(root), None, root)


def write_deck(root: Path, stem: str, cards: list[CardId], chance: random.Random) -> None:
    """A deck whose cards are much alike; some name a concept, some have titles and questions that need escaping."""
    front = chance.choice(
        ["", "---\nconcept: s1eep00000\n---\n\n", "---\nconcept: 'by [hand]'\nlearning: false\n---\n\n"]
    )
    blocks = []
    for card in cards:
        kind = chance.choice([*CardKind]).value.capitalize()
        said = " ".join(word for word in WORDS if chance.random() < 0.9)
        blocks.append(f"## {kind}\n\nQ: {said} | \\[{chance.choice('xyz')}\\]?\nA: {said}.\n<!-- card {card} -->\n")
    text = f"{front}# {stem.title()} \\[{chance.randrange(3)}\\]\n\n" + "\n".join(blocks)
    (root / f"learning/flashcards/{stem}.md").write_text(text)


def rendered(vault: Vault, now: datetime) -> list[bytes | None]:
    save_pages(open_desk(vault, now), now)
    return [vault.read_bytes(page) for page in PAGES]


def without_caches(vault: Vault, to: Path, now: datetime) -> list[bytes | None]:
    """The pages of a copy that has no caches, made anew by the desk that knows no clock."""
    shutil.copytree(vault.root, to)
    shutil.rmtree(to / ".retain", ignore_errors=True)
    copy = open_vault(str(to), None, to)
    save_pages(read_desk(copy), now)
    return [copy.read_bytes(page) for page in PAGES]


def one_change(vault: Vault, now: datetime, chance: random.Random) -> None:
    """A rating, mostly; else a mark, an undo, a deck written anew, another one gone, cards doubled, a cache harmed."""
    decks = sorted((vault.root / "learning/flashcards").glob("*.md"))
    deck = chance.choice(decks)
    desk = open_desk(vault, now)
    cards = list(desk.cards)
    changes: list[Callable[[], object]] = [
        *[lambda: rate(desk, chance.choice(cards), chance.choice([*Rating, Rating.AGAIN]), via="cli")] * 12,
        *[lambda: mark(desk, chance.choice(cards), chance.choice([Suspend, Resume, Bury, Flag]), via="cli")] * 2,
        lambda: undo_last(desk, via="cli"),
        lambda: write_deck(vault.root, deck.stem, [CardId(f"n{chance.randrange(99):02}0000000")], chance),
        lambda: write_deck(vault.root, "sleep", [CardId(f"c0{k}0000000") for k in range(5)], chance),
        lambda: deck.write_text(deck.read_text().replace("river", "brook", 1)),
        lambda: deck.write_text(deck.read_text() + "\nQ: A hand's own card, is it new?\nA: It has no id yet.\n"),
        lambda: (vault.root / ".retain/learning.sqlite3").write_bytes(b"harmed"),
        lambda: deck.unlink() if len(decks) > 1 else None,
        lambda: (deck.parent / "copy.md").write_text(deck.read_text()),
    ]
    if cards:
        chance.choice(changes)()


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.torture) for seed in range(1, 3))])
def test_pages_are_the_same_with_caches_and_without_whatever_changed(vault: Vault, tmp_path: Path, seed: int) -> None:
    chance, now = random.Random(seed), START
    for turn in range(25):
        for _ in range(chance.choice([1, 4, 9])):
            now += timedelta(minutes=chance.choice([1, 60, 60 * 24 * 3]))
            try:
                one_change(vault, now, chance)
            except NotFound:  # nothing to undo
                continue
        assert rendered(vault, now) == without_caches(vault, tmp_path / f"copy{turn}", now)


def whole(vault: Vault, desk: Desk) -> Catalogue:
    found = catalogue(desk.cards)
    assert [found.ids[row] for shelf in found.shelves for row in range(shelf.first, shelf.end)] == list(desk.cards)
    return found


def test_a_deck_that_has_not_changed_is_not_read_again(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    first = whole(vault, open_desk(vault, START))
    read: list[str] = []

    def counted(deck: Deck) -> str:
        read.append(deck.path)
        return concept_named(deck)

    monkeypatch.setattr(catalogues, "concept_named", counted)
    assert whole(vault, open_desk(vault, START)) == first
    assert read == []
    deck = vault.root / "learning/flashcards/bridges.md"
    deck.write_text(deck.read_text().replace("river", "mighty brook"))
    second = whole(vault, open_desk(vault, START))
    assert read == ["learning/flashcards/bridges.md"]
    shutil.rmtree(vault.root / ".retain")
    assert whole(vault, open_desk(vault, START)) == second


def test_words_too_few_to_tell_a_card_by_have_no_numbers() -> None:
    assert word_numbers("What is it?") == []
    assert word_numbers("What is it not?") == word_numbers("Not it *is* what…")
    assert len(word_numbers("the the the tide comes in")) == 4
