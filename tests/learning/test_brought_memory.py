"""A memory that was brought from another program: what it does to a card's state, in whatever order events come."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from learning.memory.fit_decision import fittable
from learning.memory.fold import fold
from learning.memory.scheduler import Scheduler
from learning.memory.state import CardEvent, Phase, Rules
from learning.study_day import StudyCalendar
from vault.ids import CardId, ulid
from vault.log.events import LogEvent, Memory, Rating, Review, Stamp
from vault.log.review_columns import scan_events
from vault.log.review_log import unix_ms

CARD, OTHER = CardId("aaaaaaaaa1"), CardId("aaaaaaaaa2")
CALENDAR = StudyCalendar(ZoneInfo("Europe/Berlin"))
SCHEDULER = Scheduler(Rules(CALENDAR))
NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)


def stamp(days: float, salt: int = 0) -> Stamp:
    at = NOON + timedelta(days=days)
    return Stamp(ulid(unix_ms(at), salt.to_bytes(10, "big")), at)


def memory(days: float, reviewed: date, due: date, stability: float = 20.0, salt: int = 1) -> Memory:
    return Memory(stamp(days, salt), CARD, stability, 6.0, reviewed, due, 5, 1, "x:1")


def test_a_new_card_is_due_when_it_was_due_there_and_goes_on_from_there() -> None:
    event = memory(0, date(2026, 11, 20), date(2026, 12, 10))
    state = fold([event], SCHEDULER)[CARD]
    assert (state.phase, state.stability, state.difficulty, state.reps, state.lapses) == (Phase.REVIEW, 20, 6, 5, 1)
    assert state.due == datetime(2026, 12, 10, 3, tzinfo=UTC) and state.interval_days == 20
    after = fold([event, Review(stamp(12), CARD, Rating.GOOD)], SCHEDULER)[CARD]
    assert after.stability > 20 and after.reps == 6 and after.phase is Phase.REVIEW
    assert fold([event, Review(stamp(12), CARD, Rating.AGAIN)], SCHEDULER)[CARD].lapses == 2


def test_a_later_review_here_knows_more_and_an_earlier_one_less() -> None:
    review = Review(stamp(-3), CARD, Rating.GOOD)
    alone = fold([review], SCHEDULER)[CARD]
    older = memory(0, date(2026, 11, 20), date(2026, 12, 10))
    assert fold([review, older], SCHEDULER)[CARD] == alone
    newer = memory(0, date(2026, 11, 27), date(2026, 12, 17))
    assert fold([review, newer], SCHEDULER)[CARD].stability == 20


def test_a_fact_that_changes_back_does_not_undo_a_memory_brought_since_it_changed() -> None:
    review = Review(stamp(-20), CARD, Rating.GOOD)
    there, back = (
        CardEvent(CARD, "changed", NOON + timedelta(days=days), "", was, now)
        for days, was, now in ((0, "a", "b"), (3, "b", "a"))
    )
    brought = memory(2, date(2026, 11, 29), date(2026, 12, 19))
    assert fold([review, brought], SCHEDULER, [there])[CARD].stability == 20
    found = fold([review, brought], SCHEDULER, [there, back])[CARD]
    assert found == fold([brought], SCHEDULER, [back])[CARD]


days = st.integers(-20, 20)
events: st.SearchStrategy[LogEvent] = st.one_of(
    st.builds(lambda d, n, r: Review(stamp(d, n), CARD, r), days, st.integers(0, 9**5), st.sampled_from(Rating)),
    st.builds(
        lambda d, n, back, wait: memory(
            d, (NOON + timedelta(days=d - back)).date(), (NOON + timedelta(days=d - back + wait)).date(), salt=n
        ),
        days,
        st.integers(0, 9**5),
        st.integers(0, 30),
        st.integers(0, 60),
    ),
)


@given(st.lists(events, max_size=8, unique_by=lambda e: e.id), st.randoms(use_true_random=False))
def test_order_and_repetition_of_lines_do_not_matter(written: list[LogEvent], chance: object) -> None:
    assert fold([*reversed(written), *written], SCHEDULER) == fold(written, SCHEDULER)


def test_a_card_without_its_first_reviews_is_not_fitted_to() -> None:
    brought = memory(0, date(2026, 11, 20), date(2026, 12, 10))
    late, other = Review(stamp(12), CARD, Rating.GOOD), Review(stamp(1), OTHER, Rating.GOOD)
    assert fittable(scan_events([brought, late, other]), CALENDAR).cards == [OTHER]
    early = Review(stamp(-30), CARD, Rating.GOOD)
    assert set(fittable(scan_events([brought, early, late, other]), CALENDAR).cards) == {CARD, OTHER}
