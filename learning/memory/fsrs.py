"""The formulas of FSRS-6 in 64 bits with the parameters of py-fsrs 6.3, to the last bit its own: a test compares them.

py-fsrs makes an object for each review, which takes a minute for a log of a million.

Every expression keeps the order of operations of `fsrs.Scheduler`, and `math.e ** x` is not `math.exp(x)`: another
order gives other bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from fsrs import scheduler

Parameters = tuple[float, ...]  # the 21 of FSRS-6
Memory = tuple[float, float]  # stability in days, difficulty in [1, 10]

DEFAULTS: Parameters = tuple(scheduler.DEFAULT_PARAMETERS)
LOWEST: Parameters = tuple(scheduler.LOWER_BOUNDS_PARAMETERS)
HIGHEST: Parameters = tuple(scheduler.UPPER_BOUNDS_PARAMETERS)
_LEAST_STABLE = 0.001
MOST_STABLE = 1e12  # days; extreme parameters could let it grow past what a number holds: the one bound of our own


class Fsrs6:
    """FSRS-6 with one set of parameters. Raises: ValueError where they are not 21, or one is out of its bounds.

    `first` is the memory after a first review, by rating. `after(memory, ratings, elapsed_days)` is the one after more
    reviews; one on the day of the review before it (0 days or less) counts by the formula for the short term.
    """

    def __init__(self, parameters: Parameters) -> None:
        if len(parameters) != len(DEFAULTS):
            raise ValueError(f"FSRS-6 has {len(DEFAULTS)} parameters, not {len(parameters)}")
        for number, (low, parameter, high) in enumerate(zip(LOWEST, parameters, HIGHEST, strict=True)):
            if not low <= parameter <= high:
                raise ValueError(f"parameter {number} is {parameter}, not between {low} and {high}")
        self._decay = -parameters[20]
        self._factor: float = 0.9 ** (1 / self._decay) - 1
        self.first: dict[int, Memory] = {
            rating: (max(parameters[rating - 1], _LEAST_STABLE), min(max(_first(parameters, rating), 1.0), 10.0))
            for rating in (1, 2, 3, 4)
        }
        self.after = _after(parameters, self._factor, self._decay)

    def interval(self, stability: float, retention: float, maximum: int) -> int:
        """Return the whole days, 1 to `maximum`, after which the probability of recall is `retention`."""
        return min(max(round(self.exact_interval(stability, retention)), 1), maximum)

    def exact_interval(self, stability: float, retention: float) -> float:
        """Return the days after which the probability of recall is `retention`."""
        days: float = (stability / self._factor) * ((retention ** (1 / self._decay)) - 1)
        return days


def forgetting_curve(parameters: Parameters) -> Callable[[float, int], float]:
    """Return the curve of FSRS-6: from stability and elapsed study days to the probability in [0, 1] of recall."""
    decay = -parameters[20]
    factor: float = 0.9 ** (1 / decay) - 1

    def retrievability(stability: float, elapsed_days: int) -> float:
        return float((1 + factor * elapsed_days / stability) ** decay)

    return retrievability


def _first(w: Parameters, rating: int) -> float:
    """Return the difficulty after a first review, before it is brought within its bounds."""
    return float(w[4] - (math.e ** (w[5] * (rating - 1))) + 1)


def _after(w: Parameters, factor: float, decay: float) -> Callable[[Memory, Iterable[int], Iterable[int]], Memory]:
    """Return `Fsrs6.after`: one loop without a call, as it runs for every review of every card of a log."""
    e = math.e
    changes = [-(w[6] * (rating - 3)) for rating in range(5)]
    goal, rest = w[7] * _first(w, 4), 1 - w[7]
    same_day, same_day_decay = [e ** (w[17] * (rating - 3 + w[18])) for rating in range(5)], -w[19]
    growth, growth_decay, growth_by_miss = e ** w[8], -w[9], w[10]
    bonuses = [1, 1, w[15], 1, w[16]]
    lapse, lapse_difficulty, lapse_stability, lapse_by_miss = w[11], -w[12], w[13], w[14]
    lapse_divisor = e ** (w[17] * w[18])

    def after(memory: Memory, ratings: Iterable[int], elapsed_days: Iterable[int]) -> Memory:
        stability, difficulty = memory
        for rating, days in zip(ratings, elapsed_days, strict=True):
            if days <= 0:
                increase = same_day[rating] * stability**same_day_decay
                if increase > 1.0 or rating == 1:
                    stability *= increase
            else:
                miss = 1 - (1 + factor * days / stability) ** decay
                if rating == 1:
                    lapsed = lapse * difficulty**lapse_difficulty * ((stability + 1) ** lapse_stability - 1)
                    stability = min(lapsed * e ** (miss * lapse_by_miss), stability / lapse_divisor)
                else:
                    gain = growth * (11 - difficulty) * stability**growth_decay * (e ** (miss * growth_by_miss) - 1)
                    stability *= 1 + gain * bonuses[rating]
            if not _LEAST_STABLE <= stability <= MOST_STABLE:
                stability = min(max(stability, _LEAST_STABLE), MOST_STABLE)
            difficulty = goal + rest * (difficulty + (10.0 - difficulty) * changes[rating] / 9.0)
            if not 1.0 <= difficulty <= 10.0:
                difficulty = min(max(difficulty, 1.0), 10.0)
        return stability, difficulty

    return after
