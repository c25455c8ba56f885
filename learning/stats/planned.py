"""How many reviews each of the coming days brings, for Home and for the statistics alike."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable
from datetime import datetime

from learning.study_day import StudyCalendar


def planned(
    due: Iterable[datetime], calendar: StudyCalendar, today: int, days: int, paused: Collection[int]
) -> list[int]:
    """Return how many of the instants `due` fall on each of so many study days; earlier ones count for today.

    `today` and the `paused` days are ordinals: what is due on a paused day waits for the day after.
    """
    ends = [calendar.start(today + n + 1) for n in range(days)]
    count = [0] * (days + 1)
    for at in due:
        count[bisect_right(ends, at)] += 1
    for n in range(days):
        if today + n in paused:
            count[n + 1] += count[n]
            count[n] = 0
    return count[:days]
