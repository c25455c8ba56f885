"""Intervals and ease factors of SM-2, which know no memory, as stability and difficulty, and back.

Both ways as Anki does it when FSRS is switched on: the interval is the stability, as the chance of recall at its end is
taken to be 0.9, and by the difficulty the next interval after Good would be the interval times the ease.
"""

from __future__ import annotations

import math
from datetime import date

from learning.imports.foreign import Schedule, bounded, days_before
from learning.memory.fsrs import DEFAULTS

LEAST_EASE, MOST_EASE = 1.3, 5.0


def memory_of(interval: float, ease: float) -> tuple[float, float]:
    """Return (stability in days, difficulty) of a card with an interval of days and an ease factor such as 2.5."""
    stability = max(interval, 0.1)
    return stability, min(max(11 - (ease - 1) / _growth(stability), 1.0), 10.0)


def ease_of(stability: float, difficulty: float) -> float:
    """Return the ease factor by which the next interval after Good is that of FSRS."""
    return min(max(1 + (11 - difficulty) * _growth(stability), LEAST_EASE), MOST_EASE)


def _growth(stability: float) -> float:
    """Return by how much each point of ease in FSRS-6's formula lets the stability grow, at a chance of 0.9."""
    w = DEFAULTS
    return float(math.exp(w[8]) * stability ** -w[9] * (math.exp(0.1 * w[10]) - 1))


def schedule_of_ease(due: date, interval: float, ease: float, reps: float = 1, lapses: float = 0) -> Schedule | None:
    """Return the schedule of a card that SM-2 made due on a day; None for numbers that cannot be believed."""
    if not (0 <= interval <= 36_525 and 0 < ease <= 100):
        return None
    return bounded(days_before(due, interval), due, *memory_of(interval, ease), reps, lapses)
