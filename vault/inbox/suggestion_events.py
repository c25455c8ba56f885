"""The user's decisions on suggested cards, as events of the decisions ledger, and the forms of question they promote.

Each decision has an id of its own; an undo names the decision that it voids. Of several on one card the last by time
counts, so that two clones whose ledgers were merged agree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from vault.ids import ID, CardId, digest12
from vault.log import ledger
from vault.log.ledger import Event
from vault.text.formatting import clean, clean_line, fold

TYPE = "suggestion"
LAST = 30  # decisions on one form of question that say whether its cards are queued by themselves
SHARE = 0.75  # of these that must have been kept
_UNDO = "undo"
_MOST = 64 * 1024  # characters of a card's words


class Decision(StrEnum):
    """What the user decides about a suggested card."""

    KEEP = "keep"
    EDIT = "edit"  # kept, in the user's own words
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class Decided:
    """One decision. `question` and `answer` are what the card said; of an edit, what the user made of it (Markdown)."""

    id: str
    card: CardId
    decision: Decision
    form: str
    question: str
    answer: str
    at: str

    @property
    def kept(self) -> bool:
        """Return whether the card was kept, edited or not."""
        return self.decision is not Decision.DROP


@dataclass(frozen=True, slots=True)
class Triage:
    """All decisions that count: the last on each card; `undone` maps the cards on which none is left to their form.

    `queued` are the forms of question whose cards are queued by themselves. `worded` are the cards that the user ever
    kept in words of their own, with these.
    """

    decided: Mapping[str, Decided] = field(default_factory=dict)
    undone: Mapping[str, str] = field(default_factory=dict)
    queued: frozenset[str] = frozenset()
    dropped_questions: frozenset[str] = frozenset()
    worded: Mapping[str, frozenset[tuple[str, str]]] = field(default_factory=dict)

    def kept(self, card: str) -> bool:
        """Return whether the user kept the card."""
        return card in self.decided and self.decided[card].kept

    def is_undone(self, card: str) -> bool:
        """Return whether a card is there only for a decision that was undone."""
        return card in self.undone and self.undone[card] not in self.queued

    def dropped(self, card: str, question: str = "") -> bool:
        """Return whether the user dropped the card, or another one that asked this."""
        if card in self.decided:
            return not self.decided[card].kept
        return bool(question) and folded(question) in self.dropped_questions

    @property
    def withdrawn(self) -> dict[str, frozenset[tuple[str, str]]]:
        """Return the words of the user's on cards that the user kept with them once, and wants no more."""
        return {card: words for card, words in self.worded.items() if self.dropped(card) or self.is_undone(card)}


def folded(question: str) -> str:
    """Return a question in the form in which equal ones are equal."""
    return fold(question).casefold()


def new_event(card: CardId, decision: Decision, form: str, question: str, answer: str, at: str, via: str) -> Event:
    """Return the line of the ledger for a decision."""
    id_ = digest12("\x1f".join([card, decision, at]))
    said: Event = {"card": card, "decision": decision.value, "form": form, "q": question, "a": answer}
    return {"v": 1, "type": TYPE, "id": id_, **said, "at": at, "via": via}


def undo_event(decided: Decided, at: str, via: str) -> Event:
    """Return the line of the ledger that voids a decision."""
    return {"v": 1, "type": TYPE, "decision": _UNDO, "card": decided.card, "voids": decided.id, "at": at, "via": via}


def decisions_in(events: Iterable[Event]) -> list[Decided]:
    """Return the decisions that were not undone, in order of time; invalid ones are left out."""
    mine = [e for e in ledger.ordered(events) if e.get("type") == TYPE]
    void = {str(e.get("voids")) for e in mine if e.get("decision") == _UNDO}
    found = (_decided(e) for e in mine)
    return [d for d in found if d is not None and d.id not in void]


def _worded(events: Iterable[Event]) -> dict[str, frozenset[tuple[str, str]]]:
    """Return the user's words by card, those that were undone among them."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for one in map(_decided, events):
        if one is not None and one.decision is Decision.EDIT:
            found[one.card].add((one.question, one.answer))
    return {card: frozenset(words) for card, words in found.items()}


def _decided(event: Event) -> Decided | None:
    texts = [event.get(key) for key in ("id", "card", "decision", "form", "q", "a", "at")]
    if not all(isinstance(text, str) and len(text) <= _MOST for text in texts):
        return None
    id_, card, decision, form, question, answer, at = map(str, texts)
    if decision not in set(Decision) or not ID.fullmatch(card):
        return None
    return Decided(id_, CardId(card), Decision(decision), clean_line(form), clean(question), clean(answer), at)


def triage_of(events: Iterable[Event]) -> Triage:
    """Return what all decisions amount to."""
    every = ledger.ordered(events)
    known = [e for e in every if e.get("type") == TYPE]
    last: dict[str, Decided] = {}
    for one in decisions_in(known):
        last.pop(one.card, None)  # so that the order is that of the last decisions
        last[one.card] = one
    forms = {str(e.get("card")): clean_line(str(e.get("form"))) for e in known if e.get("decision") != _UNDO}
    undone = {card: form for card, form in forms.items() if card not in last}
    dropped = frozenset(folded(one.question) for one in last.values() if not one.kept)
    return Triage(last, undone, _queued(every, last), dropped, _worded(known))


def _queued(events: Iterable[Event], last: Mapping[str, Decided]) -> frozenset[str]:
    """Return the forms of question of which enough was kept lately. `events` are in order of time.

    A card that came into a deck and that the user deleted, or flagged as unwanted, counts as dropped then.
    """
    counted = {one.id for one in last.values()}
    kept: dict[str, tuple[str, bool]] = {}  # card -> its form and whether it was kept, in order of time
    for event in events:
        card, form = str(event.get("card")), event.get("form")
        if not isinstance(form, str):
            continue
        if event.get("type") == TYPE and event.get("id") in counted:
            kept.pop(card, None)
            kept[card] = (last[card].form, last[card].kept)
        elif event.get("type") in ("card-deleted", "card-flag"):
            before = kept.pop(card, None)
            if event["type"] == "card-deleted" or event.get("reason"):
                kept[card] = (clean_line(form), False)
            elif before is not None and card in last:  # the flag was taken back
                kept[card] = (before[0], last[card].kept)
    by_form: dict[str, list[bool]] = defaultdict(list)
    for form, was_kept in kept.values():
        by_form[form].append(was_kept)
    recent = {form: found[-LAST:] for form, found in by_form.items() if form and len(found) >= LAST}
    return frozenset(form for form, found in recent.items() if sum(found) >= SHARE * LAST)


def changes_of_forms(before: frozenset[str], after: frozenset[str]) -> list[str]:
    """Return a sentence for each form of question that is queued by itself from now on, or suggested again."""
    messages = [(form, f"{LAST} decisions, at least {SHARE:.0%} kept: such cards are added to the queue "
                 "automatically from now on")
            for form in after - before]  # fmt: skip
    messages += [(form, f"fewer than {SHARE:.0%} of the last {LAST} kept: such cards are suggested again")
             for form in before - after]  # fmt: skip
    return [f"questions of the form “{clean_line(form)}”: {words}" for form, words in sorted(messages)]
