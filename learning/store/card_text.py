"""The texts of all cards as columns, for the pages that list them; decks that have not changed are not read again.

A cache in `.retain/cache/faces`, by deck: its stamp, the concept that it names, its title and the questions of its
cards as a table shows them, and numbers that stand for the words of questions and answers. It goes with the index of
the decks (`learning.store.deck_index`): an entry counts while the index has the same stamp of that deck.
"""

from __future__ import annotations

import zlib
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from operator import attrgetter

from learning.store.cards import IndexedCards
from learning.store.deck_index import DeckIndex
from learning.store.near_copy import tokens
from learning.store.placed import Placed, concept_named
from vault.cache.cache import read_cache, write_cache
from vault.ids import CardId
from vault.index import stamps
from vault.index.stamps import FIELDS, NONE
from vault.model.markdown import escape, unescape
from vault.model.wikilink import Wikilink, alias
from vault.text.formatting import clean_line, truncate
from vault.vault import Vault

CACHE = "faces"
_KIND = "retain-faces 1"
PARTS = ("question", "answer")
LEAST_WORDS = 4  # of a question or answer; anything shorter is like too much
_NONE = array("q", NONE)


@dataclass(frozen=True, slots=True)
class Face:
    """What the pages need of one deck. `labels` has one line a card; `lengths` how many of `words` are of a card's
    question, then of its answer, card by card."""

    named: str = ""
    title: str = ""
    labels: tuple[str, ...] = ()
    lengths: array[int] = field(default_factory=lambda: array("I"))
    words: array[int] = field(default_factory=lambda: array("I"))


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
    """Every card, in the order of the decks; row n of each column is one card. `ends` is explained in `words_of`."""

    shelves: tuple[Shelf, ...]
    ids: Sequence[CardId]
    kinds: Sequence[str]
    labels: Sequence[str]
    words: array[int]
    ends: Sequence[int]

    def shelf_of(self, row: int) -> Shelf:
        """Return the deck that card number `row` is in."""
        return self.shelves[bisect_right(self.shelves, row, key=attrgetter("first")) - 1]

    def words_of(self, row: int, part: int) -> array[int]:
        """Return the numbers of the words of a card's question (part 0) or answer (1), ascending; empty where they are
        too few to compare.
        """
        at = 2 * row + part
        return self.words[self.ends[at] : self.ends[at + 1]]


def catalogue(vault: Vault, cards: Mapping[CardId, Placed]) -> Catalogue:
    """Return the catalogue of a desk's cards."""
    if isinstance(cards, IndexedCards):
        return _catalogue_from_index(vault, cards)
    made = _Builder()
    for some in _by_deck(cards.values()):
        made.add_cards(some)
    return made.build()


def _by_deck(cards: Iterable[Placed]) -> Iterator[list[Placed]]:
    """Yield the cards of each deck, which follow each other."""
    some: list[Placed] = []
    for placed in cards:
        if some and some[-1].deck.path != placed.deck.path:
            yield some
            some = []
        some.append(placed)
    if some:
        yield some


class _Builder:
    """Builds a catalogue deck by deck."""

    def __init__(self) -> None:
        self.shelves: list[Shelf] = []
        self.ids: list[CardId] = []
        self.kinds: list[str] = []
        self.labels: list[str] = []
        self.words, self.lengths = array("I"), array("I")

    def add(self, path: str, title: str, face: Face, ids: Sequence[CardId], kinds: Iterable[str]) -> None:
        """Add a deck."""
        first = len(self.ids)
        self.ids += ids
        self.kinds += kinds
        self.labels += face.labels
        self.words += face.words
        self.lengths += face.lengths
        self.shelves.append(Shelf(path, title, face.named, face.title, first, len(self.ids)))

    def add_cards(self, cards: list[Placed]) -> Face:
        """Add cards of one deck; return its face."""
        face, first = _face(cards), cards[0]
        self.add(first.deck.path, first.title, face, [p.id for p in cards], [p.kind for p in cards])
        return face

    def build(self) -> Catalogue:
        """Return the catalogue of all that was added."""
        ends = list(accumulate(self.lengths, initial=0))
        return Catalogue(tuple(self.shelves), self.ids, self.kinds, tuple(self.labels), self.words, ends)


def _face(cards: Sequence[Placed]) -> Face:
    """Return the face of a deck with these cards."""
    face = Face(concept_named(cards[0].deck), label(cards[0].title), tuple(label(p.card.question) for p in cards))
    for placed in cards:
        for text in (placed.card.question, placed.card.answer):
            said = word_numbers(text)
            face.lengths.append(len(said))
            face.words.extend(said)
    return face


def word_numbers(markdown: str) -> list[int]:
    """Return a number for each word of a question or answer, ascending; empty where they are too few to compare.

    Two words have the same number once in billions.
    """
    said = set(tokens(unescape(markdown)))
    return sorted({zlib.crc32(word.encode("utf-8", "replace")) for word in said}) if len(said) >= LEAST_WORDS else []


# --- what is kept -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _CachedFaces:
    """The faces of decks as columns. `first[n]` is the first card of deck n, `ends` as in the catalogue."""

    names: tuple[str, ...]
    numbers: array[int]
    named: tuple[str, ...]
    titles: tuple[str, ...]
    first: array[int]
    labels: tuple[str, ...]
    lengths: array[int]
    words: array[int]
    ends: Sequence[int]

    def face(self, deck: int) -> Face:
        """Return the face of deck number `deck`."""
        start, end = self.first[deck], self.first[deck + 1]
        words = self.words[self.ends[2 * start] : self.ends[2 * end]]
        return Face(
            self.named[deck], self.titles[deck], self.labels[start:end], self.lengths[2 * start : 2 * end], words
        )


def _catalogue_from_index(vault: Vault, cards: IndexedCards) -> Catalogue:
    """Return the catalogue of cards that an index lists, from the cache where it is current."""
    index = cards.index
    kept = _read_cache(vault)
    if kept is not None and kept.names == index.names and kept.numbers == index.numbers and _is_current(kept, index):
        kinds = [index.kind(row) for row in range(len(index))]
        shelves = tuple(
            Shelf(index.path(n), index.titles[n], kept.named[n], kept.titles[n], index.first[n], index.first[n + 1])
            for n in range(len(index.names))
            if index.first[n] < index.first[n + 1]
        )
        return Catalogue(shelves, index.card_ids(), kinds, kept.labels, kept.words, kept.ends)
    return _updated(vault, cards, kept)


def _is_current(kept: _CachedFaces, index: DeckIndex) -> bool:
    """Return whether the cache has the face of every deck of the index."""
    young = any(size == NONE[0] for size in kept.numbers[::FIELDS])
    return not index.uncached and not young and kept.first == index.first


def _updated(vault: Vault, cards: IndexedCards, kept: _CachedFaces | None) -> Catalogue:
    """Return the catalogue, with changed decks read again and the cache written."""
    index, ids = cards.index, cards.index.card_ids()
    row = {name: n for n, name in enumerate(kept.names)} if kept else {}
    made, faces = _Builder(), [Face()] * len(index.names)
    numbers = array("q", index.numbers)
    for n, name in enumerate(index.names):
        path, span, mine = (
            index.path(n),
            slice(n * FIELDS, n * FIELDS + FIELDS),
            ids[index.first[n] : index.first[n + 1]],
        )
        known = row.get(name)
        if kept is not None and known is not None and path not in index.uncached and numbers[span] != _NONE:
            face = kept.face(known)
            before = kept.numbers[known * FIELDS : known * FIELDS + FIELDS]
            if before == numbers[span] and len(face.labels) == len(mine):
                kinds = [index.kind(card) for card in range(index.first[n], index.first[n + 1])]
                faces[n] = face
                if mine:
                    made.add(path, index.titles[n], face, mine, kinds)
                continue
        placed = [found for card in mine if (found := cards.get(card)) is not None]
        some = [made.add_cards(each) for each in _by_deck(placed)]
        if len(some) == 1 and len(placed) == len(mine) and placed[0].deck.path == path and "\0" not in some[0].named:
            faces[n] = some[0]
        elif mine:
            numbers[span] = _NONE
    if kept is None or kept.names != index.names or kept.numbers != numbers:
        write_cache(vault, CACHE, _KIND, _parts(index.names, numbers, faces))
    return made.build()


def _parts(names: Sequence[str], numbers: array[int], faces: Sequence[Face]) -> list[bytes]:
    """Return the faces as byte strings for the cache."""
    words, lengths = array("I"), array("I")
    for face in faces:
        words += face.words
        lengths += face.lengths
    return [
        stamps.joined_names(names),
        numbers.tobytes(),
        stamps.joined_names(face.named for face in faces),
        stamps.joined_names(face.title for face in faces),
        array("I", accumulate((len(face.labels) for face in faces), initial=0)).tobytes(),
        stamps.joined_names(each for face in faces for each in face.labels),
        lengths.tobytes(),
        words.tobytes(),
    ]


def _read_cache(vault: Vault) -> _CachedFaces | None:
    """Return the cached faces; None where their columns do not fit together."""
    parts = read_cache(vault.root, CACHE, _KIND)
    if parts is None or len(parts) != 8:
        return None
    try:
        numbers, first = array("q", parts[1]), array("I", parts[4])
        count = len(numbers) // FIELDS
        names, named, titles = (stamps.split_names(parts[n], count) for n in (0, 2, 3))
        labels, lengths, words = stamps.split_names(parts[5], first[-1]), array("I", parts[6]), array("I", parts[7])
    except (ValueError, IndexError):
        return None
    ends = list(accumulate(lengths, initial=0))
    fits = len(numbers) == count * FIELDS and len(first) == count + 1 and len(lengths) == 2 * len(labels)
    if not fits or ends[-1] != len(words):
        return None
    return _CachedFaces(names, numbers, named, titles, first, labels, lengths, words, ends)


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
