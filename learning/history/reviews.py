"""The reviews that count in the index, by card: what statistics and pages are computed from.

A card's reviews are one value, in order of time: five columns one after another, of instants, of when they happened
(both in Unix milliseconds), of times on screen, of the intervals that their lines record and of ratings. A row for each
of a million reviews would take longer to make than all their states.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from vault.ids import CardId
from vault.index.database import Database
from vault.log.events import Review
from vault.log.review_columns import MOST_DAYS, MOST_MS, ReviewColumns
from vault.log.review_log import unix_ms

_CODES = "qqIHB"  # of the columns
_SIZES = tuple(array(code).itemsize for code in _CODES)
_ONE = sum(_SIZES)  # bytes of a review


class CardReviews(NamedTuple):
    """The reviews of a card that count, in order of `at`; `when` they happened, both in Unix milliseconds; `ms` on
    screen; `interval_days` as recorded, 0 for none; `rating` 1 to 4.
    """

    at: memoryview[int]
    when: memoryview[int]
    ms: memoryview[int]
    interval_days: memoryview[int]
    rating: bytes


def _pieces(data: bytes) -> list[memoryview[int]]:
    """Return the bytes of each column in a value."""
    count, view = len(data) // _ONE, memoryview(data)
    ends = accumulate((count * size for size in _SIZES), initial=0)
    return [view[start:end] for start, end in pairwise(ends)]


def _unpacked(data: bytes) -> CardReviews:
    """Return the columns in a value."""
    at, when, ms, days, rating = _pieces(data)
    return CardReviews(at.cast("q"), when.cast("q"), ms.cast("I"), days.cast("H"), bytes(rating))


def _packed(columns: Iterable[array[int]]) -> bytes:
    """Return the value of these columns."""
    return b"".join(column.tobytes() for column in columns)


def save_all(database: Database, reviews: ReviewColumns) -> None:
    """Store the reviews of all cards."""
    rows = sorted(range(len(reviews)), key=reviews.card.__getitem__)
    days = reviews.interval_days or array("H", bytes(2 * len(reviews)))
    columns = reviews.at_ms, reviews.when_ms, reviews.ms, days, reviews.rating
    every = [array(code, map(column.__getitem__, rows)) for code, column in zip(_CODES, columns, strict=True)]
    numbers, end = array("L", map(reviews.card.__getitem__, rows)), 0
    values = []
    for number, card in enumerate(reviews.cards):
        start, end = end, bisect_left(numbers, number + 1, end)
        values.append((card, _packed(column[start:end] for column in every)))
    database.run("DELETE FROM reviews")
    database.run_many("INSERT INTO reviews VALUES(?, ?)", sorted(values))


def add_reviews(database: Database, reviews: Iterable[Review]) -> None:
    """Add reviews that come after all others of their cards."""
    for review in reviews:
        replace_reviews(database, review.card, unix_ms(review.at), [review])


def replace_reviews(database: Database, card: CardId, cut: int, reviews: Iterable[Review]) -> None:
    """Replace the reviews of a card from the instant `cut` on."""
    row = database.one("SELECT data FROM reviews WHERE card = ?", (card,))
    known = _unpacked(row[0] if row else b"")
    kept = bisect_left(known.at, cut)
    columns = [array(code, column[:kept]) for code, column in zip(_CODES, known, strict=True)]
    for review in reviews:
        days = min(review.interval_days, MOST_DAYS)
        values = unix_ms(review.at), unix_ms(review.when), min(review.ms, MOST_MS), days, review.rating
        for column, value in zip(columns, values, strict=True):
            column.append(value)
    database.run("INSERT OR REPLACE INTO reviews VALUES(?, ?)", (card, _packed(columns)))


def reviews_of_each(
    database: Database, cards: Collection[CardId] | None = None
) -> Iterator[tuple[CardId, CardReviews]]:
    """Yield the reviews of each of these cards, or of all."""
    for card, data in _values(database, cards):
        if data:  # else all its reviews were undone
            yield card, _unpacked(data)


def _values(database: Database, cards: Collection[CardId] | None) -> list[tuple[CardId, bytes]]:
    if cards is None:
        return database.rows("SELECT card, data FROM reviews")
    query = "SELECT card, data FROM reviews WHERE card IN (SELECT value FROM json_each(?))"
    return database.rows(query, (json.dumps(list(cards)),))


def columns(database: Database, cards: Collection[CardId] | None = None) -> ReviewColumns:
    """Return the reviews of these cards, or of all, in order of time."""
    found = _values(database, cards)
    card, every = array("L"), tuple(array(code) for code in _CODES)
    for number, (_, data) in enumerate(found):
        card.extend(array("L", (number,)) * (len(data) // _ONE))
        for column, piece in zip(every, _pieces(data), strict=True):
            column.frombytes(piece)
    rows = sorted(range(len(card)), key=every[0].__getitem__)
    at, when, ms, days, rating = (_in_order(column, rows) for column in every)
    names: dict[int, int] = {}
    numbers = array("L", [names.setdefault(number, len(names)) for number in _in_order(card, rows)])
    clocks = (
        {} if at == when else {n: late for n, (soon, late) in enumerate(zip(at, when, strict=True)) if soon != late}
    )
    ids = [CardId(found[number][0]) for number in names]
    return ReviewColumns(ids, numbers, rating, at, array("L", ms), clocks, days)


def _in_order(column: array[int], rows: Sequence[int]) -> array[int]:
    """Return a column in the order of `rows`."""
    return array(column.typecode, map(column.__getitem__, rows))
