"""Taking back the last import: its cards leave the decks, and what it wrote to the log is voided."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from learning.cards.delete import delete_cards
from learning.cards.workspace import Desk, after, open_desk
from learning.imports.blocks import KEY
from vault.errors import NotFound
from vault.ids import CardId
from vault.log import ledger
from vault.log.events import LogEvent, Undo
from vault.log.review_log import IMPORTED, live
from vault.vault import Vault


@dataclass(slots=True)
class Undone:
    """What was taken back. `kept` are cards that were edited or reviewed here since, which stay with what they know."""

    batch: str
    deleted: list[CardId] = field(default_factory=list)
    kept: list[CardId] = field(default_factory=list)
    voided: int = 0


def undo_import(vault: Vault, now: datetime, *, dry_run: bool = False) -> Undone:
    """Delete the cards that the last import created, and void its events of the log.

    Raises: NotFound where no import is left; Refused or LockHeld while an agent works; WriteFailed.
    """
    desk = open_desk(vault, now, queued=False)
    batch, cards = _last(desk)
    events = [event for event in live(desk.past.whole().events) if getattr(event, "card", None) in cards]
    used = {getattr(event, "card", "") for event in events if event.stamp.via != IMPORTED}
    done = Undone(batch)
    for card in cards:
        mine = [each for each in desk.cards[card].deck.cards if each.start == desk.cards[card].card.start]
        is_used = any(each.id in used or each.human_edited for each in mine)
        (done.kept if is_used else done.deleted).append(card)
    voided = [event for event in events if event.stamp.via == IMPORTED and getattr(event, "card", "") in done.deleted]
    done.voided = len(voided)
    if not dry_run and done.deleted:
        delete_cards(vault, done.deleted, now)
        _void(desk, voided)
    return done


def _last(desk: Desk) -> tuple[str, list[CardId]]:
    """Return the latest import that left cards in the decks, and these. Raises: NotFound."""
    births = [
        event
        for event in ledger.ordered(desk.vault.ledger_events(ledger.IDS)[0])
        if event.get("type") == "birth" and str(event.get("key", "")).startswith(KEY) and event.get("import")
    ]
    for event in reversed(births):
        batch = str(event["import"])
        ids = [CardId(str(each["id"])) for each in births if each.get("import") == batch]
        if here := [card for card in dict.fromkeys(ids) if card in desk.cards]:
            return batch, here
    raise NotFound("no import is left to undo", hint="`retain import anki` is undone in git: docs/anki.md")


def _void(desk: Desk, events: Collection[LogEvent]) -> None:
    """Void these events of the log."""
    if not events:
        return
    writer = after(desk).writer("cli")
    writer.write(*(Undo(stamp, event.id) for stamp, event in zip(writer.stamps(desk.now), events, strict=False)))
