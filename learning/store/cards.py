"""The cards of a vault by id, each read from its deck when it is asked for."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, ValuesView
from dataclasses import dataclass

from learning.store.decks import ORDER, read_tags, shadow, unshadow, update_decks
from learning.store.placed import Placed, concept_of
from vault.audit.agent_runs import at_work, judged_decks
from vault.ids import CardId
from vault.index import stamps
from vault.index.database import Database, Row
from vault.layout import FLASHCARDS
from vault.model.card import Deck
from vault.vault import Vault

_FROM = "FROM card JOIN deck ON deck.number = card.deck"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a card is, and what a list shows of it."""

    path: str
    line: int
    title: str
    kind: str


class IndexedCards(Mapping[CardId, Placed]):
    """Every card that has an id, in the order of the decks. A deck is parsed when one of its cards is asked for.

    `known` are decks that need not be read, by path, `shadowed` says that they are all there are. A card that has gone
    from its deck since the index was made is looked for in the other decks, and a KeyError if it is nowhere; `values`
    passes it over.
    """

    def __init__(self, vault: Vault, database: Database, known: Mapping[str, Deck], *, shadowed: bool = False) -> None:
        self.vault, self.database, self.known, self.shadowed = vault, database, known, shadowed
        self._decks: dict[str, dict[CardId, Placed]] = {}
        self._places: dict[str, Place] = {}

    def __len__(self) -> int:
        row = self.database.one("SELECT count(*) FROM card")
        return int(row[0]) if row else 0

    def __iter__(self) -> Iterator[CardId]:
        return (CardId(card) for (card,) in self.database.rows(f"SELECT card.id {_FROM} ORDER BY {ORDER}"))

    def __contains__(self, card: object) -> bool:
        return card in self._places or self._row("1", card) is not None

    def __getitem__(self, card: CardId) -> Placed:
        path = self.place(card).path
        if path not in self._decks:
            deck = self.deck(path)
            self._decks[path] = {} if deck is None else _placed(deck)
        return self._decks[path].get(card) or self._elsewhere(card)

    def deck(self, path: str) -> Deck | None:
        """Return a deck as it is to be used; None if it is gone."""
        return self.known.get(path) or (None if self.shadowed else self.vault.deck(path))

    def values(self) -> ValuesView[Placed]:
        return _Values(self)

    def place(self, card: CardId) -> Place:
        """Return where a card is, without reading its deck. Raises: KeyError."""
        found = self._places.get(card)
        if found is None:
            row = self._row("deck.name, card.line, deck.title, card.kind", card)
            if row is None:
                raise KeyError(card)
            found = self.add(card, row)
        return found

    def add(self, card: CardId, row: Row) -> Place:
        """Take the place of a card that has just been read: name of its deck, line, title, kind."""
        found = self._places[card] = Place(path_of(row[0]), *row[1:])
        return found

    def places(self) -> dict[CardId, Place]:
        """Return every card with its place, in the order of the decks."""
        rows = self.database.rows(
            f"SELECT card.id, deck.name, card.line, deck.title, card.kind {_FROM} ORDER BY {ORDER}"
        )
        return {CardId(row[0]): Place(path_of(row[1]), *row[2:]) for row in rows}

    def group(self, card: CardId) -> str:
        """Return the name of a card's siblings: its Anki note if it was imported, its block in a deck of the user's
        own, else its concept. Raises: KeyError.
        """
        row = self._row("card.siblings, deck.name", card)
        if row is None:
            raise KeyError(card)
        return row[0] or concept_of(path_of(row[1]))

    def titles(self) -> list[tuple[str, str]]:
        """Return the path and title of every deck, by name."""
        return [
            (path_of(name), title) for name, title in self.database.rows("SELECT name, title FROM deck ORDER BY name")
        ]

    def concepts(self) -> int:
        """Return how many concepts have a card."""
        row = self.database.one("SELECT count(DISTINCT deck) FROM card")
        return int(row[0]) if row else 0

    def decks(self) -> Iterator[tuple[bytes, str, tuple[str, ...], list[tuple[CardId, str]]]]:
        """Yield of each deck its name, title and tags, and its cards with their kinds."""
        read_tags(self.database, self.deck)
        cards: dict[int, list[tuple[CardId, str]]] = {}
        for deck, card, kind in self.database.rows("SELECT deck, id, kind FROM card ORDER BY deck, place"):
            cards.setdefault(deck, []).append((card, kind))
        for deck, name, title, tags in self.database.rows(
            "SELECT number, name, title, deck_tags FROM deck ORDER BY name"
        ):
            yield name, title, tuple(json.loads(tags or "[]")), cards.get(deck, [])

    def _row(self, columns: str, card: object) -> Row | None:
        """Return columns of a card and its deck; None if it is in no deck."""
        if not isinstance(card, str) or not card.isascii():
            return None
        return self.database.one(f"SELECT {columns} {_FROM} WHERE card.id = ?", (card,))

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


def read_cards(vault: Vault, database: Database, listing: stamps.Listing | None = None) -> IndexedCards:
    """Return the cards of the decks as they are now; `listing` is their folder, where it has just been listed.

    Raises: Refused where a deck cannot be read.
    """
    if not at_work(vault):
        unshadow(database)
        try:
            found = (stamps.listing(vault.root, FLASHCARDS) if listing is None else listing).files(".md")
        except OSError:
            return cards_of(vault, database, judged_decks(vault))
        known, repeats = update_decks(vault, database, found)
        if not repeats:
            return IndexedCards(vault, database, known)
    return cards_of(vault, database, judged_decks(vault))


def cards_of(vault: Vault, database: Database, decks: Iterator[Deck] | list[Deck]) -> IndexedCards:
    """Return the cards of these decks, whatever the vault has."""
    known = {deck.path: deck for deck in decks}
    shadow(vault, database, known.values())
    return IndexedCards(vault, database, known, shadowed=True)


def path_of(name: bytes) -> str:
    """Return the vault path of a deck."""
    return f"{FLASHCARDS}/{os.fsdecode(name)}"


def _placed(deck: Deck) -> dict[CardId, Placed]:
    """Return the cards of a deck by id; of an id that is there twice, the first."""
    found: dict[CardId, Placed] = {}
    for card in deck.cards:
        if card.id is not None:
            found.setdefault(card.id, Placed(card.id, card, deck, concept_of(deck.path)))
    return found
