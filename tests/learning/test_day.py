"""Study days follow the learner's clock through every jump it makes."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from learning.study_day import StudyCalendar

ZONES = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "America/St_Johns",  # once moved its clock at one minute past midnight
    "Australia/Lord_Howe",  # moves it by half an hour
    "Asia/Kolkata",
    "Pacific/Apia",  # left out 30 December 2011
    "Pacific/Chatham",
    "Africa/Casablanca",
    "America/Sao_Paulo",  # used to move it at midnight
]
SIX = ZONES[1:3] + ZONES[4:8]
calendars = st.builds(StudyCalendar, st.sampled_from(ZONES).map(ZoneInfo), st.integers(0, 23))
instants = st.datetimes(datetime(1, 1, 5), datetime(9999, 12, 27), timezones=st.just(UTC))
recent = st.datetimes(datetime(1970, 1, 1), datetime(2050, 1, 1), timezones=st.just(UTC))


def ordinal(year: int, month: int, day: int) -> int:
    return date(year, month, day).toordinal()


def test_the_small_hours_belong_to_the_day_before() -> None:
    berlin = StudyCalendar(ZoneInfo("Europe/Berlin"), 4)
    assert berlin.day(datetime(2026, 11, 21, 2, 59, tzinfo=UTC)) == ordinal(2026, 11, 20)
    assert berlin.day(datetime(2026, 11, 21, 3, 0, tzinfo=UTC)) == ordinal(2026, 11, 21)
    assert berlin.start(ordinal(2026, 11, 21)) == datetime(2026, 11, 21, 3, tzinfo=UTC)
    assert berlin.start(ordinal(2026, 7, 21)) == datetime(2026, 7, 21, 2, tzinfo=UTC)


def test_a_clock_change_makes_a_day_shorter_or_longer() -> None:
    berlin = StudyCalendar(ZoneInfo("Europe/Berlin"), 4)
    spring, autumn = ordinal(2026, 3, 28), ordinal(2026, 10, 24)
    assert berlin.start(spring + 1) - berlin.start(spring) == timedelta(hours=23)
    assert berlin.start(autumn + 1) - berlin.start(autumn) == timedelta(hours=25)


def test_a_rollover_in_the_hour_that_a_clock_change_leaves_out_falls_on_the_change() -> None:
    berlin = StudyCalendar(ZoneInfo("Europe/Berlin"), 2)
    assert berlin.start(ordinal(2026, 3, 29)) == datetime(2026, 3, 29, 1, tzinfo=UTC)
    assert berlin.day(datetime(2026, 3, 29, 0, 59, tzinfo=UTC)) == ordinal(2026, 3, 28)


def test_a_date_that_a_zone_left_out_is_a_day_of_no_length() -> None:
    apia = StudyCalendar(ZoneInfo("Pacific/Apia"), 4)
    assert apia.start(ordinal(2011, 12, 30)) == apia.start(ordinal(2011, 12, 31))
    assert apia.day(apia.start(ordinal(2011, 12, 31))) == ordinal(2011, 12, 31)


def test_a_clock_set_back_over_midnight_does_not_repeat_the_day_before() -> None:
    johns = StudyCalendar(ZoneInfo("America/St_Johns"), 0)
    change = datetime(2010, 11, 7, 2, 31, tzinfo=UTC)  # 00:01 became 23:01 of the day before
    assert johns.day(change - timedelta(seconds=1)) == ordinal(2010, 11, 7)
    assert johns.day(change + timedelta(minutes=30)) == ordinal(2010, 11, 7)


@given(calendars, instants)
@example(StudyCalendar(ZoneInfo("Pacific/Apia"), 23), datetime(2011, 12, 30, 9, 59, tzinfo=UTC))
def test_every_instant_lies_between_the_beginning_of_its_day_and_the_next(
    calendar: StudyCalendar, at: datetime
) -> None:
    day = calendar.day(at)
    assert calendar.start(day) <= at < calendar.start(day + 1)


@given(calendars, recent, st.timedeltas(timedelta(0), timedelta(days=3)))
def test_days_never_go_back(calendar: StudyCalendar, at: datetime, later: timedelta) -> None:
    assert calendar.day(at) <= calendar.day(at + later)


@given(calendars, st.lists(recent, max_size=20))
def test_the_days_of_many_are_the_days_of_each(calendar: StudyCalendar, many: list[datetime]) -> None:
    assert list(calendar.days(many)) == [calendar.day(at) for at in many]


@given(calendars, st.lists(st.one_of(instants, recent), max_size=20))
@example(StudyCalendar(ZoneInfo("UTC"), 4), [datetime(9999, 12, 31, n, tzinfo=UTC) for n in range(9)])
@example(StudyCalendar(ZoneInfo("Pacific/Apia"), 4), [datetime(2011, 12, 29, n, tzinfo=UTC) for n in range(9, 22)])
def test_the_days_of_milliseconds_are_the_days_of_their_instants(calendar: StudyCalendar, many: list[datetime]) -> None:
    whole = sorted(at.replace(microsecond=at.microsecond // 1000 * 1000) for at in many)
    in_ms = [(at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1) for at in whole]
    assert list(calendar.days_of_ms(in_ms)) == [calendar.day(at) for at in whole]


@pytest.mark.parametrize("at", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
@pytest.mark.parametrize("zone", ZONES)
def test_the_ends_of_time_have_a_day_too(zone: str, at: datetime) -> None:
    calendar = StudyCalendar(ZoneInfo(zone), 23)
    assert calendar.start(calendar.day(at)).tzinfo is UTC
    assert calendar.shown(at)
    assert calendar.start(-5) == calendar.start(1)
    assert calendar.start(10**9) == calendar.start(10**10)


@pytest.mark.parametrize("zone", SIX)
def test_every_hour_of_a_leap_year_has_its_day(zone: str) -> None:
    calendar = StudyCalendar(ZoneInfo(zone), 4)
    at = datetime(2028, 1, 1, tzinfo=UTC)
    days = list(calendar.days(at + timedelta(hours=n) for n in range(8784)))
    assert days == sorted(days)
    assert set(days) == set(range(days[0], days[-1] + 1))
    assert all(22 < days.count(day) < 26 for day in range(days[0] + 1, days[-1]))


def test_an_instant_is_shown_on_the_learners_clock() -> None:
    berlin = StudyCalendar(ZoneInfo("Europe/Berlin"), 4)
    assert berlin.shown(berlin.start(ordinal(2026, 11, 24))) == "2026-11-24T04:00+01:00"
