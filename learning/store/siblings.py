"""Siblings among cards that are of no concept: those of one Anki note, in whatever decks they are, or of one block.

A file of an imported deck, or of the user's own, is no concept: its cards have nothing in common but the deck. What
note an imported card was made of is said by its birth in the ledger.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from learning.store.placed import Placed
from vault.ids import CardId
from vault.log import ledger
from vault.model.card import Card, Deck
from vault.vault import Vault

DECK = "anki_deck"  # the property that names the deck in Anki, and so tells an imported file
OWN_DECK = "deck"  # the property that names a deck of the user's own, which is of no concept
_ID = re.compile(rb'"id":\s*"([0-9a-z]{10})"')
_KEY = re.compile(r"anki:(\d{1,9}):(.+)", re.DOTALL)
_EVENTS = (b'"birth"', b'"reanchor"')


def is_imported(deck: Deck) -> bool:
    """Return whether a deck holds cards that were imported from Anki."""
    return _has_property(deck, DECK)


def is_own(deck: Deck) -> bool:
    """Return whether a deck is the user's own, of cards made by hand, and of no concept."""
    return _has_property(deck, OWN_DECK)


def _has_property(deck: Deck, name: str) -> bool:
    """Return whether the front matter has a line of that property, without parsing YAML."""
    return deck.text.find(f"\n{name}:", 0, max(deck.text.find("\n---", 3), 0)) >= 0


def note_numbers(vault: Vault, wanted: Container[CardId]) -> dict[CardId, int]:
    """Return for each card a number of 64 bits, never 0, that only cards of the same Anki note share.

    A card is left out whose birth the ledger has not, as when an import was cut off: the next one tells.
    """
    found: dict[CardId, int] = {}
    for line in (vault.read_bytes(ledger.IDS) or b"").split(b"\n"):
        said = _ID.search(line) if any(type_ in line for type_ in _EVENTS) else None
        card = CardId(said[1].decode()) if said else None
        if card is None or card not in wanted:
            continue
        if b'"anki:' in line and (note := _note(line, card)):
            found[card] = _number(f"note\0{note}")
        else:
            found.setdefault(card, own_number(card))
    return found


@dataclass(slots=True)
class ImportedCards:
    """What the ledger has of cards that were ever imported: for each Anki note its cards by their numbers there, in
    order of their births and then numbers; and the sides ("question", "answer") of a card that are written from right
    to left.
    """

    notes: list[dict[int, CardId]]
    rtl: dict[CardId, tuple[str, ...]]


def cards_imported(vault: Vault) -> ImportedCards:
    """Return the cards that were ever imported from Anki, whether they are still in a deck or not."""
    found: dict[str, dict[int, CardId]] = {}
    since: dict[CardId, str] = {}  # a merge of two ledgers may have put their lines into any order
    latest: dict[CardId, tuple[int, tuple[str, ...]]] = {}
    for line in (vault.read_bytes(ledger.IDS) or b"").split(b"\n"):
        said = _ID.search(line) if b'"anki:' in line and any(type_ in line for type_ in _EVENTS) else None
        card = CardId(said[1].decode()) if said else None
        if card is None or (event := _event(line, card)) is None or (key := _key(event)) is None:
            continue
        found.setdefault(key[1], {}).setdefault(key[0], card)
        since[card] = min(since.get(card, "~"), str(event.get("at", "")))
        mod = event.get("mod")
        latest[card] = max(latest.get(card, (0, ())), (mod if isinstance(mod, int) else 0, rtl_sides(event)))
    notes = [dict(sorted(cards.items(), key=lambda one: (since[one[1]], one[0]))) for cards in found.values()]
    return ImportedCards(notes, {card: sides for card, (_, sides) in latest.items() if sides})


def rtl_sides(event: ledger.Event) -> tuple[str, ...]:
    """Return the sides of a card that its ledger event says are written from right to left."""
    sides = event.get("rtl")
    return tuple(side for side in ("question", "answer") if isinstance(sides, list) and side in sides)


def _note(line: bytes, card: CardId) -> str:
    """Return the GUID of the note of a ledger line; "" where it has none."""
    event = _event(line, card)
    key = _key(event) if event is not None else None
    return "" if key is None else key[1]


def _event(line: bytes, card: CardId) -> ledger.Event | None:
    """Return the event in a ledger line if it is of that card."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    is_of_card = isinstance(event, dict) and event.get("id") == card and event.get("of") == "card"
    return event if is_of_card else None


def _key(event: ledger.Event) -> tuple[int, str] | None:
    """Return number and GUID in the key `anki:<number>:<guid>` of an event; None where it has none."""
    found = _KEY.fullmatch(str(event.get("key", "")))
    return (int(found[1]), found[2]) if found else None


def own_number(card: CardId) -> int:
    """Return the number of a card that has no siblings."""
    return _number(f"card\0{card}")


def _number(text: str) -> int:
    """Return a number of 64 bits, never 0, for a text."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big") or 1


def group_name(number: int) -> str:
    """Return the queue's name for the siblings of a note; no file has such a name."""
    return f"anki:{number:016x}"


def block_name(card: Card) -> str:
    """Return the queue's name for the cards of one block; no file has such a name."""
    return f"block:{card.note or card.id}"


def groups(vault: Vault, cards: Iterable[Placed]) -> dict[CardId, str]:
    """Return for each card the name of its siblings: its note if it was imported, else its concept."""
    found: dict[CardId, str] = {}
    imported: dict[str, bool] = {}
    ours: set[CardId] = set()
    for placed in cards:
        found[placed.id] = block_name(placed.card) if is_own(placed.deck) else placed.concept
        if imported.setdefault(placed.deck.path, is_imported(placed.deck)):
            ours.add(placed.id)
    numbers = note_numbers(vault, ours) if ours else {}
    return found | {card: group_name(numbers.get(card) or own_number(card)) for card in ours}


def imported_cards(cards: Mapping[CardId, Placed], vault: Vault) -> list[CardId]:
    """Return the cards that were imported from Anki, in the order of `cards`: in some Anki they are notes already.

    Their births tell, wherever they stand now; without one, as where an import was cut off, the file that they are in.
    """
    numbers = note_numbers(vault, cards)
    return [
        card
        for card, placed in cards.items()
        if (numbers[card] != own_number(card) if card in numbers else is_imported(placed.deck))
    ]
