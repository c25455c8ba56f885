"""Cards of the ledger that are in no deck, by their words: a comment lost by hand must not lose their history."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from vault.ids import CardId
from vault.log import ledger
from vault.log.ledger import Event
from vault.model.card import Card, Deck
from vault.model.exhibit import split_exhibits
from vault.model.markdown import unescape
from vault.text.formatting import fold

# The reason that a compile records for a card that it no longer found: now, and in earlier versions.
_BY_HAND = ("you deleted it", "the user deleted it", "the human deleted it")


@dataclass(frozen=True, slots=True)
class Orphan:
    """A card that the ledger does not retire and no deck holds, with the words it last had."""

    id: CardId
    concept: str
    words: tuple[str, str]


def orphans(events: Iterable[Event], present: Collection[str]) -> tuple[Orphan, ...]:
    """Return the cards of the ledger's events that are not among those `present` in decks, by id.

    Those that were retired as their evidence went are none: nobody is to be asked for them again.
    """
    last: dict[str, Event] = {}
    why: dict[str, str] = {}
    for event in ledger.ordered(e for e in events if e.get("of") == "card" and e.get("id") not in present):
        id_, type_ = str(event.get("id")), event.get("type")
        if type_ in ("birth", "change") and isinstance(event.get("q"), str) and isinstance(event.get("a"), str):
            last[id_] = event
        elif type_ == "retire":
            why[id_] = str(event.get("reason", ""))
        elif type_ == "revive":
            why.pop(id_, None)
    return tuple(
        Orphan(CardId(id_), str(event.get("concept", "")), (fold(event["q"]), fold(event["a"])))
        for id_, event in sorted(last.items())
        if why.get(id_, _BY_HAND[0]) in _BY_HAND
    )


def of_deck(found: Iterable[Orphan], deck: Deck) -> list[Orphan]:
    """Return those that belong to the deck's concept, or that the machine says it left in it."""
    concept, left = deck.properties.text("concept"), deck.properties.text("cards").split()
    return [one for one in found if (concept and one.concept == concept) or one.id in left]


def ledger_words(card: Card) -> tuple[str, str]:
    """Return question and answer as the ledger has them: without Markdown's escapes and what is shown below."""
    said, _ = split_exhibits(card.answer.split("\n"))
    return fold(unescape(card.question)), fold(unescape("\n".join(said)))
