"""When and how long was studied: days, hours, streaks, and how many cards were new."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from learning.memory.predictions import Replay
from learning.study_day import StudyCalendar

LONGEST_MS = 60_000  # a card left on screen over tea says nothing of the next one
YEAR = 365
_HOUR_MS = 3_600_000
_EARLIEST = datetime(1, 1, 2, tzinfo=UTC)  # beyond these, some zone's clock would leave the calendar
_LATEST = datetime(9999, 12, 30, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Day:
    """A study day on which something was reviewed. `new` are cards reviewed for the first time; `ms` as logged,
    capped.
    """

    day: date
    reviews: int
    recalled: int
    new: int
    ms: int


@dataclass(frozen=True, slots=True)
class Hour:
    """An hour (0-23) on the vault's clock: reviews that began in it, all of the log, and how many were recalled."""

    hour: int
    reviews: int
    recalled: int


@dataclass(frozen=True, slots=True)
class Activity:
    """`days` in order, only those with reviews; `streak` ends today, or yesterday if today has none yet.

    `ms_per_answer` is the mean over the reviews that tell their time, None if none does; each counts a minute at most.
    """

    days: tuple[Day, ...] = ()
    hours: tuple[Hour, ...] = ()
    reviews: int = 0
    streak: int = 0
    longest_streak: int = 0
    ms_per_answer: float | None = None

    def since(self, day: int) -> tuple[Day, ...]:
        """Return the days from the ordinal `day` on."""
        return tuple(d for d in self.days if d.day.toordinal() >= day)


@dataclass(frozen=True, slots=True)
class Growth:
    """A week by its Monday: cards reviewed in it for the first time, and all reviewed by its end."""

    week: date
    met: int
    total: int


def activity(replay: Replay, calendar: StudyCalendar, today: int) -> Activity:
    """Return what the reviews say of days and hours; `today` is the ordinal of the present study day."""
    columns = replay.columns
    days: dict[int, list[int]] = {}
    seen = bytearray(len(columns.cards))
    timed = total = 0
    for day, card, rating, ms in zip(replay.day, columns.card, columns.rating, columns.ms, strict=True):
        counts = days.get(day) or days.setdefault(day, [0, 0, 0, 0])
        counts[0] += 1
        counts[1] += rating > 1
        if not seen[card]:
            seen[card] = 1
            counts[2] += 1
        if ms:
            timed, total = timed + 1, total + min(ms, LONGEST_MS)
            counts[3] += min(ms, LONGEST_MS)
    streak, longest = streaks(set(days), today)
    return Activity(
        tuple(Day(date.fromordinal(day), *days[day]) for day in sorted(days)),
        tuple(_hours(replay, calendar)),
        len(columns),
        streak,
        longest,
        total / timed if timed else None,
    )


def streaks(days: set[int], today: int) -> tuple[int, int]:
    """Return (days in a row up to today or yesterday, most days in a row)."""
    longest = run = 0
    for day in sorted(days):
        run = run + 1 if day - 1 in days else 1
        longest = max(longest, run)
    last = today if today in days else today - 1
    now = 0
    while last - now in days:
        now += 1
    return now, longest


def _hours(replay: Replay, calendar: StudyCalendar) -> Iterator[Hour]:
    """Yield the hours that have reviews. Zones differ by whole quarters of an hour, so each quarter is looked
    up once.
    """
    counts: dict[int, list[int]] = {}
    quarter, hour = -1, 0
    for at, rating in zip(replay.columns.when_ms, replay.columns.rating, strict=True):
        if at // (_HOUR_MS // 4) != quarter:
            quarter = at // (_HOUR_MS // 4)
            instant = min(max(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at), _EARLIEST), _LATEST)
            hour = instant.astimezone(calendar.zone).hour
        one = counts.get(hour) or counts.setdefault(hour, [0, 0])
        one[0] += 1
        one[1] += rating > 1
    return (Hour(hour, *counts[hour]) for hour in sorted(counts))


def growth(done: Activity) -> tuple[Growth, ...]:
    """Return the weeks from the first to the last that has reviews, in order, also those without a new card."""
    met: dict[int, int] = {}
    for day in done.days:
        monday = day.day.toordinal() - day.day.weekday()
        met[monday] = met.get(monday, 0) + day.new
    out: list[Growth] = []
    for monday in range(min(met), max(met) + 1, 7) if met else ():
        total = out[-1].total if out else 0
        out.append(Growth(date.fromordinal(monday), met.get(monday, 0), total + met.get(monday, 0)))
    return tuple(out)
