"""The log played through once more, held against the scheduler of record and against counting by hand."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.memory.fold import fold
from learning.memory.predictions import NEVER, replay
from learning.memory.scheduler import Scheduler
from learning.memory.state import PHASES, CardEvent, MemoryState, Phase, Rules
from learning.study_day import StudyCalendar
from vault.ids import CardId
from vault.log.events import Rating, Review, Stamp
from vault.log.review_columns import ReviewColumns, columns_of

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
STEPS = st.lists(st.sampled_from([timedelta(minutes=1), timedelta(minutes=10), timedelta(days=1)]), max_size=3)
REVIEWS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(list(Rating)), st.integers(1, 60 * 24 * 40)), max_size=40
)


def events_of(drawn: list[tuple[str, Rating, int]]) -> list[Review]:
    """Reviews in order, each so many minutes after the one before."""
    at, out = START, []
    for number, (card, rating, minutes) in enumerate(drawn):
        at += timedelta(minutes=minutes)
        out.append(Review(Stamp(f"{number:026}", at), CardId(card), rating, 1000))
    return out


@given(REVIEWS, STEPS, STEPS, st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 60 * 24 * 900)), max_size=4))
def test_each_row_is_what_the_scheduler_of_record_knew_before_that_review(
    drawn: list[tuple[str, Rating, int]],
    learning: list[timedelta],
    relearning: list[timedelta],
    changed: list[tuple[str, int]],
) -> None:
    calendar = StudyCalendar(ZoneInfo("Europe/Berlin"))
    rules = Rules(calendar, learning_steps=tuple(learning), relearning_steps=tuple(relearning), fuzz=True)
    scheduler = Scheduler(rules, {CardId("b"): 0.8})
    events = events_of(drawn)
    changes = [CardEvent(CardId(c), "changed", START + timedelta(minutes=m, seconds=1)) for c, m in changed]
    seen = replay(columns_of(events), scheduler, changes)
    for row, event in enumerate(events):
        before = [change for change in changes if change.at < event.at]
        state = fold(events[:row], scheduler, before).get(event.card, MemoryState())
        last = max((e.at for e in events[:row] if e.card == event.card), default=None)
        assert PHASES[seen.phase[row]] is state.phase
        assert seen.day[row] == calendar.day(event.at)
        assert bool(seen.first[row]) == (last is None or calendar.day(last) != calendar.day(event.at))
        if last is None:
            assert seen.predicted[row] == NEVER
            continue
        # the crate computes in 32 bits
        assert seen.stability[row] == pytest.approx(state.stability, rel=1e-4, abs=1e-5)
        assert seen.predicted[row] == pytest.approx(scheduler.retrievability(state, event.at), abs=1e-4)
        assert seen.interval[row] == pytest.approx(state.interval_days if state.phase is Phase.REVIEW else 0, abs=1)
        assert seen.elapsed[row] == (0 if state.changed else calendar.day(event.at) - calendar.day(last))


def test_nothing_reviewed_is_nothing_foreseen() -> None:
    seen = replay(ReviewColumns(), Scheduler(Rules()))
    assert list(seen.tried()) == []
