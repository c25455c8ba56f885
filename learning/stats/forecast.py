"""A forecast of reviews and minutes a day, simulated from the vault's memory states, habits and parameters.

Each card meets its future by dice from a seed, so the same vault gives the same forecast. Of many cards every k-th is
played and counts k times.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice, pairwise

from learning.history.day_sums import DaySums
from learning.memory.model import Model
from learning.memory.scheduler import fuzz_range
from learning.memory.state import MemoryState, Phase
from learning.schedule.workload import BacklogPlan, lost_by_waiting
from vault.ids import CardId
from vault.log.events import Rating

MOST_PLAYED = 10_000  # cards; beyond these a forecast gets slower, not better
_PRIOR = 20  # reviews as a stranger would give them, which the learner's own soon outweigh
_FEWEST = 10  # occasions from which a mean is taken
_ENOUGH = 5_000  # of them the latest are taken: habits change
_SOON = 3  # of the later part of a forecast, the third that shows where things settle
_MOST_NEW = 1_000
_UNLIMITED = 1_000_000
_YEAR = 366


@dataclass(frozen=True, slots=True)
class Habits:
    """How this learner answers: shares of the four first ratings, and of hard, good and easy among what is recalled.

    Seconds that one card takes on the day it is met, on one it is recalled, and on one it is forgotten, steps included.
    """

    first: tuple[float, ...] = (0.25, 0.05, 0.6, 0.1)
    recalled: tuple[float, ...] = (0.1, 0.8, 0.1)
    new_s: float = 25.0
    recalled_s: float = 10.0
    forgotten_s: float = 25.0


@dataclass(frozen=True, slots=True)
class Stock:
    """A card that was reviewed before. `waited` days since then, `due_in` days from today, below 0 if overdue."""

    stability: float
    difficulty: float
    waited: int
    due_in: int


@dataclass(frozen=True, slots=True)
class Course:
    """What is simulated: at most `reviews_per_day`, and `new_per_day` cards while `supply` lasts (None: always)."""

    days: int = 90
    retention: float = 0.9
    new_per_day: float = 20
    supply: int | None = None
    reviews_per_day: int = 9_999
    maximum_interval: int = 36_500
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Forecast:
    """A value for each day, from today on: cards reviewed, new cards, minutes, and cards that were due and had no room.

    `remembered` cards of `known` would be recalled on the day after; `share` of all cards was played (1.0: each).
    """

    course: Course
    reviews: tuple[float, ...]
    new: tuple[float, ...]
    minutes: tuple[float, ...]
    held_over: tuple[float, ...]
    remembered: float
    known: float
    share: float = 1.0

    @property
    def settled_minutes(self) -> float:
        """Return the mean minutes a day over the last third."""
        last = self.minutes[-max(1, len(self.minutes) // _SOON) :]
        return sum(last) / len(last)


def habits_of(sums: DaySums) -> Habits:
    """Return the habits in the log; where it holds too little, average ones."""
    usual = Habits()
    met, recalled = ([sum(values) for values in zip(*each.values(), strict=True)] for each in (sums.met, sums.recalled))
    return Habits(
        _shares(met[:4] or [0] * 4, usual.first),
        _shares(recalled[:3] or [0] * 3, usual.recalled),
        _mean_s(((each[4], sums.spent[day][0]) for day, each in _latest(sums.met) if day in sums.spent), usual.new_s),
        _mean_s(((each[3], each[4]) for _, each in _latest(sums.recalled)), usual.recalled_s),
        _mean_s(((each[1], each[2]) for _, each in _latest(sums.spent)), usual.forgotten_s),
    )


def _latest(sums: Mapping[int, Sequence[int]]) -> Iterable[tuple[int, Sequence[int]]]:
    """Return the days of `sums`, the latest first."""
    return sorted(sums.items(), reverse=True)


def _mean_s(days: Iterable[tuple[int, int]], guess: float) -> float:
    """Return the mean seconds of the latest days, given as (milliseconds, times); `guess` where too few are known."""
    spent = times = 0
    for ms, some in days:
        spent, times = spent + ms, times + some
        if times >= _ENOUGH:
            break
    return spent / times / 1000 if times >= _FEWEST else guess


def _shares(counts: Sequence[float], usual: Sequence[float]) -> tuple[float, ...]:
    """Return the share of each count, pulled towards `usual` where there are few."""
    total = sum(counts) + _PRIOR
    return tuple((count + _PRIOR * share) / total for count, share in zip(counts, usual, strict=True))


def stock_of(states: Iterable[MemoryState], day_of: Callable[[MemoryState], int], today: int) -> list[Stock]:
    """Return the cards among `states` that were reviewed; `day_of` gives the study day one is due on, `today` is an
    ordinal.
    """
    found = []
    for state in states:
        if state.phase is Phase.NEW or state.suspended or state.retracted or state.due is None:
            continue
        waited = max(0, today - state.last_day)
        found.append(Stock(state.stability, state.difficulty, waited, day_of(state) - today))
    return found


def simulated(stock: Sequence[Stock], habits: Habits, model: Model, course: Course) -> Forecast:
    """Return the future of the cards in `stock` and of the new cards of `course`."""
    run, weight = _begun(stock, habits, model, course)
    days = [run.day(day) for day in range(course.days)]
    rows = [tuple(value * weight for value in row) for row in zip(*days, strict=True)]
    remembered = sum(model.retrievability(s, max(0, course.days - last)) for s, _, last in run.known()) * weight
    known = sum(1 for _ in run.known()) * weight
    return Forecast(course, rows[0], rows[1], rows[2], rows[3], remembered, known, 1 / weight)


def _begun(stock: Sequence[Stock], habits: Habits, model: Model, course: Course) -> tuple[_Simulation, float]:
    """Return the simulation on its first day, and how many cards each card of it stands for."""
    coming = len(stock) + _new_cards(course)
    every = max(1, -(-coming // MOST_PLAYED))
    some = list(islice(_in_order(stock), every // 2, None, every))
    weight = len(stock) / len(some) if some else float(every)
    supply = None if course.supply is None else course.supply / weight
    scaled = replace(
        course, new_per_day=course.new_per_day / weight, reviews_per_day=max(1, round(course.reviews_per_day / weight))
    )
    return _Simulation(some, habits, model, scaled, supply), weight


def _in_order(stock: Iterable[Stock]) -> Iterator[Stock]:
    """Yield the cards by due day, stability and difficulty; sorted day by day, so that no single sort takes long."""
    by_day: dict[int, list[Stock]] = {}
    for card in stock:
        by_day.setdefault(card.due_in, []).append(card)
    for day in sorted(by_day):
        yield from sorted(by_day[day], key=lambda s: (s.stability, s.difficulty))


def backlog_plan(
    stock: Sequence[Stock], habits: Habits, model: Model, course: Course, within: int = _YEAR
) -> BacklogPlan | None:
    """Return how long overdue cards last, with no new cards meanwhile; None if today has room for all of them.

    Where they last longer than `within` days, its `days` are 0.
    """
    overdue = sum(card.due_in <= 0 for card in stock)
    per_day = course.reviews_per_day
    if overdue <= per_day:
        return None
    alone = replace(course, days=within, new_per_day=0, supply=0)
    run, _ = _begun(stock, habits, model, alone)
    day = next((day for day in range(within) if not run.day(day)[3]), 0)
    return BacklogPlan(overdue, per_day, day)


def _new_cards(course: Course) -> int:
    """Return how many new cards the days bring."""
    wanted = round(course.new_per_day * course.days)
    return wanted if course.supply is None else min(wanted, course.supply)


_Live = tuple[float, float, int]  # stability, difficulty, day of the last review


class _Simulation:
    """One future, day after day."""

    def __init__(self, stock: Iterable[Stock], habits: Habits, model: Model, course: Course, supply: float | None):
        self._model, self._habits, self._course, self._supply = model, habits, course, supply
        self._dice = random.Random(course.seed)  # noqa: S311 (a forecast, not a secret)
        self._first = list(accumulate(habits.first))
        self._recalled = list(accumulate(habits.recalled))
        self._due: dict[int, list[_Live]] = {}
        for card in stock:
            live = (card.stability, card.difficulty, -card.waited)
            self._due.setdefault(max(0, card.due_in), []).append(live)
        self._held: list[tuple[float, _Live]] = []  # with what each loses by waiting, as computed when it first waited
        self._owed = 0.0  # parts of a new card that add up over days

    def known(self) -> Iterator[_Live]:
        """Yield all cards that were reviewed."""
        yield from (card for cards in self._due.values() for card in cards)
        yield from (card for _, card in self._held)

    def day(self, day: int) -> tuple[float, float, float, float]:
        """Simulate a day; return its reviews, new cards, minutes and cards held over."""
        todo = self._with_room(self._due.pop(day, []), day)
        seconds = sum(self._review(card, day) for card in todo)
        new = self._introduce(day)
        minutes = (seconds + new * self._habits.new_s) / 60
        return len(todo), new, minutes, len(self._held)

    def _with_room(self, due: list[_Live], day: int) -> list[_Live]:
        """Return the cards among `due` and those held over that today takes: what loses most by waiting comes first."""
        room = self._course.reviews_per_day
        if not self._held and len(due) <= room:
            return due
        scored = [(lost_by_waiting(self._model, c[0], c[1], day - c[2]), c) for c in due]
        self._held = sorted(self._held + scored, reverse=True)
        today, self._held = self._held[:room], self._held[room:]
        return [card for _, card in today]

    def _review(self, card: _Live, day: int) -> float:
        """Simulate a review and plan the next; return its seconds."""
        stability, difficulty, last = card
        model, waited = self._model, day - last
        if self._dice.random() < model.retrievability(stability, waited):
            rating = 2 + self._pick(self._recalled)
            memory = model.after(stability, difficulty, waited, rating)
            seconds = self._habits.recalled_s
        else:
            memory = model.after(stability, difficulty, waited, Rating.AGAIN)
            memory = model.after(*memory, 0, Rating.GOOD)
            seconds = self._habits.forgotten_s
        self._plan(memory, day)
        return seconds

    def _introduce(self, day: int) -> int:
        """Add the new cards of a day; return how many."""
        self._owed += self._course.new_per_day
        new = int(self._owed + 1e-9)
        if self._supply is not None:
            new = min(new, round(self._supply))
            self._supply -= new
        self._owed -= int(self._owed + 1e-9)
        for _ in range(new):
            rating = 1 + self._pick(self._first)
            memory = self._model.first(rating)
            self._plan(memory if rating == Rating.EASY else self._model.after(*memory, 0, Rating.GOOD), day)
        return new

    def _pick(self, bounds: Sequence[float]) -> int:
        """Return a random index, by the cumulated shares."""
        drawn = self._dice.random() * bounds[-1]
        return next(n for n, bound in enumerate(bounds) if drawn <= bound)

    def _plan(self, memory: tuple[float, float], day: int) -> None:
        """Put the card on the day it is due next."""
        most = self._course.maximum_interval
        days = self._model.interval(memory[0], self._course.retention, most)
        low, high = fuzz_range(days, most)
        due = day + (days if low == high else self._dice.randint(low, high))
        self._due.setdefault(due, []).append((*memory, day))


def new_that_fit(
    stock: Sequence[Stock], habits: Habits, model: Model, course: Course, minutes: float
) -> tuple[int, Forecast]:
    """Return the most new cards a day with which the last third of the days takes `minutes` a day at most; 0 if none.

    The minutes are the limit: the reviews a day that the course allows are left out of it.
    """
    course = replace(course, supply=None, reviews_per_day=_UNLIMITED)
    low, high = 0, _MOST_NEW
    best = simulated(stock, habits, model, replace(course, new_per_day=0))
    while low < high:
        middle = (low + high + 1) // 2
        tried = simulated(stock, habits, model, replace(course, new_per_day=middle))
        if tried.settled_minutes <= minutes:
            low, best = middle, tried
        else:
            high = middle - 1
    return low, best


def averages(values: Sequence[float], parts: int) -> list[float]:
    """Return means of `values` over so many stretches of about the same length."""
    parts = max(1, min(parts, len(values)))
    edges = [len(values) * n // parts for n in range(parts + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in pairwise(edges)]


def states_in(states: Mapping[CardId, MemoryState], cards: Iterable[CardId]) -> list[MemoryState]:
    """Return the states of the cards that the vault still holds."""
    return [states[card] for card in cards if card in states]
