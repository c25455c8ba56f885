"""What memory foretold of each review before it happened: the log played through once more, card by card."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from learning.memory.scheduler import MOST_DAYS, MOST_STABLE, CardEvent, Phase, Scheduler
from learning.study_day import StudyCalendar
from vault.ids import CardId
from vault.log.review_columns import ReviewColumns

PHASES = tuple(Phase)
NEVER = -1.0  # predicted of a card's first review: nothing was known of it
_BEAT = 0x3FFF  # rows between two beats, some tens of milliseconds
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Replay:
    """Row n is row n of `columns`, seen just before that review.

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
        """The rows that put a memory to the test: the first of a card on a day, a day or more after the one before."""
        first, elapsed = self.first, self.elapsed
        return (row for row in range(len(self.day)) if first[row] and elapsed[row] > 0)


def replay(
    columns: ReviewColumns,
    scheduler: Scheduler,
    changes: Iterable[CardEvent] = (),
    beat: Callable[[], None] = lambda: None,
) -> Replay:
    """All reviews of `columns` as `scheduler` would have foreseen them, knowing only what came before each.

    Of `changes` those count by which a fact became another: what is recalled of it next is no proof of memory. `beat`
    is called time and again meanwhile; what it raises ends it.
    """
    out = unplayed(columns, scheduler.calendar)
    rules, kernel = scheduler.rules, scheduler.kernel
    table = transitions(len(rules.learning_steps), len(rules.relearning_steps))
    chance, after = kernel.retrievability, kernel.after
    places = [0] * len(columns.cards)
    memories: list[tuple[float, float]] = [(0.0, 0.0)] * len(columns.cards)
    last, reps = [0] * len(columns.cards), [0] * len(columns.cards)
    in_review = PHASES.index(Phase.REVIEW)
    pending = _changed(columns, changes, scheduler)
    for row, (card, rating, day) in enumerate(zip(columns.card, columns.rating, out.day, strict=True)):
        if not row & _BEAT:
            beat()
        place = table[places[card]]
        if not place.phase:
            out.first[row] = 1
            memories[card] = kernel.first(rating)
        else:
            stability, difficulty = memories[card]
            elapsed = min(max(day - last[card], 0), MOST_DAYS)
            out.first[row] = elapsed > 0
            out.elapsed[row] = elapsed
            anew = False
            if card in pending:
                while pending[card] and pending[card][0][0] < columns.at_ms[row]:
                    changed = pending[card].pop(0)[1]
                    if anew:
                        continue  # what nobody saw is not forgotten again
                    waited = min(max(changed - last[card], 0), MOST_DAYS)
                    stability = min(after(stability, difficulty, waited, 1)[0], MOST_STABLE)
                    place = table[place.changed]
                    last[card], elapsed = changed, min(max(day - changed, 0), MOST_DAYS)
                    out.elapsed[row], anew = 0, True
            out.phase[row] = place.phase
            if place.phase == in_review and not anew:
                name = columns.cards[card]
                days = kernel.interval(stability, scheduler.retention(name), rules.maximum_interval)
                out.interval[row] = scheduler.varied(name, reps[card], days)
            out.stability[row] = stability
            out.predicted[row] = chance(stability, elapsed)
            stability, difficulty = after(stability, difficulty, elapsed, rating)
            memories[card] = min(stability, MOST_STABLE), difficulty
        places[card] = place.next[rating]
        last[card] = day
        reps[card] += 1
    return out


def _changed(
    columns: ReviewColumns, changes: Iterable[CardEvent], scheduler: Scheduler
) -> dict[int, list[tuple[int, int]]]:
    """By the number of a card, when its fact became another: Unix milliseconds and study day, in order.

    Those before its first review are left out: nothing had been learnt.
    """
    told = sorted({((c.at - _EPOCH) // _MS, c.card) for c in changes if c.type == "changed"})
    if not told:
        return {}
    numbers = {card: number for number, card in enumerate(columns.cards)}
    first: dict[int, int] = {}
    for row, card in enumerate(columns.card):
        first.setdefault(card, columns.at_ms[row])
    out: dict[int, list[tuple[int, int]]] = {}
    for at, name in told:
        number = numbers.get(name)
        if number is not None and first[number] <= at:
            out.setdefault(number, []).append((at, scheduler.calendar.day(_EPOCH + at * _MS)))
    return out


def unplayed(columns: ReviewColumns, calendar: StudyCalendar) -> Replay:
    """The reviews on their study days, of which nothing is foretold."""
    size, days = len(columns), study_days(columns.when_ms, calendar)
    zeros = bytes(size * array("L").itemsize)
    numbers = array("L", zeros), array("L", zeros)
    chances = array("d", [NEVER]) * size, array("d", [NEVER]) * size
    return Replay(columns, days, bytearray(size), bytearray(size), *numbers, *chances)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a card stands between reviews: an index into PHASES, by rating (1 to 4) the place that it goes to, and the
    place that it goes to when its fact becomes another."""

    phase: int
    next: tuple[int, int, int, int, int]
    changed: int


def transitions(learning: int, relearning: int) -> tuple[Place, ...]:
    """Every place a card can stand in with so many steps; the first is that of a new card."""
    new, learn, review, relearn = range(4)
    done = 1 + learning  # the place of the review phase; before it the steps of learning, after it those of relearning
    lapse = done + 1 if relearning else done

    def steps(first: int, count: int, phase: int) -> list[Place]:
        last = first + count - 1
        ahead = [place + 1 if place < last else done for place in range(first, last + 1)]
        return [Place(phase, (0, first, first + n, good, done), first) for n, good in enumerate(ahead)]

    taught = steps(1, learning, learn)
    begun = Place(new, taught[0].next if taught else (0, done, done, done, done), new)
    known = Place(review, (0, lapse, done, done, done), lapse)
    return (begun, *taught, known, *steps(lapse, relearning, relearn))


def study_days(at_ms: array[int], calendar: StudyCalendar) -> array[int]:
    """The study day of each instant (Unix milliseconds); cheap where neighbours share theirs."""
    days = array("l", bytes(len(at_ms) * array("l").itemsize))
    day, start, end = 0, 1, 0
    for row, at in enumerate(at_ms):
        if not start <= at < end:
            day = calendar.day(_EPOCH + at * _MS)
            start, end = ((calendar.start(d) - _EPOCH) // _MS for d in (day, day + 1))
        days[row] = day
    return days


def only(columns: ReviewColumns, wanted: Collection[CardId]) -> ReviewColumns:
    """The rows of the `wanted` cards."""
    kept = {number: card for number, card in enumerate(columns.cards) if card in wanted}
    if len(kept) == len(columns.cards):
        return columns
    renamed = {old: new for new, old in enumerate(kept)}
    rows = [row for row, card in enumerate(columns.card) if card in renamed]
    return ReviewColumns(
        list(kept.values()),
        array("L", (renamed[columns.card[row]] for row in rows)),
        array("B", (columns.rating[row] for row in rows)),
        array("q", (columns.at_ms[row] for row in rows)),
        array("L", (columns.ms[row] for row in rows)),
        {n: columns.clocks[row] for n, row in enumerate(rows) if row in columns.clocks} if columns.clocks else {},
    )
