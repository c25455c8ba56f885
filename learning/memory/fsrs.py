"""The arithmetic of FSRS-6 in 64 bits, to the last bit what py-fsrs 6.3 computes. Nothing is imported but `math`.

`fsrs` is the scheduler of record: it gives each live review its state. This is for where a million reviews are folded,
or a hundred thousand cards asked how well they are remembered, without waiting for it. Every expression keeps the
order of operations of `fsrs.Scheduler`, and `math.e ** x` stays that and not `exp(x)`: another order gives other bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

Memory = tuple[float, float]  # stability in days, difficulty in [1, 10]

DEFAULTS = (
    *(0.212, 1.2931, 2.3065, 8.2956, 6.4133, 0.8334, 3.0194, 0.001, 1.8722, 0.1666, 0.796),
    *(1.4835, 0.0614, 0.2629, 1.6483, 0.6014, 1.8729, 0.5425, 0.0912, 0.0658, 0.1542),
)
LOWEST = (
    *(0.001, 0.001, 0.001, 0.001, 1.0, 0.001, 0.001, 0.001, 0.0, 0.0, 0.001),
    *(0.001, 0.001, 0.001, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.1),
)
HIGHEST = (
    *(100.0, 100.0, 100.0, 100.0, 10.0, 4.0, 4.0, 0.75, 4.5, 0.8, 3.5),
    *(5.0, 0.25, 0.9, 4.0, 1.0, 6.0, 2.0, 2.0, 0.8, 0.8),
)
AGAIN, HARD, GOOD, EASY = 1, 2, 3, 4
_LEAST_STABLE = 0.001
_LEAST_DIFFICULT, _MOST_DIFFICULT = 1.0, 10.0
_FUZZ = ((2.5, 7.0, 0.15), (7.0, 20.0, 0.1), (20.0, math.inf, 0.05))  # from, to (days), days of play for each day
_FUZZ_FROM = 2.5


class Fsrs6:
    """FSRS-6 with one set of 21 parameters. Raises: ValueError if py-fsrs would refuse them.

    `after(stability, difficulty, elapsed_days, rating)` gives the memory after a review; on the day of the review
    before it (`elapsed_days` 0) by the formula for the short term.
    `retrievability(stability, elapsed_days)` is the probability in [0, 1] of recalling a card.
    """

    __slots__ = ("_decay", "_factor", "_first", "after", "parameters", "retrievability")

    def __init__(self, parameters: Sequence[float] = DEFAULTS) -> None:
        check(parameters)
        self.parameters = w = tuple(parameters)
        self._decay = -w[20]
        self._factor: float = 0.9 ** (1 / self._decay) - 1
        self._first = {r: (max(w[r - 1], _LEAST_STABLE), _difficult(_at_first(w, r))) for r in (1, 2, 3, 4)}
        self.retrievability = _curve(self._factor, self._decay)
        self.after = _step(w, self._factor, self._decay)

    def first(self, rating: int) -> Memory:
        """The memory after the first review of a card."""
        return self._first[rating]

    def interval(self, stability: float, retention: float, maximum: int) -> int:
        """Whole days, 1 to `maximum`, after which the card is recalled with the probability `retention`."""
        days: float = (stability / self._factor) * ((retention ** (1 / self._decay)) - 1)
        return min(max(round(days), 1), maximum)


def check(parameters: Sequence[float]) -> None:
    """Raises: ValueError where these are not 21 numbers, each within the bounds that FSRS-6 gives it."""
    if len(parameters) != len(DEFAULTS):
        raise ValueError(f"FSRS-6 has {len(DEFAULTS)} parameters, not {len(parameters)}")
    for number, (least, parameter, most) in enumerate(zip(LOWEST, parameters, HIGHEST, strict=True)):
        if not least <= parameter <= most:
            raise ValueError(f"parameter {number} is {parameter}, not between {least} and {most}")


def fuzz_range(days: int, maximum: int) -> tuple[int, int]:
    """The least and the most days that an interval of `days` may become, as Anki and py-fsrs let it vary.

    Both grow with `days`, so that a longer interval never becomes shorter than a shorter one under the same draw.
    """
    if days < _FUZZ_FROM:
        return days, days
    play = 1.0
    for start, end, factor in _FUZZ:
        play += factor * max(min(float(days), end) - start, 0.0)
    most = min(round(days + play), maximum)
    return min(max(2, round(days - play)), most), most


def _at_first(w: Sequence[float], rating: int) -> float:
    """The difficulty that a first review gives, not yet brought within its bounds."""
    return float(w[4] - (math.e ** (w[5] * (rating - 1))) + 1)


def _difficult(difficulty: float) -> float:
    return min(max(difficulty, _LEAST_DIFFICULT), _MOST_DIFFICULT)


def _curve(factor: float, decay: float) -> Callable[[float, int], float]:
    def retrievability(stability: float, elapsed_days: int) -> float:
        return float((1 + factor * elapsed_days / stability) ** decay)

    return retrievability


def _step(w: Sequence[float], factor: float, decay: float) -> Callable[[float, float, int, int], Memory]:
    """`Fsrs6.after`: what can be reckoned once for all reviews stands before the function that each of them calls."""
    e = math.e
    shifts = [-(w[6] * (rating - 3)) for rating in range(5)]
    towards, rest = w[7] * _at_first(w, EASY), 1 - w[7]
    short = [e ** (w[17] * (rating - 3 + w[18])) for rating in range(5)]
    short_fade, short_most = -w[19], e ** (w[17] * w[18])
    growth, fade, surprise = e ** w[8], -w[9], w[10]
    bonuses = [1.0, 1.0, w[15], 1.0, w[16]]
    forgotten, hardness, stable, missed = w[11], -w[12], w[13], w[14]

    def after(stability: float, difficulty: float, elapsed_days: int, rating: int) -> Memory:
        if elapsed_days < 1:
            grown = short[rating] * (stability**short_fade)
            if rating != 1 and grown < 1.0:
                grown = 1.0
            new = stability * grown
        else:
            miss = 1 - (1 + factor * elapsed_days / stability) ** decay
            if rating == 1:
                new = forgotten * (difficulty**hardness) * (((stability + 1) ** stable) - 1) * (e ** (miss * missed))
                short_term = stability / short_most
                if short_term < new:
                    new = short_term
            else:
                gain = growth * (11 - difficulty) * (stability**fade) * ((e ** (miss * surprise)) - 1)
                new = stability * (1 + gain * bonuses[rating])
        harder = towards + rest * (difficulty + (10.0 - difficulty) * shifts[rating] / 9.0)
        if harder < 1.0:
            harder = 1.0
        elif harder > 10.0:
            harder = 10.0
        return (new if new > 0.001 else 0.001), harder

    return after
