"""Reviews as columns."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from vault.ids import CardId
from vault.log.events import Import, LogEvent, Rating, Review, Stamp, Undo
from vault.log.review_columns import columns_of
from vault.log.review_log import unix_ms

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def stamp(n: int) -> Stamp:
    return Stamp(f"{n:026}", NOON + timedelta(minutes=n))


def test_columns_hold_the_live_reviews_in_order_of_time() -> None:
    a, b = CardId("aaaaaaaaaa"), CardId("bbbbbbbbbb")
    events: list[LogEvent] = [
        Review(stamp(3), b, Rating.AGAIN, 700),
        Import(stamp(1), a, Rating.EASY, 500, origin="anki:1"),
        Review(stamp(2), a, Rating.HARD),
        Review(stamp(4), a, Rating.GOOD, 2**40),
        Undo(stamp(5), stamp(2).id),
    ]
    columns = columns_of([*events, events[0]])
    assert columns.cards == [a, b]
    assert [columns.cards[n] for n in columns.card] == [a, b, a]
    assert list(columns.rating) == [4, 1, 3]
    assert list(columns.at_ms) == [unix_ms(NOON + timedelta(minutes=n)) for n in (1, 3, 4)]
    assert list(columns.ms) == [500, 700, 2**32 - 1]
    assert len(columns) == 3
