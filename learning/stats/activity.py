"""When and how long was studied: days, hours, streaks, and how many cards were new."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date

from learning.history.day_sums import DaySums

YEAR = 365


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


def activity(sums: DaySums, today: int, paused: Collection[int] = ()) -> Activity:
    """Return what the reviews say of days and hours; `today` and the `paused` days are ordinals of study days."""
    streak, longest = streaks(set(sums.days), today, paused)
    ms, timed = (sum(day[place] for day in sums.days.values()) for place in (3, 4))
    return Activity(
        tuple(Day(date.fromordinal(day), *sums.days[day][:4]) for day in sorted(sums.days)),
        tuple(Hour(hour, *sums.hours[hour][:2]) for hour in sorted(sums.hours)),
        sum(day[0] for day in sums.days.values()),
        streak,
        longest,
        ms / timed if timed else None,
    )


def streaks(days: set[int], today: int, paused: Collection[int] = ()) -> tuple[int, int]:
    """Return (days in a row up to today or yesterday, most days in a row); `paused` ones are passed over."""
    longest = run = now = 0
    before = last = today
    for day in sorted(days):
        run = run + 1 if run and _in_a_row(before, day, paused) else 1
        longest, before = max(longest, run), day
        if day <= today:
            now, last = run, day
    return now if _in_a_row(last, today, paused) else 0, longest


def _in_a_row(day: int, later: int, paused: Collection[int]) -> bool:
    """Return whether all days between the two were paused."""
    return all(between in paused for between in range(day + 1, later))


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
