"""FSRS-6 over study days by `fsrs`, the scheduler of record: the only module that imports it.

Elapsed time counts in study days, as Anki counts it: fsrs gets instants that many whole days apart. It never gets the
clock, and its fuzz, which draws from the global random, is off: ours is drawn from the card and the number of its
review, so that the same log gives the same schedule everywhere, and a preview is what the rating will give.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b

import fsrs

from learning.memory.state import MOST_DAYS, MOST_STABLE, MemoryState, Phase, Rules, is_leech
from vault.errors import ClockWentBackwards
from vault.ids import CardId
from vault.log.events import Rating

Parameters = tuple[float, ...]  # the 21 of FSRS-6
DEFAULTS: Parameters = tuple(fsrs.scheduler.DEFAULT_PARAMETERS)
LOWEST: Parameters = tuple(fsrs.scheduler.LOWER_BOUNDS_PARAMETERS)
HIGHEST: Parameters = tuple(fsrs.scheduler.UPPER_BOUNDS_PARAMETERS)
_ORIGIN = datetime(2000, 1, 1, tzinfo=UTC)
_OUTCOMES = 4096  # outcomes of a rating that are cached: those of a card on screen, and of the first days of any card
_STARTS = 20_000  # beginnings of study days that are cached
_DAY = timedelta(days=1)
_END = datetime.max.replace(tzinfo=UTC)
_FUZZ = ((2.5, 7.0, 0.15), (7.0, 20.0, 0.1), (20.0, math.inf, 0.05))  # from, to (days), days of fuzz for each day
_FUZZ_FROM = 2.5
_PHASES = {
    fsrs.State.Learning: Phase.LEARNING,
    fsrs.State.Review: Phase.REVIEW,
    fsrs.State.Relearning: Phase.RELEARNING,
}
_STATES = {phase: state for state, phase in _PHASES.items()}
_RATINGS = {rating: fsrs.Rating(int(rating)) for rating in Rating}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a rating makes of a card's memory, and how long to wait for the next review."""

    phase: Phase
    step: int | None
    stability: float
    difficulty: float
    wait: timedelta


class Scheduler:
    """FSRS-6 over study days; `retention_of` are the cards that want another retention than the rules say.

    Raises: ValueError where the rules hold parameters that fsrs refuses.
    """

    def __init__(self, rules: Rules, retention_of: Mapping[CardId, float] | None = None) -> None:
        self.rules = rules
        self.calendar = rules.calendar
        self.retention_of = retention_of or {}
        self.parameters = rules.parameters or DEFAULTS
        self._fsrs = fsrs.Scheduler(
            parameters=self.parameters,
            learning_steps=rules.learning_steps,
            relearning_steps=rules.relearning_steps,
            maximum_interval=rules.maximum_interval,
            enable_fuzzing=False,
        )
        self.recall = forgetting_curve(self.parameters)
        self.outcome = lru_cache(_OUTCOMES)(self._outcome)
        self._start = lru_cache(_STARTS)(self.calendar.start)
        self._today = _END, _END, 0  # beginning, end and ordinal of the study day asked for last

    def review(
        self, card: CardId, state: MemoryState, rating: Rating, at: datetime, day: int | None = None
    ) -> MemoryState:
        """Return `state` of `card` after a rating at `at`; `day` is its study day, if the caller has it already.

        Raises: ClockWentBackwards if `at` is before the last review; not where `day` is given: then no time has passed.
        """
        day = self._not_before_last(state, at) if day is None else day
        new = self._rated(state, rating, self.elapsed(state, day), self.retention(card))
        lapsed = rating is Rating.AGAIN and state.phase is Phase.REVIEW
        lapses = state.lapses + lapsed
        leech = lapsed and is_leech(lapses, self.rules.leech_threshold)
        wait = new.wait
        if new.phase is Phase.REVIEW:
            wait = timedelta(days=self.varied(card, state.reps + 1, wait.days))
        return MemoryState(
            new.phase,
            new.stability,
            new.difficulty,
            new.step,
            self.due(at, day, wait),
            at,
            day,
            wait.days,
            state.reps + 1,
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

    def relearn(self, state: MemoryState, at: datetime, day: int) -> MemoryState:
        """Return `state` once the fact behind the card changed at `at`: due at once, as if forgotten on that day.

        It counts as no lapse and no review, and the card is no harder for it. A second change before the next review
        lowers the stability no further.
        """
        if state.phase is Phase.NEW:
            return state
        if state.changed:
            return replace(state, due=at)
        forgotten = self._rated(state, Rating.AGAIN, self.elapsed(state, day), self.rules.retention)
        again = state.phase is Phase.REVIEW and bool(self.rules.relearning_steps)
        return replace(
            state,
            phase=Phase.RELEARNING if again else state.phase,
            stability=forgotten.stability,
            step=0 if again or state.step is not None else None,
            due=at,
            last_day=day,
            interval_days=0,
            changed=True,
        )

    def _rated(self, state: MemoryState, rating: Rating, elapsed_days: int, retention: float) -> Outcome:
        """Return what fsrs makes of a state by a rating."""
        return self.outcome(state.phase, state.step, state.stability, state.difficulty, elapsed_days, retention, rating)

    def _outcome(
        self,
        phase: Phase,
        step: int | None,
        stability: float,
        difficulty: float,
        elapsed_days: int,
        retention: float,
        rating: Rating,
    ) -> Outcome:
        """Ask fsrs. `fsrs.Card()` would read the clock without an id and a due; the last review is at the origin."""
        if phase is Phase.NEW:
            card = fsrs.Card(card_id=0, due=_ORIGIN)
        else:
            card = fsrs.Card(0, _STATES[phase], step, stability, difficulty, _ORIGIN, _ORIGIN)
        self._fsrs.desired_retention = retention
        at = _ORIGIN + timedelta(days=elapsed_days)
        rated, _ = self._fsrs.review_card(card, _RATINGS[rating], at)
        assert rated.stability is not None
        assert rated.difficulty is not None
        stability = min(rated.stability, MOST_STABLE)
        return Outcome(_PHASES[rated.state], rated.step, stability, rated.difficulty, rated.due - at)

    def retrievability(self, state: MemoryState, at: datetime) -> float:
        """Return the probability in [0, 1] of recalling the card at `at`: 1.0 on its last review's day, 0.0 if NEW."""
        return self.chances(at)(state)

    def chances(self, at: datetime) -> Callable[[MemoryState], float]:
        """Return `retrievability` at `at` as a function of the state, for many cards."""
        day, curve = self.day(at), self.recall
        return lambda state: 0.0 if state.phase is Phase.NEW else curve(state.stability, self.elapsed(state, day))

    def retention(self, card: CardId) -> float:
        """Return the probability of recall at which the card is due."""
        return self.retention_of.get(card, self.rules.retention)

    def varied(self, card: CardId, reps: int, days: int) -> int:
        """Return the interval of `days` after review number `reps` of the card, with the fuzz of just that review.

        The four ratings of one review share the draw, so that a better one never comes back sooner for it.
        """
        if not self.rules.fuzz:
            return days
        least, most = fuzz_range(days, self.rules.maximum_interval)
        draw = int.from_bytes(blake2b(f"{card} {reps}".encode(), digest_size=4).digest(), "big")
        return least + (draw * (most - least + 1) >> 32)

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


def forgetting_curve(parameters: Parameters) -> Callable[[float, int], float]:
    """Return the curve of FSRS-6: from stability and elapsed study days to the probability in [0, 1] of recall.

    To the last bit what `fsrs.Scheduler.get_card_retrievability` gives, without an object for each card.
    """
    decay = -parameters[20]
    factor: float = 0.9 ** (1 / decay) - 1

    def retrievability(stability: float, elapsed_days: int) -> float:
        return float((1 + factor * elapsed_days / stability) ** decay)

    return retrievability


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
