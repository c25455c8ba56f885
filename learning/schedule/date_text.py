"""Dates and durations in words, for screens and plain output."""

from __future__ import annotations

from datetime import date as _Day
from datetime import datetime, timedelta

from learning.study_day import StudyCalendar
from vault.errors import UsageError
from vault.text.formatting import clean_line, plural


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


def near(shown: _Day, today: _Day) -> str:
    """Return a date for a sentence, with the year where it is far from today: `22 November`, `7 January 2028`."""
    return day_of(shown) if abs((shown - today).days) > _FAR else f"{shown.day} {_MONTHS[shown.month - 1]}"


def study_day(text: str, today: _Day) -> _Day:
    """Return the study day that `text` names: `today`, `+7d`, `2026-12-01`. Raises: UsageError."""
    word = text.strip().casefold()
    try:
        if word == "today":
            return today
        if word.startswith("+") and word.endswith("d"):
            return today + timedelta(days=int(word[1:-1]))
        return _Day.fromisoformat(word)
    except (ValueError, OverflowError) as error:
        raise UsageError(
            "not a valid day", where=clean_line(text), hint="use today, +7d, or a date like 2026-12-01"
        ) from error


_FAR = 300  # days from which on a date without its year could be mistaken


# In English whatever the locale: one language on one screen.
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
