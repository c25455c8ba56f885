"""How well was remembered: true retention, and whether predicted probabilities came true."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from operator import add

from learning.history.day_sums import BINS, ONE, DaySums

PERIODS = (1, 7, 30, 90)  # study days, today included


@dataclass(frozen=True, slots=True)
class Tries:
    """A number of reviews, and how many of them were recalled (rated Hard, Good or Easy)."""

    reviews: int = 0
    recalled: int = 0

    @property
    def rate(self) -> float | None:
        """Return the share recalled; None where there was no review."""
        return self.recalled / self.reviews if self.reviews else None

    def __add__(self, other: Tries) -> Tries:
        """Return the sum."""
        return Tries(self.reviews + other.reviews, self.recalled + other.recalled)


@dataclass(frozen=True, slots=True)
class Retention:
    """True retention over the last `days` study days, today included; `days` is 0 for all of the log.

    It counts a card's first review of a study day, if the card was in its review phase then; `young` had been planned
    less than MATURE_DAYS ahead, `mature` the others.
    """

    days: int
    young: Tries
    mature: Tries

    @property
    def all(self) -> Tries:
        """Return young and mature cards together."""
        return self.young + self.mature


@dataclass(frozen=True, slots=True)
class RecallWeek:
    """True retention in the week that begins on that Monday."""

    week: date
    tries: Tries


@dataclass(frozen=True, slots=True)
class Bin:
    """Tries whose predicted recall is in [`low`, `low` + 1/BINS), the last one closed; means in [0, 1]."""

    low: float
    reviews: int
    predicted: float
    recalled: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Predicted against actual recall over `reviews` tries: a card's first of a day, a day or more after the one
    before.

    `log_loss` in nats, `rmse` between predicted and seen over the bins, weighted by their tries; None without any.
    """

    reviews: int
    predicted: float | None
    recalled: float | None
    log_loss: float | None
    rmse: float | None
    bins: tuple[Bin, ...] = ()


def true_retention(sums: DaySums, today: int, periods: Iterable[int] = PERIODS) -> tuple[Retention, ...]:
    """Return a row for each of the periods (in study days that end with `today`), then one for all of the log."""
    rows = [_within(sums, today - days + 1, days) for days in periods]
    return (*rows, _within(sums, min(sums.firsts, default=0), 0))


def weekly(sums: DaySums, today: int, weeks: int) -> tuple[RecallWeek, ...]:
    """Return true retention in each of the last weeks, that of `today` being the last one."""
    monday = today - date.fromordinal(today).weekday()
    first = monday - 7 * (weeks - 1)
    found = [Tries()] * weeks
    for day, (young, young_recalled, mature, mature_recalled, _) in sums.firsts.items():
        if first <= day < monday + 7:
            found[(day - first) // 7] += Tries(young + mature, young_recalled + mature_recalled)
    return tuple(RecallWeek(date.fromordinal(first + 7 * n), one) for n, one in enumerate(found))


def _within(sums: DaySums, since: int, days: int) -> Retention:
    """Return true retention from the study day `since` on."""
    young, young_recalled, mature, mature_recalled = (
        sum(counts[place] for day, counts in sums.firsts.items() if day >= since) for place in range(4)
    )
    return Retention(days, Tries(young, young_recalled), Tries(mature, mature_recalled))


def calibration(sums: DaySums, since: int = 0) -> Calibration:
    """Return predicted against actual recall of the tries on study day `since` and later."""
    found = [[0, 0, 0, 0] for _ in range(BINS)]  # tries, recalled, predicted, loss
    for key, counts in sums.tries.items():
        if key // BINS >= since:
            one = found[key % BINS]
            one[:] = map(add, one, counts)
    bins = tuple(Bin(n / BINS, t, p / ONE / t, r / t) for n, (t, r, p, _) in enumerate(found) if t)
    tries, recalled, predicted, loss = (sum(one[place] for one in found) for place in range(4))
    if not tries:
        return Calibration(0, None, None, None, None)
    square = sum(b.reviews * (b.predicted - b.recalled) ** 2 for b in bins) / tries
    return Calibration(tries, predicted / ONE / tries, recalled / tries, loss / ONE / tries, math.sqrt(square), bins)
