"""Why today takes fewer cards than are due and new, in words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from learning.cards.workspace import Desk
from learning.schedule.date_text import day_of


def limits_in_words(desk: Desk, *, predict: bool = True) -> Iterator[str]:
    """Yield why today takes fewer cards than are due and new, a sentence each.

    With `predict` also when a backlog will be cleared, which takes a moment in a big vault.
    """
    limits = desk.limits
    if limits.paused_until:
        until = day_of(date.fromordinal(limits.paused_until))
        yield f"reviews are paused until {until} (`retain pause --end` ends the pause)"
        return
    if limits.plan is not None and desk.beyond["due"]:
        ends = day_of(date.fromordinal(limits.plan_ends))
        yield f"catching up at {limits.plan.per_day:,} reviews a day until {ends} (`retain catch-up` changes the plan)"
    elif predict and not desk.tag and desk.beyond["due"]:
        from learning.stats.outlook import backlog_of  # mostly there is no backlog

        if words := backlog_of(desk):
            yield f"{words} (`retain catch-up` makes a plan)"
    if limits.why:
        yield limits.why
