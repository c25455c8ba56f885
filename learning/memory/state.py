"""What memory holds of a card, and the rules by which a vault schedules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from learning.study_day import StudyCalendar
from vault.config.settings import Settings
from vault.ids import CardId

MOST_DAYS = 2_000_000  # more would leave the calendar; only a log edited by hand has such a wait


class Phase(StrEnum):
    """Where a card is in learning, as FSRS has it."""

    NEW = "new"  # never reviewed
    LEARNING = "learning"
    REVIEW = "review"
    RELEARNING = "relearning"


PHASES = tuple(Phase)


@dataclass(frozen=True, slots=True)
class BeforeChange:
    """What memory held of a card before its fact changed, which nobody has seen yet; `words` digests what it said."""

    words: str
    phase: Phase
    stability: float
    difficulty: float
    step: int | None
    due: datetime | None
    last_day: int
    interval_days: int


@dataclass(frozen=True, slots=True)
class MemoryState:
    """What the log says of one card. A card without events has none; NEW is the phase of one that was only marked.

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
    before_change: BeforeChange | None = None  # of a `changed` card: what holds again if the fact changes back unseen

    def hidden(self, at: datetime) -> bool:
        """Whether no queue may show the card at `at`."""
        return self.suspended or self.retracted or (self.buried_until is not None and at < self.buried_until)


class Remembered(Protocol):
    """What statistics ask of a card's memory: a MemoryState, or as much of it as was read."""

    @property
    def phase(self) -> Phase: ...
    @property
    def stability(self) -> float: ...
    @property
    def last_day(self) -> int: ...
    @property
    def interval_days(self) -> int: ...
    @property
    def reps(self) -> int: ...
    @property
    def lapses(self) -> int: ...
    @property
    def suspended(self) -> bool: ...
    @property
    def retracted(self) -> bool: ...
    @property
    def flagged(self) -> bool: ...
    @property
    def changed(self) -> bool: ...
    @property
    def leech(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class CardEvent:
    """A change of a card that the ledger records. `type`: retracted, revived, changed or reworded.

    `was` and `now` digest what the card said before and after; "" where the ledger does not say.
    """

    card: CardId
    type: str
    at: datetime
    id: str = ""
    was: str = ""
    now: str = ""

    @property
    def when(self) -> datetime:
        """The same as `at`; events of the log have it, too."""
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
    """Return the rules that a vault's settings ask for."""
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


UNSEEN = MemoryState()


def unseen_change(changes: Iterable[CardEvent]) -> CardEvent | None:
    """Return the first change of a card's fact between two reviews, of all these in order.

    None where the fact changed back meanwhile: then the learner never saw a change.
    """
    first = None
    for change in changes:
        if first is None:
            first = change
        elif change.now and change.now == first.was:
            first = None
    return first


def is_leech(lapses: int, threshold: int) -> bool:
    """Whether this lapse makes the card a leech: at `threshold` lapses and every half as many more, as in Anki."""
    return 0 < threshold <= lapses and (lapses - threshold) % max(1, (threshold + 1) // 2) == 0


def tags_after(tags: Iterable[str], add: Iterable[str], remove: Iterable[str]) -> tuple[str, ...]:
    """Return `tags` without `remove` and with `add`, sorted; A and a are one tag, as first written."""
    gone = {tag.casefold() for tag in remove}
    kept = {tag.casefold(): tag for tag in reversed((*tags, *add)) if tag.casefold() not in gone}
    return tuple(kept[key] for key in sorted(kept))
