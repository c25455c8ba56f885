"""A mark on a card that is in the log whether it changes anything or not, as one from another clone may be."""

from __future__ import annotations

from learning.cards.workspace import Desk, after
from vault.log.events import CardMark, Flag


def mark(desk: Desk, card: str, kind: type[CardMark], *, via: str, reason: str = "") -> tuple[Desk, CardMark]:
    """The desk once the log has that Suspend, Resume, Bury or Flag, and the event."""
    placed, writer = desk.card(card), desk.writer(via)
    stamp = writer.stamp(desk.now)
    event = Flag(stamp, placed.id, reason) if kind is Flag else kind(stamp, placed.id)
    writer.write(event)
    return after(desk), event
