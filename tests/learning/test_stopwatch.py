"""Time counts while somebody is there, and no longer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from learning.review.session import IDLE, Stopwatch

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
SECONDS = st.integers(-300, 300)


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def test_only_a_minute_counts_without_a_key() -> None:
    watch = Stopwatch().stir(NOON)
    assert watch.spent(NOON + seconds(5)) == seconds(5)
    assert watch.spent(NOON + seconds(3600)) == IDLE
    assert not watch.away(NOON + seconds(59)) and watch.away(NOON + IDLE)
    later = watch.stir(NOON + seconds(3600))
    assert later.spent(NOON + seconds(3607)) == IDLE + seconds(7)


def test_a_watch_that_stands_still_counts_nothing_until_somebody_stirs() -> None:
    stopped = Stopwatch().stir(NOON).stop(NOON + seconds(4))
    assert stopped.away(NOON + seconds(5))
    assert stopped.spent(NOON + seconds(500)) == seconds(4)
    assert stopped.stop(NOON + seconds(600)) == stopped
    assert stopped.stir(NOON + seconds(600)).spent(NOON + seconds(602)) == seconds(6)


@given(st.lists(st.tuples(st.sampled_from(["stir", "stop"]), SECONDS), max_size=20), SECONDS)
def test_what_counts_never_shrinks_and_is_never_more_than_a_minute_a_key(
    steps: list[tuple[str, int]], last: int
) -> None:
    watch, now, before = Stopwatch(), NOON, timedelta()
    for act, passed in steps:
        now += seconds(passed)
        watch = watch.stir(now) if act == "stir" else watch.stop(now)
        assert watch.counted >= before
        before = watch.counted
    keys = sum(act == "stir" for act, _ in steps)
    assert before <= watch.spent(now + seconds(last)) <= IDLE * keys
