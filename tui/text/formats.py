"""Counts and times in few words: what the screens say of them."""

from __future__ import annotations

from datetime import date as _Day
from datetime import datetime

from learning.study_day import StudyCalendar


def counted(number: int, one: str, many: str = "") -> str:
    """`1 card`, `3 cards`, `no cards`."""
    if number == 1:
        return f"1 {one}"
    return f"{number or 'no'} {many or one + 's'}"


def stretch(seconds: float) -> str:
    """A stretch of time: `under a minute`, `1 minute`, `12 minutes`, `1 h 05 min`."""
    if seconds < 45:
        return "under a minute"
    whole = round(seconds / 60)
    return counted(max(1, whole), "minute") if whole < 60 else f"{whole // 60} h {whole % 60:02} min"


def when(at: datetime, now: datetime, calendar: StudyCalendar) -> str:
    """When something falls due, seen from `now`: `now`, `in 12 minutes`, `tomorrow`, `in 4 days`."""
    if at <= now:
        return "now"
    ahead = calendar.day(at) - calendar.day(now)
    if ahead == 0:
        return f"in {stretch((at - now).total_seconds())}"
    return "tomorrow" if ahead == 1 else f"in {ahead} days"


def date(at: datetime, calendar: StudyCalendar) -> str:
    """The date of the study day that holds `at`: `Sunday 22 November`."""
    from datetime import date as day

    shown = day.fromordinal(calendar.day(at))
    return f"{_DAYS[shown.weekday()]} {shown.day} {_MONTHS[shown.month - 1]}"


def day_of(shown: _Day) -> str:
    """A date in a sentence: `22 November 2026`."""
    return f"{shown.day} {_MONTHS[shown.month - 1]} {shown.year}"


# In English whatever the locale: one language on one screen.
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
