"""Which card of the decks has which row of the cached memory states.

A hundred thousand cards are not looked at to find the thousand that are due: the rows are in the order in which their
cards fall due, and those that nobody has met yet are known by number.
"""

from __future__ import annotations

import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

from learning.store.deck_index import DeckIndex
from learning.store.state_table import StateColumns
from vault.cache.cache import read_cache, write_cache
from vault.ids import CardId
from vault.vault import Vault

CACHE = "crossing"
_KIND = "retain-cross 1"
_ID = 10  # characters of a card's id
_NOWHERE = -1
_FEW = 2_000  # cards that are counted through in no time, so that nothing need be kept


@dataclass(frozen=True, slots=True)
class Crossing:
    """`cards[n]` is the card, by its number in the index, that row n of the states is of, or -1; `unmet` are the cards
    that have no row, and `by_due` the rows in the order of their due dates."""

    index: DeckIndex
    states: StateColumns
    cards: array[int]
    unmet: array[int]
    by_due: array[int]
    _numbers: dict[str, int] = field(default_factory=dict)  # of the unmet, by id

    def before(self, micros: int) -> Iterator[int]:
        """Yield the rows of the states that fall due before the instant `micros`, or never."""
        due = self.states.column("due")
        return iter(self.by_due[: bisect_left(self.by_due, micros, key=due.__getitem__)])

    def number(self, card: CardId) -> int | None:
        """Return the card's number in the index; None if it is in no deck."""
        row = self.states.row(card)
        if row is not None:
            found = self.cards[row]
            return None if found == _NOWHERE else found
        if not self._numbers and self.unmet:
            ids = self.index.ids.decode("ascii")
            self._numbers.update((ids[n * _ID : n * _ID + _ID], n) for n in self.unmet)
        return self._numbers.get(card)


def crossing(vault: Vault, index: DeckIndex, states: StateColumns) -> Crossing:
    """Return which cards have which rows, from the cache where it is current."""
    if len(index) < _FEW:
        return _computed(index, states)
    token = f"{zlib.crc32(index.ids):08x} {zlib.crc32(states.ids):08x} {zlib.crc32(states.column('due')):08x}".encode()
    kept = _from_cache(read_cache(vault.root, CACHE, _KIND), token, index, states)
    if kept is not None:
        return kept
    made = _computed(index, states)
    columns = (made.cards, made.unmet, made.by_due)
    write_cache(vault, CACHE, _KIND, [token, *(column.tobytes() for column in columns)])
    return made


def _from_cache(parts: list[bytes] | None, token: bytes, index: DeckIndex, states: StateColumns) -> Crossing | None:
    """Return what the cache holds; None where it is of other cards or states."""
    if parts is None or len(parts) != 4 or parts[0] != token:
        return None
    try:
        cards, unmet, by_due = (array("i", part) for part in parts[1:])
    except ValueError:
        return None
    return Crossing(index, states, cards, unmet, by_due)


def _computed(index: DeckIndex, states: StateColumns) -> Crossing:
    """Return which cards have which rows, computed anew."""
    number = {card: n for n, card in enumerate(index.card_ids())}
    cards = array("i", [number.pop(card, _NOWHERE) for card in states])
    due = states.column("due")
    by_due = array("i", sorted(range(len(due)), key=due.__getitem__))
    return Crossing(index, states, cards, array("i", number.values()), by_due)
