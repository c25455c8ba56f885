"""The fold of the review log and the ledger: events in, the state of every card out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from learning.memory.scheduler import Scheduler
from learning.memory.state import UNSEEN, CardEvent, MemoryState, Phase, Rules, tags_after
from vault.ids import CardId
from vault.log import ledger
from vault.log.card_history import lines_with
from vault.log.events import Bury, CardMark, Flag, LogEvent, Params, Reschedule, Resume, Review, Suspend, Tag
from vault.log.review_log import live


def scheduler_for(
    rules: Rules, events: Iterable[LogEvent], retention_of: Mapping[CardId, float] | None = None
) -> Scheduler:
    """Return the scheduler of the latest parameters in the log that fsrs accepts; without any, that of `rules`."""
    fitted = [event for event in live(events) if isinstance(event, Params)]
    for event in reversed(fitted):
        retention = rules.retention if event.retention is None else event.retention
        if 0.7 <= retention <= 0.99:
            try:
                return Scheduler(replace(rules, parameters=event.parameters, retention=retention), retention_of)
            except ValueError:
                continue  # of another version of the algorithm; older ones may fit
    return Scheduler(rules, retention_of)


def fold(
    events: Iterable[LogEvent],
    scheduler: Scheduler,
    changes: Iterable[CardEvent] = (),
    known: Mapping[CardId, MemoryState] | None = None,
) -> dict[CardId, MemoryState]:
    """Return the state of every card that the log or the ledger names, whatever the order or number of the events.

    At the same instant the log comes before the ledger. Order goes by `at`, time by `when`: a review that a wrong clock
    dated years ahead takes no time from those after it. `known` are the states after all that came before `events` and
    `changes`.
    """
    states = dict(known or {})
    steps: Sequence[LogEvent | CardEvent] = live(events)
    if changes := set(changes):
        steps = sorted((*steps, *changes), key=lambda e: (e.at, isinstance(e, CardEvent), e.id, e.type))
    days = scheduler.calendar.days(step.when for step in steps)
    for event, day in zip(steps, days, strict=True):
        if isinstance(event, Review):
            state = states.get(event.card, UNSEEN)
            states[event.card] = scheduler.review(event.card, state, event.rating, event.when, day)
        elif isinstance(event, CardMark | CardEvent):
            marked = mark(states.get(event.card), event, scheduler, day)
            if marked is not None:
                states[event.card] = marked
    return states


def mark(state: MemoryState | None, event: CardMark | CardEvent, scheduler: Scheduler, day: int) -> MemoryState | None:
    """Return a card's state after an event on the study day `day` that is no rating; None if it still has none."""
    was = UNSEEN if state is None else state
    match event:
        case Suspend():
            return replace(was, suspended=True)
        case Resume():
            return replace(was, suspended=False, buried_until=None)
        case Bury():
            return replace(was, buried_until=scheduler.calendar.start(day + 1))
        case Flag():
            return replace(was, flagged=True)
        case Tag():
            return replace(was, tags=tags_after(was.tags, event.add, event.remove))
        case Reschedule() if was.phase is not Phase.NEW:
            return replace(was, due=scheduler.calendar.start(event.due.toordinal()))
        case Reschedule():  # a new card has no due date
            return state
        case CardEvent(type="retracted"):
            return replace(was, retracted=True)
        case CardEvent(type="revived"):
            return replace(was, retracted=False)
        case CardEvent(type="changed"):
            return None if state is None else scheduler.relearn(state, event.at, day)
    return state


# What to look for in a line, and what else it must hold. In a line of JSON these stand nowhere but as keys and values:
# within a string their quotation marks would be escaped.
_MARKS = ((b'"retire"', b'"card"'), (b'"revive"', b'"card"'), (b'"how"', b'"card"'))


_TYPES = {"retire": "retracted", "revive": "revived"}


_HOW = {"fact": "changed", "reworded": "reworded"}  # what is cosmetic, or of before anyone asked, is no event


def card_events(data: bytes) -> tuple[CardEvent, ...]:
    """Return the changes of cards in the lines of `ledger/ids.jsonl`, in the order of the lines; other lines are not
    parsed.

    The types are retracted, revived, changed (a fact) and reworded (nothing that memory minds).
    """
    lines: dict[int, bytes] = {}
    for mark, other in _MARKS:
        lines |= {start: line for start, line in lines_with(data, mark) if other in line}
    events, _ = ledger.decode(b"\n".join(lines[start] for start in sorted(lines)), ledger.IDS)
    out = []
    for event in events:
        type_ = _HOW.get(str(event.get("how"))) if event["type"] == "change" else _TYPES.get(event["type"])
        if event.get("of") == "card" and type_ is not None:
            with suppress(ValueError):
                at = ledger.parse_instant(str(event.get("at")))
                out.append(CardEvent(CardId(str(event.get("id"))), type_, at))
    return tuple(out)
