"""Recall by week and how many cards were known when, each counted once more by naive code."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from learning.history.day_sums import week_of
from learning.memory.fold import fold
from learning.stats import wording
from learning.stats.activity import activity, growth
from learning.stats.mastery import is_known, known_by_week
from learning.stats.retention import true_retention, weekly
from learning.stats.stats import Material, stats_of
from tests.learning.test_stats import NOW, SCHEDULER, TODAY, made_history, sums_of
from vault.log.review_columns import ReviewColumns

_LONG = 10_000  # days, more than any history here


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_the_cards_known_at_the_end_of_a_week_are_those_that_a_fold_of_the_log_till_then_gives(seed: int) -> None:
    events = made_history(seed, 60)
    sums = sums_of(events)
    weeks = growth(activity(sums, TODAY))
    known = [state for state in fold(events, SCHEDULER).values() if is_known(state)]
    found = known_by_week(sums, weeks, Counter(week_of(state.last_day) for state in known))
    for week, count in zip(weeks, found, strict=True):
        end = week.week.toordinal() + 7
        states = fold([e for e in events if SCHEDULER.calendar.day(e.at) < end], SCHEDULER)
        assert count == sum(map(is_known, states.values()))


@given(st.integers(0, 10_000))
def test_the_weeks_of_recall_add_up_to_the_whole(seed: int) -> None:
    sums = sums_of(made_history(seed, 80))
    weeks = weekly(sums, TODAY, 53)
    whole = true_retention(sums, TODAY, (_LONG,))[0].all
    assert sum(week.tries.reviews for week in weeks) == whole.reviews
    assert sum(week.tries.recalled for week in weeks) == whole.recalled
    assert {week.week.weekday() for week in weeks} == {0}
    assert weeks[-1].week <= date.fromordinal(TODAY) < weeks[-1].week + timedelta(days=7)


def test_what_figures_mean_can_be_said_of_nothing_at_all() -> None:
    stats = stats_of(Material([], lambda _: ReviewColumns(), {}, {}), SCHEDULER, NOW)
    assert wording.retention_means(stats).startswith("Not enough data")
    assert wording.calibration_means(stats).startswith("Not enough data: 0 of")
    assert wording.forecast_means(stats) == "No reviews are due in the next 30 days."
    assert wording.time_means(stats) == "No reviews in this period."
    assert wording.hours_mean(stats.activity.hours).startswith("Too few hours")
    assert wording.growth_means(stats) == "No card has been seen yet."
    assert wording.mastery_means(stats).startswith("None of the concepts")
    assert wording.leeches_mean(stats) == "No leeches."
