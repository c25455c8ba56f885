"""The reviews that count in the index, by card: what statistics and pages are computed from.

A card's reviews are one value, in order of time, 21 bytes each: instant, when it happened (both in Unix milliseconds),
time on screen, rating. A row for each of a million reviews would take longer to make than all their states.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Collection, Iterable

from vault.ids import CardId
from vault.index.database import Database
from vault.log.events import Review
from vault.log.review_columns import MOST_MS, ReviewColumns
from vault.log.review_log import unix_ms

_RECORD = struct.Struct("<qqIB")


def packed(review: Review) -> bytes:
    """Return a review as the index has it."""
    at = unix_ms(review.at)
    when = at if review.stamp.clock is None else unix_ms(review.when)
    return _RECORD.pack(at, when, min(review.ms, MOST_MS), review.rating)


def save_all(database: Database, reviews: ReviewColumns) -> None:
    """Store the reviews of all cards."""
    data = [bytearray() for _ in reviews.cards]
    records = map(_RECORD.pack, reviews.at_ms, reviews.when_ms, reviews.ms, reviews.rating)
    for card, record in zip(reviews.card, records, strict=True):
        data[card] += record
    database.run("DELETE FROM reviews")
    database.run_many("INSERT INTO reviews VALUES(?, ?)", sorted(zip(reviews.cards, data, strict=True)))


def add_reviews(database: Database, reviews: Iterable[Review]) -> None:
    """Add reviews that come after all others of their cards."""
    for review in reviews:
        replace_reviews(database, review.card, unix_ms(review.at), [review])


def replace_reviews(database: Database, card: CardId, cut: int, reviews: Iterable[Review]) -> None:
    """Replace the reviews of a card from the instant `cut` on."""
    row = database.one("SELECT data FROM reviews WHERE card = ?", (card,))
    old = row[0] if row else b""
    kept = len(old)
    while kept and _RECORD.unpack_from(old, kept - _RECORD.size)[0] >= cut:
        kept -= _RECORD.size
    data = old[:kept] + b"".join(map(packed, reviews))
    database.run("INSERT OR REPLACE INTO reviews VALUES(?, ?)", (card, data))


def columns(database: Database, cards: Collection[CardId] | None = None) -> ReviewColumns:
    """Return the reviews of these cards, or of all, in order of time."""
    if cards is None:
        found = database.rows("SELECT card, data FROM reviews")
    else:
        found = [
            row for card in cards if (row := database.one("SELECT card, data FROM reviews WHERE card = ?", (card,)))
        ]
    rows = [(at, when, ms, rating, card) for card, data in found for at, when, ms, rating in _RECORD.iter_unpack(data)]
    rows.sort(key=lambda row: row[0])
    numbers: dict[str, int] = {}
    card = array("L", [numbers.setdefault(row[4], len(numbers)) for row in rows])
    return ReviewColumns(
        [CardId(name) for name in numbers],
        card,
        array("B", [row[3] for row in rows]),
        array("q", [row[0] for row in rows]),
        array("L", [row[2] for row in rows]),
        {n: row[1] for n, row in enumerate(rows) if row[1] != row[0]},
    )
