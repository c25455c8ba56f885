"""Cards that a human wrote by hand get their ids: recorded in the ledger, then written below the card."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from vault import ledger
from vault.card import LONE_COMMENT, Card, Deck, parse_deck
from vault.diagnostic import Diagnostic
from vault.guard import Scope, sha256_hex
from vault.ids import CardId, mint
from vault.store import Vault

_COMMENT = "<!-- card {} -->"


def adopt_cards(vault: Vault, decks: Iterable[Deck], now: datetime, others: Iterable[CardId] = ()) -> list[Deck]:
    """`decks`, each with an id for every card; those that had some already are as they were.

    `others` are the ids of cards in further decks.

    No byte of a human's changes: the comment goes on a line of its own after the card. A card whose comment would not
    be read again stays without an id, and is among its deck's diagnostics. Raises: WriteFailed, Refused.
    """
    decks = list(decks)
    if all(card.id is not None for deck in decks for card in deck.cards):
        return decks
    events, _ = vault.ledger_events(ledger.IDS)
    by_key = {str(event.get("id")): event.get("key") for event in events if event.get("type") == "birth"}
    # An id that was given to these very words before, and that no card has now, is theirs again.
    known = {id_ for id_, key in by_key.items() if key == _key(id_)}
    taken = (by_key.keys() - known) | {str(card.id) for deck in decks for card in deck.cards} | set(others)
    return [_adopted(vault, deck, taken, known, now) for deck in decks]


def _key(id_: str) -> str:
    return f"human:{id_}"


def _adopted(vault: Vault, deck: Deck, taken: set[str], known: set[str], now: datetime) -> Deck:
    named: list[tuple[Card, CardId]] = []
    for card in _waiting(deck):
        birth = f"{_key(deck.path)}\x1f{card.question}\x1f{card.answer}"
        id_ = CardId(mint("card", birth, taken))
        taken.add(id_)
        named.append((card, id_))
    named, after, unheard = _heard(deck, named)
    found = tuple(_without_id(deck, card) for card in unheard)
    if not named:
        return replace(deck, diagnostics=deck.diagnostics + found)
    guard = vault.guard(Scope.LOG)
    head = {"v": 1, "type": "birth", "of": "card"}
    births = [head | {"id": i, "at": ledger.instant(now), "key": _key(i)} for _, i in named if i not in known]
    if births:
        guard.append(ledger.IDS, b"".join(map(ledger.encode, births)))
    guard.write(deck.path, after.text.encode(), expect=sha256_hex(deck.text.encode()))
    return replace(after, diagnostics=after.diagnostics + found)


def _waiting(deck: Deck) -> list[Card]:
    """The cards without an id, less those above a comment that was cut off: it is theirs, and so is its history."""
    alone = {found.line for found in deck.diagnostics if found.code == LONE_COMMENT}
    above = {max((card.line for card in deck.cards if card.line < line), default=0) for line in alone}
    return [card for card in deck.cards if card.id is None and card.line not in above]


def _heard(deck: Deck, named: list[tuple[Card, CardId]]) -> tuple[list[tuple[Card, CardId]], Deck, list[Card]]:
    """(those whose id is read again once it is written, the deck with these, the cards of the others).

    In a card with an open fence the comment would be code, and another one would be added each time.
    """
    unheard: list[Card] = []
    while True:
        after = parse_deck(_spliced(deck.text, named), deck.path)
        read = {card.id: card for card in after.cards}
        lost = [card for card, id_ in named if (got := read.get(id_)) is None or _words(got) != _words(card)]
        if not lost:
            return named, after, unheard
        unheard += lost
        named = [(card, id_) for card, id_ in named if card not in lost]


def _words(card: Card) -> tuple[object, ...]:
    return card.kind, card.question, card.answer, card.support


def _spliced(text: str, named: list[tuple[Card, CardId]]) -> str:
    for card, id_ in reversed(named):
        newline = "\r\n" if text.startswith("\r\n", card.end) else "\n"
        text = text[: card.end] + newline + _COMMENT.format(id_) + text[card.end :]
    return text


def _without_id(deck: Deck, card: Card) -> Diagnostic:
    what = "this card gets no id, as its comment would not be read"
    return Diagnostic(deck.path, card.line, "card-without-id", what, "close the code fence (```) in it")
