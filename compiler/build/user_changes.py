"""What the user changed in cards and agenda since the last build: cards deleted or flagged, gaps ticked off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compiler.build.start import BuildInput
from compiler.cards.decks import cards_in_text, cards_listed_in, hidden_in_code
from compiler.cards.gaps import decisions_in
from compiler.cards.live_cards import form_in
from compiler.sources import inventory
from vault.ids import CardId, GapId
from vault.layout import FLASHCARDS, GAPS
from vault.log.card_history import UNWANTED, flags_of
from vault.log.ledger import Event, Ids
from vault.model.card import parse_deck
from vault.model.gaps import GapStatus, ticked_gaps
from vault.text.diff import sides


@dataclass(frozen=True, slots=True)
class UserChanges:
    """The decisions since the last build as events, and all that hold now: cards not to be asked, gaps closed.

    `decks` are the ids of the cards in each file of flashcards, `present` those in files that git left no conflict in.
    `open_code` has the files in which a code block hides cards, with the line (from 1) where it begins.
    """

    decisions: list[Event]
    deleted: frozenset[CardId]
    flagged: Mapping[CardId, str]  # card -> why
    gaps: dict[GapId, GapStatus]
    decks: dict[str, list[CardId]]
    present: frozenset[CardId]
    open_code: Mapping[str, int]


def user_changes(start: BuildInput, ids: Ids) -> UserChanges:
    """Return what the user decided by editing decks and the agenda, or by flagging cards."""
    decks = {path: _read_deck(start, path) for path in start.vault.paths(FLASHCARDS, ".md")}
    decisions: list[Event] = []
    deleted = _deleted(start, decks, ids, decisions)
    flagged = _flagged(start, decks, ids, decisions)
    known = decisions_in(start.decided)
    decisions += [
        {"v": 1, "type": "gap", "gap": gap, "decision": "resolve", "at": start.at, "via": "tick"}
        for gap in ticked_gaps(start.files.text_of(GAPS) or "")
        if known.get(gap, GapStatus.PLANNED) is GapStatus.PLANNED
    ]
    open_code = {path: line for path, deck in decks.items() if (line := deck.open_code(ids))}
    in_decks = {path: [*deck.cards, *(deck.hidden() if path in open_code else ())] for path, deck in decks.items()}
    whole = frozenset(card for path, cards in in_decks.items() if not decks[path].conflict for card in cards)
    gaps = decisions_in([*start.decided, *decisions])
    return UserChanges(decisions, deleted, flagged, gaps, in_decks, whole, open_code)


@dataclass(frozen=True, slots=True)
class _DeckFacts:
    """What a deck says of cards: those in it and which of them the user edited, those whose comment is anywhere in it,
    those that the machine last left in it; `conflict` where git left conflict markers. `in_code` are the cards that a
    code block hides, as `hidden_in_code` returns them.
    """

    cards: list[CardId]
    edited: list[CardId]
    present: list[CardId]
    left: list[CardId]
    conflict: bool
    in_code: list[tuple[int, CardId | None]]

    def open_code(self, ids: Ids) -> int:
        """Return the line of the first code block that is never closed or hides a card of the vault, 0 without one.

        Of a conflict, both sides are compared on their own. A card that the vault does not know is an example.
        """
        found = () if self.conflict else self.in_code
        return next((line for line, card in found if card is None or card in ids.births), 0)

    def hidden(self) -> list[CardId]:
        """Return the cards that code blocks hide."""
        return [card for _, card in self.in_code if card is not None]


def _read_deck(start: BuildInput, path: str) -> _DeckFacts:
    """Return what a deck says of cards."""

    def facts(_: str) -> list[Any]:
        text = start.files.text_of(path) or ""
        deck, conflict = parse_deck(text, path), sides(text) is not None
        return [
            [c.id for c in deck.cards if c.id is not None],
            [c.id for c in deck.cards if c.id is not None and c.human_edited],
            sorted(cards_in_text(text)),
            [] if conflict else cards_listed_in(text),
            conflict,
            hidden_in_code(deck),
        ]

    return _DeckFacts(*start.files.fact("deck-and-code", path, facts))


def _deleted(start: BuildInput, decks: Mapping[str, _DeckFacts], ids: Ids, decisions: list[Event]) -> frozenset[CardId]:
    """Return the cards that the user took out of a deck, now or before, and has not put back.

    A deck says which cards the machine left in it. A card is deleted if its comment is nowhere below the folder; a
    whole file that is gone deletes none, as products may be deleted.
    """
    present = {id_ for deck in decks.values() for id_ in deck.present}
    left = {id_ for deck in decks.values() for id_ in deck.left}
    missing = {id_ for id_ in left - present if ids.alive(id_)}
    if missing:
        deeper = inventory.scan(start.vault.root, FLASHCARDS).files
        others = (start.files.text_of(f.path) or "" for f in deeper if f.path not in decks)
        missing -= {id_ for text in others for id_ in cards_in_text(text)}
    events = (e for e in start.decided if e.get("type") == "card-deleted")
    before = {CardId(str(e.get("card"))) for e in events} - present
    decisions += [
        {"v": 1, "type": "card-deleted", "card": i, **_form(i, ids), "at": start.at} for i in sorted(missing - before)
    ]
    return frozenset(before | missing)


def _form(card: CardId, ids: Ids) -> dict[str, str]:
    """Return the form of question of a card that was suggested: its like are suggested, or queued, by what is kept."""
    form = form_in(ids.births[card].key) if card in ids.births else ""
    return {"form": form} if form else {}


def _flagged(start: BuildInput, decks: Mapping[str, _DeckFacts], ids: Ids, decisions: list[Event]) -> dict[CardId, str]:
    """Return the machine's cards that the user flagged as ones not to be asked, and why.

    A card that the user has edited is the user's, whatever was wrong with it before. Whether the user edited one that a
    code block hides cannot be told: what was decided about it before still holds.
    """
    flags = {card: reason for card, reason in flags_of(start.vault.root).items() if reason.casefold() in UNWANTED}
    edited = {card for deck in decks.values() for card in deck.edited}
    hidden = {card for deck in decks.values() if deck.open_code(ids) for card in deck.hidden()}
    found = {card: reason for card, reason in flags.items() if card in ids.births and card not in edited | hidden}
    before: dict[str, str] = {}
    for event in start.decided:
        if event.get("type") == "card-flag":
            before[str(event.get("card"))] = str(event.get("reason", ""))
    found |= {card: before[card] for card in hidden if before.get(card)}
    decisions += [
        {"v": 1, "type": "card-flag", "card": card, "reason": reason, **_form(card, ids), "at": start.at, "via": "log"}
        for card in sorted({*found, *(CardId(c) for c, reason in before.items() if reason)})
        if (reason := found.get(card, "")) != before.get(card, "")
    ]
    return found
