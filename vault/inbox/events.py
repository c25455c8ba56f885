"""What the human said in the inbox, as the ledger of decisions holds it: what stands, what it settles, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from vault.log import ledger
from vault.log.ledger import Event
from vault.text.sanitize import clean_line, normal

TYPE = "inbox"
UNDO = "undo"
REASON = 300  # characters of one reason that are kept, and that a prompt is shown
REASONS = 5  # of one concept that a prompt is shown


class Choice(StrEnum):
    ACCEPT = "accept"  # what is offered takes the place of what stands
    KEEP = "keep"  # what stands stays, until something else is offered
    REJECT = "reject"  # likewise, and why


@dataclass(frozen=True, slots=True)
class Settled:
    """The versions that the human does not want to be offered again: path -> its digest, card -> its stamp."""

    pages: Mapping[str, str] = field(default_factory=dict)
    cards: Mapping[str, str] = field(default_factory=dict)

    def page(self, path: str, digest: str) -> bool:
        return bool(digest) and self.pages.get(path) == digest

    def card(self, card: str, stamp: str) -> bool:
        return bool(stamp) and self.cards.get(card) == stamp


def standing(decided: Iterable[Event]) -> list[Event]:
    """The decisions of the inbox that count, in order of time: those that no later one takes back."""
    events = [e for e in ledger.ordered(decided) if e.get("type") == TYPE]
    void = {str(e.get("voids")) for e in events if e.get("decision") == UNDO}
    known = [choice.value for choice in Choice]
    return [e for e in events if e.get("decision") in known and "id" in e and str(e["id"]) not in void]


def settled_in(decided: Iterable[Event]) -> Settled:
    """What was kept or rejected last of each page and card; what was accepted is settled by the file itself."""
    pages: dict[str, str] = {}
    cards: dict[str, str] = {}
    for event in standing(decided):
        accepted = event["decision"] == Choice.ACCEPT
        parts = event.get("cards")
        if isinstance(parts, dict):
            cards |= {str(card): "" if accepted else str(stamp) for card, stamp in parts.items()}
        elif event.get("path"):
            pages[str(event["path"])] = "" if accepted else str(event.get("digest", ""))
    return Settled(pages, cards)


def reasons_for(decided: Iterable[Event], concept: str) -> tuple[str, ...]:
    """Why the human turned down what was offered for a concept or topic (its id): newest last, few and short."""
    if not concept:
        return ()
    turned_down = [e for e in standing(decided) if e["decision"] == Choice.REJECT and e.get("about") == concept]
    told = (reason_of(e.get("reason")) for e in turned_down)
    said = list(dict.fromkeys(reversed([words for words in told if words])))[:REASONS]
    return tuple(reversed(said))


def all_reasons(decided: Sequence[Event]) -> dict[str, tuple[str, ...]]:
    """`reasons_for` of every concept and topic of which something was turned down."""
    about = {str(e.get("about")) for e in standing(decided) if e["decision"] == Choice.REJECT}
    return {concept: reasons_for(decided, concept) for concept in sorted(about) if reasons_for(decided, concept)}


def reason_of(given: object) -> str:
    """A reason on one clean line, cut where it is long; "" for what is no text."""
    words = clean_line(normal(given)) if isinstance(given, str) else ""
    return words if len(words) <= REASON else words[: REASON - 1].rstrip() + "…"
