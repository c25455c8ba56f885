"""The cards of a vault, each read from its deck when it is asked for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, ValuesView
from functools import cached_property
from itertools import pairwise

from learning.deck_index import DeckIndex, Place
from learning.placed import Placed, article_of, concept_of, front_pauses
from vault.agent_run import judged_decks
from vault.card import Deck
from vault.errors import Damaged, Refused
from vault.ids import CardId
from vault.store import Vault


class IndexedCards(Mapping[CardId, Placed]):
    """Every card that has an id, in the order of the decks. A deck is parsed when one of its cards is asked for.

    A card that has gone from its deck since the index was made is looked for in the other decks, and a KeyError if it
    is nowhere; `values` passes it over.
    """

    def __init__(self, vault: Vault, index: DeckIndex) -> None:
        self.vault, self.index = vault, index
        self._decks: dict[int, dict[CardId, Placed]] = {}

    @cached_property
    def _rows(self) -> dict[CardId, int]:
        return {card: n for n, card in enumerate(self.index.card_ids())}

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[CardId]:
        return iter(self._rows)

    def __contains__(self, card: object) -> bool:
        return card in self._rows

    def __getitem__(self, card: CardId) -> Placed:
        deck = self.deck_of(self._rows[card])
        if deck not in self._decks:
            self._decks[deck] = self._parsed(deck)
        return self._decks[deck].get(card) or self._elsewhere(card)

    def values(self) -> ValuesView[Placed]:
        return _Values(self)

    def deck_of(self, row: int) -> int:
        """The deck in which card number `row` stands."""
        return bisect_right(self.index.first, row) - 1

    def place(self, card: CardId) -> Place:
        """Where the card stands; no deck is read for it. Raises: KeyError."""
        row = self._rows[card]
        return self.index.place(row, self.deck_of(row))

    def group(self, card: CardId) -> str:
        """What the card shares with its siblings alone; no deck is read for it. Raises: KeyError."""
        row = self._rows[card]
        return self.index.group(row, self.deck_of(row))

    def concepts(self) -> int:
        """How many concepts have a card."""
        first = self.index.first
        return sum(start < end for start, end in pairwise(first))

    def _parsed(self, number: int) -> dict[CardId, Placed]:
        path = self.index.path(number)
        deck = self.index.odd.get(path) or self.vault.deck(path)
        return {} if deck is None else _placed(deck)

    def _elsewhere(self, card: CardId) -> Placed:
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
    """The cards of a deck by id, each where it stands first."""
    found: dict[CardId, Placed] = {}
    for card in deck.cards:
        if card.id is not None:
            found.setdefault(card.id, Placed(card.id, card, deck, concept_of(deck.path)))
    return found


def is_paused(vault: Vault, concept: str, by_deck: bool) -> bool:
    """Whether `learning: false` keeps a concept out of the queue: in its article, or in its deck as `by_deck` says."""
    try:
        article = vault.read_bytes(article_of(concept))
    except (Refused, Damaged):  # an article that cannot be read says nothing
        return False
    return by_deck or (article is not None and front_pauses(article))
