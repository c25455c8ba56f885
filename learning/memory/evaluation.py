"""How well a model predicted what was recalled: log loss, RMSE in bins and calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from learning.memory.trials import Trials

_SURE = 1e-4  # a chance nearer to 0 or 1 counts as this near: one surprise must not outweigh a year
_EDGES = (0.0, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)


@dataclass(frozen=True, slots=True)
class Bin:
    """Trials with a predicted probability in [`low`, `high`): their number, mean probability, and the share that was
    recalled.
    """

    low: float
    high: float
    trials: int
    predicted: float
    recalled: float


@dataclass(frozen=True, slots=True)
class Marks:
    """How good predictions were: `log_loss` is the plain mean, lower is better; `rmse_bins` in [0, 1] is the distance
    from the shares recalled.
    """

    log_loss: float
    rmse_bins: float
    predicted: float
    recalled: float
    bins: tuple[Bin, ...] = ()


def marks_of(trials: Trials) -> Marks:
    """Return the marks of the model that predicted `trials`, of which there is at least one."""
    number = len(trials)
    loss = sum(losses(trials))
    mean, share = sum(trials.chance) / number, sum(trials.recalled) / number
    return Marks(loss / number, _rmse_in_bins(trials), mean, share, calibration(trials))


def losses(trials: Trials) -> list[float]:
    """Return the log loss of each prediction."""
    return [_loss(chance, recalled) for chance, recalled in zip(trials.chance, trials.recalled, strict=True)]


def _loss(chance: float, recalled: int) -> float:
    """Return the log loss of one prediction."""
    chance = min(max(chance, _SURE), 1 - _SURE)
    return -math.log(chance if recalled else 1 - chance)


def _rmse_in_bins(trials: Trials) -> float:
    """Root mean square over bins of alike reviews (wait, number of reviews, lapses), weighted by their size.

    Source: the bins of the open-spaced-repetition benchmark, as the crate inside Anki has them.
    """
    bins: dict[tuple[float, float, float], list[float]] = {}
    for n, chance in enumerate(trials.chance):
        key = _bin_of(trials.elapsed[n], trials.reviews[n], trials.lapses[n])
        total = bins.setdefault(key, [0.0, 0.0, 0.0])
        total[0] += 1
        total[1] += chance
        total[2] += trials.recalled[n]
    squares = sum(number * ((predicted - recalled) / number) ** 2 for number, predicted, recalled in bins.values())
    return math.sqrt(squares / len(trials))


def _bin_of(elapsed: int, reviews: int, lapses: int) -> tuple[float, float, float]:
    """Return the bin of a review, by elapsed days, number of reviews and lapses."""
    wait = round(2.48 * 3.62 ** math.floor(math.log(elapsed, 3.62)), 2)
    length = round(1.99 * 1.89 ** math.floor(math.log(reviews + 1, 1.89)))
    return wait, length, round(1.65 * 1.73 ** math.floor(math.log(lapses, 1.73))) if lapses else 0


def calibration(trials: Trials) -> tuple[Bin, ...]:
    """Return predicted and recalled shares by predicted probability; ranges without a trial are left out."""
    found = []
    for low, high in pairwise(_EDGES):
        inside = [n for n, c in enumerate(trials.chance) if low <= c < high or c == high == 1.0]
        if inside:
            predicted = sum(trials.chance[n] for n in inside) / len(inside)
            recalled = sum(trials.recalled[n] for n in inside) / len(inside)
            found.append(Bin(low, high, len(inside), predicted, recalled))
    return tuple(found)


def plot(bins: Sequence[Bin], width: int = 40) -> list[str]:
    """Return a line for each bin: `|` at the predicted share, `●` at the recalled one, `◆` where both are."""
    lines = []
    for each in bins:
        row = [" "] * (width + 1)
        predicted, recalled = round(each.predicted * width), round(each.recalled * width)
        row[predicted] = "|"
        row[recalled] = "◆" if predicted == recalled else "●"
        figures = f"{each.predicted:6.1%}  {each.recalled:6.1%}  {each.trials:7,}"
        lines.append(f"  {each.low:3.0%}-{each.high:<4.0%} {figures}  {''.join(row).rstrip()}")
    return lines
