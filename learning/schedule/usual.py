"""A usual day of this learner, and what it bounds: minutes a day, overdue cards beside new ones. All pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

DAYS = 14  # with reviews, the latest, that a usual day is taken from
_FEWEST = 3  # of them from which there is a usual day
_MORE = 1.5  # times a usual day's minutes that a day may take
_STEP = 5  # minutes or reviews to which a bound is rounded up
LEAST = 10  # reviews, which are no burden to anybody
_SURPLUS = 1.25  # times the reviews of a usual day that a day of catching up has


@dataclass(frozen=True, slots=True)
class StudiedDay:
    """A past study day: cards reviewed that were seen on an earlier day, all ratings, and the minutes they took."""

    day: int
    reviews: int
    ratings: int
    minutes: float


@dataclass(frozen=True, slots=True)
class UsualDay:
    """The median of the latest days with reviews; `days` is how many these are, at most 14."""

    reviews: int
    minutes: float
    days: int


def usual_day(latest: Sequence[StudiedDay]) -> UsualDay | None:
    """Return the usual day; None for who has hardly begun."""
    if len(latest) < _FEWEST:
        return None
    reviews, minutes = (median(values) for values in zip(*((d.reviews, d.minutes) for d in latest), strict=True))
    return UsualDay(round(reviews), minutes, len(latest))


def minutes_limit(setting: int | None, usual: UsualDay | None) -> int:
    """Return the minutes that a day may take, 0: no limit. Without a setting half as many again as on a usual day."""
    if setting is not None:
        return setting
    if usual is None or usual.days < DAYS or not usual.minutes:
        return 0
    return rounded_up(usual.minutes * _MORE)


def too_many_overdue(overdue: int, usual: UsualDay | None) -> bool:
    """Return whether more is overdue than a usual day holds."""
    return usual is not None and overdue > max(usual.reviews, LEAST)


def catch_up_rate(usual: UsualDay | None) -> int:
    """Return the reviews a day that are proposed for catching up: a little more than on a usual day."""
    return rounded_up(max(LEAST, usual.reviews * _SURPLUS)) if usual is not None else 2 * LEAST


def rounded_up(number: float) -> int:
    """Return the next multiple of five."""
    return math.ceil(number / _STEP) * _STEP
