"""The user's decisions in the inbox, as events of the decisions ledger: which count, what they rule out, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from vault.log import ledger
from vault.log.ledger import Event
from vault.text.formatting import normal, short_line

TYPE = "inbox"
UNDO = "undo"
REASON = 300  # stored characters of one reason, which a prompt shows
REASONS = 5  # of one concept in a prompt


class Choice(StrEnum):
    """What the user can decide about an offered version."""

    ACCEPT = "accept"  # the offered version replaces the current one
    KEEP = "keep"  # the current version stays, until another one is offered
    REJECT = "reject"  # as KEEP, with a reason


@dataclass(frozen=True, slots=True)
class Settled:
    """The versions that must not be offered again: path -> digest, card id -> stamp."""

    pages: Mapping[str, str] = field(default_factory=dict)
    cards: Mapping[str, str] = field(default_factory=dict)

    def page(self, path: str, digest: str) -> bool:
        """Return whether this version of a page was kept out."""
        return bool(digest) and self.pages.get(path) == digest

    def card(self, card: str, stamp: str) -> bool:
        """Return whether this version of a card was kept out."""
        return bool(stamp) and self.cards.get(card) == stamp


def current_decisions(decided: Iterable[Event]) -> list[Event]:
    """Return the inbox decisions that were not undone, in order of time."""
    events = [e for e in ledger.ordered(decided) if e.get("type") == TYPE]
    void = {str(e.get("voids")) for e in events if e.get("decision") == UNDO}
    known = [choice.value for choice in Choice]
    return [e for e in events if e.get("decision") in known and "id" in e and str(e["id"]) not in void]


def settled_in(decided: Iterable[Event]) -> Settled:
    """Return the versions of pages and cards that were last kept or rejected."""
    pages: dict[str, str] = {}
    cards: dict[str, str] = {}
    for event in current_decisions(decided):
        accepted = event["decision"] == Choice.ACCEPT
        parts = event.get("cards")
        if isinstance(parts, dict):
            cards |= {str(card): "" if accepted else str(stamp) for card, stamp in parts.items()}
        elif event.get("path"):
            pages[str(event["path"])] = "" if accepted else str(event.get("digest", ""))
    return Settled(pages, cards)


def reasons_for(decided: Iterable[Event], concept: str) -> tuple[str, ...]:
    """Return why the user rejected versions for a concept or topic (its id): a few short reasons, newest last."""
    if not concept:
        return ()
    turned_down = [
        e for e in current_decisions(decided) if e["decision"] == Choice.REJECT and e.get("about") == concept
    ]
    reasons = (reason_of(e.get("reason")) for e in turned_down)
    said = list(dict.fromkeys(reversed([words for words in reasons if words])))[:REASONS]
    return tuple(reversed(said))


def all_reasons(decided: Sequence[Event]) -> dict[str, tuple[str, ...]]:
    """Return `reasons_for` every concept and topic with a rejection."""
    about = {str(e.get("about")) for e in current_decisions(decided) if e["decision"] == Choice.REJECT}
    return {concept: reasons_for(decided, concept) for concept in sorted(about) if reasons_for(decided, concept)}


def rejected_at(decided: Sequence[Event], concept: str) -> str:
    """Return when a version of a concept or topic was last rejected; "" if none was."""
    found = (e for e in current_decisions(decided) if e["decision"] == Choice.REJECT and e.get("about") == concept)
    return max((str(e.get("at", "")) for e in found), default="")


def reason_of(given: object) -> str:
    """Return a reason as one sanitized, truncated line; "" for what is no text."""
    return short_line(normal(given), REASON) if isinstance(given, str) else ""
