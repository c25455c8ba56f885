"""A forecast is the vault's own memory played forward: seeded, in proportion, and true to what the log tells."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.history.day_sums import DaySums, day_sums
from learning.memory.fsrs import DEFAULTS
from learning.memory.model import Model
from learning.memory.predictions import replay
from learning.memory.scheduler import Scheduler
from learning.memory.state import MemoryState, Phase, Rules
from learning.stats.forecast import (
    MOST_PLAYED,
    Course,
    Habits,
    Stock,
    averages,
    backlog_plan,
    habits_of,
    new_that_fit,
    simulated,
    stock_of,
)
from learning.study_day import StudyCalendar
from vault.ids import CardId
from vault.log.review_columns import ReviewColumns
from vault.log.review_log import unix_ms

SCHEDULER = Scheduler(Rules(StudyCalendar(UTC, 4)))
MODEL, HABITS = Model(DEFAULTS), Habits()
START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def deck(cards: int, seed: int = 1) -> list[Stock]:
    """Cards somewhere on their way to their next review, a few of them overdue."""
    dice = random.Random(seed)
    out = []
    for _ in range(cards):
        stability = dice.lognormvariate(3, 1) + 0.5
        wait = MODEL.interval(stability, 0.9, 36_500)
        waited = dice.randint(0, wait + 2)
        out.append(Stock(stability, dice.uniform(2, 9), waited, wait - waited))
    return out


@given(st.integers(0, 200), st.integers(1, 40), st.integers(0, 12), st.integers(0, 30))
def test_every_new_card_comes_once_and_no_card_is_lost(cards: int, days: int, new: int, supply: int) -> None:
    course = Course(days, new_per_day=new, supply=supply, reviews_per_day=7)
    found = simulated(deck(cards), HABITS, MODEL, course)
    met = sum(found.new)
    assert met == min(new * days, supply)
    assert found.known == cards + met
    assert 0 <= found.remembered <= found.known
    assert len(found.reviews) == len(found.minutes) == days
    assert max(found.reviews) <= 7
    assert simulated(deck(cards), HABITS, MODEL, course) == found


def test_a_higher_retention_takes_more_reviews_and_keeps_more() -> None:
    course = Course(days=180, new_per_day=0, supply=0)
    low, middle, high = (simulated(deck(1500), HABITS, MODEL, replace(course, retention=r)) for r in (0.8, 0.9, 0.96))
    assert sum(low.reviews) < sum(middle.reviews) < sum(high.reviews)
    assert low.remembered < middle.remembered < high.remembered


def test_new_cards_bring_reviews_after_them() -> None:
    without = simulated(deck(300), HABITS, MODEL, Course(90, new_per_day=0))
    within = simulated(deck(300), HABITS, MODEL, Course(90, new_per_day=10))
    assert sum(within.reviews) > sum(without.reviews) + 900
    assert within.settled_minutes > without.settled_minutes


def test_of_many_cards_some_are_played_and_the_forecast_is_the_same_in_proportion() -> None:
    few = simulated(deck(5_000, 3), HABITS, MODEL, Course(60, new_per_day=0))
    many = simulated(deck(50_000, 3), HABITS, MODEL, Course(60, new_per_day=0))
    assert few.share == 1 and many.share == pytest.approx(MOST_PLAYED / 50_000)
    assert many.known == pytest.approx(50_000)
    assert sum(many.reviews) == pytest.approx(10 * sum(few.reviews), rel=0.05)
    assert many.remembered == pytest.approx(10 * few.remembered, rel=0.02)


def test_recall_in_the_forecast_is_the_recall_that_was_asked_for() -> None:
    habits = replace(HABITS, recalled_s=60.0, forgotten_s=0.0, new_s=0.0)  # a minute is then one card recalled
    found = simulated(deck(3_000), habits, MODEL, Course(150, retention=0.85, new_per_day=0))
    assert sum(found.minutes[60:]) / sum(found.reviews[60:]) == pytest.approx(0.85, abs=0.03)


def test_as_many_new_cards_fit_as_the_minutes_allow_and_not_one_more() -> None:
    course = Course(days=60)
    new, found = new_that_fit(deck(400), HABITS, MODEL, course, 25)
    assert found.settled_minutes <= 25
    more = simulated(deck(400), HABITS, MODEL, replace(course, new_per_day=new + 1, reviews_per_day=1_000_000))
    assert new > 0 and more.settled_minutes > 25
    assert new_that_fit(deck(3_000), HABITS, MODEL, course, 1)[0] == 0


def test_a_backlog_is_planned_until_nothing_is_held_over() -> None:
    late = [replace(card, waited=card.waited + 60, due_in=card.due_in - 60) for card in deck(400)]
    overdue = sum(card.due_in <= 0 for card in late)
    plan = backlog_plan(late, HABITS, MODEL, Course(reviews_per_day=40))
    assert plan is not None and plan.overdue == overdue and plan.days * 40 >= overdue - 40
    found = simulated(late, HABITS, MODEL, Course(plan.days + 1, new_per_day=0, reviews_per_day=40))
    assert [held == 0 for held in found.held_over] == [False] * plan.days + [True]
    assert backlog_plan(late, HABITS, MODEL, Course(reviews_per_day=overdue)) is None
    hopeless = backlog_plan(late, HABITS, MODEL, Course(reviews_per_day=1))
    assert hopeless is not None and hopeless.days == 0


def reviews(*rows: tuple[int, int, int, int]) -> ReviewColumns:
    """(card, rating, minutes since the start, ms)."""
    out = ReviewColumns()
    for card, rating, minutes, ms in sorted(rows, key=lambda r: r[2]):
        while card >= len(out.cards):
            out.cards.append(CardId(f"card{len(out.cards)}"))
        out.card.append(card)
        out.rating.append(rating)
        out.at_ms.append(unix_ms(START + timedelta(minutes=minutes)))
        out.ms.append(ms)
    return out


def test_habits_are_the_learners_own() -> None:
    rows = []
    for card in range(100):
        rows += [(card, 1, card * 10, 8_000), (card, 3, card * 10 + 1, 4_000)]  # met: two steps, 12 s
        rows += [(card, 4, 3 * 1440 + card * 10, 6_000)]  # recalled
        rows += [(card, 1, 9 * 1440 + card * 10, 90_000), (card, 3, 9 * 1440 + card * 10 + 5, 5_000)]  # forgotten
    found = habits_of(day_sums(replay(reviews(*rows), SCHEDULER), SCHEDULER.calendar))
    assert (found.new_s, found.recalled_s, found.forgotten_s) == (12.0, 6.0, 65.0)  # a minute at most counts
    assert found.first[0] > 0.8 and found.recalled[2] > 0.8
    assert sum(found.first) == pytest.approx(1) and sum(found.recalled) == pytest.approx(1)


def test_who_has_reviewed_nothing_yet_gets_the_habits_of_a_stranger() -> None:
    found = habits_of(DaySums())
    assert found.first == pytest.approx(Habits().first)
    assert (found.new_s, found.recalled_s, found.forgotten_s) == (25.0, 10.0, 25.0)


def test_only_cards_under_way_are_in_stock() -> None:
    calendar = StudyCalendar(UTC, 4)
    today = calendar.day(START)
    under_way = MemoryState(Phase.REVIEW, 5.0, 5.0, None, START + timedelta(days=2), START, today - 3, 5)
    states = [
        under_way,
        MemoryState(),
        replace(under_way, suspended=True),
        replace(under_way, retracted=True),
    ]
    found = stock_of(states, lambda s: calendar.day(s.due) if s.due else 0, today)
    assert found == [Stock(5.0, 5.0, 3, 2)]


@given(st.lists(st.floats(0, 100), min_size=1, max_size=60), st.integers(1, 20))
def test_averages_weigh_every_day_once(values: list[float], parts: int) -> None:
    found = averages(values, parts)
    assert len(found) == min(parts, len(values))
    edges = [len(values) * n // len(found) for n in range(len(found) + 1)]
    total = sum(mean * (b - a) for mean, a, b in zip(found, edges, edges[1:], strict=False))
    assert total == pytest.approx(sum(values))
