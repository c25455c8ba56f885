"""How well was remembered: true retention, and whether predicted probabilities came true."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from learning.memory.predictions import Replay
from learning.memory.state import PHASES, Phase

MATURE_DAYS = 21  # of the interval before; Anki draws the line there, too
PERIODS = (1, 7, 30, 90)  # study days, today included
BINS = 20  # of predicted recall, each five percent wide
_REVIEW = PHASES.index(Phase.REVIEW)
_SURE = 1e-6  # a chance this near to 0 or 1 is taken as that near: no single surprise may count without end


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


def true_retention(replay: Replay, today: int, periods: Iterable[int] = PERIODS) -> tuple[Retention, ...]:
    """Return a row for each of the periods (in study days that end with `today`), then one for all of the log."""
    counts = _by_day(replay)
    rows = [_within(counts, today - days + 1, days) for days in periods]
    return (*rows, _within(counts, min(counts, default=0), 0))


def weekly(replay: Replay, today: int, weeks: int) -> tuple[RecallWeek, ...]:
    """Return true retention in each of the last weeks, that of `today` being the last one."""
    monday = today - date.fromordinal(today).weekday()
    first = monday - 7 * (weeks - 1)
    sums = [[0, 0] for _ in range(weeks)]
    for day, (young, young_recalled, mature, mature_recalled) in _by_day(replay).items():
        if first <= day < monday + 7:
            one = sums[(day - first) // 7]
            one[0] += young + mature
            one[1] += young_recalled + mature_recalled
    return tuple(RecallWeek(date.fromordinal(first + 7 * n), Tries(*one)) for n, one in enumerate(sums))


def _by_day(replay: Replay) -> dict[int, list[int]]:
    """Return by study day reviews and recalled of young, then of mature cards."""
    counts: dict[int, list[int]] = {}
    ratings = replay.columns.rating
    for row, phase in enumerate(replay.phase):
        if phase == _REVIEW and replay.first[row]:
            day = counts.setdefault(replay.day[row], [0, 0, 0, 0])
            at = 2 if replay.interval[row] >= MATURE_DAYS else 0
            day[at] += 1
            day[at + 1] += ratings[row] > 1
    return counts


def _within(counts: dict[int, list[int]], since: int, days: int) -> Retention:
    """Return true retention from the study day `since` on."""
    sums = [sum(column) for column in zip(*(c for day, c in counts.items() if day >= since), strict=True)] or [0] * 4
    return Retention(days, Tries(sums[0], sums[1]), Tries(sums[2], sums[3]))


def calibration(replay: Replay, since: int = 0) -> Calibration:
    """Return predicted against actual recall of the tries on study day `since` and later."""
    sums = [[0.0, 0, 0] for _ in range(BINS)]  # predicted, tries, recalled
    loss = 0.0
    ratings = replay.columns.rating
    for row in replay.tried():
        if replay.day[row] < since:
            continue
        chance, recalled = replay.predicted[row], ratings[row] > 1
        one = sums[min(int(chance * BINS), BINS - 1)]
        one[0] += chance
        one[1] += 1
        one[2] += recalled
        loss -= math.log(max(chance if recalled else 1.0 - chance, _SURE))
    bins = tuple(Bin(n / BINS, int(t), p / t, r / t) for n, (p, t, r) in enumerate(sums) if t)
    tries = sum(b.reviews for b in bins)
    if not tries:
        return Calibration(0, None, None, None, None)
    predicted, recalled_ = (sum(one[i] for one in sums) / tries for i in (0, 2))
    square = sum(b.reviews * (b.predicted - b.recalled) ** 2 for b in bins) / tries
    return Calibration(tries, predicted, recalled_, loss / tries, math.sqrt(square), bins)
