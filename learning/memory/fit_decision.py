"""When parameters are fitted again, whether they are used, and what the log records of it."""

from __future__ import annotations

import math
import re
import statistics
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from learning.memory.evaluation import Marks, losses, marks_of
from learning.memory.fsrs import DEFAULTS, Parameters
from learning.memory.model import fit
from learning.memory.predictions import rows_of, rows_of_each, unseen_changes
from learning.memory.state import CardEvent, Rules
from learning.memory.trials import Trials, elapsed_days, joined, split_row, trials
from learning.study_day import StudyCalendar
from vault.ids import CardId
from vault.log.events import LogEvent, Memory, Params, Stamp
from vault.log.review_columns import ReviewColumns, ScannedLog
from vault.log.review_log import unix_ms

FEWEST_TRIALS = 500  # later reviews that old and new are compared on; `benchmarks.refits` shows what fewer are worth
FEWEST = 2 * FEWEST_TRIALS  # reviews: those to compare on are in the later half
MARGIN = 0.005  # of log loss: less is not worth moving cards for
_SURE = 3.0  # standard errors that the gain must be above nought
_SHARES = (0.5, 0.6, 0.7, 0.8, 0.9)  # of the reviews, after which a fit is tried on those up to the next share
_PRIOR = 4_000  # reviews that the default parameters weigh as much as
_FITTED = re.compile(r"fitted to ([0-9]{1,12}) reviews")
_DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class FitComparison:
    """Default, current and new parameters, tried on `held_out` reviews that the new ones have not seen.

    `fitted` are the new ones made of all `reviews`, which are taken into use if `better`; `trained` is how many
    reviews came before the held-out ones. `gain` is by how much the log loss of the new ones is lower, and `error` the
    standard error of that.
    """

    reviews: int
    cards: int
    trained: int
    held_out: int
    default: Marks
    current: Marks
    new: Marks
    gain: float
    error: float
    fitted: Parameters
    held: Parameters = DEFAULTS  # those in use

    @property
    def in_use(self) -> bool:
        """Return whether the fitted parameters are those in use."""
        return self.fitted == self.held

    @property
    def needed(self) -> float:
        """Return the gain from which on the new parameters are worth it."""
        return max(MARGIN, _SURE * self.error)

    @property
    def better(self) -> bool:
        """Return whether the new ones predicted so much better than the current ones that it is worth it, and no worse
        than the defaults.
        """
        return not self.in_use and self.gain >= self.needed and self.new.log_loss <= self.default.log_loss


@dataclass(frozen=True, slots=True)
class TooFew:
    """How many reviews, and later ones for the comparison, are missing for a fit."""

    reviews: int
    missing: int
    missing_trials: int


def split_by_change(columns: ReviewColumns, changes: Iterable[CardEvent]) -> ReviewColumns:
    """Return `columns` with each card counted as another from the change of its fact on: what was known of the old one,
    and what the new one took to learn, says nothing of how long either was remembered.
    """
    became = unseen_changes(columns, rows_of_each(columns), changes)
    if not any(became.values()):
        return columns
    ends = [[unix_ms(change.at) for change in became.get(card, {}).values()] for card in range(len(columns.cards))]
    numbers: dict[tuple[int, int], int] = {}
    cards: list[CardId] = []
    card_of = array("L")
    for card, at_ms in zip(columns.card, columns.at_ms, strict=True):
        key = card, bisect_left(ends[card], at_ms)
        if key not in numbers:
            numbers[key] = len(cards)
            cards.append(columns.cards[card])
        card_of.append(numbers[key])
    return replace(columns, cards=cards, card=card_of)


def fittable(log: ScannedLog, calendar: StudyCalendar) -> ReviewColumns:
    """Return the reviews of the cards whose history is whole: what came before is unknown of a card whose memory was
    brought from elsewhere and whose first review is later than that.
    """
    brought = {e.card: e.reviewed.toordinal() for e in reversed(log.others) if isinstance(e, Memory)}  # by the first
    columns = log.reviews
    if not brought:
        return columns
    days, first = calendar.days_of(columns), dict[int, int]()
    for card, day in zip(columns.card, days, strict=True):
        first.setdefault(card, day)
    cut_off = {n for n, card in enumerate(columns.cards) if card in brought and first[n] > brought[card]}
    return rows_of(columns, [row for row, card in enumerate(columns.card) if card not in cut_off])


def compare_fit(columns: ReviewColumns, rules: Rules, changes: Iterable[CardEvent] = ()) -> FitComparison | TooFew:
    """Fit to the first half of the reviews and compare old and new on the next tenth, then fit to that, too, and so on;
    in the end fit to all.

    What is fitted moves the defaults, which were fitted to thousands of learners, as far as the reviews weigh: halfway
    with `_PRIOR` of them. Of `changes` those count by which a fact became another.
    """
    cards, columns = len(columns.cards), split_by_change(columns, changes)
    elapsed = elapsed_days(columns, rules.calendar)
    rows = [split_row(columns, share) for share in _SHARES]
    held_out = sum(days > 0 for days in elapsed[rows[0] :])
    if len(columns) < FEWEST or held_out < FEWEST_TRIALS:
        missing = max(0, FEWEST - len(columns)), max(0, FEWEST_TRIALS - held_out)
        return TooFew(len(columns), *missing)
    relearning = sum(step.total_seconds() < _DAY_S for step in rules.relearning_steps)
    held = rules.parameters or DEFAULTS
    weight = len(columns) / (len(columns) + _PRIOR)

    def fitted(before: int | None = None) -> Parameters:
        return _between(DEFAULTS, fit(columns, elapsed, before=before, relearning=relearning), weight)

    new = joined(
        trials(rows_of(columns, range(end)), elapsed[:end], fitted(row), since=row)
        for row, end in pairwise((*rows, len(columns)))
        if row < end
    )
    default = trials(columns, elapsed, DEFAULTS, since=rows[0])
    current = default if held == DEFAULTS else trials(columns, elapsed, held, since=rows[0])
    gain, error = _gain(columns, current, new, rows)
    marks = marks_of(default), marks_of(current), marks_of(new)
    return FitComparison(len(columns), cards, rows[0], held_out, *marks, gain, error, fitted(), held)


def _between(start: Parameters, end: Parameters, weight: float) -> Parameters:
    """Return the parameters on the way from `start` to `end` by `weight`, to four decimals."""
    return tuple(round(old + weight * (new - old), 4) for old, new in zip(start, end, strict=True))


def _gain(columns: ReviewColumns, current: Trials, new: Trials, parts: Sequence[int]) -> tuple[float, float]:
    """Return by how much `new` has the lower log loss on the same trials, and the standard error of that.

    Trials of one card are not independent, nor are those of one part of the time, which begins at a row of `parts`: a
    learner may have been another then. The error is the greater of the two: that of sums by card, and of means by part.
    """
    gains = [old - better for old, better in zip(losses(current), losses(new), strict=True)]
    mean = sum(gains) / len(gains)
    by_card: dict[int, float] = {}
    by_part: dict[int, list[float]] = {}
    for row, each in zip(new.row, gains, strict=True):
        card = columns.card[row]
        by_card[card] = by_card.get(card, 0.0) + each - mean
        by_part.setdefault(bisect_right(parts, row), []).append(each)
    of_cards = math.sqrt(sum(total**2 for total in by_card.values())) / len(gains)
    means = [statistics.mean(part) for part in by_part.values()]
    of_parts = statistics.stdev(means) / math.sqrt(len(means)) if len(means) > 1 else math.inf
    return mean, max(of_cards, of_parts)


def params_event(stamp: Stamp, found: FitComparison) -> Params:
    """Return the event that takes the new parameters into use."""
    marks = (
        f"prediction error (log loss) {found.new.log_loss:.4f} (previously {found.current.log_loss:.4f}; FSRS-6 "
        f"defaults {found.default.log_loss:.4f})"
    )
    reason = f"fitted to {found.reviews} reviews; tested on {found.held_out} later ones: {marks}"
    return Params(stamp, found.fitted, None, reason)


def reset_event(stamp: Stamp) -> Params:
    """Return the event that goes back to FSRS-6's own parameters."""
    return Params(stamp, DEFAULTS, None, "back to the default parameters of FSRS-6")


def last_params(others: Iterable[LogEvent]) -> Params | None:
    """Return the latest parameters among live events in order of time."""
    return next((event for event in reversed(list(others)) if isinstance(event, Params)), None)


def reviews_at_fit(others: Sequence[LogEvent], places: Sequence[int]) -> int:
    """Return how many reviews there were when parameters were last fitted or set; 0 if they never were.

    The event's own count goes first: of reviews that were imported since, many are dated before it.
    """
    for event, place in zip(reversed(others), reversed(places), strict=True):
        if isinstance(event, Params):
            fitted = _FITTED.match(event.reason)
            return int(fitted[1]) if fitted else place
    return 0


def due_for_fit(log: ScannedLog, tried: int = 0) -> bool:
    """Return whether reviews have doubled since the last fit, or grown by a tenth since a fit to `tried` reviews was no
    better.
    """
    return len(log.reviews) >= next_fit_at(log, tried)


def next_fit_at(log: ScannedLog, tried: int = 0) -> int:
    """Return the number of reviews at which the next fit is due."""
    return max(FEWEST, 2 * reviews_at_fit(log.others, log.places), tried * 11 // 10 + 1)
