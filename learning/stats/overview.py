"""The past year and the coming weeks for the home screen, without replaying cards that it does not need.

Each figure is the one that `learning.stats.stats` gives, which goes through the whole log.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from learning.cards.workspace import Desk
from learning.memory.predictions import columns_of_cards, replay
from learning.stats.activity import streaks
from learning.stats.retention import Retention, Tries, true_retention
from learning.store.due import due_instants
from vault.log.review_columns import ReviewColumns

MONTH = 30


@dataclass(frozen=True, slots=True)
class Daybook:
    """Figures for the home screen. `reviews` has the study days (ordinals) with reviews; `month` is true retention of
    30 days.

    `streak` ends today, or yesterday if today has none yet; `coming` are the reviews planned for each day, today's
    first, those that are overdue among them.
    """

    reviews: Mapping[int, int]
    streak: int
    longest: int
    month: Retention
    coming: tuple[int, ...]


def daybook(desk: Desk, days_ahead: int) -> Daybook:
    """Return the figures of a desk. Raises: SchemaTooNew, Refused or Damaged, as the log is read."""
    columns = desk.past.reviews()
    calendar = desk.scheduler.calendar
    today = calendar.day(desk.now)
    days = Counter(calendar.days_of(columns))
    streak, longest = streaks(set(days), today)
    return Daybook(days, streak, longest, _month(desk, columns, today), coming(desk, days_ahead))


def _month(desk: Desk, columns: ReviewColumns, today: int) -> Retention:
    """Return true retention of the last 30 days, replaying only cards that were reviewed in them."""
    since = today - MONTH + 1
    days = desk.scheduler.calendar.days_of(columns)
    cards = {columns.cards[card] for card, day in zip(columns.card, days, strict=True) if day >= since}
    if not cards:
        return Retention(MONTH, Tries(), Tries())
    seen = replay(columns_of_cards(columns, cards), desk.scheduler, desk.changes)
    return true_retention(seen, today, (MONTH,))[0]


def coming(desk: Desk, days: int) -> tuple[int, ...]:
    """Return the reviews planned for each of so many study days, today's first."""
    calendar = desk.scheduler.calendar
    today = calendar.day(desk.now)
    ends = [calendar.start(today + n + 1) for n in range(days)]
    count = [0] * days
    for due in due_instants(desk.cards, ends[-1]):
        count[bisect_right(ends, due)] += 1
    return tuple(count)
