"""The fold of a scanned log: a card at a time, its reviews one after another, with no object for any of them.

What `learning.memory.scheduler.fold` gives, to the last bit. Stability and difficulty come from
`learning.memory.fsrs`; phases and steps from a table of what each rating leads to.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import add, itemgetter

from learning.memory.scheduler import (
    MOST_DAYS,
    MOST_STABLE,
    UNSEEN,
    CardEvent,
    MemoryState,
    Phase,
    Rules,
    Scheduler,
    is_leech,
    mark,
)
from vault.ids import CardId
from vault.log.events import CardMark
from vault.log.fast_scan import ScannedLog
from vault.log.review_columns import ReviewColumns
from vault.log.review_log import unix_ms

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NEW, _REVIEW = 0, 1  # the places that there always are; then come the steps
_DAY_SHIFT = 8
_Mark = CardMark | CardEvent
_Way = tuple[int, timedelta | None]  # the place that a rating leads to, and the wait until then


@dataclass(frozen=True, slots=True)
class Places:
    """Where a card can stand: new, in review, at a step. By place and rating: what comes next, and after how long.

    A wait of None is as many days as the stability gives.
    """

    phases: tuple[tuple[Phase, int | None], ...]
    next: tuple[tuple[int, ...], ...]  # [place][rating]; there is no rating 0
    waits: tuple[tuple[timedelta | None, ...], ...]

    def of(self, state: MemoryState) -> int:
        return self.phases.index((state.phase, state.step))


def places_of(rules: Rules) -> Places:
    """The places that the rules' steps make, and the ways between them, which are those of py-fsrs."""
    learning, relearning = rules.learning_steps, rules.relearning_steps
    first, second = 2, 2 + len(learning)
    phases: list[tuple[Phase, int | None]] = [(Phase.NEW, 0), (Phase.REVIEW, None)]
    phases += [(Phase.LEARNING, n) for n in range(len(learning))]
    phases += [(Phase.RELEARNING, n) for n in range(len(relearning))]
    lapse: _Way = (second, relearning[0]) if relearning else (_REVIEW, None)
    ways: list[list[_Way]] = [_from_step(learning, 0, first), [lapse, *[(_REVIEW, None)] * 3]]
    ways += [_from_step(learning, n, first) for n in range(len(learning))]
    ways += [_from_step(relearning, n, second) for n in range(len(relearning))]
    nexts = tuple((-1, *(place for place, _ in way)) for way in ways)
    return Places(tuple(phases), nexts, tuple((None, *(wait for _, wait in way)) for way in ways))


def _from_step(steps: Sequence[timedelta], n: int, first: int) -> list[_Way]:
    """Where Again, Hard, Good and Easy lead from step `n`, the steps' places beginning at `first`."""
    if not steps:
        return [(_REVIEW, None)] * 4
    if n:
        hard = steps[n]
    else:
        hard = steps[0] * 1.5 if len(steps) == 1 else (steps[0] + steps[1]) / 2.0
    good: _Way = (first + n + 1, steps[n + 1]) if n + 1 < len(steps) else (_REVIEW, None)
    return [(first, steps[0]), (first + n, hard), good, (_REVIEW, None)]


def states_of(scanned: ScannedLog, scheduler: Scheduler, changes: Iterable[CardEvent]) -> dict[CardId, MemoryState]:
    """The state of every card that the log or the ledger speaks of."""
    columns, follower = scanned.reviews, Follower(scheduler)
    visits = _visits(columns, scheduler)
    last_ms = dict(zip(columns.card, columns.when_ms, strict=True))
    marks = _marks(scanned, changes)
    states = {
        card: follower.follow(card, UNSEEN, visits[number], _at(last_ms[number]))
        for number, card in enumerate(columns.cards)
        if card not in marks
    }
    if marks:
        _follow_marked(states, scanned, follower, visits, marks)
    return states


def _visits(columns: ReviewColumns, scheduler: Scheduler) -> list[list[int]]:
    """By card, its reviews: the study day, shifted, with the rating in the low bits."""
    shifted = map((1 << _DAY_SHIFT).__mul__, scheduler.calendar.days_of(columns))
    visits: list[list[int]] = [[] for _ in columns.cards]
    for number, visit in zip(columns.card, map(add, shifted, columns.rating), strict=True):
        visits[number].append(visit)
    return visits


def _follow_marked(
    states: dict[CardId, MemoryState],
    scanned: ScannedLog,
    follower: Follower,
    visits: Sequence[Sequence[int]],
    marks: Mapping[CardId, Sequence[tuple[int, _Mark]]],
) -> None:
    """Adds to `states` the cards that something befell besides reviews."""
    numbers = {card: number for number, card in enumerate(scanned.reviews.cards) if card in marks}
    rows = _rows_of(scanned.reviews.card, set(numbers.values()))
    when_ms = scanned.reviews.when_ms
    for card, found in marks.items():
        number = numbers.get(card)
        theirs = () if number is None else zip(rows[number], visits[number], strict=True)
        state = follower.follow_marked(card, [(row, visit, when_ms[row]) for row, visit in theirs], found)
        if state is not None:
            states[card] = state


def _marks(scanned: ScannedLog, changes: Iterable[CardEvent]) -> dict[CardId, list[tuple[int, _Mark]]]:
    """By card, what befell it besides reviews, in order, each with the number of the log's reviews before it."""
    at_ms = scanned.reviews.at_ms
    found: list[tuple[datetime, bool, str, int, _Mark]] = [
        (e.at, False, e.id, place, e)
        for e, place in zip(scanned.others, scanned.places, strict=True)
        if isinstance(e, CardMark)
    ]
    found += [(c.at, True, f"{c.id}{c.type}", bisect_right(at_ms, unix_ms(c.at)), c) for c in set(changes)]
    marks: dict[CardId, list[tuple[int, _Mark]]] = {}
    for _, _, _, place, event in sorted(found, key=itemgetter(0, 1, 2)):
        marks.setdefault(event.card, []).append((place, event))
    return marks


def _rows_of(column: array[int], wanted: set[int]) -> dict[int, list[int]]:
    """The rows of each of the wanted cards."""
    rows: dict[int, list[int]] = {number: [] for number in wanted}
    if wanted:
        for row, number in enumerate(column):
            if number in wanted:
                rows[number].append(row)
    return rows


def _at(unix: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=unix)


class Follower:
    """Takes a card through its reviews."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.places = places_of(scheduler.rules)
        self._starts: dict[int, datetime] = {}

    def follow_marked(
        self, card: CardId, visits: Sequence[tuple[int, int, int]], marks: Sequence[tuple[int, _Mark]]
    ) -> MemoryState | None:
        """As `follow`, with marks between the reviews, which are (row of the log, packed, Unix milliseconds)."""
        state: MemoryState | None = None
        done = 0
        calendar = self.scheduler.calendar
        for place, event in marks:
            upto = bisect_left(visits, place, key=itemgetter(0))
            state = self._through(card, state, visits[done:upto])
            state = mark(state, event, self.scheduler, calendar.day(event.when))
            done = upto
        return self._through(card, state, visits[done:])

    def _through(
        self, card: CardId, state: MemoryState | None, visits: Sequence[tuple[int, int, int]]
    ) -> MemoryState | None:
        if not visits:
            return state
        return self.follow(card, state or UNSEEN, [packed for _, packed, _ in visits], _at(visits[-1][2]))

    def rated(self, card: CardId, state: MemoryState, rating: int, at: datetime, day: int) -> MemoryState:
        """`state` after one review at `at`, on the study day `day`."""
        return self.follow(card, state, (day << _DAY_SHIFT | rating,), at)

    def follow(self, card: CardId, state: MemoryState, visits: Sequence[int], at: datetime) -> MemoryState:
        """`state` after at least one review, the last of them at `at`.

        Each visit is the study day, shifted, with the rating in its low bits.
        """
        rules, kernel = self.scheduler.rules, self.scheduler.kernel
        after, nexts = kernel.after, self.places.next
        place = self.places.of(state) if state is not UNSEEN else _NEW
        stability, difficulty, last = state.stability, state.difficulty, state.last_day
        lapses, leech, suspended = state.lapses, state.leech, state.suspended
        rating = before = 0
        for visit in visits:
            day, rating = visit >> _DAY_SHIFT, visit & 7
            if place:
                elapsed = day - last
                if elapsed > MOST_DAYS:
                    elapsed = MOST_DAYS
                elif elapsed < 0:
                    elapsed = 0
                stability, difficulty = after(stability, difficulty, elapsed, rating)
                if stability > MOST_STABLE:
                    stability = MOST_STABLE
                if rating == 1 and place == _REVIEW:
                    lapses += 1
                    if is_leech(lapses, rules.leech_threshold):
                        leech, suspended = True, suspended or rules.leech_suspends
            else:
                stability, difficulty = kernel.first(rating)
            before, place, last = place, nexts[place][rating], day
        reps = state.reps + len(visits)
        phase, step = self.places.phases[place]
        wait = self.places.waits[before][rating]
        if wait is None:
            days = kernel.interval(stability, self.scheduler.retention(card), rules.maximum_interval)
            days = self.scheduler.varied(card, reps, days)
            due = self._start(last + days)
        else:
            days, due = wait.days, self.scheduler.due(at, last, wait)
        return MemoryState(
            phase,
            stability,
            difficulty,
            step,
            due,
            at,
            last,
            days,
            reps,
            lapses,
            suspended,
            state.retracted,
            state.buried_until,
            state.flagged,
            False,
            leech,
            state.tags,
        )

    def _start(self, day: int) -> datetime:
        found = self._starts.get(day)
        if found is None:
            found = self._starts[day] = self.scheduler.calendar.start(day)
        return found
