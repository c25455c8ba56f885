"""More new cards today: a decision for one study day, in the log, so that every machine agrees; undo takes it back."""

from __future__ import annotations

from datetime import date

from learning.cards.workspace import Desk, after
from vault.errors import NotFound
from vault.log.events import More, Undo

USUAL = 10  # cards that a key press adds


def allow_more(desk: Desk, cards: int, *, via: str) -> tuple[Desk, More]:
    """Let so many new cards more into today's queue than it has; return the desk with them, and the decision.

    Raises: NotFound where no new card waits; WriteFailed, Refused or LockHeld.
    """
    calendar = desk.scheduler.calendar
    day, now_new = calendar.day(desk.now), desk.today["new"]
    if len(desk.queue.new) <= now_new:
        raise NotFound("there are no more new cards", hint="add a source and run `retain compile` to get new cards")
    done = desk.past.done(calendar, desk.now).new
    writer = desk.writer(via)
    event = More(writer.stamp(desk.now), date.fromordinal(day), done + now_new + cards)
    writer.write(event)
    return after(desk), event


def take_back(desk: Desk, event: More, *, via: str) -> Desk:
    """Undo that decision. Raises: as `allow_more`."""
    writer = desk.writer(via)
    writer.write(Undo(writer.stamp(desk.now), event.id))
    return after(desk)
