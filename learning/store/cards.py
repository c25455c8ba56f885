"""The cards of a vault by id, each read from its deck when it is asked for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, ValuesView
from functools import cached_property
from itertools import pairwise

from learning.store.crossing import Crossing, crossing
from learning.store.deck_index import DeckIndex, Place
from learning.store.paused import Paused
from learning.store.placed import Placed, concept_of
from learning.store.state_table import StateColumns
from vault.audit.agent_runs import judged_decks
from vault.ids import CardId
from vault.model.card import Deck
from vault.vault import Vault


class IndexedCards(Mapping[CardId, Placed]):
    """Every card that has an id, in the order of the decks. A deck is parsed when one of its cards is asked for.

    A card that has gone from its deck since the index was made is looked for in the other decks, and a KeyError if it
    is nowhere; `values` passes it over.
    """

    def __init__(self, vault: Vault, index: DeckIndex) -> None:
        self.vault, self.index = vault, index
        self._decks: dict[int, dict[CardId, Placed]] = {}
        self._crossing: Crossing | None = None
        self._noted: dict[CardId, int] = {}

    @cached_property
    def paused(self) -> Paused:
        """Return which concepts their articles keep out of the queue."""
        return Paused(self.vault)

    def crossed(self, states: StateColumns) -> Crossing:
        """Return which of these cards is which row of `states`."""
        if self._crossing is None or self._crossing.states is not states:
            self._crossing = crossing(self.vault, self.index, states)
        return self._crossing

    @cached_property
    def _rows(self) -> dict[CardId, int]:
        """Return the number of each card in the index."""
        return {card: n for n, card in enumerate(self.index.card_ids())}

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[CardId]:
        return iter(self._rows)

    def __contains__(self, card: object) -> bool:
        return self._number(card) is not None

    def __getitem__(self, card: CardId) -> Placed:
        deck = self.deck_of(self.number(card))
        if deck not in self._decks:
            self._decks[deck] = self._parsed(deck)
        return self._decks[deck].get(card) or self._elsewhere(card)

    def values(self) -> ValuesView[Placed]:
        return _Values(self)

    def number(self, card: CardId) -> int:
        """Return the number of a card in the index. Raises: KeyError."""
        found = self._number(card)
        if found is None:
            raise KeyError(card)
        return found

    def cache_number(self, card: CardId, number: int) -> None:
        """Cache the number of a card, as it will be asked for often."""
        self._noted[card] = number

    def _number(self, card: object) -> int | None:
        """Return the number of a card in the index; None if it is in no deck."""
        if not isinstance(card, str):
            return None
        if card in self._noted:
            return self._noted[CardId(card)]
        if self._crossing is None or "_rows" in self.__dict__:
            return self._rows.get(CardId(card))
        return self._crossing.number(CardId(card))

    def deck_of(self, row: int) -> int:
        """Return the number of the deck that card number `row` is in."""
        return bisect_right(self.index.first, row) - 1

    def place(self, card: CardId) -> Place:
        """Return where a card is, without reading its deck. Raises: KeyError."""
        row = self.number(card)
        return self.index.place(row, self.deck_of(row))

    def group(self, card: CardId) -> str:
        """Return the name of the siblings of a card, without reading its deck. Raises: KeyError."""
        row = self.number(card)
        return self.index.group(row, self.deck_of(row))

    def concepts(self) -> int:
        """Return how many concepts have a card."""
        first = self.index.first
        return sum(start < end for start, end in pairwise(first))

    def _parsed(self, number: int) -> dict[CardId, Placed]:
        """Return the cards of deck number `number`, parsed."""
        path = self.index.path(number)
        deck = self.index.uncached.get(path) or self.vault.deck(path)
        return {} if deck is None else _placed(deck)

    def _elsewhere(self, card: CardId) -> Placed:
        """Return a card that moved to another deck since the index was read. Raises: KeyError."""
        for deck in judged_decks(self.vault):
            if (found := _placed(deck).get(card)) is not None:
                return found
        raise KeyError(card)


class _Values(ValuesView[Placed]):
    def __init__(self, cards: IndexedCards) -> None:
        super().__init__(cards)
        self._cards = cards

    def __iter__(self) -> Iterator[Placed]:
        return (found for card in self._cards if (found := self._cards.get(card)) is not None)


def _placed(deck: Deck) -> dict[CardId, Placed]:
    """Return the cards of a deck by id; of an id that is there twice, the first."""
    found: dict[CardId, Placed] = {}
    for card in deck.cards:
        if card.id is not None:
            found.setdefault(card.id, Placed(card.id, card, deck, concept_of(deck.path)))
    return found
