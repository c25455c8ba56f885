"""Taking back the last import: its cards leave the decks, and what it wrote to the log is voided."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from learning.cards.delete import delete_blocks
from learning.cards.workspace import Desk, after, open_desk
from learning.imports.blocks import head_of
from learning.store.siblings import OWN_DECK
from vault.audit.agent_runs import refuse_beside_agents
from vault.errors import NotFound
from vault.files.guard import Scope, sha256_hex
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
        paths = {desk.cards[card].deck.path for card in done.deleted}
        refuse_beside_agents(vault)
        placed = (desk.cards[card] for card in done.deleted)
        delete_blocks(vault, {(each.deck.path, each.card.start): each.card for each in placed}, now)
        _void(desk, voided)
        _remove_empty(vault, paths)
    return done


def _remove_empty(vault: Vault, paths: Iterable[str]) -> None:
    """Remove the decks that hold nothing but what an import writes at the beginning of a new one."""
    for path in sorted(paths):
        deck = vault.deck(path)
        if deck is not None and deck.text.strip() == head_of(deck.properties.text(OWN_DECK)).strip():
            vault.guard(Scope.LOG).remove(path, expect=sha256_hex(deck.text.encode()))


def _last(desk: Desk) -> tuple[str, list[CardId]]:
    """Return the latest import that left cards in the decks, and these. Raises: NotFound."""
    births = [
        event
        for event in ledger.ordered(desk.vault.ledger_events(ledger.IDS)[0])
        if event.get("type") in ("birth", "revive") and event.get("of") == "card" and event.get("import")
    ]
    for event in reversed(births):
        batch = str(event["import"])
        ids = [CardId(str(each["id"])) for each in births if each.get("import") == batch]
        if here := [card for card in dict.fromkeys(ids) if card in desk.cards]:
            return batch, here
    raise NotFound("there are no imports left to undo", hint="to undo `retain import anki`, use git: see docs/anki.md")


def _void(desk: Desk, events: Collection[LogEvent]) -> None:
    """Void these events of the log."""
    if not events:
        return
    writer = after(desk).writer("cli")
    writer.write(*(Undo(stamp, event.id) for stamp, event in zip(writer.stamps(desk.now), events, strict=False)))
