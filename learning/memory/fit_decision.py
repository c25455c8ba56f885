"""When parameters are fitted again, whether they are used, and what the log records of it."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from learning.memory.evaluation import Marks, marks_of
from learning.memory.fsrs import DEFAULTS, Parameters
from learning.memory.model import fit
from learning.memory.state import CardEvent, Rules
from learning.memory.trials import elapsed_days, split_row, trials
from vault.ids import CardId
from vault.log.events import LogEvent, Params, Stamp
from vault.log.review_columns import ReviewColumns, ScannedLog
from vault.log.review_log import unix_ms

FEWEST = 400  # reviews: with fewer, a fit tells more of chance than of the learner
FEWEST_TRIALS = 50  # later ones that old and new are compared on
_FITTED = re.compile(r"fitted to ([0-9]{1,12}) reviews")
_DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class FitComparison:
    """Default, current and new parameters, tried on `held_out` reviews that the new ones have not seen.

    `fitted` are the new ones made of all `reviews`, which are taken into use if `better`; `trained` is how many
    reviews came before the held-out ones.
    """

    reviews: int
    cards: int
    trained: int
    held_out: int
    default: Marks
    current: Marks
    new: Marks
    fitted: Parameters
    held: Parameters = DEFAULTS  # those in use

    @property
    def in_use(self) -> bool:
        """Return whether the fitted parameters are those in use."""
        return self.fitted == self.held

    @property
    def better(self) -> bool:
        """Return whether the new ones differ, predicted better than the current ones, and no worse than the
        defaults.
        """
        return (
            not self.in_use and self.new.log_loss < self.current.log_loss and self.new.log_loss <= self.default.log_loss
        )


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
    became: dict[CardId, list[int]] = {}
    for change in changes:
        if change.type == "changed":
            became.setdefault(change.card, []).append(unix_ms(change.at))
    if not became:
        return columns
    ends = [sorted(became.get(card, ())) for card in columns.cards]
    numbers: dict[tuple[int, int], int] = {}
    cards: list[CardId] = []
    card_of = array("L")
    for card, at_ms in zip(columns.card, columns.at_ms, strict=True):
        key = card, bisect_right(ends[card], at_ms)
        if key not in numbers:
            numbers[key] = len(cards)
            cards.append(columns.cards[card])
        card_of.append(numbers[key])
    return replace(columns, cards=cards, card=card_of)


def compare_fit(columns: ReviewColumns, rules: Rules, changes: Iterable[CardEvent] = ()) -> FitComparison | TooFew:
    """Fit to the first four fifths of the reviews, compare old and new on the rest, then fit to all.

    Of `changes` those count by which a fact became another.
    """
    cards, columns = len(columns.cards), split_by_change(columns, changes)
    elapsed = elapsed_days(columns, rules.calendar)
    row = split_row(columns)
    held_out = sum(days > 0 for days in elapsed[row:])
    if len(columns) < FEWEST or held_out < FEWEST_TRIALS:
        missing = max(0, FEWEST - len(columns)), max(0, FEWEST_TRIALS - held_out)
        return TooFew(len(columns), *missing)
    relearning = sum(step.total_seconds() < _DAY_S for step in rules.relearning_steps)

    def tried(parameters: Parameters) -> Marks:
        return marks_of(trials(columns, elapsed, parameters, since=row))

    new = tried(fit(columns, elapsed, before=row, relearning=relearning))
    default = tried(DEFAULTS)
    held = rules.parameters or DEFAULTS
    current = default if held == DEFAULTS else tried(held)
    fitted = fit(columns, elapsed, relearning=relearning)
    return FitComparison(len(columns), cards, row, held_out, default, current, new, fitted, held)


def params_event(stamp: Stamp, found: FitComparison) -> Params:
    """Return the event that takes the new parameters into use."""
    marks = (
        f"log loss {found.new.log_loss:.4f}, before {found.current.log_loss:.4f}, FSRS-6 {found.default.log_loss:.4f}"
    )
    reason = f"fitted to {found.reviews} reviews; on {found.held_out} later ones {marks}"
    return Params(stamp, found.fitted, None, reason)


def reset_event(stamp: Stamp) -> Params:
    """Return the event that goes back to FSRS-6's own parameters."""
    return Params(stamp, DEFAULTS, None, "back to the parameters of FSRS-6")


def last_params(others: Iterable[LogEvent]) -> Params | None:
    """Return the latest parameters among live events in order of time."""
    return next((event for event in reversed(list(others)) if isinstance(event, Params)), None)


def reviews_at_fit(others: Sequence[LogEvent], places: Sequence[int]) -> int:
    """Return how many reviews there were when parameters were last fitted or set; 0 if they never were.

    The event's own count goes first: of reviews that were imported since, many are dated before it.
    """
    for event, place in zip(reversed(others), reversed(places), strict=True):
        if isinstance(event, Params):
            fitted = _FITTED.search(event.reason)
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
