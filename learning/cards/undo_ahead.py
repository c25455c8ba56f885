"""Undo of all that is dated ahead of the clock, as after a clock that was wrong and has been set back."""

from __future__ import annotations

from learning.cards.workspace import Desk, after
from vault.errors import NotFound
from vault.log.clock_check import LEEWAY
from vault.log.events import Graded, Import, LogEvent, Params, Undo
from vault.log.review_log import live


def undo_ahead(desk: Desk, *, via: str) -> tuple[Desk, tuple[Undo, ...], tuple[LogEvent, ...]]:
    """Void the user's events that are dated more than an hour ahead of the desk's clock, in one write.

    Returns them, too. Imported reviews and fitted parameters stay. Raises: NotFound, WriteFailed.
    """
    limit = desk.now + LEEWAY
    voided = tuple(
        event
        for event in live(desk.past.whole().events)
        if event.when > limit and not isinstance(event, Graded | Import | Params)
    )
    if not voided:
        raise NotFound("no review is dated in the future", hint="`retain undo` undoes the last action")
    writer = desk.writer(via)
    events = tuple(Undo(stamp, event.id) for stamp, event in zip(writer.stamps(desk.now), voided, strict=False))
    writer.write(*events)
    return after(desk), events, voided
