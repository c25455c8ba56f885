"""An index of the cards in the decks; decks that have not changed are not read again.

A cache in `.retain/cache/decks`, by deck: its stamp, its title, whether it is paused, and of each card the id, the
line, the kind and, where it was imported, the Anki note. Only decks whose stamp is another now are parsed; those with
anything to tell, each time.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate

from learning.store.placed import front_pauses
from learning.store.siblings import group_name, is_imported, note_numbers, own_number
from vault.cache.cache import read_cache, write_cache
from vault.ids import CardId
from vault.index import stamps
from vault.index.stamps import FIELDS, NONE
from vault.layout import FLASHCARDS
from vault.model.card import Deck
from vault.model.markdown import unescape
from vault.text.formatting import clean_line
from vault.vault import Vault

CACHE = "decks"
_KIND = "retain-decks 2"
_KINDS = ("", "definitional", "mechanistic", "relational", "applied")  # as vault.model.card.CardKind
_NUMBER = {kind: number for number, kind in enumerate(_KINDS)}
_ID = 10  # characters of a card's id
_PAUSED, _ODD, _TAGGED = 1, 2, 4
_NUMBER_BYTES = 8  # of an Anki note


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of one deck; a row of the index. `flags` are _PAUSED, _ODD and _TAGGED."""

    title: str
    flags: int
    ids: bytes
    lines: array[int]
    kinds: bytes
    tags: str = ""  # each after a line break; known only with _TAGGED
    notes: array[int] = field(default_factory=lambda: array("Q"))  # of each card; empty where none was imported


@dataclass(frozen=True, slots=True)
class Place:
    """Where a card stands, and what a list says of it."""

    path: str
    line: int
    title: str
    kind: str


@dataclass(frozen=True, slots=True)
class DeckIndex:
    """The decks by file name, in their order, in columns; `first[n]` is the first card of deck n, in their order.

    `notes` has the number of each card's Anki note, 0 for none; it is empty where no card at all was imported.
    `uncached` are the decks that are never taken from the cache: they have cards without an id, or something to tell.
    """

    names: tuple[str, ...]
    numbers: array[int]
    titles: tuple[str, ...]
    flags: bytes
    first: array[int]
    ids: bytes
    lines: array[int]
    kinds: bytes
    tags: tuple[str, ...]
    notes: array[int]
    uncached: Mapping[str, Deck] = field(default_factory=dict)
    repeats: bool = False  # whether an id stands in two decks

    def __len__(self) -> int:
        return len(self.kinds)

    def card_ids(self) -> list[CardId]:
        """Return every id, in the order of the decks."""
        return _ids(self.ids)

    def card_id(self, number: int) -> CardId:
        """Return the id of card number `number`."""
        return CardId(self.ids[number * _ID : number * _ID + _ID].decode("ascii"))

    def path(self, deck: int) -> str:
        """Return the vault path of a deck."""
        return f"{FLASHCARDS}/{self.names[deck]}"

    def concept(self, deck: int) -> str:
        """Return the concept of a deck, which is its file's stem."""
        return self.names[deck].removesuffix(".md")

    def group(self, card: int, deck: int) -> str:
        """Return the name of a card's siblings: its Anki note if it was imported, else its concept."""
        note = self.notes[card] if self.notes else 0
        return group_name(note) if note else self.concept(deck)

    def kind(self, card: int) -> str:
        """Return the kind of question that a card asks; "" if it names none."""
        return _KINDS[self.kinds[card]]

    def paused(self, deck: int) -> bool:
        """Return whether the deck's own front matter keeps it out of the queue; its article may do so, too."""
        return bool(self.flags[deck] & _PAUSED)

    def place(self, card: int, deck: int) -> Place:
        """Return where a card is, and what a list shows of it."""
        return Place(self.path(deck), self.lines[card], self.titles[deck], self.kind(card))

    def entry(self, deck: int) -> Entry:
        """Return the row of a deck."""
        start, end = self.first[deck], self.first[deck + 1]
        return Entry(
            self.titles[deck],
            self.flags[deck],
            self.ids[start * _ID : end * _ID],
            self.lines[start:end],
            self.kinds[start:end],
            self.tags[deck],
            self.notes[start:end] if self.notes and any(self.notes[start:end]) else array("Q"),
        )


def read_index(vault: Vault, listing: stamps.Listing | None = None) -> DeckIndex:
    """Return the index of the decks as they are now; `listing` is their folder, where it has just been listed.

    Raises: OSError where it cannot be.
    """
    found = (stamps.listing(vault.root, FLASHCARDS) if listing is None else listing).files(".md")
    kept = _from_cache(read_cache(vault.root, CACHE, _KIND))
    if kept is not None and kept.names == found.names and kept.numbers == found.numbers and not _any_irregular(kept):
        return kept
    index = _updated(vault, found, kept)
    if kept is None or index.names != kept.names or index.numbers != kept.numbers:
        write_cache(vault, CACHE, _KIND, _parts(index))
    return index


def _any_irregular(index: DeckIndex) -> bool:
    """Return whether a deck has to be parsed each time."""
    return any(flags & _ODD for flags in set(index.flags))


def _updated(vault: Vault, found: stamps.Stamps, kept: DeckIndex | None) -> DeckIndex:
    """Return the index with changed decks read again."""
    row = {name: n for n, name in enumerate(kept.names)} if kept else {}
    uncached: dict[str, Deck] = {}
    entries: list[Entry] = []
    imported: dict[int, Deck] = {}
    for n, name in enumerate(found.names):
        known = row.get(name)
        span = slice(n * FIELDS, n * FIELDS + FIELDS)
        if kept is not None and known is not None and not kept.flags[known] & _ODD:
            before = kept.numbers[known * FIELDS : known * FIELDS + FIELDS]
            if before == found.numbers[span]:
                entries.append(kept.entry(known))
                continue
        path = f"{FLASHCARDS}/{name}"
        deck = vault.deck(path)
        if deck is None:  # gone since it was listed
            deck = Deck(path, "", ())
            found.settled[span] = array("q", NONE)
        entries.append(_entry(deck))
        if is_imported(deck):
            imported[n] = deck
        if entries[-1].flags & _ODD:
            uncached[path] = deck
    for n, entry in _with_notes(vault, {n: entries[n] for n in imported}).items():
        entries[n] = entry
        if entry.flags & _ODD:
            uncached[imported[n].path] = imported[n]
    return _joined(found.names, found.settled, entries, uncached)


def _entry(deck: Deck) -> Entry:
    """Return the row of a parsed deck."""
    cards = [card for card in deck.cards if card.id is not None]
    title = clean_line(unescape(deck.title))
    strange = bool(deck.diagnostics) or len(cards) < len(deck.cards) or "\0" in title
    return Entry(
        title.replace("\0", ""),
        (_PAUSED if front_pauses(deck.text.encode()) else 0) | (_ODD if strange else 0),
        "".join(str(card.id) for card in cards).encode("ascii"),
        array("I", [card.line for card in cards]),
        bytes(_NUMBER[card.kind.value if card.kind else ""] for card in cards),
    )


def _with_notes(vault: Vault, entries: Mapping[int, Entry]) -> dict[int, Entry]:
    """Return the rows of imported decks with the Anki note of each card. Where the ledger lacks it, as an import was
    interrupted, the deck is marked irregular.
    """
    if not entries:
        return {}
    cards = {n: _ids(entry.ids) for n, entry in entries.items()}
    known = note_numbers(vault, {card for mine in cards.values() for card in mine})
    out = {}
    for n, entry in entries.items():
        notes = array("Q", [known.get(card) or own_number(card) for card in cards[n]])
        all_known = all(card in known for card in cards[n])
        out[n] = replace(entry, notes=notes, flags=entry.flags if all_known else entry.flags | _ODD)
    return out


def _ids(data: bytes) -> list[CardId]:
    """Return the ids in the text of an index."""
    text = data.decode("ascii")
    return [CardId(text[n : n + _ID]) for n in range(0, len(text), _ID)]


def _joined(
    names: tuple[str, ...], numbers: array[int], entries: list[Entry], uncached: Mapping[str, Deck]
) -> DeckIndex:
    """Return the index of these rows."""
    lines = array("I")
    for entry in entries:
        lines.extend(entry.lines)
    ids = b"".join(entry.ids for entry in entries)
    index = DeckIndex(
        names,
        numbers,
        tuple(entry.title for entry in entries),
        bytes(entry.flags for entry in entries),
        array("I", accumulate((len(entry.kinds) for entry in entries), initial=0)),
        ids,
        lines,
        b"".join(entry.kinds for entry in entries),
        tuple(entry.tags for entry in entries),
        _joined_notes(entries),
        uncached,
    )
    cards = index.card_ids()
    return replace(index, repeats=len(set(cards)) < len(cards))


def _joined_notes(entries: list[Entry]) -> array[int]:
    """Return the note numbers of all rows in one column."""
    notes = array("Q")
    if any(entry.notes for entry in entries):
        for entry in entries:
            notes.extend(entry.notes or array("Q", bytes(len(entry.kinds) * _NUMBER_BYTES)))
    return notes


def _parts(index: DeckIndex) -> list[bytes]:
    """Return the index as byte strings for the cache."""
    return [
        stamps.joined_names(index.names),
        index.numbers.tobytes(),
        stamps.joined_names(index.titles),
        index.flags,
        index.first.tobytes(),
        index.ids,
        index.lines.tobytes(),
        index.kinds,
        stamps.joined_names(index.tags),
        index.notes.tobytes(),
        b"1" if index.repeats else b"",
    ]


def _from_cache(parts: list[bytes] | None) -> DeckIndex | None:
    """Return the cached index; None where its columns do not fit together."""
    if parts is None:
        return None
    try:
        names, numbers, titles, flags, first, ids, lines, kinds, tags, notes, repeats = parts
        count = len(flags)
        index = DeckIndex(
            stamps.split_names(names, count),
            array("q", numbers),
            stamps.split_names(titles, count),
            flags,
            array("I", first),
            ids,
            array("I", lines),
            kinds,
            stamps.split_names(tags, count),
            array("Q", notes),
            repeats=bool(repeats),
        )
    except ValueError:
        return None
    cards = len(kinds)
    fits = len(index.numbers) == count * FIELDS and len(index.first) == count + 1 and len(index.lines) == cards
    fits = fits and len(ids) == cards * _ID and len(index.notes) in (0, cards)
    return index if fits and index.first[-1] == cards else None


def tags_of(vault: Vault, index: DeckIndex | None) -> Iterator[tuple[list[CardId], tuple[str, ...]]]:
    """Yield the cards of each deck and its tags. Tags are YAML, which is slow to parse, so they are cached."""
    if index is None:
        for deck in vault.decks():
            yield [card.id for card in deck.cards if card.id], deck.properties.texts("tags")
        return
    if not all(flags & _TAGGED for flags in set(index.flags)):
        index = _with_tags(vault, index)
        write_cache(vault, CACHE, _KIND, _parts(index))
    cards = index.card_ids()
    for n, tags in enumerate(index.tags):
        yield cards[index.first[n] : index.first[n + 1]], tuple(tags.split("\n")[1:])


def _with_tags(vault: Vault, index: DeckIndex) -> DeckIndex:
    """Return the index with the tags of its decks read, and write its cache."""
    tags = list(index.tags)
    for n, flags in enumerate(index.flags):
        if not flags & _TAGGED:
            deck = index.uncached.get(index.path(n)) or vault.deck(index.path(n))
            found = deck.properties.texts("tags") if deck else ()
            tags[n] = "".join("\n" + " ".join(tag.replace("\0", " ").split("\n")) for tag in found)
    return replace(index, tags=tuple(tags), flags=bytes(flags | _TAGGED for flags in index.flags))
