"""Intervals and ease factors of SM-2, which know no memory, as stability and difficulty.

In general as Anki does it when FSRS is switched on: the interval is the stability, as the chance of recall at its end
is taken to be 0.9, and by the difficulty the next interval after Good would be the interval times the ease. Obsidian's
plugin Spaced Repetition has a scale of its own, which it uses when it is switched to FSRS.
"""

from __future__ import annotations

import math

from learning.memory.fsrs import DEFAULTS

_SR_LEAST, _SR_MOST = 130, 370  # per cent; of a card of difficulty 10, and of one of difficulty 1


def memory_of(interval: float, ease: float) -> tuple[float, float]:
    """Return (stability in days, difficulty) of a card with an interval of days and an ease factor such as 2.5."""
    w, stability = DEFAULTS, max(interval, 0.1)
    growth = math.exp(w[8]) * stability ** -w[9] * (math.exp(0.1 * w[10]) - 1)  # for each point below 11
    return stability, min(max(11 - (ease - 1) / growth, 1.0), 10.0)


def sr_difficulty(ease: float) -> float:
    """Return the difficulty that Spaced Repetition makes of its ease in per cent."""
    return 10 - 9 * (min(max(ease, _SR_LEAST), _SR_MOST) - _SR_LEAST) / (_SR_MOST - _SR_LEAST)


def sr_ease(difficulty: float) -> int:
    """Return the ease in per cent that Spaced Repetition makes of a difficulty."""
    return round(_SR_LEAST + (10 - min(max(difficulty, 1.0), 10.0)) / 9 * (_SR_MOST - _SR_LEAST))
