"""Memory is a fold of the log: FSRS-6 over study days, the same on every machine, whatever order lines lie in."""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import fsrs
import fsrs_rs_python
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.day import StudyCalendar
from learning.memory import CardEvent, MemoryState, Phase, Rules, Scheduler, fold, scheduler_for
from vault.errors import ClockWentBackwards
from vault.ids import CardId
from vault.review_log import Bury, Flag, LogEvent, Params, Rating, Resume, Review, Stamp, Suspend, Undo

CARD, OTHER = CardId("k7q2m9xd3f"), CardId("0000000000")
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
BERLIN = StudyCalendar(ZoneInfo("Europe/Berlin"), 4)
SCHEDULER = Scheduler(Rules(BERLIN))

ratings = st.sampled_from(Rating)
histories = st.lists(st.tuples(st.integers(0, 400), ratings), min_size=1, max_size=15)


def stamp(number: int, at: datetime) -> Stamp:
    return Stamp(f"{number:026}", at)


def daily(history: Sequence[tuple[int, Rating]], card: CardId = CARD, first: datetime = NOON) -> list[LogEvent]:
    """Reviews at noon, each so many days after the one before."""
    events: list[LogEvent] = []
    at = first
    for number, (days, rating) in enumerate(history):
        at += timedelta(days=days if number else 0, milliseconds=1)
        events.append(Review(stamp(number, at), card, rating))
    return events


def state_of(events: Sequence[LogEvent], scheduler: Scheduler = SCHEDULER) -> MemoryState:
    return fold(events, scheduler)[CARD]


@given(histories)
def test_reviews_at_noon_are_scheduled_as_plain_fsrs_does(history: list[tuple[int, Rating]]) -> None:
    plain = fsrs.Scheduler(enable_fuzzing=False)
    events = daily(history)
    card = fsrs.Card(card_id=1, due=NOON)
    for event in events:
        assert isinstance(event, Review)
        noon = event.at.replace(hour=12, minute=0, second=0, microsecond=0)
        card, _ = plain.review_card(card, fsrs.Rating(int(event.rating)), noon)
    ours = state_of(events)
    assert (ours.stability, ours.difficulty, ours.step) == (card.stability, card.difficulty, card.step)
    assert ours.phase.value == card.state.name.lower()
    assert ours.due is not None
    assert card.last_review is not None
    assert ours.interval_days == (card.due - card.last_review).days
    if ours.interval_days:
        assert BERLIN.day(ours.due) == card.due.date().toordinal()


def states_in_rust(history: Sequence[tuple[int, Rating]]) -> tuple[float, float]:
    model = fsrs_rs_python.FSRS(list(fsrs_rs_python.DEFAULT_PARAMETERS))
    reviews = [fsrs_rs_python.FSRSReview(int(r), days if n else 0) for n, (days, r) in enumerate(history)]
    state = model.memory_state(fsrs_rs_python.FSRSItem(reviews))
    return state.stability, state.difficulty


@given(histories)
def test_the_scheduler_and_the_crate_inside_anki_agree(history: list[tuple[int, Rating]]) -> None:
    ours = state_of(daily(history))
    stability, difficulty = states_in_rust(history)
    assert ours.stability == pytest.approx(stability, rel=1e-5, abs=1e-5)
    assert ours.difficulty == pytest.approx(difficulty, rel=1e-5)


@pytest.mark.real_data
def test_a_real_history_gives_the_states_of_the_crate_inside_anki(shared_data: Path) -> None:
    calendar = StudyCalendar(UTC, 4)
    events: list[LogEvent] = []
    with (shared_data / "revlogs" / "py-fsrs-japanese-12580.csv").open(newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            at = datetime.fromisoformat(row["review_time"])
            events.append(Review(stamp(number, at), CardId(row["card_id"]), Rating(int(row["review_rating"]))))
    states = fold(events, Scheduler(Rules(calendar)))
    assert len(states) == 1205
    history: dict[CardId, list[tuple[int, Rating]]] = {}
    last: dict[CardId, int] = {}
    for event in sorted(events, key=lambda e: e.at):
        assert isinstance(event, Review)
        day = calendar.day(event.at)
        history.setdefault(event.card, []).append((day - last.get(event.card, day), event.rating))
        last[event.card] = day
    apart = []
    for card, state in states.items():
        stability, difficulty = states_in_rust(history[card])
        apart.append(abs(state.stability / stability - 1))
        assert state.difficulty == pytest.approx(difficulty, abs=1e-5)
        assert state.reps == len(history[card])
    # The crate reckons in 32 bits; where a card fails again and again, its stability is a difference of near equals.
    assert sum(a > 1e-5 for a in apart) <= 5
    assert max(apart) < 1e-4


marks = st.sampled_from([Suspend, Resume, Bury, Flag])
minutes = st.integers(0, 60 * 24 * 30)
mixed: st.SearchStrategy[LogEvent] = st.one_of(
    st.builds(
        lambda n, m, c, r: Review(stamp(n, NOON + timedelta(minutes=m)), c, r),
        st.integers(0, 10**6),
        minutes,
        st.sampled_from([CARD, OTHER]),
        ratings,
    ),
    st.builds(
        lambda n, m, c, kind: kind(stamp(n, NOON + timedelta(minutes=m)), c),
        st.integers(0, 10**6),
        minutes,
        st.sampled_from([CARD, OTHER]),
        marks,
    ),
)
logs = st.lists(mixed, max_size=15, unique_by=lambda e: e.id)


@given(logs, st.randoms(use_true_random=False))
def test_the_fold_ignores_order_and_repetition(events: list[LogEvent], chance: random.Random) -> None:
    changes = [CardEvent(CARD, kind, NOON + timedelta(days=3)) for kind in ("retracted", "revived", "changed")]
    jumbled = [event for event in events for _ in range(chance.randint(1, 3))]
    chance.shuffle(jumbled)
    assert fold(jumbled, SCHEDULER, changes[::-1] * 2) == fold(events, SCHEDULER, changes)


@given(logs.filter(bool), st.data())
def test_an_undo_gives_the_memory_without_that_event(events: list[LogEvent], data: st.DataObject) -> None:
    target = data.draw(st.sampled_from(events))
    undo = Undo(stamp(10**9, NOON + timedelta(days=40)), target.id)
    without = [event for event in events if event is not target]
    assert fold([*events, undo], SCHEDULER) == fold(without, SCHEDULER)


@given(histories, st.integers(0, 500))
def test_a_preview_is_what_the_rating_will_do(history: list[tuple[int, Rating]], days: int) -> None:
    events = daily(history)
    state = state_of(events)
    at = events[-1].at + timedelta(days=days)
    previews = SCHEDULER.preview(state, at)
    for rating in Rating:
        assert state_of([*events, Review(stamp(999, at), CARD, rating)]) == previews[rating]


def test_a_step_shorter_than_a_day_is_due_to_the_minute() -> None:
    state = state_of([Review(stamp(1, NOON), CARD, Rating.AGAIN)])
    assert (state.phase, state.due, state.interval_days) == (Phase.LEARNING, NOON + timedelta(minutes=1), 0)


def test_an_interval_of_days_is_due_when_a_study_day_begins() -> None:
    late = datetime(2026, 11, 21, 23, 30, tzinfo=UTC)
    state = state_of([Review(stamp(1, late), CARD, Rating.EASY)])
    assert state.due == BERLIN.start(date(2026, 11, 21).toordinal() + state.interval_days)
    assert state.interval_days == 8


def test_a_step_of_a_day_counts_in_study_days() -> None:
    scheduler = Scheduler(Rules(BERLIN, learning_steps=(timedelta(minutes=1), timedelta(days=1))))
    state = state_of([Review(stamp(1, NOON), CARD, Rating.GOOD)], scheduler)
    assert (state.phase, state.due) == (Phase.LEARNING, datetime(2026, 11, 22, 3, tzinfo=UTC))


def test_nine_in_the_evening_and_seven_in_the_morning_are_a_day_apart() -> None:
    evening = Review(stamp(1, datetime(2026, 11, 21, 20, tzinfo=UTC)), CARD, Rating.EASY)
    morning = Review(stamp(2, datetime(2026, 11, 22, 6, tzinfo=UTC)), CARD, Rating.GOOD)
    stability, difficulty = states_in_rust([(0, Rating.EASY), (1, Rating.GOOD)])
    state = state_of([evening, morning])
    assert state.stability == pytest.approx(stability, rel=1e-5)
    assert state.difficulty == pytest.approx(difficulty, rel=1e-5)


def test_a_lapse_is_a_failed_review_and_not_a_failed_step() -> None:
    events = daily([(0, Rating.AGAIN), (0, Rating.EASY), (9, Rating.AGAIN), (0, Rating.AGAIN), (0, Rating.GOOD)])
    state = state_of(events)
    assert (state.reps, state.lapses, state.phase) == (5, 1, Phase.REVIEW)


def test_retrievability_is_one_on_the_day_and_falls_to_the_wanted_retention_at_the_stability() -> None:
    state = state_of(daily([(0, Rating.EASY)]))
    assert SCHEDULER.retrievability(state, NOON + timedelta(hours=10)) == 1.0
    nine = SCHEDULER.retrievability(state, NOON + timedelta(days=round(state.stability)))
    assert nine == pytest.approx(0.9, abs=0.01)
    falling = [SCHEDULER.retrievability(state, NOON + timedelta(days=n)) for n in range(1, 50)]
    assert all(a > b for a, b in pairwise(falling))
    assert SCHEDULER.retrievability(MemoryState(), NOON) == 0.0


def test_a_rating_before_the_last_review_is_refused() -> None:
    state = state_of(daily([(0, Rating.GOOD)]))
    before = NOON - timedelta(days=30)
    with pytest.raises(ClockWentBackwards, match="before the card's last review"):
        SCHEDULER.review(state, Rating.GOOD, before)
    with pytest.raises(ClockWentBackwards):
        SCHEDULER.preview(state, before)
    with pytest.raises(ClockWentBackwards):
        SCHEDULER.retrievability(state, before)


def test_suspending_burying_and_flagging_leave_the_memory_alone() -> None:
    rated = state_of(daily([(0, Rating.GOOD), (0, Rating.GOOD)]))
    at = NOON + timedelta(hours=1)
    marked = [*daily([(0, Rating.GOOD), (0, Rating.GOOD)]), Flag(stamp(7, at), CARD, "wrong")]
    state = state_of([*marked, Suspend(stamp(8, at), CARD), Bury(stamp(9, at), CARD)])
    assert (state.suspended, state.flagged, state.buried_until) == (True, True, datetime(2026, 11, 22, 3, tzinfo=UTC))
    assert (state.stability, state.due, state.reps) == (rated.stability, rated.due, rated.reps)
    resumed = state_of([*marked, Suspend(stamp(8, at), CARD), Resume(stamp(9, at), CARD)])
    assert not resumed.hidden(at)
    assert state.hidden(at)


def test_a_buried_card_is_back_the_next_study_day() -> None:
    state = state_of([Bury(stamp(1, NOON), CARD)])
    assert (state.phase, state.hidden(NOON)) == (Phase.NEW, True)
    assert not state.hidden(datetime(2026, 11, 22, 3, tzinfo=UTC))


def test_what_the_knowledge_did_to_a_card_is_folded_with_the_reviews_by_time() -> None:
    events = daily([(0, Rating.EASY), (5, Rating.GOOD)])
    change = CardEvent(CARD, "changed", NOON + timedelta(days=7))
    state = fold(events, SCHEDULER, [change])[CARD]
    assert (state.changed, state.due) == (True, change.at)
    before = fold(events, SCHEDULER, [CardEvent(CARD, "changed", NOON + timedelta(days=2))])[CARD]
    assert before == state_of(events)
    gone = fold(events, SCHEDULER, [CardEvent(CARD, "retracted", NOON)])[CARD]
    assert gone.hidden(NOON)
    assert gone.reps == 2
    back = [CardEvent(CARD, "retracted", NOON), CardEvent(CARD, "revived", NOON + timedelta(days=1))]
    assert fold(events, SCHEDULER, back)[CARD] == state_of(events)


def test_the_latest_parameters_in_the_log_that_fsrs_takes_are_used() -> None:
    fitted = tuple(p * 1.01 for p in fsrs.scheduler.DEFAULT_PARAMETERS)
    events = [
        Params(stamp(1, NOON), fsrs.scheduler.DEFAULT_PARAMETERS),
        Params(stamp(2, NOON + timedelta(days=1)), fitted, 0.85),
        Params(stamp(3, NOON + timedelta(days=2)), (1.0, 2.0)),
        Params(stamp(4, NOON + timedelta(days=3)), fitted, 7.0),
    ]
    rules = scheduler_for(Rules(BERLIN), events).rules
    assert (rules.parameters, rules.retention) == (fitted, 0.85)
    assert scheduler_for(Rules(BERLIN), []).rules == Rules(BERLIN)


def test_no_review_of_any_year_crashes_or_goes_negative() -> None:
    chance = random.Random(2038)
    for zone in ("UTC", "Europe/Berlin", "Pacific/Apia", "America/St_Johns"):
        scheduler = Scheduler(Rules(StudyCalendar(ZoneInfo(zone), 4)))
        ends = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, tzinfo=UTC)
        for _ in range(50):
            instants = sorted(ends[0] + (ends[1] - ends[0]) * chance.random() for _ in range(6))
            events = [
                Review(stamp(n, at), CARD, Rating(chance.randint(1, 4))) for n, at in enumerate([*ends, *instants])
            ]
            state = fold(events, scheduler)[CARD]
            assert state.due is not None
            assert state.stability > 0
            assert state.interval_days >= 0
            assert 0 <= scheduler.retrievability(state, ends[1]) <= 1


def test_the_same_log_gives_the_same_memory_whatever_the_global_random_says() -> None:
    events = daily([(0, Rating.EASY), (9, Rating.GOOD), (40, Rating.GOOD)])
    random.seed(1)
    one = state_of(events)
    random.seed(2)
    assert state_of(events) == one
