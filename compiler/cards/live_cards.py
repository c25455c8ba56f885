"""The cards of the ledger: their words, their keys, and what the ledger keeps when they change."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from compiler.language.rewording import Change, classify, worst
from compiler.model.requests import ProposedCard, SuggestedCard
from vault.ids import ID, CardId, ClaimId, digest12
from vault.log.card_history import MOST_WAS
from vault.log.ledger import Event, Ids
from vault.model.card import CardKind

AGENTS = "agent/"  # the engine of a card with an agent's words, then its run


@dataclass(frozen=True, slots=True)
class LiveCard:
    """A card of the ledger: its words are plain text, and were admitted when its claims read as `proof` (12 hex)."""

    id: CardId
    concept: str
    kind: CardKind
    question: str
    answer: str
    cites: tuple[ClaimId, ...]
    proof: str
    engine: str


def live_cards(events: Sequence[Event], ids: Ids) -> dict[CardId, LiveCard]:
    """Return the cards of the ledger with their last text, retired ones included. `events` are in order."""
    cards: dict[CardId, LiveCard] = {}
    for event in events:
        if (
            event.get("of") != "card"
            or event.get("type") not in ("birth", "change")
            or event.get("id") not in ids.births
        ):
            continue
        try:
            card = LiveCard(
                CardId(event["id"]),
                str(event["concept"]),
                CardKind(event["kind"]),
                str(event["q"]),
                str(event["a"]),
                tuple(ClaimId(c) for c in event["cites"]),
                str(event["proof"]),
                str(event["engine"]),
            )
        except (KeyError, ValueError, TypeError):
            continue  # of a later version, or damaged: the next compile rewrites the card
        cards[card.id] = card
    return cards


def keyed(cards: Sequence[ProposedCard], suffix: Callable[[str], str] = lambda _: "") -> dict[str, ProposedCard]:
    """Return the cards by key: kind and first claim, numbered if there are several.

    `suffix` returns what is added to the key if the claim is about another concept.
    """
    out: dict[str, ProposedCard] = {}
    for card in cards:
        first = card.cites[0] if card.cites else ""
        key = f"{card.kind}:{first}{suffix(first)}"
        numbers = itertools.chain([key], (f"{key}:{n}" for n in itertools.count(2)))
        out[next(k for k in numbers if k not in out)] = card
    return out


def suggestion_key(card: SuggestedCard) -> str:
    """Return the key of a suggested card that the user keeps: kind, claim, form of question, number."""
    key = f"{card.kind}:{card.cites[0]}:{card.form}"
    return key if card.number == 1 else f"{key}:{card.number}"


def form_in(key: str) -> str:
    """Return the form of question in the key of a card that was suggested; "" for another card's."""
    third = key.split(":")[2:3]
    return third[0] if third and not third[0].isdigit() and not ID.fullmatch(third[0]) else ""


def proof_of(cites: Sequence[str], words: dict[str, str]) -> str:
    """Return twelve hex digits of the cited claims' words: when they change, the card must be looked at."""
    return digest12("\x1f".join(words[c] for c in cites))


def change_between(old: LiveCard, new: ProposedCard) -> Change:
    """Return how far a card's words changed: its question or its answer, whichever changed more."""
    return worst((classify(old.question, new.question.strip()), classify(old.answer, new.answer.strip())))


def as_proposed(card: LiveCard) -> ProposedCard:
    """Return the card as an engine would propose it."""
    return ProposedCard(kind=card.kind.value, question=card.question, answer=card.answer, cites=card.cites)


def change_facts(old: LiveCard, new: LiveCard, change: Change) -> Event:
    """Return what the ledger keeps of a change besides the new words: how far it goes, and the former words."""
    if (old.question, old.answer) == (new.question, new.answer):
        return {"how": change.value}
    return {"how": change.value, "was": {"q": old.question[:MOST_WAS], "a": old.answer[:MOST_WAS]}}
