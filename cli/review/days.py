"""The study day that an option names."""

from __future__ import annotations

from datetime import date, timedelta

from vault.errors import UsageError


def day_of(text: str, today: date) -> date:
    """Return the study day that `text` names. Raises UsageError."""
    word = text.strip().casefold()
    try:
        if word == "today":
            return today
        if word.startswith("+") and word.endswith("d"):
            return today + timedelta(days=int(word[1:-1]))
        return date.fromisoformat(word)
    except (ValueError, OverflowError) as error:
        raise UsageError("not a day", where=text, hint="today, +7d, or a date like 2026-12-01") from error
