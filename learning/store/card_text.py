"""The texts of all cards as columns, for the pages that list them; decks that have not changed are not read again."""

from __future__ import annotations

import zlib
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import attrgetter, itemgetter

from learning.store.cards import IndexedCards, path_of
from learning.store.decks import ORDER
from learning.store.near_copy import tokens
from learning.store.placed import concept_named
from vault.ids import CardId
from vault.model.markdown import escape, unescape
from vault.model.wikilink import Wikilink, alias
from vault.text.formatting import clean_line, truncate

PARTS = ("question", "answer")
LEAST_WORDS = 4  # of a question or answer; anything shorter is like too much


@dataclass(frozen=True, slots=True)
class Shelf:
    """Cards of one deck that follow each other: `first` to `end` of the catalogue's. `named` is the concept that the
    deck names, `label` its title as a table shows it."""

    path: str
    title: str
    named: str
    label: str
    first: int
    end: int

    @property
    def stem(self) -> str:
        """Return the stem of the deck's file, which the concept's article shares."""
        return self.path.rsplit("/", 1)[-1].removesuffix(".md")


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Every card, in the order of the decks; row n of each column is one card. `words` are those of PARTS, packed."""

    shelves: tuple[Shelf, ...]
    ids: Sequence[CardId]
    kinds: Sequence[str]
    labels: Sequence[str]
    words: Sequence[tuple[bytes, bytes]]

    def shelf_of(self, row: int) -> Shelf:
        """Return the deck that card number `row` is in."""
        return self.shelves[bisect_right(self.shelves, row, key=attrgetter("first")) - 1]

    def words_of(self, row: int, part: int) -> array[int]:
        """Return the numbers of the words of a card's question (part 0) or answer (1), ascending; empty where they are
        too few to compare.
        """
        return array("I", self.words[row][part])


def catalogue(cards: IndexedCards) -> Catalogue:
    """Return the catalogue of a desk's cards."""
    _read_faces(cards)
    rows = cards.database.rows(
        "SELECT deck.name, deck.title, deck.concept, deck.label, card.id, card.kind, face.label, face.question,"
        " face.answer FROM card JOIN deck ON deck.number = card.deck JOIN face ON face.card = card.number"
        f" ORDER BY {ORDER}"
    )
    shelves, end = [], 0
    for (name, title, concept, shown), some in groupby(rows, itemgetter(0, 1, 2, 3)):
        first, end = end, end + sum(1 for _ in some)
        shelves.append(Shelf(path_of(name), title, concept, shown, first, end))
    ids, kinds, labels, *words = zip(*(row[4:] for row in rows), strict=True) if rows else ((), (), (), (), ())
    return Catalogue(tuple(shelves), ids, kinds, labels, list(zip(*words, strict=True)))


def _read_faces(cards: IndexedCards) -> None:
    """Read the faces of the decks that have none yet."""
    database = cards.database
    names = [name for (name,) in database.rows("SELECT name FROM deck WHERE label IS NULL")]
    decks, faces = [], []
    for name in names:
        deck = cards.deck(path_of(name))
        if deck is None:  # gone just now
            continue
        decks.append((concept_named(deck), label(clean_line(unescape(deck.title))), name))
        for card in deck.cards:
            if card.id is not None:
                words = (array("I", word_numbers(text)).tobytes() for text in (card.question, card.answer))
                faces.append((label(card.question), *words, name, card.id))
    if decks:
        with database.transaction():
            database.run_many("UPDATE deck SET concept = ?, label = ? WHERE name = ?", decks)
            database.run_many(
                "INSERT OR REPLACE INTO face SELECT number, ?, ?, ? FROM card"
                " WHERE deck = (SELECT number FROM deck WHERE name = ?) AND id = ?",
                faces,
            )


def word_numbers(markdown: str) -> list[int]:
    """Return a number for each word of a question or answer, ascending; empty where they are too few to compare.

    Two words have the same number once in billions.
    """
    said = set(tokens(unescape(markdown)))
    return sorted({zlib.crc32(word.encode("utf-8", "replace")) for word in said}) if len(said) >= LEAST_WORDS else []


_LABEL = 60  # characters of a question that stand in the table


def concept_cell(article: str, shown: str) -> str:
    """What stands in a table for a concept; `article` is a vault path, "" if it has none, `shown` a `label`."""
    return Wikilink(article.removesuffix(".md"), alias=shown).in_table() if article else shown


def card_cell(deck: str, shown: str) -> str:
    """What stands in a table for a card of the deck at that vault path; `shown` is a `label` of its question."""
    return Wikilink(deck.removesuffix(".md"), alias=shown).in_table()


@lru_cache(maxsize=1024)  # the cards of a concept share its title
def label(markdown: str) -> str:
    """`markdown` as the shown part of a link in a table: short, on one line, with no character that means anything."""
    return escape(truncate(alias(clean_line(unescape(markdown))), _LABEL))
