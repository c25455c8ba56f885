"""The fold of the review log and the ledger: events in, the state of every card out."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from learning.memory.scheduler import Scheduler
from learning.memory.state import UNSEEN, CardEvent, MemoryState, Phase, Rules, tags_after
from vault.ids import CardId, digest12
from vault.log import ledger
from vault.log.card_history import MOST_WAS, lines_with
from vault.log.events import Bury, CardMark, Flag, Forget, LogEvent, Memory, Params, Reschedule, Resume, Suspend, Tag
from vault.log.review_columns import ScannedLog, scan_events
from vault.log.review_log import at_of, live, unix_ms


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
    """As `fold_log`, of events in any order and number."""
    return fold_log(scan_events(events), scheduler, changes, known)


def fold_log(
    log: ScannedLog,
    scheduler: Scheduler,
    changes: Iterable[CardEvent] = (),
    known: Mapping[CardId, MemoryState] | None = None,
) -> dict[CardId, MemoryState]:
    """Return the state of every card that the log or the ledger names.

    At the same instant the log comes before the ledger. Order goes by `at`, time by `when`: a review that a wrong clock
    dated years ahead takes no time from those after it. `known` are the states after all that came before `log` and
    `changes`.
    """
    reviews = log.reviews
    rows = sorted(range(len(reviews)), key=reviews.card.__getitem__)  # card by card, each in order of time
    ratings = bytes(map(reviews.rating.__getitem__, rows))
    days = array("q", map(scheduler.calendar.days_of(reviews).__getitem__, rows))
    when_ms, counts, marks = reviews.when_ms, Counter(reviews.card), _marks(log, changes, scheduler)
    states, end = dict(known or {}), 0

    def reviewed(card: CardId, state: MemoryState | None, begin: int, end: int) -> MemoryState | None:
        if begin == end:
            return state
        last = rows[end - 1]
        recorded = reviews.recorded_days(last)
        return scheduler.after(
            card, state or UNSEEN, ratings[begin:end], days[begin:end], at_of(when_ms[last]), recorded
        )

    for number, card in enumerate(dict.fromkeys((*reviews.cards, *marks))):
        begin, end = end, end + counts[number]
        state = states.get(card)
        for place, event, day in marks.get(card, ()):
            middle = bisect_left(rows, place, begin, end)
            state = mark(reviewed(card, state, begin, middle), event, scheduler, day)
            begin = middle
        state = reviewed(card, state, begin, end)
        if state is not None:
            states[card] = state
    return states


def _marks(
    log: ScannedLog, changes: Iterable[CardEvent], scheduler: Scheduler
) -> dict[CardId, list[tuple[int, CardMark | CardEvent, int]]]:
    """Return by card what is no review, in order: how many of all reviews come before it, itself, and its study day."""
    placed: list[tuple[int, CardMark | CardEvent]] = [
        (place, event) for place, event in zip(log.places, log.others, strict=True) if isinstance(event, CardMark)
    ]
    placed += [(bisect_right(log.reviews.at_ms, unix_ms(change.at)), change) for change in set(changes)]
    placed.sort(key=lambda each: _order(each[1]))
    days = scheduler.calendar.days(event.when for _, event in placed)
    found: dict[CardId, list[tuple[int, CardMark | CardEvent, int]]] = {}
    for (place, event), day in zip(placed, days, strict=True):
        found.setdefault(event.card, []).append((place, event, day))
    return found


def _order(event: CardMark | CardEvent) -> tuple[datetime, bool, str, str, str, str]:
    """Return the sort key of what is no review: at one instant the log comes before the ledger."""
    words = (event.was, event.now) if isinstance(event, CardEvent) else ("", "")
    return event.at, isinstance(event, CardEvent), event.id, event.type, *words


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
            due = scheduler.calendar.start(event.due.toordinal())
            before = None if was.before_change is None else replace(was.before_change, due=due)
            return replace(was, due=due, before_change=before)
        case Reschedule():  # a new card has no due date
            return state
        case Memory():
            return _brought(was, event, scheduler)
        case Forget():
            return None if state is None else forgotten(state)
        case CardEvent(type="retracted"):
            return replace(was, retracted=True)
        case CardEvent(type="revived"):
            return replace(was, retracted=False)
        case CardEvent(type="changed"):
            return None if state is None else scheduler.relearn(state, event, day)
    return state


def _brought(state: MemoryState, event: Memory, scheduler: Scheduler) -> MemoryState:
    """Return `state` with the memory that another program knew; unchanged where a later review here knows more."""
    reviewed, due = event.reviewed.toordinal(), event.due.toordinal()
    if state.phase is not Phase.NEW and state.last_day > reviewed:
        return state
    is_same_day = state.last_review is not None and state.last_day == reviewed
    return replace(
        state,
        phase=Phase.REVIEW,
        stability=event.stability,
        difficulty=event.difficulty,
        step=None,
        due=scheduler.calendar.start(due),
        last_review=state.last_review if is_same_day else scheduler.calendar.start(reviewed),
        last_day=reviewed,
        interval_days=due - reviewed,
        reps=max(event.reps, 1),
        lapses=event.lapses,
        changed=False,
        before_change=None,
    )


def forgotten(state: MemoryState) -> MemoryState:
    """Return the state of a card that is new again: what the user decided about it stays."""
    return replace(
        UNSEEN,
        suspended=state.suspended,
        retracted=state.retracted,
        buried_until=state.buried_until,
        flagged=state.flagged,
        tags=state.tags,
    )


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
                words = (_words(event.get("was")), _words(event)) if type_ == "changed" else ("", "")
                out.append(CardEvent(CardId(str(event.get("id"))), type_, at, "", *words))
    return tuple(out)


def _words(said: object) -> str:
    """Return a digest of the question and the answer in an event, as far as it keeps former ones; "" for none."""
    question, answer = (said.get("q"), said.get("a")) if isinstance(said, dict) else (None, None)
    if not isinstance(question, str) or not isinstance(answer, str):
        return ""
    return digest12(f"{question[:MOST_WAS]}\x1f{answer[:MOST_WAS]}")
