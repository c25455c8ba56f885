"""The fold of the review log and the ledger: events in, the state of every card out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from learning.memory.scheduler import Scheduler
from learning.memory.state import UNSEEN, CardEvent, MemoryState, Phase, Rules, tags_after
from vault.ids import CardId
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
