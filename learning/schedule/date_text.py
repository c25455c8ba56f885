"""Dates and durations in words, for screens and plain output."""

from __future__ import annotations

from datetime import date as _Day
from datetime import datetime

from learning.study_day import StudyCalendar
from vault.text.formatting import plural


def stretch(seconds: float) -> str:
    """Return a duration in words: `under a minute`, `1 minute`, `12 minutes`, `1 h 05 min`."""
    if seconds < 45:
        return "under a minute"
    whole = round(seconds / 60)
    return plural(max(1, whole), "minute") if whole < 60 else f"{whole // 60} h {whole % 60:02} min"


def when(at: datetime, now: datetime, calendar: StudyCalendar) -> str:
    """Return when something falls due, relative to `now`: `now`, `in 12 minutes`, `tomorrow`, `in 4 days`."""
    if at <= now:
        return "now"
    ahead = calendar.day(at) - calendar.day(now)
    if ahead == 0:
        return f"in {stretch((at - now).total_seconds())}"
    return "tomorrow" if ahead == 1 else f"in {ahead} days"


def date(at: datetime, calendar: StudyCalendar) -> str:
    """Return the date of the study day of `at`: `Sunday 22 November`."""
    shown = _Day.fromordinal(calendar.day(at))
    return f"{_DAYS[shown.weekday()]} {shown.day} {_MONTHS[shown.month - 1]}"


def day_of(shown: _Day) -> str:
    """Return a date for a sentence: `22 November 2026`."""
    return f"{shown.day} {_MONTHS[shown.month - 1]} {shown.year}"


# In English whatever the locale: one language on one screen.
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
