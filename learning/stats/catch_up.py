"""The plan that is proposed for a backlog: how many reviews a day, and when it is cleared with them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date

from learning.cards.workspace import Desk
from learning.schedule.usual import catch_up_rate, rounded_up
from learning.stats.outlook import Outlook

_SOON = 28  # days in which the proposed plan clears the backlog
_LONG = 366
_RESERVE = 1.2  # times the predicted days that a plan lasts, as a prediction can be wrong
_FASTER = 1.25


@dataclass(frozen=True, slots=True)
class Offer:
    """Catch up with `waiting` reviews at `per_day` a day, which takes until `until`; None: more than a year."""

    waiting: int
    per_day: int
    until: date | None


def backlog(desk: Desk) -> int:
    """Return the reviews that are due now, whether today takes them or not."""
    return len(desk.queue.due)


def offer_of(desk: Desk) -> Offer | None:
    """Return the plan that clears the backlog in four weeks with the fewest reviews a day, but no fewer than on a usual
    day; None if a day takes all.
    """
    waiting, per_day = backlog(desk), catch_up_rate(desk.limits.usual)
    if waiting <= per_day:
        return None
    outlook = Outlook(desk, 1, 0)
    while per_day < waiting and not outlook.days_to_clear(per_day, _SOON):
        per_day = rounded_up(per_day * _FASTER)
    return _offer(outlook, waiting, per_day)


def offer_at(desk: Desk, per_day: int) -> Offer:
    """Return the plan with so many reviews a day."""
    return _offer(Outlook(desk, 1, 0), backlog(desk), per_day)


def _offer(outlook: Outlook, waiting: int, per_day: int) -> Offer:
    """Return the plan, with a reserve of days."""
    days = outlook.days_to_clear(per_day, _LONG)
    return Offer(waiting, per_day, outlook.date(math.ceil(days * _RESERVE) - 1) if days else None)
