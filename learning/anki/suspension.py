"""Suspension as it was in Anki: log events that packages give in any order, each once.

A package says of a card how it stood when Anki last touched it. The newest word counts, whichever package came first;
so what was last imported of a card is recorded (`learning.anki.note_log`) where no mark in the review log tells it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from learning.anki.note_log import NoteRecord, record
from learning.anki.reviews import VIA, KnownHistory
from vault.files.guard import Scope
from vault.ids import CardId, ulid
from vault.log.events import LogEvent, Resume, Stamp, Suspend
from vault.log.ledger import note_event
from vault.log.review_log import append, unix_ms
from vault.vault import Vault

SUSPENDED = -1  # Anki's queue of a suspended card
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class AnkiState(NamedTuple):
    """How a card of ours is in Anki. `mod` and `answered` are the Unix seconds of its last change and answer there, -1
    for no answer; `id` is its number, the Unix millisecond at which it was made. `flag` is 0 for none; `due` is the
    study day on which it is due, None if it is new or due within a day."""

    card: CardId
    id: int
    mod: int
    is_suspended: bool
    answered: int = -1
    flag: int = 0
    is_buried: bool = False
    due: date | None = None


def import_suspension(
    vault: Vault,
    history: KnownHistory,
    known: Mapping[CardId, NoteRecord],
    states: Iterable[AnkiState],
    now: datetime,
    *,
    dry_run: bool = False,
) -> dict[str, int]:
    """Suspend and resume cards as they are in Anki, where that has changed since the last import, so that later
    decisions of the user here stay; return how many.
    """
    imported: dict[CardId, int] = {}
    new: list[LogEvent] = []
    newest, answered = _newest(states, unix_ms(now) // 1000)
    for own, (second, state) in newest.items():
        at, was = history.marks.get(own, (-1, False))
        if (second, state.is_suspended) <= max((at, was), (known[own].suspension if own in known else -1, was)):
            continue  # an older package, or the same again
        reviewed, there = history.reviewed.get(own, -1), answered[own]
        if state.is_suspended != was and not (state.is_suspended and reviewed > max(second, there)):
            new.append(_event(vault, own, second, suspended=state.is_suspended))
        elif state.is_suspended or not _is_certain(state, second, max(reviewed, there)):
            imported[own] = second
    new = [event for event in new if event.id not in history.mark_ids]
    suspended = sum(isinstance(event, Suspend) for event in new)
    if new and not dry_run:
        append(vault.guard(Scope.LOG), *new)
    if not dry_run:
        id_ = vault.settings.vault_id
        record(vault, (note_event(id_, "suspension", card, second) for card, second in imported.items()))
    return {"suspended": suspended, "resumed": len(new) - suspended}


def _newest(states: Iterable[AnkiState], latest: int) -> tuple[dict[CardId, tuple[int, AnkiState]], dict[CardId, int]]:
    """Return for our cards (Unix second, Anki's card) changed last, where two of Anki's are one of ours; and the second
    of the last answer in either.
    """
    found: dict[CardId, tuple[int, AnkiState]] = {}
    answered: dict[CardId, int] = {}
    for state in states:
        own, word = state.card, (min(max(state.mod, 0), latest), state)
        answered[own] = max(answered.get(own, -1), state.answered)
        if own not in found or _order(word) > _order(found[own]):
            found[own] = word
    return found, answered


def _order(word: tuple[int, AnkiState]) -> tuple[int, bool]:
    """Return the sort key of a change."""
    return word[0], word[1].is_suspended


def _is_certain(card: AnkiState, second: int, reviewed: int) -> bool:
    """Return whether no older package can contradict: a review came later, or the card has not changed since its
    creation.
    """
    return second <= reviewed or second <= card.id // 1000


def _event(vault: Vault, card: CardId, second: int, *, suspended: bool) -> LogEvent:
    """Return the event, the same wherever it is made. Of two in one second, suspending is the later."""
    at = _EPOCH + timedelta(seconds=second)
    kind = Suspend if suspended else Resume
    seed = hashlib.sha256(f"{vault.settings.vault_id}\0{kind.type}:{card}".encode()).digest()
    return kind(Stamp(ulid(unix_ms(at), bytes([255 * suspended]) + seed[:9]), at, via=VIA), card)
