"""Schedules of Obsidian's plugin Spaced Repetition, as it writes them: of SM-2 and of FSRS, in comments and properties.

<!--SR:!2024-08-16,51,230!2000-01-01,1,250-->                                      due, interval, ease; the second new
<!--SR:!fsrs,2026-11-30T12:00:00.000Z,9,8.7,5.2,2,4,1,0,2026-11-21T12:00:00.000Z-->
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime

from learning.imports.ease import schedule_of_ease
from learning.imports.foreign import Schedule, bounded
from vault.model.frontmatter import Properties

NEW = "2000-01-01"  # the day that stands for a card that was never reviewed
_COMMENT = re.compile(r"\s?<!--SR:(.+?)-->")
_CALLOUT = re.compile(r"^> \[!sr\|card-metadata\].*\n?(?:^> ?$\n?)*", re.MULTILINE)
_FORMATS = ("%Y-%m-%d", "%d-%m-%Y", "%a %b %d %Y")


def split_comments(text: str) -> tuple[str, list[str]]:
    """Return the text without schedules and what holds them, and what the schedules say."""
    found = _COMMENT.findall(text)
    bare = _COMMENT.sub("", text)
    return (re.sub(r"\n> ?$", "", _CALLOUT.sub("", bare)) if found else text), found


def schedules_in(comments: Sequence[str]) -> tuple[list[Schedule | None], list[str]]:
    """Return the schedule of each card of a block, None for a new one; and what could not be read."""
    if not comments:
        return [], []
    pieces = [piece.strip() for piece in comments[0].split("!") if piece.strip()]
    read = [_schedule(piece) for piece in pieces]
    faults = [
        piece for piece, each in zip(pieces, read, strict=True) if each is None and not piece.startswith(f"{NEW},")
    ]
    return read, faults


def _schedule(piece: str) -> Schedule | None:
    """Return one schedule; None for that of a new card, and for one that cannot be read."""
    fields = piece.split(",")
    try:
        if fields[0] == "fsrs":
            return _fsrs(fields[1:])
        due = _day(fields[0])
        if due is None or fields[0] == NEW:
            return None
        return schedule_of_ease(due, float(fields[1]), float(fields[2]) / 100)
    except (ValueError, IndexError, OverflowError):
        return None


def _fsrs(fields: Sequence[str]) -> Schedule | None:
    """Return the schedule of due, interval, stability, difficulty, state, reps, lapses, step and last review."""
    due, reviewed = _instant(fields[0]), _instant(fields[8])
    if due is None or reviewed is None or int(fields[4]) == 0:
        return None
    numbers = float(fields[2]), float(fields[3]), float(fields[5]), float(fields[6])
    return bounded(reviewed.date(), due.date(), *numbers)


def note_schedule(properties: Properties) -> Schedule | None:
    """Return the schedule that a note as a whole has in its properties."""
    due, interval, ease = (properties.text(name) for name in ("sr-due", "sr-interval", "sr-ease"))
    try:
        day = _day(due) if due else None
        return schedule_of_ease(day, float(interval), float(ease) / 100) if day else None
    except ValueError:
        return None


def _day(text: str) -> date | None:
    """Return a day in one of the forms that the plugin has used."""
    for form in _FORMATS:
        try:
            return datetime.strptime(text.strip()[:40], form).replace(tzinfo=UTC).date()
        except ValueError:
            continue
    return None


def _instant(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None
