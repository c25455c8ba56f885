"""Ids for cards that a user wrote by hand: recorded in the ledger, then written below the card."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from learning.cards.orphans import Orphan, ledger_words, of_deck, orphans
from vault.diagnostic import Diagnostic
from vault.files.guard import Scope, sha256_hex
from vault.ids import CardId, mint
from vault.log import ledger
from vault.model.card import LONE_COMMENT, Card, Deck, card_comment, comment_of, parse_deck, stamp_of
from vault.process.signals import unbroken
from vault.vault import Vault

_NAMED = 3  # ids in one notice


def adopt_cards(vault: Vault, decks: Iterable[Deck], now: datetime, others: Iterable[CardId] = ()) -> list[Deck]:
    """Return `decks` with an id for every card, which are recorded and written; decks that had all ids are unchanged.

    `others` are the ids of cards in further decks. A block whose comment was lost gets the id back that it had, as long
    as its words are the ledger's last for one card alone.

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
    present = {str(card.id) for deck in decks for card in deck.cards} | set(others)
    taken = (by_key.keys() - known) | present
    lost = orphans(events, present)
    found = []
    for deck in decks:
        with unbroken():  # the deck and the ledger
            found.append(_adopted(vault, deck, taken, known, now, lost))
    return found


def _key(id_: str) -> str:
    """Return the ledger key of a card with that id."""
    return f"human:{id_}"


def _adopted(vault: Vault, deck: Deck, taken: set[str], known: set[str], now: datetime, lost: Sequence[Orphan]) -> Deck:
    """Return the deck with ids for its cards, recorded and written."""
    waiting = _waiting(deck)
    missing = of_deck(lost, deck) if waiting else []
    back, unsure = _matched(waiting, missing)
    named: list[tuple[Card, CardId]] = []
    for card in waiting:
        if card in back or card in unsure:
            named += [(card, back[card])] if card in back else []
            continue
        birth = f"{_key(deck.path)}\x1f{card.question}\x1f{card.answer}"
        id_ = CardId(mint("card", birth, taken))
        taken.add(id_)
        named.append((card, id_))
    strange = [id_ for card, id_ in named if card not in back and id_ not in known]
    named, after, unheard = _readable(deck, named, {id_: stamp_of(card) for card, id_ in back.items()})
    found = tuple(_without_id(deck, card) for card in unheard)
    found += tuple(_whose(deck, card, ids) for card, ids in unsure.items())
    if strange and (left := [one.id for one in missing if one.id not in back.values()]):
        first = next(card for card, id_ in named if id_ in strange) if named else waiting[0]
        found += (_stands_nowhere(deck, first, left),)
    if not named:
        return replace(deck, diagnostics=deck.diagnostics + found)
    guard = vault.guard(Scope.LOG)
    head = {"v": 1, "type": "birth", "of": "card"}
    new = [i for card, i in named if i not in known and card not in back]
    births = [head | {"id": i, "at": ledger.instant(now), "key": _key(i)} for i in new]
    if births:
        guard.append(ledger.IDS, b"".join(map(ledger.encode, births)))
    guard.write(deck.path, after.text.encode(), expect=sha256_hex(deck.text.encode()))
    return replace(after, diagnostics=after.diagnostics + found)


def _matched(waiting: Sequence[Card], missing: Sequence[Orphan]) -> tuple[dict[Card, CardId], dict[Card, list[CardId]]]:
    """Return (the cards whose lost id is certain, those that may have one of several)."""
    back: dict[Card, CardId] = {}
    unsure: dict[Card, list[CardId]] = {}
    for card in waiting if missing else ():
        alike = [one.id for one in missing if one.words == ledger_words(card) and one.id not in back.values()]
        if len(alike) == 1:
            back[card] = alike[0]
        elif alike:
            unsure[card] = alike
    return back, unsure


def _waiting(deck: Deck) -> list[Card]:
    """Return the cards without an id, except those above a damaged comment, which may hold their id."""
    alone = {found.line for found in deck.diagnostics if found.code == LONE_COMMENT}
    above = {max((card.line for card in deck.cards if card.line < line), default=0) for line in alone}
    return [card for card in deck.cards if card.id is None and card.line not in above]


def _readable(
    deck: Deck, named: list[tuple[Card, CardId]], stamps: Mapping[CardId, str]
) -> tuple[list[tuple[Card, CardId]], Deck, list[Card]]:
    """Return (the cards whose id reads back once it is written, the deck with these, the other cards).

    In a card with an open fence the comment would be code, and another one would be added each time.
    """
    unheard: list[Card] = []
    while True:
        after = parse_deck(_spliced(deck.text, named, stamps), deck.path)
        read = {card.id: card for card in after.cards}
        lost = [card for card, id_ in named if (got := read.get(id_)) is None or _words(got) != _words(card)]
        if not lost:
            return named, after, unheard
        unheard += lost
        named = [(card, id_) for card, id_ in named if card not in lost]


def _words(card: Card) -> tuple[object, ...]:
    """Return what identifies a card without its id."""
    return card.kind, card.question, card.answer, card.support


def _spliced(text: str, named: list[tuple[Card, CardId]], stamps: Mapping[CardId, str]) -> str:
    """Return the deck's text with the comments of these ids."""
    for card, id_ in reversed(named):
        newline = "\r\n" if text.startswith("\r\n", card.end) else "\n"
        comment = comment_of(replace(card, id=id_, stamp=stamps.get(id_, "")))
        text = text[: card.end] + newline + comment + text[card.end :]
    return text


def _without_id(deck: Deck, card: Card) -> Diagnostic:
    """Return the diagnostic of a card that cannot get an id."""
    what = "no id can be added to this card: the id comment would not be recognized there"
    return Diagnostic(deck.path, card.line, "card-without-id", what, "close the code fence (```) in the card")


def _whose(deck: Deck, card: Card, ids: Sequence[CardId]) -> Diagnostic:
    """Return the diagnostic of a card that may have one of several lost ids."""
    what = f"this card's id comment is missing; its id may have been {' or '.join(ids)}"
    hint = f"put `{card_comment(ids[0])}` (or another of these ids) below the card to keep its history"
    return Diagnostic(deck.path, card.line, "card-comment-lost", what, hint)


def _stands_nowhere(deck: Deck, card: Card, ids: Sequence[CardId]) -> Diagnostic:
    """Return the diagnostic of a card that may be one that was lost."""
    shown = ", ".join(ids[:_NAMED]) + (f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else "")
    what = f"this card got a new id, and {shown} of this concept is no longer in any deck"
    hint = f"if it is the same card, replace its new id comment with `{card_comment(ids[0])}` to keep the history"
    return Diagnostic(deck.path, card.line, "card-comment-lost", what, hint)
