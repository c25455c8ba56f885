"""FSRS-6 over study days: what a rating makes of a card's memory, and when it is due again.

Elapsed time counts in study days, as Anki counts it. The interval that was shown with a rating is in its line of the
log and counts as long as the rules allow it; else it varies by a draw from the card and the number of its review. So
the same log gives the same schedule everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from hashlib import blake2b
from operator import sub

from learning.memory.fsrs import DEFAULTS, Fsrs6, forgetting_curve
from learning.memory.state import (
    MOST_DAYS,
    PHASES,
    BeforeChange,
    CardEvent,
    MemoryState,
    Phase,
    Remembered,
    Rules,
    is_leech,
)
from vault.errors import ClockWentBackwards
from vault.ids import CardId
from vault.log.events import Rating

_STARTS = 20_000  # beginnings of study days that are cached
_DAY = timedelta(days=1)
_END = datetime.max.replace(tzinfo=UTC)
_FUZZ = ((2.5, 7.0, 0.15), (7.0, 20.0, 0.1), (20.0, math.inf, 0.05))  # from, to (days), days of fuzz for each day
_FUZZ_FROM = 2.5
_SHORTER = 1  # days that a recorded interval may lie below the range: another version may have rounded differently
_LONGER = 3  # days that it may lie above the range: siblings and better ratings take them
_SUB_DAY = 0.5  # days; a shorter interval is a step, where there are no steps


@dataclass(slots=True, eq=False)
class Place:
    """A phase and step of a card; `number` is that of the phase in PHASES.

    `next` says by rating (the entry 0 is unused) which place follows, and how long to wait there, None for an interval
    of days. `changed` is the place that follows when the fact behind the card changes.
    """

    phase: Phase
    step: int | None
    number: int
    next: Sequence[tuple[Place, timedelta | None]] = field(init=False)
    changed: Place = field(init=False)


class Scheduler:
    """FSRS-6 over study days; `retention_of` are the cards that want another retention than the rules say.

    Raises: ValueError where the rules hold parameters that FSRS-6 does not allow.
    """

    def __init__(self, rules: Rules, retention_of: Mapping[CardId, float] | None = None) -> None:
        self.rules = rules
        self.calendar = rules.calendar
        self.retention_of = retention_of or {}
        self.parameters = rules.parameters or DEFAULTS
        self._fsrs = Fsrs6(self.parameters)
        self.recall = forgetting_curve(self.parameters)
        self._places: dict[tuple[Phase, int | None], Place] = {}
        self._start = lru_cache(_STARTS)(self.calendar.start)
        stepless = not (rules.learning_steps and rules.relearning_steps)
        self.has_sub_day = stepless and self.parameters[17] > 0 and self.parameters[18] > 0  # as Anki allows it
        self._today = _END, _END, 0  # beginning, end and ordinal of the study day asked for last

    def review(
        self,
        card: CardId,
        state: MemoryState,
        rating: Rating,
        at: datetime,
        day: int | None = None,
        recorded: int = 0,
    ) -> MemoryState:
        """Return `state` of `card` after a rating at `at`; `day` is its study day, if the caller has it already, and
        `recorded` the interval that its line says, 0 for none.

        Raises: ClockWentBackwards if `at` is before the last review; not where `day` is given: then no time has passed.
        """
        day = self._not_before_last(state, at) if day is None else day
        return self.after(card, state, (rating,), (day,), at, recorded)

    def after(
        self,
        card: CardId,
        state: MemoryState,
        ratings: Sequence[int],
        days: Sequence[int],
        at: datetime,
        recorded: int = 0,
    ) -> MemoryState:
        """Return `state` of `card` after one or more reviews on these study days, the last of them at `at`, for which
        the interval `recorded` was chosen.
        """
        while self.has_sub_day and len(ratings) > 1:  # where each leads depends on the memory after it
            state = self.after(card, state, ratings[:1], days[:1], at)
            ratings, days = ratings[1:], days[1:]
        if state.phase is Phase.NEW:
            memory = self._fsrs.after(self._fsrs.first[ratings[0]], ratings[1:], map(sub, days[1:], days))
        else:
            elapsed = map(sub, days, (state.last_day, *days))
            memory = self._fsrs.after((state.stability, state.difficulty), ratings, elapsed)
        place, wait, lapses, leech = self.place(state.phase, state.step), None, state.lapses, False
        for rating in ratings:
            if rating == 1 and place.phase is Phase.REVIEW:
                lapses += 1
                leech = leech or is_leech(lapses, self.rules.leech_threshold)
            came, (place, wait) = place, place.next[rating]
        if self.has_sub_day:
            place, wait = self.followed(card, came, ratings[-1], memory[0])
        reps = state.reps + len(ratings)
        if wait is None:
            wait = timedelta(days=self.counted(card, reps, self.planned(card, memory[0]), recorded))
        return MemoryState(
            place.phase,
            *memory,
            place.step,
            self.due(at, days[-1], wait),
            at,
            days[-1],
            wait.days,
            reps,
            lapses,
            state.suspended or (leech and self.rules.leech_suspends),
            state.retracted,
            state.buried_until,
            state.flagged,
            leech=state.leech or leech,
            tags=state.tags,
        )

    def preview(self, card: CardId, state: MemoryState, at: datetime) -> dict[Rating, MemoryState]:
        """Return what each of the four ratings at `at` would make of `state` of `card`; `at` may be before the last."""
        day = self.day(at)
        return {rating: self.review(card, state, rating, at, day) for rating in Rating}

    def relearn(self, state: MemoryState, change: CardEvent, day: int) -> MemoryState:
        """Return `state` once the fact behind the card changed: due at once, as if forgotten on that day.

        It counts as no lapse and no review, and the card is no harder for it. A second change before the next review
        lowers the stability no further; one that gives back what the card said restores the earlier memory.
        """
        before, at = state.before_change, change.at
        if state.phase is Phase.NEW:
            return state
        if before is not None and change.now and change.now == before.words:
            return _as_before(state, before)
        if state.changed:
            return replace(state, due=at)
        place = self.place(state.phase, state.step).changed
        memory = state.stability, state.difficulty
        stability, _ = self._fsrs.after(memory, (Rating.AGAIN,), (self.elapsed(state, day),))
        return replace(
            state,
            phase=place.phase,
            stability=stability,
            step=place.step,
            due=at,
            last_day=day,
            interval_days=0,
            changed=True,
            before_change=BeforeChange(
                change.was,
                state.phase,
                state.stability,
                state.difficulty,
                state.step,
                state.due,
                state.last_day,
                state.interval_days,
            ),
        )

    def place(self, phase: Phase, step: int | None) -> Place:
        """Return the place of a phase and step, from which all places are reached that may follow."""
        place = self._places.get((phase, step))
        if place is None:
            place = self._places[phase, step] = Place(phase, step, PHASES.index(phase))
            place.next = self._next(phase, step or 0)
            again = phase is Phase.REVIEW and self.rules.relearning_steps
            place.changed = self.place(Phase.RELEARNING if again else phase, None if step is None and not again else 0)
        return place

    def _next(self, phase: Phase, step: int) -> Sequence[tuple[Place, timedelta | None]]:
        """Return what each rating makes of a phase and step, as py-fsrs and Anki have it."""
        rules = self.rules
        learnt = self.place(Phase.REVIEW, None), None
        if phase is Phase.REVIEW:
            steps = rules.relearning_steps
            again = (self.place(Phase.RELEARNING, 0), steps[0]) if steps else learnt
            return again, again, learnt, learnt, learnt
        steps = rules.relearning_steps if phase is Phase.RELEARNING else rules.learning_steps
        if not steps:
            return (learnt,) * 5
        phase = Phase.LEARNING if phase is Phase.NEW else phase
        again = self.place(phase, 0), steps[0]
        if step >= len(steps):  # there were more steps when the card got there
            return again, again, learnt, learnt, learnt
        between = steps[0] * 1.5 if len(steps) == 1 else (steps[0] + steps[1]) / 2.0
        hard = self.place(phase, step), steps[step] if step else between
        good = learnt if step + 1 == len(steps) else (self.place(phase, step + 1), steps[step + 1])
        return again, again, hard, good, learnt

    def followed(self, card: CardId, place: Place, rating: int, stability: float) -> tuple[Place, timedelta | None]:
        """Return what follows on `place` by a rating that leaves the memory with `stability`, and how long to wait.

        Without steps, an interval of less than half a day is one by FSRS for the short term, as in Anki: the card stays
        in its phase. Easy always ends it.
        """
        found = place.next[rating]
        relearning = place.phase in (Phase.REVIEW, Phase.RELEARNING)
        steps = self.rules.relearning_steps if relearning else self.rules.learning_steps
        if steps or rating == Rating.EASY or (place.phase is Phase.REVIEW and rating != Rating.AGAIN):
            return found
        days = self._fsrs.exact_interval(stability, self.retention(card))
        if days >= _SUB_DAY:
            return found
        phase = Phase.RELEARNING if relearning else Phase.LEARNING
        return self.place(phase, 0), timedelta(seconds=max(1, int(days * 86_400)))

    def retrievability(self, state: MemoryState, at: datetime) -> float:
        """Return the probability in [0, 1] of recalling the card at `at`: 1.0 on its last review's day, 0.0 if NEW."""
        return self.chances(at)(state)

    def chances(self, at: datetime) -> Callable[[Remembered], float]:
        """Return `retrievability` at `at` as a function of the state, for many cards."""
        day, curve = self.day(at), self.recall
        return lambda state: (
            0.0 if state.phase is Phase.NEW else curve(state.stability, min(max(day - state.last_day, 0), MOST_DAYS))
        )

    def retention(self, card: CardId) -> float:
        """Return the probability of recall at which the card is due."""
        return self.retention_of.get(card, self.rules.retention)

    def planned(self, card: CardId, stability: float) -> int:
        """Return the whole days after which the card is as likely to be recalled as is wanted."""
        return self._fsrs.interval(stability, self.retention(card), self.rules.maximum_interval)

    def counted(self, card: CardId, reps: int, planned: int, recorded: int) -> int:
        """Return the interval after review number `reps`: the one `recorded` with it, where the rules as they are now
        allow that; else that of `varied`.
        """
        least, most = fuzz_range(planned, self.rules.maximum_interval)
        allowed = max(1, least - _SHORTER) <= recorded <= min(most + _LONGER, self.rules.maximum_interval)
        return recorded if allowed else self.varied(card, reps, planned)

    def varied(self, card: CardId, reps: int, days: int) -> int:
        """Return the interval of `days` after review number `reps` of the card, with the fuzz of just that review.

        The four ratings of one review share the draw, so that a better one never comes back sooner for it.
        """
        if not self.rules.fuzz:
            return days
        least, most = fuzz_range(days, self.rules.maximum_interval)
        return least + (drawn(card, reps) * (most - least + 1) >> 32)

    def due(self, at: datetime, day: int, wait: timedelta) -> datetime:
        """Return when a card is due that was reviewed at `at`, on `day`: after whole days, as that study day begins."""
        if wait >= _DAY:
            return self._start(day + wait.days)
        return at + wait if at < _END - wait else _END

    def _not_before_last(self, state: MemoryState, at: datetime) -> int:
        """Return the study day of `at`. Raises: ClockWentBackwards if it is before the last review."""
        if state.last_review is not None and at < state.last_review:
            what = (
                f"{self.calendar.shown(at)} is before the card's last review, {self.calendar.shown(state.last_review)}"
            )
            raise ClockWentBackwards(what, hint="check the clock, or undo that review")
        return self.day(at)

    def elapsed(self, state: MemoryState, day: int) -> int:
        """Return the study days from the last review to `day`, at least 0."""
        return min(max(day - state.last_day, 0), MOST_DAYS) if state.phase is not Phase.NEW else 0

    def day(self, at: datetime) -> int:
        """Return the study day of `at`; cheap where it is that of the instant asked for before."""
        if not self._today[0] <= at < self._today[1]:
            day = self.calendar.day(at)
            self._today = self.calendar.start(day), self.calendar.start(day + 1), day
        return self._today[2]


def _as_before(state: MemoryState, before: BeforeChange) -> MemoryState:
    """Return `state` with the memory from before a change that nobody saw."""
    return replace(
        state,
        phase=before.phase,
        stability=before.stability,
        difficulty=before.difficulty,
        step=before.step,
        due=before.due,
        last_day=before.last_day,
        interval_days=before.interval_days,
        changed=False,
        before_change=None,
    )


def drawn(card: CardId, reps: int) -> int:
    """Return the draw of review number `reps` of the card, below 2 ** 32."""
    return int.from_bytes(blake2b(f"{card} {reps}".encode(), digest_size=4).digest(), "big")


@cache
def fuzz_range(days: int, maximum: int) -> tuple[int, int]:
    """Return the least and the most days that an interval of `days` may become, as Anki and py-fsrs let it vary.

    Both grow with `days`, so that a longer interval never becomes shorter than a shorter one under the same draw.
    """
    if days < _FUZZ_FROM:
        return days, days
    fuzz = 1.0
    for start, end, factor in _FUZZ:
        fuzz += factor * max(min(float(days), end) - start, 0.0)
    most = min(round(days + fuzz), maximum)
    return min(max(2, round(days - fuzz)), most), most
