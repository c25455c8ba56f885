"""Cards of another program as its reader found them, before any of it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from learning.memory.ease import memory_of
from vault.diagnostic import Diagnostic
from vault.ids import CardId
from vault.log.events import Rating
from vault.model.card import CardKind

LEAST_STABLE, MOST_STABLE = 0.001, 36_500.0  # days
LEAST_DIFFICULT, MOST_DIFFICULT = 1.0, 10.0
FIRST_DAY, LAST_DAY = date(1970, 1, 1), date(2999, 12, 31)  # of schedules that are believed
MOST_COUNT = 99_999  # of reviews and lapses


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a card is due elsewhere, and what is known of its memory there. Stability is in days, difficulty 1 to 10."""

    reviewed: date
    due: date
    stability: float
    difficulty: float
    reps: int = 1
    lapses: int = 0


@dataclass(frozen=True, slots=True)
class PastReview:
    """One review that the other program recorded. `name` tells it from all others of that program."""

    at: datetime
    rating: Rating
    name: str
    ms: int = 0
    interval_days: int = 0


@dataclass(frozen=True, slots=True)
class Learnt:
    """What the other program knows of one card of a block."""

    schedule: Schedule | None = None
    reviews: Sequence[PastReview] = ()
    suspended: bool = False
    flagged: bool = False
    id: CardId | None = None  # where the card was made by retain
    tags: tuple[str, ...] = ()  # of this card alone


@dataclass(frozen=True, slots=True)
class ForeignCard:
    """A block of one or more cards. `question` and `answer` are as the other program has them, in its markup.

    A cloze has its text in `question`, with Anki's marks, and no answer. `key` tells the block from all others of the
    same format. `learnt` is by variant: "" and "reversed", or "c1" and so on. `base` is the folder or file from which
    pictures are found.
    """

    key: str
    question: str
    answer: str | None
    path: str
    line: int = 0
    deck: str = ""
    tags: tuple[str, ...] = ()
    is_reversed: bool = False
    kind: CardKind | None = None
    learnt: Mapping[str, Learnt] = field(default_factory=dict)
    base: str = ""


PictureReader = Callable[[str, str], bytes | None]  # (name in the card, `base` of the card) -> the file's bytes


def no_pictures(name: str, base: str) -> bytes | None:
    """Return None: the format has no pictures."""
    return None


@dataclass(slots=True)
class Reading:
    """What a reader found: cards, what it could not read, and remarks on the whole. `html` is the cards' markup."""

    cards: list[ForeignCard] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    html: bool = False
    pictures: PictureReader = no_pictures
    columns: list[tuple[str, str, str]] = field(default_factory=list)  # of a table: name, what it became, an example

    def add_problem(self, path: str, line: int, what: str, hint: str = "") -> None:
        """Note a card that was skipped."""
        self.problems.append(Diagnostic(path, line, "card-skipped", what, hint))


def bounded(
    reviewed: date, due: date, stability: float, difficulty: float, reps: float = 1, lapses: float = 0
) -> Schedule | None:
    """Return the schedule with its numbers within their bounds; None for one that cannot be believed."""
    if not (FIRST_DAY <= reviewed <= LAST_DAY and FIRST_DAY <= due <= LAST_DAY and stability > 0 and difficulty > 0):
        return None
    return Schedule(
        min(reviewed, due),
        due,
        round(min(max(stability, LEAST_STABLE), MOST_STABLE), 6),
        round(min(max(difficulty, LEAST_DIFFICULT), MOST_DIFFICULT), 6),
        int(min(max(reps, 1), MOST_COUNT)),
        int(min(max(lapses, 0), MOST_COUNT)),
    )


def days_before(day: date, days: float) -> date:
    """Return the day that is so many whole days earlier; the first day where that is none."""
    return day - timedelta(days=min(max(int(days), 0), (day - date.min).days))


def schedule_of_ease(due: date, interval: float, ease: float, reps: float = 1, lapses: float = 0) -> Schedule | None:
    """Return the schedule of a card that SM-2 made due on a day; None for numbers that cannot be believed."""
    if not (0 <= interval <= 36_525 and 0 < ease <= 100):
        return None
    return bounded(days_before(due, interval), due, *memory_of(interval, ease), reps, lapses)
