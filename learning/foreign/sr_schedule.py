"""Schedules of Obsidian's plugin Spaced Repetition, as it writes them: of SM-2 and of FSRS, in comments and properties.

<!--SR:!2024-08-16,51,230!2000-01-01,1,250-->                                      due, interval, ease; the second new
<!--SR:!fsrs,2026-11-30T12:00:00.000Z,9,8.7,5.2,2,4,1,0,2026-11-21T12:00:00.000Z-->
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, tzinfo

from learning.foreign.cards import Schedule, bounded, days_before
from learning.memory.ease import sr_difficulty
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


def schedules_in(comments: Sequence[str], zone: tzinfo) -> tuple[list[Schedule | None], list[str]]:
    """Return the schedule of each card of a block, None for a new one; and what could not be read."""
    if not comments:
        return [], []
    pieces = [piece.strip() for piece in comments[0].split("!") if piece.strip()]
    read = [_schedule(piece, zone) for piece in pieces]
    faults = [
        piece for piece, each in zip(pieces, read, strict=True) if each is None and not piece.startswith(f"{NEW},")
    ]
    return read, faults


def _schedule(piece: str, zone: tzinfo) -> Schedule | None:
    """Return one schedule; None for that of a new card, and for one that cannot be read."""
    fields = piece.split(",")
    try:
        if fields[0] == "fsrs":
            return _fsrs(fields[1:], zone)
        due = _day(fields[0])
        if due is None or fields[0] == NEW:
            return None
        return _of_sm2(due, float(fields[1]), float(fields[2]))
    except (ValueError, IndexError, OverflowError):
        return None


def _fsrs(fields: Sequence[str], zone: tzinfo) -> Schedule | None:
    """Return the schedule of due, interval, stability, difficulty, state, reps, lapses, step and last review."""
    due, reviewed = _instant(fields[0]), _instant(fields[8])
    if due is None or reviewed is None or int(fields[4]) == 0:
        return None
    numbers = float(fields[2]), float(fields[3]), float(fields[5]), float(fields[6])
    stability, difficulty, reps, lapses = numbers
    first, last = reviewed.astimezone(zone).date(), due.astimezone(zone).date()
    return bounded(first, last, stability, difficulty, reps, lapses)


def _of_sm2(due: date, interval: float, ease: float) -> Schedule | None:
    """Return the schedule of an interval in days and an ease in per cent, as the plugin makes it one of FSRS."""
    if not (0 <= interval <= 36_525 and 0 < ease <= 10_000):
        return None
    return bounded(days_before(due, interval), due, max(interval, 0.1), sr_difficulty(ease))


def note_schedule(properties: Properties) -> Schedule | None:
    """Return the schedule that a note as a whole has in its properties."""
    due, interval, ease = (properties.text(name) for name in ("sr-due", "sr-interval", "sr-ease"))
    try:
        day = _day(due) if due else None
        return _of_sm2(day, float(interval), float(ease)) if day else None
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
