"""The past year and the coming weeks for the home screen, without replaying cards that it does not need.

Each figure is the one that `learning.stats.stats` gives, which goes through the whole log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from learning.cards.workspace import Desk
from learning.history.due import due_instants
from learning.stats.activity import streaks
from learning.stats.planned import planned
from learning.stats.retention import Retention, true_retention

MONTH = 30


@dataclass(frozen=True, slots=True)
class Daybook:
    """Figures for the home screen. `reviews` has the study days (ordinals) with reviews; `month` is true retention of
    30 days, `ever` that of all.

    `streak` ends today, or yesterday if today has none yet; `coming` are the reviews planned for each day, today's
    first, those that are overdue among them.
    """

    reviews: Mapping[int, int]
    streak: int
    longest: int
    month: Retention
    ever: Retention
    coming: tuple[int, ...]


def daybook(desk: Desk, days_ahead: int) -> Daybook:
    """Return the figures of a desk."""
    sums, today = desk.past.day_sums(), desk.scheduler.calendar.day(desk.now)
    days = {day: counts[0] for day, counts in sums.days.items()}
    streak, longest = streaks(set(days), today, desk.past.decisions.paused_days())
    month, ever = true_retention(sums, today, (MONTH,))
    return Daybook(days, streak, longest, month, ever, coming(desk, days_ahead))


def coming(desk: Desk, days: int) -> tuple[int, ...]:
    """Return the reviews planned for each of so many study days, today's first."""
    calendar = desk.scheduler.calendar
    today = calendar.day(desk.now)
    due = (at for _, at in due_instants(desk.cards, calendar.start(today + days)))
    return tuple(planned(due, calendar, today, days, desk.past.decisions.paused_days()))
