"""What the learner remembers: a fold of the review log. The one room that knows `fsrs`.

Elapsed time counts in study days, as Anki counts it: fsrs is told instants that many whole days apart. It is never told
the clock, and its fuzz, which draws from the global random, is off: the same log gives the same schedule everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from operator import itemgetter

import fsrs

from learning.day import StudyCalendar
from vault.errors import ClockWentBackwards
from vault.ids import CardId
from vault.log_event import Bury, Flag, LogEvent, Params, Rating, Resume, Review, Suspend
from vault.review_log import live

_ORIGIN = datetime(2000, 1, 1, tzinfo=UTC)
_MOST_DAYS = 2_000_000  # more would leave the calendar; only hands can write such a log
_DAY = timedelta(days=1)
_END = datetime.max.replace(tzinfo=UTC)


class Phase(StrEnum):
    NEW = "new"  # never reviewed
    LEARNING = "learning"
    REVIEW = "review"
    RELEARNING = "relearning"


@dataclass(frozen=True, slots=True)
class MemoryState:
    """What the log says of one card. A card without events has none; NEW stands for one that was only marked.

    `stability` is in days, `difficulty` in [1, 10], both 0.0 while NEW. `due` is aware UTC: for an interval of days the
    beginning of a study day. `interval_days` is 0 for a step shorter than a day.
    """

    phase: Phase = Phase.NEW
    stability: float = 0.0
    difficulty: float = 0.0
    step: int | None = 0
    due: datetime | None = None
    last_review: datetime | None = None
    last_day: int = 0  # the study day of `last_review`, an ordinal
    interval_days: int = 0
    reps: int = 0
    lapses: int = 0
    suspended: bool = False  # by the human, until resumed
    retracted: bool = False  # what it says no longer holds
    buried_until: datetime | None = None
    flagged: bool = False
    changed: bool = False  # the fact it asks for changed since the last review

    def hidden(self, at: datetime) -> bool:
        """Whether no queue may show the card at `at`."""
        return self.suspended or self.retracted or (self.buried_until is not None and at < self.buried_until)


@dataclass(frozen=True, slots=True)
class CardEvent:
    """What the knowledge did to a card: the ledger says so, not the learner. `type`: retracted, revived or changed."""

    card: CardId
    type: str
    at: datetime
    id: str = ""


@dataclass(frozen=True, slots=True)
class Rules:
    """How a vault wants its cards scheduled; no parameters are FSRS-6's own."""

    calendar: StudyCalendar = field(default_factory=StudyCalendar)
    retention: float = 0.9
    parameters: tuple[float, ...] = ()
    learning_steps: tuple[timedelta, ...] = (timedelta(minutes=1), timedelta(minutes=10))
    relearning_steps: tuple[timedelta, ...] = (timedelta(minutes=10),)
    maximum_interval: int = 36_500


_PHASES = {
    Phase.NEW: fsrs.State.Learning,
    Phase.LEARNING: fsrs.State.Learning,
    Phase.REVIEW: fsrs.State.Review,
    Phase.RELEARNING: fsrs.State.Relearning,
}
_PHASE_OF = {
    fsrs.State.Learning: Phase.LEARNING,
    fsrs.State.Review: Phase.REVIEW,
    fsrs.State.Relearning: Phase.RELEARNING,
}
_RATINGS = {rating: fsrs.Rating(int(rating)) for rating in Rating}


class Scheduler:
    """FSRS-6 over study days. Raises: ValueError where the rules hold parameters that fsrs refuses."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.calendar = rules.calendar
        self._fsrs = fsrs.Scheduler(
            parameters=rules.parameters or fsrs.scheduler.DEFAULT_PARAMETERS,
            desired_retention=rules.retention,
            learning_steps=rules.learning_steps,
            relearning_steps=rules.relearning_steps,
            maximum_interval=rules.maximum_interval,
            enable_fuzzing=False,
        )

    def review(self, state: MemoryState, rating: Rating, at: datetime, day: int | None = None) -> MemoryState:
        """`state` after a rating at `at`; `day` is its study day, if the caller has it already.

        Raises: ClockWentBackwards if `at` is before the last review.
        """
        day = self._not_before_last(state, at) if day is None else day
        was = self._theirs(state)
        now, _ = self._fsrs.review_card(was, _RATINGS[rating], self._instant(state, day))
        assert now.last_review is not None
        assert now.stability is not None
        assert now.difficulty is not None
        wait = now.due - now.last_review
        lapsed = rating is Rating.AGAIN and state.phase is Phase.REVIEW
        return MemoryState(
            _PHASE_OF[now.state],
            now.stability,
            now.difficulty,
            now.step,
            self._due(at, day, wait),
            at,
            day,
            wait.days,
            state.reps + 1,
            state.lapses + lapsed,
            state.suspended,
            state.retracted,
            state.buried_until,
            state.flagged,
        )

    def preview(self, state: MemoryState, at: datetime) -> dict[Rating, MemoryState]:
        """What each of the four ratings would make of `state`. Raises: ClockWentBackwards."""
        day = self._not_before_last(state, at)
        return {rating: self.review(state, rating, at, day) for rating in Rating}

    def retrievability(self, state: MemoryState, at: datetime) -> float:
        """Probability in [0, 1] of recalling the card at `at`: 1.0 on the study day of its last review, 0.0 while NEW.

        Raises: ClockWentBackwards if `at` is before the last review.
        """
        if state.phase is Phase.NEW:
            return 0.0
        day = self._not_before_last(state, at)
        return float(self._fsrs.get_card_retrievability(self._theirs(state), self._instant(state, day)))

    def _not_before_last(self, state: MemoryState, at: datetime) -> int:
        """The study day of `at`."""
        if state.last_review is not None and at < state.last_review:
            what = (
                f"{self.calendar.shown(at)} is before the card's last review, {self.calendar.shown(state.last_review)}"
            )
            raise ClockWentBackwards(what, hint="check the clock, or undo that review")
        return self.calendar.day(at)

    def _theirs(self, state: MemoryState) -> fsrs.Card:
        """`state` as fsrs has it, last reviewed at the origin. Card() would read the clock without an id and a due."""
        if state.phase is Phase.NEW:
            return fsrs.Card(card_id=0, due=_ORIGIN)
        return fsrs.Card(0, _PHASES[state.phase], state.step, state.stability, state.difficulty, _ORIGIN, _ORIGIN)

    def _instant(self, state: MemoryState, day: int) -> datetime:
        elapsed = day - state.last_day if state.phase is not Phase.NEW else 0
        return _ORIGIN + timedelta(days=min(max(elapsed, 0), _MOST_DAYS))

    def _due(self, at: datetime, day: int, wait: timedelta) -> datetime:
        if wait >= _DAY:
            return self.calendar.start(day + wait.days)
        return at + wait if at < _END - wait else _END


def scheduler_for(rules: Rules, events: Iterable[LogEvent]) -> Scheduler:
    """The scheduler of the latest parameters in the log that fsrs takes; without any, of `rules` themselves."""
    fitted = [event for event in live(events) if isinstance(event, Params)]
    for event in reversed(fitted):
        retention = rules.retention if event.retention is None else event.retention
        if 0.7 <= retention <= 0.99:
            try:
                return Scheduler(replace(rules, parameters=event.parameters, retention=retention))
            except ValueError:
                continue  # of another version of the algorithm; older ones may fit
    return Scheduler(rules)


def fold(
    events: Iterable[LogEvent],
    scheduler: Scheduler,
    changes: Iterable[CardEvent] = (),
    known: Mapping[CardId, MemoryState] | None = None,
) -> dict[CardId, MemoryState]:
    """The state of every card that the log or the ledger speaks of, whatever the order or number of the events.

    `known` are states that a fold of everything before `events` and `changes` has given.
    """
    states = dict(known or {})
    steps: list[tuple[datetime, str, LogEvent | CardEvent]] = [(e.at, e.id, e) for e in live(events)]
    changes = set(changes)
    if changes:
        steps.extend((c.at, f"{c.id}{c.type}", c) for c in changes)
        steps.sort(key=itemgetter(0, 1))
    days = scheduler.calendar.days(step[0] for step in steps)
    for (at, _, event), day in zip(steps, days, strict=True):
        if isinstance(event, Review):
            state = states.get(event.card, _UNSEEN)
            states[event.card] = scheduler.review(state, event.rating, at, day)
        elif not isinstance(event, Params):
            _mark(states, event, scheduler.calendar.start(day + 1))
    return states


_UNSEEN = MemoryState()


def _mark(states: dict[CardId, MemoryState], event: LogEvent | CardEvent, tomorrow: datetime) -> None:
    """Takes in an event that is no rating."""
    match event:
        case Suspend(card=card):
            states[card] = replace(states.get(card, _UNSEEN), suspended=True)
        case Resume(card=card):
            states[card] = replace(states.get(card, _UNSEEN), suspended=False, buried_until=None)
        case Bury(card=card):
            states[card] = replace(states.get(card, _UNSEEN), buried_until=tomorrow)
        case Flag(card=card):
            states[card] = replace(states.get(card, _UNSEEN), flagged=True)
        case CardEvent(card=card, type="retracted"):
            states[card] = replace(states.get(card, _UNSEEN), retracted=True)
        case CardEvent(card=card, type="revived"):
            states[card] = replace(states.get(card, _UNSEEN), retracted=False)
        case CardEvent(card=card, type="changed") if card in states:
            state = states[card]
            if state.phase is not Phase.NEW:
                states[card] = replace(state, changed=True, due=event.at)
