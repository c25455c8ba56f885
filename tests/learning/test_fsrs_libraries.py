"""FSRS-6: ours is that of py-fsrs to the last bit, and the crate inside Anki agrees as far as its 32 bits reach."""

from __future__ import annotations

import csv
from datetime import UTC, datetime, timedelta
from pathlib import Path

import fsrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.memory.fsrs import DEFAULTS, HIGHEST, LOWEST, MOST_STABLE, forgetting_curve
from learning.memory.model import Model
from learning.memory.scheduler import Scheduler, fuzz_range
from learning.memory.state import MemoryState, Phase, Rules
from learning.study_day import StudyCalendar
from vault.ids import CardId
from vault.log.events import Rating

ORIGIN = datetime(2000, 1, 1, tzinfo=UTC)
parameters = st.tuples(*(st.floats(low, high) for low, high in zip(LOWEST, HIGHEST, strict=True)))
near_the_defaults = st.tuples(*(st.floats(0.8, 1.2) for _ in DEFAULTS)).map(
    lambda scales: tuple(
        min(max(d * s, low), high) for d, s, low, high in zip(DEFAULTS, scales, LOWEST, HIGHEST, strict=True)
    )
)
histories = st.lists(st.tuples(st.integers(0, 400), st.integers(1, 4)), min_size=1, max_size=15)
SCHEDULER, MODEL = Scheduler(Rules(StudyCalendar(UTC, 0))), Model(DEFAULTS)


def after(state: MemoryState, days: int, rating: int) -> MemoryState:
    """The state of a card reviewed `days` after its last review."""
    at = ORIGIN if state.last_review is None else state.last_review + timedelta(days=days)
    return SCHEDULER.review(CardId("card"), state, Rating(rating), at)


@given(st.one_of(st.just(DEFAULTS), near_the_defaults, parameters), st.floats(0.001, 1e6), st.integers(0, 40_000))
def test_the_forgetting_curve_is_that_of_py_fsrs_to_the_last_bit(
    chosen: tuple[float, ...], stability: float, days: int
) -> None:
    theirs = fsrs.Scheduler(chosen, enable_fuzzing=False)
    card = fsrs.Card(1, fsrs.State.Review, None, stability, 5.0, ORIGIN, ORIGIN)
    at = ORIGIN + timedelta(days=days)
    assert forgetting_curve(chosen)(stability, days) == theirs.get_card_retrievability(card, at)


steps = st.lists(st.sampled_from([1, 10, 600, 1440, 4000]).map(lambda n: timedelta(minutes=n)), max_size=3).map(tuple)
some_steps = steps.filter(bool)  # without any, intervals of less than a day are Anki's and not those of py-fsrs


@given(
    st.one_of(st.just(DEFAULTS), near_the_defaults, parameters),
    st.lists(st.tuples(st.integers(0, 900), st.integers(1, 4)), min_size=1, max_size=25),
    st.floats(0.7, 0.99),
    some_steps,
    some_steps,
)
def test_every_step_is_that_of_py_fsrs_to_the_last_bit(
    chosen: tuple[float, ...],
    history: list[tuple[int, int]],
    retention: float,
    learning: tuple[timedelta, ...],
    relearning: tuple[timedelta, ...],
) -> None:
    theirs = fsrs.Scheduler(chosen, retention, learning, relearning, enable_fuzzing=False)
    rules = Rules(StudyCalendar(UTC, 0), retention, chosen, learning, relearning, leech_threshold=0)
    ours, state, card = Scheduler(rules), MemoryState(), fsrs.Card(card_id=1, due=ORIGIN)
    days: list[int] = []
    for waited, rating in history:
        at = (card.last_review or ORIGIN) + timedelta(days=waited)
        days.append(at.toordinal())
        lapses = state.lapses + (rating == 1 and state.phase is Phase.REVIEW)
        card, _ = theirs.review_card(card, fsrs.Rating(rating), at)
        if card.stability is None or card.stability > MOST_STABLE:
            return  # where ours stops to grow
        state = ours.review(CardId("card"), state, Rating(rating), at)
        assert (state.stability, state.difficulty, state.step) == (card.stability, card.difficulty, card.step)
        assert state.phase.name == card.state.name.upper()
        assert state.lapses == lapses
        wait = card.due - at
        assert state.due == (card.due if wait < timedelta(days=1) else ours.calendar.start(days[-1] + wait.days))
    ratings = [rating for _, rating in history]
    assert ours.after(CardId("card"), MemoryState(), ratings, days, at) == state


@given(histories)
def test_any_step_from_a_state_of_ours_agrees_with_that_of_the_crate_inside_anki(
    history: list[tuple[int, int]],
) -> None:
    """The crate computes in 32 bits, about 6e-8 to the operation, with a dozen of them, some in exponents: over any
    step within 3e-6 of ours, of the stability or of a day; on the steps of a real history 1e-6.

    After a lapse `(S + 1) ** w - 1` takes near equals from each other, and what a small stability loses by that is a
    larger part of it. Over a whole history its roundings add up; `test_memory` says how far.
    """
    state = MemoryState()
    for days, rating in history:
        if state.reps:
            theirs = MODEL.after(state.stability, state.difficulty, days, rating)
        else:
            theirs = MODEL.first(rating)
        state = after(state, days, rating)
        if state.stability >= 36_500:
            return  # the crate lets no stability pass a hundred years
        assert theirs[0] == pytest.approx(state.stability, rel=3e-6, abs=3e-6)
        assert theirs[1] == pytest.approx(state.difficulty, rel=3e-6)
        days_of_crate = MODEL.interval(state.stability, 0.9, 36_500)
        assert state.phase is not Phase.REVIEW or abs(state.interval_days - days_of_crate) <= 1


@given(histories, st.integers(0, 15))
def test_a_history_goes_on_from_any_of_its_states(history: list[tuple[int, int]], cut: int) -> None:
    given_ = [(rating, days if number else 0) for number, (days, rating) in enumerate(history)]
    whole = MODEL.history(given_)
    assert MODEL.histories([given_]) == [whole]
    if 0 < cut < len(given_):
        parts = [*MODEL.history(given_[:cut]), *MODEL.history(given_[cut:], whole[cut - 1])]
        assert [s for s, _ in parts] == pytest.approx([s for s, _ in whole], rel=1e-5)


def real_histories(shared_data: Path) -> dict[str, list[tuple[int, int]]]:
    """Days since the review before, and ratings, of every card."""
    calendar = StudyCalendar(UTC, 4)
    with (shared_data / "revlogs" / "py-fsrs-japanese-12580.csv").open(newline="") as file:
        rows = sorted(
            (datetime.fromisoformat(r["review_time"]), r["card_id"], int(r["review_rating"]))
            for r in csv.DictReader(file)
        )
    last: dict[str, int] = {}
    histories: dict[str, list[tuple[int, int]]] = {}
    for at, card, rating in rows:
        day = calendar.day(at)
        histories.setdefault(card, []).append((day - last.get(card, day), rating))
        last[card] = day
    return histories


@pytest.mark.real_data
def test_a_real_history_is_that_of_the_crate_inside_anki_step_by_step(shared_data: Path) -> None:
    steps = 0
    for history in real_histories(shared_data).values():
        state = MemoryState()
        for days, rating in history:
            before, state = state, after(state, days, rating)
            theirs = (
                MODEL.after(before.stability, before.difficulty, days, rating) if before.reps else MODEL.first(rating)
            )
            assert theirs[0] == pytest.approx(state.stability, rel=1e-6, abs=1e-6)
            assert theirs[1] == pytest.approx(state.difficulty, rel=1e-6)
            steps += 1
    assert steps == 12_580


@given(st.integers(1, 40_000), st.integers(1, 40_000), st.integers(1, 36_500))
def test_a_longer_interval_varies_within_a_range_that_lies_no_lower(a: int, b: int, maximum: int) -> None:
    short, long = sorted((min(a, maximum), min(b, maximum)))
    lower, upper = fuzz_range(short, maximum), fuzz_range(long, maximum)
    assert lower[0] <= upper[0]
    assert lower[1] <= upper[1]
    assert 1 <= upper[0] <= upper[1] <= maximum
    assert upper[0] <= long <= upper[1]


@pytest.mark.parametrize(("days", "expected"), [(1, (1, 1)), (2, (2, 2)), (3, (2, 4)), (10, (8, 12)), (100, (93, 107))])
def test_intervals_vary_as_ankis_do_and_not_below_two_and_a_half_days(days: int, expected: tuple[int, int]) -> None:
    assert fuzz_range(days, 36_500) == expected


@given(st.integers(0, 20), st.sampled_from([float("nan"), float("inf"), -1.0, 101.0]))
def test_parameters_that_py_fsrs_refuses_are_refused(place: int, value: float) -> None:
    bad = tuple(value if n == place else p for n, p in enumerate(DEFAULTS))
    with pytest.raises(ValueError, match=f"parameter {place} is"):
        Scheduler(Rules(parameters=bad))
    with pytest.raises(ValueError, match="21 parameters, not 19"):
        Scheduler(Rules(parameters=DEFAULTS[:19]))


def test_the_parameters_and_their_bounds_are_those_of_py_fsrs() -> None:
    assert fsrs.scheduler.DEFAULT_PARAMETERS == DEFAULTS
    assert fsrs.scheduler.LOWER_BOUNDS_PARAMETERS == LOWEST
    assert fsrs.scheduler.UPPER_BOUNDS_PARAMETERS == HIGHEST
