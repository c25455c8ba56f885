"""When and how long was studied: days, hours, streaks, and how many cards were new."""

from __future__ import annotations

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


def activity(sums: DaySums, today: int) -> Activity:
    """Return what the reviews say of days and hours; `today` is the ordinal of the present study day."""
    streak, longest = streaks(set(sums.days), today)
    ms, timed = (sum(day[place] for day in sums.days.values()) for place in (3, 4))
    return Activity(
        tuple(Day(date.fromordinal(day), *sums.days[day][:4]) for day in sorted(sums.days)),
        tuple(Hour(hour, *sums.hours[hour][:2]) for hour in sorted(sums.hours)),
        sum(day[0] for day in sums.days.values()),
        streak,
        longest,
        ms / timed if timed else None,
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
