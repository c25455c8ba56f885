"""Fitting FSRS-6 to a learner: the items are Anki's, the new parameters must win, and a chance is what came of it."""

from __future__ import annotations

import csv
import json
import math
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.memory.evaluation import calibration, marks_of, plot
from learning.memory.fit_decision import (
    FEWEST,
    FEWEST_TRIALS,
    FitComparison,
    TooFew,
    compare_fit,
    due_for_fit,
    last_params,
    params_event,
    reset_event,
    reviews_at_fit,
    split_by_change,
)
from learning.memory.fsrs import DEFAULTS, HIGHEST, LOWEST
from learning.memory.model import Model, fit
from learning.memory.scheduler import Scheduler
from learning.memory.state import CardEvent, Rules
from learning.memory.trials import FIRST, elapsed_days, split_row, trials
from learning.study_day import StudyCalendar
from vault.ids import CardId
from vault.log.events import Import, Params, Rating, Review, Stamp, decode, encode
from vault.log.review_columns import ReviewColumns, ScannedLog, columns_of
from vault.log.review_log import unix_ms

START = datetime(2024, 3, 1, 12, tzinfo=UTC)
UTC_DAYS = StudyCalendar(UTC, 4)


def columns(rows: Sequence[tuple[int, int, datetime]]) -> ReviewColumns:
    """Reviews given as (card, rating, instant)."""
    out = ReviewColumns()
    index: dict[int, int] = {}
    for card, rating, at in sorted(rows, key=lambda r: r[2]):
        number = index.setdefault(card, len(index))
        if number == len(out.cards):
            out.cards.append(CardId(str(card)))
        out.card.append(number)
        out.rating.append(rating)
        out.at_ms.append(unix_ms(at))
        out.ms.append(5_000)
    return out


def learner(cards: int, parameters: Sequence[float], seed: int) -> ReviewColumns:
    """Half a year of somebody whose memory is FSRS-6 with these parameters, reviewing at the usual intervals."""
    dice, truth, usual = random.Random(seed), Model(tuple(parameters)), Model(DEFAULTS)
    rows = []
    for card in range(cards):
        rating, day = dice.choice((1, 3, 3, 4)), dice.randrange(60)
        rows.append((card, rating, START + timedelta(days=day, seconds=card)))
        mind, plan = truth.first(rating), usual.first(rating)
        while day < 180:
            wait = usual.interval(plan[0], 0.9, 100)
            day += wait
            rating = 3 if dice.random() < truth.retrievability(mind[0], wait) else 1
            rows.append((card, rating, START + timedelta(days=day, seconds=card)))
            mind, plan = truth.after(*mind, wait, rating), usual.after(*plan, wait, rating)
    return columns(rows)


FORGETFUL = (*(p * 0.3 for p in DEFAULTS[:4]), *DEFAULTS[4:8], 1.0, *DEFAULTS[9:])


@pytest.fixture(scope="module")
def real(request: pytest.FixtureRequest) -> tuple[ReviewColumns, dict[str, Any]]:
    folder: Path = request.getfixturevalue("shared_data") / "revlogs"
    with (folder / "py-fsrs-japanese-12580.csv").open(newline="") as file:
        rows = [
            (int(r["card_id"]), int(r["review_rating"]), datetime.fromisoformat(r["review_time"]))
            for r in csv.DictReader(file)
        ]
    return columns(rows), json.loads((folder / "reference.json").read_text())


@pytest.mark.real_data
def test_the_split_the_items_and_the_defaults_of_a_real_history_are_those_of_the_reference(
    real: tuple[ReviewColumns, dict[str, Any]],
) -> None:
    reviews, told = real
    elapsed = elapsed_days(reviews, UTC_DAYS)
    row = split_row(reviews)
    assert reviews.at_ms[row] == told["t80_ms"]
    assert sum(days > 0 for days in elapsed[:row]) == told["train_items"]
    marks = marks_of(trials(reviews, elapsed, DEFAULTS, since=row))
    assert sum(b.trials for b in marks.bins) == told["test_items"]
    assert marks.log_loss == pytest.approx(told["default"]["log_loss"], abs=1e-5)
    assert marks.predicted == pytest.approx(told["default"]["mean_prediction"], abs=1e-5)
    assert marks.recalled == pytest.approx(told["test_recall"], abs=1e-5)
    fitted = tuple(told["fsrs_rs_optimised"]["parameters"])
    theirs = marks_of(trials(reviews, elapsed, fitted, since=row))
    assert theirs.log_loss == pytest.approx(told["fsrs_rs_optimised"]["log_loss"], abs=1e-5)


@pytest.mark.real_data
def test_a_real_learner_is_foretold_better_than_by_the_defaults_and_no_worse_than_by_the_reference(
    real: tuple[ReviewColumns, dict[str, Any]],
) -> None:
    reviews, told = real
    found = compare_fit(reviews, Rules(UTC_DAYS))
    assert isinstance(found, FitComparison)
    assert found.better
    assert found.new.log_loss < found.default.log_loss == found.current.log_loss
    assert found.new.log_loss <= told["fsrs_rs_optimised"]["log_loss"]
    assert compare_fit(reviews, Rules(UTC_DAYS)) == found  # no dice


def test_a_learner_unlike_the_rest_is_recognised() -> None:
    reviews = learner(300, FORGETFUL, 7)
    found = compare_fit(reviews, Rules(UTC_DAYS))
    assert isinstance(found, FitComparison)
    assert found.better
    assert found.new.rmse_bins < found.default.rmse_bins
    assert found.fitted[0] < DEFAULTS[0] and found.fitted[2] < DEFAULTS[2]


def test_what_already_fits_is_not_replaced() -> None:
    reviews = learner(300, FORGETFUL, 7)
    known = compare_fit(reviews, Rules(UTC_DAYS))
    assert isinstance(known, FitComparison)
    assert known.better
    again = compare_fit(reviews, Rules(UTC_DAYS, parameters=known.fitted))
    assert isinstance(again, FitComparison)
    assert again.in_use and not again.better
    assert again.current != again.default


@pytest.mark.parametrize("seed", range(4))
def test_a_learner_whom_the_parameters_fit_keeps_them(seed: int) -> None:
    found = compare_fit(learner(300, DEFAULTS, seed), Rules(UTC_DAYS))
    assert isinstance(found, FitComparison)
    assert not found.better
    assert found.gain < found.needed


def test_a_fit_goes_the_further_the_more_reviews_there_are() -> None:
    few, many = (compare_fit(learner(cards, FORGETFUL, 7), Rules(UTC_DAYS)) for cards in (250, 1_000))
    assert isinstance(few, FitComparison) and isinstance(many, FitComparison)
    assert FORGETFUL[2] < many.fitted[2] < few.fitted[2] < DEFAULTS[2]


def test_the_gain_is_that_of_the_marks_and_cards_of_one_kind_make_it_less_sure() -> None:
    reviews = learner(300, FORGETFUL, 7)
    found = compare_fit(reviews, Rules(UTC_DAYS))
    assert isinstance(found, FitComparison)
    assert found.gain == pytest.approx(found.current.log_loss - found.new.log_loss)
    assert 0 < found.error < found.gain
    assert sum(b.trials for b in found.new.bins) == sum(b.trials for b in found.current.bins) == found.held_out


def test_too_few_reviews_are_told_with_how_many_are_missing() -> None:
    rows = [(n, 3, START + timedelta(days=n % 3, seconds=n)) for n in range(100)]
    found = compare_fit(columns(rows), Rules(UTC_DAYS))
    assert found == TooFew(100, FEWEST - 100, FEWEST_TRIALS)
    assert compare_fit(ReviewColumns(), Rules(UTC_DAYS)) == TooFew(0, FEWEST, FEWEST_TRIALS)


@pytest.mark.parametrize("rating", [1, 4])
def test_fitted_parameters_are_ones_that_the_scheduler_takes_even_of_a_learner_like_no_other(rating: int) -> None:
    rows = [(n % 60, rating, START + timedelta(days=n // 60 * 3, seconds=n)) for n in range(900)]
    reviews = columns(rows)
    fitted = fit(reviews, elapsed_days(reviews, UTC_DAYS))
    assert all(low <= p <= high for low, p, high in zip(LOWEST, fitted, HIGHEST, strict=True))
    Scheduler(Rules(parameters=fitted))
    event = Params(Stamp("01M82E4QSW95GQY0CMEG4R82BB", START), fitted)
    assert decode(encode(event)) == event  # nothing is lost on the way through the log


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 400_000)), max_size=40))
def test_elapsed_days_are_study_days_of_the_zone_whatever_its_clock_does(rows: list[tuple[int, int]]) -> None:
    calendar = StudyCalendar(ZoneInfo("Europe/Berlin"), 4)
    spring = datetime(2024, 3, 28, tzinfo=UTC)  # the clock goes forward on the 31st
    at = sorted({minute: (card, spring + timedelta(minutes=minute)) for card, minute in rows}.items())
    reviews = columns([(card, 3, when) for _, (card, when) in at])
    last: dict[int, int] = {}
    expected = []
    for _, (card, when) in at:
        day = calendar.day(when)
        expected.append(day - last[card] if card in last else FIRST)
        last[card] = day
    assert list(elapsed_days(reviews, calendar)) == expected


def test_marks_are_what_the_formulas_say() -> None:
    reviews = learner(40, DEFAULTS, 3)
    asked = trials(reviews, elapsed_days(reviews, UTC_DAYS), DEFAULTS)
    marks = marks_of(asked)
    losses = [-math.log(c if r else 1 - c) for c, r in zip(asked.chance, asked.recalled, strict=True)]
    assert marks.log_loss == pytest.approx(sum(losses) / len(losses))
    assert 0 <= marks.rmse_bins < 0.3
    assert list(asked.row) == sorted(asked.row)
    assert sum(b.trials for b in marks.bins) == len(asked)
    assert all(b.low <= b.predicted <= b.high for b in marks.bins)


def test_chances_are_those_of_the_memory_that_schedules() -> None:
    reviews = learner(10, DEFAULTS, 5)
    elapsed = elapsed_days(reviews, UTC_DAYS)
    asked = trials(reviews, elapsed, DEFAULTS)
    model = Model(DEFAULTS)
    memory: dict[int, tuple[float, float]] = {}
    predicted = {}
    for row, (card, rating, days) in enumerate(zip(reviews.card, reviews.rating, elapsed, strict=True)):
        if days > 0:
            predicted[row] = model.retrievability(memory[card][0], days)
        memory[card] = model.first(rating) if days == FIRST else model.after(*memory[card], days, rating)
    assert dict(zip(asked.row, asked.chance, strict=True)) == pytest.approx(predicted, rel=1e-5)


def test_the_plot_shows_what_was_foretold_beside_what_came() -> None:
    reviews = learner(60, FORGETFUL, 3)
    bins = calibration(trials(reviews, elapsed_days(reviews, UTC_DAYS), DEFAULTS))
    lines = plot(bins)
    assert len(lines) == len(bins) > 1
    assert all("◆" in line or ("|" in line and "●" in line) for line in lines)


def stamp(number: int) -> Stamp:
    return Stamp(f"01M82E4QSW95GQY0CMEG4R82{number:02}", START + timedelta(days=number))


def test_a_fit_is_due_when_reviews_have_doubled_and_after_a_vain_one_when_a_tenth_has_come() -> None:
    def log(reviews: int, *others: Params) -> ScannedLog:
        rows = columns([(0, 3, START)] * reviews)
        return ScannedLog(rows, others, tuple(0 for _ in others))

    fitted = Params(stamp(1), DEFAULTS, None, "fitted to 500 reviews; tested on 100 later ones: ...")
    assert not due_for_fit(log(FEWEST - 1))
    assert due_for_fit(log(FEWEST))
    assert not due_for_fit(log(999, fitted))
    assert due_for_fit(log(1000, fitted))
    assert not due_for_fit(log(1050, fitted), tried=1000)
    assert due_for_fit(log(1101, fitted), tried=1000)


def test_reviews_imported_since_do_not_hide_that_they_were_not_fitted_to() -> None:
    fitted = Params(stamp(5), DEFAULTS, None, "fitted to 500 reviews; ...")
    assert reviews_at_fit((fitted,), (9_000,)) == 500
    assert reviews_at_fit((reset_event(stamp(6)),), (700,)) == 700
    assert reviews_at_fit((), ()) == 0
    marked = Import(stamp(7), CardId("k7q2m9xd3f"), Rating.GOOD)
    assert last_params((fitted, marked)) == fitted


def test_the_event_tells_why_and_the_reset_goes_back_to_the_defaults() -> None:
    found = compare_fit(learner(300, FORGETFUL, 7), Rules(UTC_DAYS))
    assert isinstance(found, FitComparison)
    event = params_event(stamp(1), found)
    assert event.parameters == found.fitted and event.retention is None
    assert f"fitted to {found.reviews} reviews" in event.reason
    assert f"{found.new.log_loss:.4f}" in event.reason
    assert reviews_at_fit((event,), (0,)) == found.reviews
    assert reset_event(stamp(2)).parameters == DEFAULTS


def test_a_card_is_another_one_from_the_change_of_its_fact_on() -> None:
    a, b = CardId("aaaaaaaaaa"), CardId("bbbbbbbbbb")
    rows = [Review(Stamp(f"{n:026}", START + timedelta(days=n)), (a, b)[n % 2], Rating.GOOD) for n in range(8)]
    whole = columns_of(rows)
    changes = [CardEvent(a, "changed", START + timedelta(days=3)), CardEvent(b, "reworded", START)]
    found = split_by_change(whole, changes)
    assert [found.cards[n] for n in found.card] == [whole.cards[n] for n in whole.card]
    elapsed = elapsed_days(found, UTC_DAYS)
    assert list(elapsed) == [-1, -1, 2, 2, -1, 2, 2, 2]
    assert split_by_change(whole, changes[1:]) is whole
