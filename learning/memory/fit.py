"""Fits FSRS-6 to a learner's own reviews. The one room that knows `fsrs_rs_python`, the crate inside Anki.

A fit holds the interpreter, so Ctrl-C waits for its end; with 85,000 reviews that is a twentieth of a second, less than
a child process needs to start.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from learning.memory.fsrs import HIGHEST, LOWEST
from learning.study_day import StudyCalendar
from vault.errors import Refused
from vault.log.review_columns import ReviewColumns
from vault.text.sanitize import clean_line

Parameters = tuple[float, ...]
FIRST = -1  # elapsed days of a card's first review, which nobody can predict
_EPOCHS = 8  # as Anki fits: with as many, the same items give the same parameters
_MOST_DAYS = 2_000_000  # only hands can write a log with a longer wait


@dataclass(frozen=True, slots=True)
class Trials:
    """Reviews whose outcome a model can be asked beforehand: at least a study day after the card's last one.

    Row n of each column is one trial, in order of time: `row` of it in the review columns, `elapsed` study days since
    the card's last review, `chance` of recall that the model gave, `recalled` 1 or 0; `reviews` and `lapses` of
    the card on earlier study days, the first review being one of them.
    """

    row: array[int]
    elapsed: array[int]
    chance: array[float]
    recalled: array[int]
    reviews: array[int]
    lapses: array[int]

    def __len__(self) -> int:
        return len(self.row)


def elapsed_days(columns: ReviewColumns, calendar: StudyCalendar) -> array[int]:
    """Study days from a card's previous review to each review; FIRST where there is none."""
    last: dict[int, int] = {}
    out = array("l")
    for card, day in zip(columns.card, calendar.days_of(columns), strict=True):
        before = last.get(card)
        out.append(FIRST if before is None else min(max(day - before, 0), _MOST_DAYS))
        last[card] = day
    return out


def split_row(columns: ReviewColumns, share: float = 0.8) -> int:
    """The first row of the later part: what was reviewed at or after the instant of the review at `share` of all."""
    if not columns.at_ms:
        return 0
    return bisect_left(columns.at_ms, columns.at_ms[int(share * len(columns))])


def fit(
    columns: ReviewColumns, elapsed: Sequence[int], *, before: int | None = None, relearning: int = 1
) -> Parameters:
    """The 21 parameters that fit the reviews before row `before` (all without it) best, to four decimals.

    Items are as Anki makes them: for each review at least a day after the last one, the card's history up to it, in
    order of time. `relearning` counts the relearning steps within a day. Raises: Refused where the crate does.
    """
    import fsrs_rs_python as crate

    made: dict[tuple[int, int], crate.FSRSReview] = {}
    histories: list[list[crate.FSRSReview]] = [[] for _ in columns.cards]
    items, ids = [], []
    item_of, review_of = crate.FSRSItem, crate.FSRSReview
    end = len(columns) if before is None else before
    for card, rating, days in zip(columns.card[:end], columns.rating[:end], elapsed[:end], strict=True):
        key = (rating, days)
        review = made.get(key)
        if review is None:
            review = made[key] = review_of(rating, max(days, 0))
        history = histories[card]
        history.append(review)
        if days > 0:
            items.append(item_of(history))
            ids.append(card)
    training = crate.TrainingConfig(num_epochs=_EPOCHS)
    try:
        found = crate.FSRS(crate.DEFAULT_PARAMETERS).compute_parameters(items, ids, True, relearning, training)
    except ValueError as error:
        what = f"no parameters could be fitted to these reviews: {clean_line(str(error))}"
        raise Refused(what, hint="the present ones stay") from error
    # The crate reckons in 32 bits: a parameter at its bound would lie a hair beyond it, and fsrs would refuse it.
    return tuple(min(max(round(p, 4), low), high) for low, p, high in zip(LOWEST, found, HIGHEST, strict=True))


def trials(columns: ReviewColumns, elapsed: Sequence[int], parameters: Parameters, *, since: int = 0) -> Trials:
    """What the model with `parameters` says of each trial at or after row `since`; a card's whole history counts."""
    histories: list[list[int]] = [[] for _ in columns.cards]
    for row, card in enumerate(columns.card):
        histories[card].append(row)
    asked = [rows for rows in histories if rows[-1] >= since]
    states = _stabilities(columns, elapsed, asked, parameters)
    found = []
    for rows, known in zip(asked, states, strict=True):
        found += _of_card(columns, elapsed, rows, known, since)
    found.sort()
    decay = -parameters[20]
    factor = 0.9 ** (1 / decay) - 1
    out = Trials(array("L"), array("L"), array("d"), array("B"), array("L"), array("L"))
    for row, days, stability, reviews, lapses in found:
        out.row.append(row)
        out.elapsed.append(days)
        out.chance.append((1 + factor * days / stability) ** decay)
        out.recalled.append(columns.rating[row] > 1)
        out.reviews.append(reviews)
        out.lapses.append(lapses)
    return out


def _stabilities(
    columns: ReviewColumns, elapsed: Sequence[int], cards: Iterable[Sequence[int]], parameters: Parameters
) -> list[list[float]]:
    """Stability after each review of each card, given as rows of `columns`."""
    import fsrs_rs_python as crate

    rating = columns.rating
    items = [crate.FSRSItem([crate.FSRSReview(rating[r], max(elapsed[r], 0)) for r in rows]) for rows in cards]
    batch = crate.FSRS(list(parameters)).historical_memory_state_batch(items) if items else []
    return [[state.stability for state in states] for states in batch]


def _of_card(
    columns: ReviewColumns, elapsed: Sequence[int], rows: Sequence[int], stability: Sequence[float], since: int
) -> list[tuple[int, int, float, int, int]]:
    """(row, elapsed, stability before, reviews and lapses on earlier days) of each trial of one card."""
    found = []
    reviews, lapses = 1, 0
    for n, row in enumerate(rows):
        if elapsed[row] <= 0:
            continue
        if row >= since:
            found.append((row, elapsed[row], stability[n - 1], reviews, lapses))
        reviews += 1
        lapses += columns.rating[row] == 1
    return found
