"""Pictures of numbers: nothing gets lost in them, and each fits its room."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.widgets import plot

COUNTS = st.lists(st.integers(0, 10_000), min_size=1, max_size=40)
TODAY = date(2026, 11, 22).toordinal()


@given(COUNTS, st.integers(1, 12), st.integers(1, 4))
def test_bars_are_as_high_as_their_share_and_what_is_not_nothing_can_be_seen(
    values: list[int], height: int, each: int
) -> None:
    rows = plot.bars(values, height, each).plain.split("\n")
    assert len(rows) == height and {len(row) for row in rows} == {len(values) * (each + 1) - 1}
    for number, value in enumerate(values):
        column = [row[number * (each + 1)] for row in rows]
        eighths = sum(plot.HEIGHTS.index(cell) for cell in column)
        assert eighths == (max(1, round(value / max(values) * height * 8)) if value else 0)


@given(st.floats(0, 1e6))
def test_a_scale_ends_at_a_round_number_not_far_above_the_most(most: float) -> None:
    top = plot.round_top(most)
    assert most <= top <= max(2, 2 * most) and top in {n * 10.0**e for n in (2, 4, 6, 8, 10) for e in range(7)}


def test_bars_stand_beside_their_scale() -> None:
    drawn, before = plot.axed_bars([3, 0, 12], 4, 2)
    rows = drawn.plain.split("\n")
    assert [row[:before] for row in rows] == ["20 ┤", "   │", "10 ┤", " 0 ┤"]
    assert [row[before:] for row in rows] == ["        ", "      ▃▃", "      ██", "▅▅    ██"]


def test_months_are_named_where_they_begin_with_the_year_where_it_is_new() -> None:
    days = [date(2026, 11, 20) + timedelta(days=n) for n in range(60)]
    row = plot.months(days, 60, 3).plain
    assert row.index("Nov 2026") == 3
    assert row.index("Dec ") == 3 + days.index(date(2026, 12, 1))
    assert row.index("Jan 2027") == 3 + days.index(date(2027, 1, 1))
    assert plot.months(days, 20).plain.strip() == "Dec 2026"


@given(st.dates(date(2000, 1, 1), date(2100, 1, 1)), st.integers(1, 400), st.integers(1, 140))
def test_the_row_of_months_fits_its_plot(first: date, number: int, width: int) -> None:
    days = [first + timedelta(days=7 * n) for n in range(number)]
    assert len(plot.months(days, width).plain) <= width


@given(st.floats(-1, 2), st.integers(0, 60))
def test_a_bar_and_its_track_are_as_wide_as_they_may_be(share: float, width: int) -> None:
    assert plot.bar(share, width).cell_length == width


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=60), st.integers(1, 80), st.integers(1, 12))
def test_a_line_fits_its_room_whatever_its_values(values: list[float | None], width: int, height: int) -> None:
    rows = plot.line(values, width, height, 0, 1)
    assert len(rows) == height and {len(row) for row in rows} == {width}
    dots = any(cell != " " for row in rows for cell in row)
    assert dots == any(value is not None for value in values) or len(values) > 2 * width


def test_a_line_begins_and_ends_where_its_values_do() -> None:
    rising = plot.line([0, 1], 4, 2, 0, 1)
    assert rising[1][0] != " " and rising[0][3] != " "
    assert rising[0][0] == rising[1][3] == " "


@given(st.dictionaries(st.integers(TODAY - 400, TODAY), st.integers(1, 500), max_size=80), st.integers(20, 140))
def test_every_day_with_a_review_that_has_room_is_marked_in_the_calendar(reviews: dict[int, int], width: int) -> None:
    weeks, _ = plot.weeks_in(width)
    rows = plot.calendar(reviews, TODAY, width).plain.split("\n")
    assert len(rows) == 8 and max(map(len, rows)) <= width
    first = TODAY - date.fromordinal(TODAY).weekday() - 7 * (weeks - 1)
    marks = sum(row[4:].count("▪") + row[4:].count("■") for row in rows[1:])
    assert marks == sum(first <= day <= TODAY for day in reviews)
    assert sum(row[4:].count("·") for row in rows[1:]) == TODAY - first + 1 - marks


@pytest.mark.parametrize(("width", "weeks"), [(60, 28), (63, 29), (120, 53), (200, 53)])
def test_a_calendar_has_half_a_year_at_eighty_columns_and_a_year_where_there_is_room(width: int, weeks: int) -> None:
    assert plot.weeks_in(width)[0] == weeks
