"""Cards that a human wrote by hand get their ids: recorded in the ledger, then written below the card."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from vault import ledger
from vault.card import Card, Deck, parse_deck
from vault.guard import Scope, sha256_hex
from vault.ids import CardId, mint
from vault.store import Vault

_COMMENT = "<!-- card {} -->"


def adopt_cards(vault: Vault, decks: Iterable[Deck], now: datetime) -> list[Deck]:
    """`decks`, each with an id for every card; those that had some already are as they were.

    No byte of a human's changes: the comment goes on a line of its own after the card. Raises: WriteFailed, Refused.
    """
    decks = list(decks)
    if all(card.id is not None for deck in decks for card in deck.cards):
        return decks
    events, _ = vault.ledger_events(ledger.IDS)
    by_key = {str(event.get("id")): event.get("key") for event in events if event.get("type") == "birth"}
    # An id that was given to these very words before, and that no card has now, is theirs again.
    known = {id_ for id_, key in by_key.items() if key == _key(id_)}
    taken = (by_key.keys() - known) | {str(card.id) for deck in decks for card in deck.cards}
    return [_adopted(vault, deck, taken, known, now) for deck in decks]


def _key(id_: str) -> str:
    return f"human:{id_}"


def _adopted(vault: Vault, deck: Deck, taken: set[str], known: set[str], now: datetime) -> Deck:
    named: list[tuple[Card, CardId]] = []
    for card in deck.cards:
        if card.id is None:
            birth = f"{_key(deck.path)}\x1f{card.question}\x1f{card.answer}"
            id_ = CardId(mint("card", birth, taken))
            taken.add(id_)
            named.append((card, id_))
    if not named:
        return deck
    guard = vault.guard(Scope.LOG)
    head = {"v": 1, "type": "birth", "of": "card"}
    births = [head | {"id": i, "at": ledger.instant(now), "key": _key(i)} for _, i in named if i not in known]
    if births:
        guard.append(ledger.IDS, b"".join(map(ledger.encode, births)))
    text = deck.text
    for card, id_ in reversed(named):
        newline = "\r\n" if text.startswith("\r\n", card.end) else "\n"
        text = text[: card.end] + newline + _COMMENT.format(id_) + text[card.end :]
    guard.write(deck.path, text.encode(), expect=sha256_hex(deck.text.encode()))
    return parse_deck(text, deck.path)
