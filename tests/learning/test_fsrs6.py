"""The arithmetic of FSRS-6: to the last bit that of py-fsrs, and that of the crate inside Anki to its 32 bits."""

from __future__ import annotations

import csv
from datetime import UTC, datetime, timedelta
from pathlib import Path

import fsrs
import fsrs_rs_python
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.memory import fsrs as fsrs6
from learning.memory.fsrs import DEFAULTS, HIGHEST, LOWEST, Fsrs6, fuzz_range
from learning.study_day import StudyCalendar

ORIGIN = datetime(2000, 1, 1, tzinfo=UTC)
parameters = st.tuples(*(st.floats(low, high) for low, high in zip(LOWEST, HIGHEST, strict=True)))
near_the_defaults = st.tuples(*(st.floats(0.8, 1.2) for _ in DEFAULTS)).map(
    lambda scales: tuple(
        min(max(d * s, low), high) for d, s, low, high in zip(DEFAULTS, scales, LOWEST, HIGHEST, strict=True)
    )
)
histories = st.lists(st.tuples(st.integers(0, 900), st.integers(1, 4)), min_size=1, max_size=25)
rust_vectors = st.lists(st.tuples(st.integers(0, 400), st.integers(1, 4)), min_size=1, max_size=15)


def test_the_parameters_and_their_bounds_are_those_of_py_fsrs() -> None:
    assert fsrs.scheduler.DEFAULT_PARAMETERS == DEFAULTS
    assert fsrs.scheduler.LOWER_BOUNDS_PARAMETERS == LOWEST
    assert fsrs.scheduler.UPPER_BOUNDS_PARAMETERS == HIGHEST


@given(st.one_of(st.just(DEFAULTS), near_the_defaults, parameters), histories, st.floats(0.7, 0.99))
def test_every_step_is_that_of_py_fsrs_to_the_last_bit(
    chosen: tuple[float, ...], history: list[tuple[int, int]], retention: float
) -> None:
    theirs = fsrs.Scheduler(chosen, retention, enable_fuzzing=False)
    ours = Fsrs6(chosen)
    card, at, memory = fsrs.Card(card_id=1, due=ORIGIN), ORIGIN, None
    for days, rating in history:
        if memory is not None and memory[0] > 1e200:
            return  # py-fsrs cannot round an endless interval
        if memory is not None:
            at += timedelta(days=days)
            assert ours.retrievability(memory[0], days) == theirs.get_card_retrievability(card, at)
        card, _ = theirs.review_card(card, fsrs.Rating(rating), at)
        memory = ours.first(rating) if memory is None else ours.after(*memory, days, rating)
        assert memory == (card.stability, card.difficulty)
        interval = ours.interval(memory[0], retention, 36_500)
        if card.state is fsrs.State.Review:
            assert interval == (card.due - at).days


@given(rust_vectors)
def test_any_step_from_a_state_of_the_crate_inside_anki_agrees_with_it_as_far_as_32_bits_reach(
    history: list[tuple[int, int]],
) -> None:
    """The crate reckons in 32 bits, about 6e-8 to the operation, with a dozen of them, some in exponents: over any step
    within 3e-6 of ours, of the stability or of a day; on the steps of a real history 1e-6, as the next test shows.

    After a lapse `(S + 1) ** w - 1` takes near equals from each other, and what a small stability loses by that is a
    larger part of it. Over a whole history its roundings add up; `test_memory` says how far.
    """
    crate, ours = fsrs_rs_python.FSRS(list(DEFAULTS)), Fsrs6()
    state = None
    for days, rating in history:
        choices = crate.next_states(state, 0.9, days if state else 0)
        theirs = (choices.again, choices.hard, choices.good, choices.easy)[rating - 1].memory
        if state is None:
            mine = ours.first(rating)
        else:
            mine = ours.after(state.stability, state.difficulty, days, rating)
        if mine[0] >= 36_500:
            return  # the crate lets no stability pass a hundred years
        assert theirs.stability == pytest.approx(mine[0], rel=3e-6, abs=3e-6)
        assert theirs.difficulty == pytest.approx(mine[1], rel=3e-6)
        state = theirs


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
    crate, ours = fsrs_rs_python.FSRS(list(DEFAULTS)), Fsrs6()
    steps = 0
    for history in real_histories(shared_data).values():
        state = None
        for days, rating in history:
            mine = ours.after(state.stability, state.difficulty, days, rating) if state else ours.first(rating)
            choices = crate.next_states(state, 0.9, days)
            state = (choices.again, choices.hard, choices.good, choices.easy)[rating - 1].memory
            assert state.stability == pytest.approx(mine[0], rel=1e-6, abs=1e-6)
            assert state.difficulty == pytest.approx(mine[1], rel=1e-6)
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
    with pytest.raises(ValueError, match=f"parameter {place}"):
        Fsrs6(bad)
    with pytest.raises(ValueError, match="21 parameters, not 19"):
        fsrs6.check(DEFAULTS[:19])
