"""The prediction before each review: the whole log replayed, card by card."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from learning.memory.fsrs import Memory
from learning.memory.model import Given, Model
from learning.memory.scheduler import Scheduler
from learning.memory.state import MOST_DAYS, CardEvent, Phase, unseen_change
from learning.study_day import StudyCalendar
from vault.log.events import Rating
from vault.log.review_columns import ReviewColumns
from vault.log.review_log import unix_ms

NEVER = -1.0  # predicted of a card's first review: nothing was known of it
_CARDS_PER_BEAT = 1_000  # some tens of milliseconds


@dataclass(frozen=True, slots=True)
class Replay:
    """What was known just before each review: row n is of row n of `columns`.

    `day` is its study day (an ordinal), `first` whether it is its card's first on that day, `phase` an index into
    PHASES, `interval` the days that had been planned since the review before (0 for a step), `elapsed` those that
    passed; both are 0 where the fact changed meanwhile. `stability` (days) and `predicted`, the chance of recall in
    [0, 1], are as they were; NEVER before any review.
    """

    columns: ReviewColumns
    day: array[int]
    first: bytearray
    phase: bytearray
    interval: array[int]
    elapsed: array[int]
    stability: array[float]
    predicted: array[float]

    def tried(self) -> Iterator[int]:
        """Yield the rows that test a memory: the first of a card on a day, a day or more after the one before."""
        first, elapsed = self.first, self.elapsed
        return (row for row in range(len(self.day)) if first[row] and elapsed[row] > 0)


def replay(
    columns: ReviewColumns,
    scheduler: Scheduler,
    changes: Iterable[CardEvent] = (),
    beat: Callable[[], None] = lambda: None,
    *,
    predicted: bool = True,
) -> Replay:
    """Return what `scheduler` would have predicted of each review, from only what came before it.

    Of `changes` those count by which a fact became another: what is recalled of it next is no proof of memory. `beat`
    is called time and again meanwhile; what it raises ends it. Without `predicted`, intervals and chances are left out,
    which take most of the time.
    """
    out = without_predictions(columns, scheduler.calendar)
    rows = rows_of_each(columns)
    changed_before = {
        card: {number: scheduler.calendar.day(change.at) for number, change in unseen.items()}
        for card, unseen in unseen_changes(columns, rows, changes).items()
    }
    replayed, model = _Replayed(out, scheduler, predicted), Model(scheduler.parameters)
    for start in range(0, len(rows), _CARDS_PER_BEAT):
        beat()
        cards = range(start, min(start + _CARDS_PER_BEAT, len(rows)))
        unchanged = [card for card in cards if card not in changed_before]
        given = [_given(out, rows[card], {}) for card in unchanged]
        for card, memories in zip(unchanged, model.histories(given), strict=True):
            stability = [memory[0] for memory in memories[:-1]]
            replayed.fill(rows[card], stability, stability, {})
        for card in changed_before.keys() & set(cards):
            days = changed_before[card]
            replayed.fill(rows[card], *_stability_around(model, out, rows[card], days), days)
    return out


def _given(out: Replay, rows: Sequence[int], changed: Mapping[int, int]) -> list[Given]:
    """Return rating and elapsed study days of each of a card's reviews; from the change of its fact, if one came."""
    given = []
    for number, row in enumerate(rows):
        last = changed.get(number, out.day[rows[number - 1]]) if number else out.day[row]
        given.append((out.columns.rating[row], _between(last, out.day[row])))
    return given


def _between(start: int, end: int) -> int:
    """Return the study days from `start` to `end`, at least 0."""
    return min(max(end - start, 0), MOST_DAYS)


def _stability_around(
    model: Model, out: Replay, rows: Sequence[int], changed: Mapping[int, int]
) -> tuple[list[float], list[float]]:
    """Return the stability before each review but the first, and after the review before that, of a card whose fact
    changed.
    """
    given = _given(out, rows, changed)
    before: list[float] = []
    after: list[float] = []
    start: Memory | None = None
    begin = 0
    for end in (*sorted(changed), len(rows)):
        memories = model.history(given[begin:end], start)
        before += [stability for stability, _ in memories]
        after += [stability for stability, _ in memories]
        if end in changed:
            waited = _between(out.day[rows[end - 1]], changed[end])
            start = model.after(*memories[-1], waited, Rating.AGAIN)[0], memories[-1][1]
            before[-1] = start[0]
        begin = end
    return before[:-1], after[:-1]


class _Replayed:
    """Fills a replay, a card at a time."""

    def __init__(self, out: Replay, scheduler: Scheduler, predicted: bool) -> None:
        self._out, self._scheduler, self._model = out, scheduler, Model(scheduler.parameters)
        self._predicted = predicted

    def fill(
        self, rows: Sequence[int], stability: Sequence[float], left: Sequence[float], changed: Mapping[int, int]
    ) -> None:
        """Fill the rows of one card. `stability` is that before each but the first, `left` that after the one before,
        from which it differs where the fact changed between; `changed` has the study day of a change by the number of
        the review after it.
        """
        out, rules, sub_day = self._out, self._scheduler.rules, self._scheduler.has_sub_day
        card = out.columns.cards[out.columns.card[rows[0]]]
        out.first[rows[0]] = 1
        came = self._scheduler.place(Phase.NEW, 0)
        for number, (last, row) in enumerate(pairwise(rows), 1):
            days, before = _between(out.day[last], out.day[row]), stability[number - 1]
            out.first[row] = days > 0
            out.stability[row] = before
            rating = out.columns.rating[last]
            place, _ = self._scheduler.followed(card, came, rating, left[number - 1]) if sub_day else came.next[rating]
            if number in changed:
                place, days = place.changed, _between(changed[number], out.day[row])
            else:
                out.elapsed[row] = days
                if place.phase is Phase.REVIEW and self._predicted:
                    planned = self._model.interval(before, self._scheduler.retention(card), rules.maximum_interval)
                    recorded = out.columns.recorded_days(last)
                    out.interval[row] = self._scheduler.counted(card, number, planned, recorded)
            out.phase[row] = place.number
            if self._predicted:
                out.predicted[row] = self._scheduler.recall(before, days)
            came = place


def rows_of_each(columns: ReviewColumns) -> list[list[int]]:
    """Return the rows of each card, in order."""
    rows: list[list[int]] = [[] for _ in columns.cards]
    for row, card in enumerate(columns.card):
        rows[card].append(row)
    return rows


def unseen_changes(
    columns: ReviewColumns, rows: Sequence[Sequence[int]], changes: Iterable[CardEvent]
) -> dict[int, dict[int, CardEvent]]:
    """Return by number of a card and number of its review, from 1 on, the change of its fact before that review.

    Where several came since the review before, the first; none where the fact changed back. `rows` has those of each
    card, in order.
    """
    numbers = {card: number for number, card in enumerate(columns.cards)}
    came: dict[int, list[CardEvent]] = {}
    for change in sorted({c for c in changes if c.type == "changed" and c.card in numbers}, key=_order):
        came.setdefault(numbers[change.card], []).append(change)
    return {card: _unseen(columns, rows[card], changes) for card, changes in came.items()}


def _order(change: CardEvent) -> tuple[datetime, str, str]:
    """Return the sort key of a change."""
    return change.at, change.was, change.now


def _unseen(columns: ReviewColumns, rows: Sequence[int], changes: Sequence[CardEvent]) -> dict[int, CardEvent]:
    """Return the change that counts before each of a card's reviews that has one."""
    out: dict[int, CardEvent] = {}
    for number, (last, row) in enumerate(pairwise(rows), 1):
        between = (each for each in changes if columns.at_ms[last] <= unix_ms(each.at) < columns.at_ms[row])
        if (change := unseen_change(between)) is not None:
            out[number] = change
    return out


def without_predictions(columns: ReviewColumns, calendar: StudyCalendar) -> Replay:
    """Return the reviews on their study days, without predictions."""
    size, days = len(columns), calendar.days_of(columns)
    zeros = bytes(size * array("L").itemsize)
    numbers = array("L", zeros), array("L", zeros)
    chances = array("d", [NEVER]) * size, array("d", [NEVER]) * size
    return Replay(columns, days, bytearray(size), bytearray(size), *numbers, *chances)


def rows_of(columns: ReviewColumns, rows: Sequence[int]) -> ReviewColumns:
    """Return some rows, in ascending order."""
    numbers: dict[int, int] = {}
    card = array("L", [numbers.setdefault(columns.card[row], len(numbers)) for row in rows])
    return ReviewColumns(
        [columns.cards[number] for number in numbers],
        card,
        array("B", map(columns.rating.__getitem__, rows)),
        array("q", map(columns.at_ms.__getitem__, rows)),
        array("L", map(columns.ms.__getitem__, rows)),
        {n: columns.clocks[row] for n, row in enumerate(rows) if row in columns.clocks} if columns.clocks else {},
        array("H", map(columns.interval_days.__getitem__, rows)) if columns.interval_days else array("H"),
    )
