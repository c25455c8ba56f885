"""Reviews as trials of a model: what it predicted before each of them, and what came."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from learning.memory.fsrs import Memory, Parameters
from learning.memory.model import Model
from learning.memory.state import MOST_DAYS
from learning.study_day import StudyCalendar
from vault.log.review_columns import ReviewColumns

FIRST = -1  # elapsed days of a card's first review, which no model can predict


@dataclass(frozen=True, slots=True)
class Trials:
    """Reviews whose outcome a model can predict: at least a study day after the card's last one.

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
    """Return the study days from a card's previous review to each review; FIRST where there is none."""
    last: dict[int, int] = {}
    out = array("l")
    for card, day in zip(columns.card, calendar.days_of(columns), strict=True):
        before = last.get(card)
        out.append(FIRST if before is None else min(max(day - before, 0), MOST_DAYS))
        last[card] = day
    return out


def split_row(columns: ReviewColumns, share: float = 0.8) -> int:
    """Return the first row of the later part: at or after the instant of the review at `share` of all."""
    if not columns.at_ms:
        return 0
    return bisect_left(columns.at_ms, columns.at_ms[int(share * len(columns))])


def trials(columns: ReviewColumns, elapsed: Sequence[int], parameters: Parameters, *, since: int = 0) -> Trials:
    """Return the trials at or after row `since` of the model with `parameters`; a card's whole history counts."""
    histories: list[list[int]] = [[] for _ in columns.cards]
    for row, card in enumerate(columns.card):
        histories[card].append(row)
    tried = [rows for rows in histories if rows[-1] >= since]
    model = Model(parameters)
    memories = model.histories([(columns.rating[row], elapsed[row]) for row in rows] for rows in tried)
    found = []
    for rows, known in zip(tried, memories, strict=True):
        found += _of_card(columns, elapsed, rows, known, since)
    out = Trials(array("L"), array("L"), array("d"), array("B"), array("L"), array("L"))
    for row, days, stability, reviews, lapses in sorted(found):
        out.row.append(row)
        out.elapsed.append(days)
        out.chance.append(model.retrievability(stability, days))
        out.recalled.append(columns.rating[row] > 1)
        out.reviews.append(reviews)
        out.lapses.append(lapses)
    return out


def joined(parts: Iterable[Trials]) -> Trials:
    """Return the trials of several parts of a log, one after another."""
    out = Trials(array("L"), array("L"), array("d"), array("B"), array("L"), array("L"))
    for part in parts:
        out.row.extend(part.row)
        out.elapsed.extend(part.elapsed)
        out.chance.extend(part.chance)
        out.recalled.extend(part.recalled)
        out.reviews.extend(part.reviews)
        out.lapses.extend(part.lapses)
    return out


def _of_card(
    columns: ReviewColumns, elapsed: Sequence[int], rows: Sequence[int], memories: Sequence[Memory], since: int
) -> list[tuple[int, int, float, int, int]]:
    """Return (row, elapsed, stability before, reviews and lapses on earlier days) of each trial of one card."""
    found = []
    reviews, lapses = 1, 0
    for n, row in enumerate(rows):
        if elapsed[row] <= 0:
            continue
        if row >= since:
            found.append((row, elapsed[row], memories[n - 1][0], reviews, lapses))
        reviews += 1
        lapses += columns.rating[row] == 1
    return found
