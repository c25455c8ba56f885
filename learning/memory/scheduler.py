"""What the learner remembers: a fold of the review log. The one room that knows `fsrs`.

Elapsed time counts in study days, as Anki counts it: fsrs is told instants that many whole days apart. It is never told
the clock, and its fuzz, which draws from the global random, is off: ours is drawn from the card and the number of its
review, so that the same log gives the same schedule everywhere, and a preview what the rating will give.

`fsrs` is loaded with the first rating. What must go quickly, the states of a whole log or the retrievability of every
card, is reckoned by `learning.memory.fsrs`, which gives the same numbers to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cached_property, lru_cache
from hashlib import blake2b
from operator import itemgetter
from typing import TYPE_CHECKING

from learning.memory import fsrs as fsrs6
from learning.study_day import StudyCalendar
from vault.errors import ClockWentBackwards
from vault.ids import CardId
from vault.log.events import Bury, CardMark, Flag, LogEvent, Params, Rating, Reschedule, Resume, Review, Suspend, Tag
from vault.log.review_log import live

if TYPE_CHECKING:
    from learning.memory.replay_all import Follower
    from vault.config.settings import Settings
    from vault.log.fast_scan import ScannedLog

_ORIGIN = datetime(2000, 1, 1, tzinfo=UTC)
MOST_DAYS = 2_000_000  # more would leave the calendar; only hands can write such a log
MOST_STABLE = 1e12  # days; strange parameters could let it grow past what a number holds
_FORESEEN = 64  # outcomes of a rating that are remembered; a card has four
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
    leech: bool = False  # it lapsed so often that it needs another wording, not another repetition
    tags: tuple[str, ...] = ()  # the card's own, which the human gave it; its deck has others

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

    @property
    def when(self) -> datetime:
        """As of an event of the log."""
        return self.at


@dataclass(frozen=True, slots=True)
class Rules:
    """How a vault wants its cards scheduled; no parameters are FSRS-6's own.

    `leech_threshold` lapses make a card a leech, and every half of that many more do so again; 0: none ever is one.
    """

    calendar: StudyCalendar = field(default_factory=StudyCalendar)
    retention: float = 0.9
    parameters: tuple[float, ...] = ()
    learning_steps: tuple[timedelta, ...] = (timedelta(minutes=1), timedelta(minutes=10))
    relearning_steps: tuple[timedelta, ...] = (timedelta(minutes=10),)
    maximum_interval: int = 36_500
    fuzz: bool = False
    leech_threshold: int = 8
    leech_suspends: bool = False


def rules_of(settings: Settings) -> Rules:
    """The rules that a vault's settings ask for."""
    return Rules(
        StudyCalendar(settings.zone, settings.rollover),
        settings.retention,
        learning_steps=settings.learning_steps,
        relearning_steps=settings.relearning_steps,
        maximum_interval=settings.maximum_interval,
        fuzz=settings.fuzz,
        leech_threshold=settings.leech_threshold,
        leech_suspends=settings.leech_action == "suspend",
    )


class Scheduler:
    """FSRS-6 over study days; `retention_of` are the cards that want another retention than the rules say.

    Raises: ValueError where the rules hold parameters that fsrs refuses.
    """

    def __init__(self, rules: Rules, retention_of: Mapping[CardId, float] | None = None) -> None:
        self.rules = rules
        self.calendar = rules.calendar
        self.retention_of = retention_of or {}
        self.kernel = fsrs6.Fsrs6(rules.parameters or fsrs6.DEFAULTS)
        self._today = _END, _END, 0  # beginning, end and ordinal of the study day asked for last

    def review(
        self, card: CardId, state: MemoryState, rating: Rating, at: datetime, day: int | None = None
    ) -> MemoryState:
        """`state` of `card` after a rating at `at`; `day` is its study day, if the caller has it already.

        Raises: ClockWentBackwards if `at` is before the last review; not where `day` is given: then no time has passed.
        """
        day = self._not_before_last(state, at) if day is None else day
        phase, step, stability, difficulty, wait = self._theirs.review(*self._asked(card, state, day), rating)
        lapsed = rating is Rating.AGAIN and state.phase is Phase.REVIEW
        lapses = state.lapses + lapsed
        leech = lapsed and is_leech(lapses, self.rules.leech_threshold)
        if phase is Phase.REVIEW:
            wait = timedelta(days=self.varied(card, state.reps + 1, wait.days))
        return MemoryState(
            phase,
            stability,
            difficulty,
            step,
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
        """What each of the four ratings would make of `state` of `card`.

        The kernel says so, as the next card waits for it; a rating itself is left to the scheduler of record.
        """
        day = self.day(at)
        return {rating: self._follower.rated(card, state, rating, at, day) for rating in Rating}

    def foresee(self, card: CardId, state: MemoryState, at: datetime) -> None:
        """Asks the scheduler of record what each rating will come to, so that the rating need not wait for it."""
        asked = self._asked(card, state, self.day(at))
        for rating in Rating:
            self._theirs.review(*asked, rating)

    def _asked(self, card: CardId, state: MemoryState, day: int) -> tuple[Phase, int | None, float, float, int, float]:
        elapsed, retention = self._elapsed(state, day), self.retention(card)
        return state.phase, state.step, state.stability, state.difficulty, elapsed, retention

    def relearn(self, state: MemoryState, at: datetime, day: int) -> MemoryState:
        """`state` once the fact behind the card changed at `at`: due at once, as if it had been forgotten that day.

        It counts as no lapse and no review, and the card is no harder for it. What changes again before anyone saw it
        is forgotten no further.
        """
        if state.phase is Phase.NEW:
            return state
        if state.changed:
            return replace(state, due=at)
        stability, _ = self.kernel.after(state.stability, state.difficulty, self._elapsed(state, day), Rating.AGAIN)
        again = state.phase is Phase.REVIEW and bool(self.rules.relearning_steps)
        return replace(
            state,
            phase=Phase.RELEARNING if again else state.phase,
            stability=min(stability, MOST_STABLE),
            step=0 if again or state.step is not None else None,
            due=at,
            last_day=day,
            interval_days=0,
            changed=True,
        )

    def retrievability(self, state: MemoryState, at: datetime) -> float:
        """Probability in [0, 1] of recalling the card at `at`: 1.0 till the day of its last review ends, 0.0 if NEW."""
        if state.phase is Phase.NEW:
            return 0.0
        return self.kernel.retrievability(state.stability, self._elapsed(state, self.day(at)))

    def chances(self, at: datetime) -> Callable[[MemoryState], float]:
        """`retrievability` at `at`, for many cards. None of them may have been reviewed later than that."""
        day, curve = self.calendar.day(at), self.kernel.retrievability
        return lambda state: 0.0 if state.phase is Phase.NEW else curve(state.stability, self._elapsed(state, day))

    def retention(self, card: CardId) -> float:
        """The chance of recall that the card wants to be asked at."""
        return self.retention_of.get(card, self.rules.retention)

    def varied(self, card: CardId, reps: int, days: int) -> int:
        """The interval of `days` after review number `reps` of the card, moved as chance has it for just that review.

        The four ratings of one review share the draw, so that a better one never comes back sooner for it.
        """
        if not self.rules.fuzz:
            return days
        least, most = fsrs6.fuzz_range(days, self.rules.maximum_interval)
        draw = int.from_bytes(blake2b(f"{card} {reps}".encode(), digest_size=4).digest(), "big")
        return least + (draw * (most - least + 1) >> 32)

    def due(self, at: datetime, day: int, wait: timedelta) -> datetime:
        """When a card is due that was reviewed at `at`, on `day`: after whole days, as that study day begins."""
        if wait >= _DAY:
            return self.calendar.start(day + wait.days)
        return at + wait if at < _END - wait else _END

    def _not_before_last(self, state: MemoryState, at: datetime) -> int:
        """The study day of `at`."""
        if state.last_review is not None and at < state.last_review:
            what = (
                f"{self.calendar.shown(at)} is before the card's last review, {self.calendar.shown(state.last_review)}"
            )
            raise ClockWentBackwards(what, hint="check the clock, or undo that review")
        return self.day(at)

    def _elapsed(self, state: MemoryState, day: int) -> int:
        """Study days since the last review, never fewer than none."""
        return min(max(day - state.last_day, 0), MOST_DAYS) if state.phase is not Phase.NEW else 0

    def day(self, at: datetime) -> int:
        """The study day of `at`: mostly that of the instant asked for before."""
        if not self._today[0] <= at < self._today[1]:
            day = self.calendar.day(at)
            self._today = self.calendar.start(day), self.calendar.start(day + 1), day
        return self._today[2]

    @cached_property
    def _follower(self) -> Follower:
        from learning.memory.replay_all import Follower

        return Follower(self)

    @cached_property
    def _theirs(self) -> _Theirs:
        return _Theirs(self.rules)


def is_leech(lapses: int, threshold: int) -> bool:
    """Whether that many lapses make a card a leech, at the last of them: as Anki has it."""
    return 0 < threshold <= lapses and (lapses - threshold) % max(1, (threshold + 1) // 2) == 0


class _Theirs:
    """The scheduler of record. Its names of phases and ratings stay in here."""

    def __init__(self, rules: Rules) -> None:
        import fsrs

        self._card, state = fsrs.Card, fsrs.State
        self._ratings = {rating: fsrs.Rating(int(rating)) for rating in Rating}
        self._phase_of = {
            state.Learning: Phase.LEARNING,
            state.Review: Phase.REVIEW,
            state.Relearning: Phase.RELEARNING,
        }
        self._states = {phase: state for state, phase in self._phase_of.items()}
        self._scheduler = fsrs.Scheduler(
            parameters=rules.parameters or fsrs6.DEFAULTS,
            learning_steps=rules.learning_steps,
            relearning_steps=rules.relearning_steps,
            maximum_interval=rules.maximum_interval,
            enable_fuzzing=False,
        )
        self.review = lru_cache(_FORESEEN)(self._review)

    def _review(
        self,
        phase: Phase,
        step: int | None,
        stability: float,
        difficulty: float,
        elapsed_days: int,
        retention: float,
        rating: Rating,
    ) -> tuple[Phase, int | None, float, float, timedelta]:
        """Phase, step, stability and difficulty after a review, and how long to wait.

        fsrs.Card() would read the clock without an id and a due; the card was last reviewed at the origin.
        """
        if phase is Phase.NEW:
            card = self._card(card_id=0, due=_ORIGIN)
        else:
            card = self._card(0, self._states[phase], step, stability, difficulty, _ORIGIN, _ORIGIN)
        self._scheduler.desired_retention = retention
        at = _ORIGIN + timedelta(days=elapsed_days)
        now, _ = self._scheduler.review_card(card, self._ratings[rating], at)
        assert now.stability is not None
        assert now.difficulty is not None
        stability = min(now.stability, MOST_STABLE)
        return self._phase_of[now.state], now.step, stability, now.difficulty, now.due - at


def scheduler_for(
    rules: Rules, events: Iterable[LogEvent], retention_of: Mapping[CardId, float] | None = None
) -> Scheduler:
    """The scheduler of the latest parameters in the log that fsrs takes; without any, of `rules` themselves."""
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
    """The state of every card that the log or the ledger speaks of, whatever the order or number of the events.

    At the same instant the log comes before the ledger. Order goes by `at`, time by `when`: a review that a wrong clock
    dated years ahead takes none from those after it. `known` are states that a fold of everything before `events`
    and `changes` has given.
    """
    states = dict(known or {})
    steps: list[tuple[datetime, bool, str, LogEvent | CardEvent]] = [(e.at, False, e.id, e) for e in live(events)]
    changes = set(changes)
    if changes:
        steps.extend((c.at, True, f"{c.id}{c.type}", c) for c in changes)
        steps.sort(key=itemgetter(0, 1, 2))
    days = scheduler.calendar.days(step[3].when for step in steps)
    for (_, _, _, event), day in zip(steps, days, strict=True):
        if isinstance(event, Review):
            state = states.get(event.card, UNSEEN)
            states[event.card] = scheduler.review(event.card, state, event.rating, event.when, day)
        elif isinstance(event, CardMark | CardEvent):
            marked = mark(states.get(event.card), event, scheduler, day)
            if marked is not None:
                states[event.card] = marked
    return states


def fold_scanned(
    scanned: ScannedLog, scheduler: Scheduler, changes: Iterable[CardEvent] = ()
) -> dict[CardId, MemoryState]:
    """What `fold` gives of the same log, to the last bit, at some microseconds a review."""
    from learning.memory.replay_all import states_of

    return states_of(scanned, scheduler, changes)


def tags_after(tags: Iterable[str], add: Iterable[str], remove: Iterable[str]) -> tuple[str, ...]:
    """`tags` without those that go and with those that come, in order; A and a are one tag, as first written."""
    gone = {tag.casefold() for tag in remove}
    kept = {tag.casefold(): tag for tag in reversed((*tags, *add)) if tag.casefold() not in gone}
    return tuple(kept[key] for key in sorted(kept))


UNSEEN = MemoryState()


def mark(state: MemoryState | None, event: CardMark | CardEvent, scheduler: Scheduler, day: int) -> MemoryState | None:
    """What a card's state becomes by an event of that study day that is no rating; None if it has none still."""
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
        case Reschedule():  # it has no day yet, and comes in its turn
            return state
        case CardEvent(type="retracted"):
            return replace(was, retracted=True)
        case CardEvent(type="revived"):
            return replace(was, retracted=False)
        case CardEvent(type="changed"):
            return None if state is None else scheduler.relearn(state, event.at, day)
    return state
