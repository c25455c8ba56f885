"""Suspension as it was in Anki: marks in the log that packages give in any order, each once.

A package says of a card how it stood when Anki last touched it. The newest word counts, whichever package came first;
so what was last heard of a card is written down where no mark in the log tells it. Without that file an old package
may suspend a card again, which the next newer one puts right.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

from learning.anki_read import AnkiCard, AnkiPackage
from learning.anki_reviews import FILTERED, MANUAL, VIA
from vault.errors import Refused, WriteFailed
from vault.guard import Scope, sha256_hex
from vault.ids import CardId, ulid
from vault.log_event import LogEvent, Resume, Review, Stamp, Suspend
from vault.review_log import append, unix_ms
from vault.store import Vault

HEARD = ".retain/anki-heard.json"
_SUSPENDED = -1  # Anki's queue of a suspended card
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Report(Protocol):
    """Where it is told how many cards were marked (see `learning.anki_import.ImportReport`)."""

    dry_run: bool
    marks: dict[str, int]


@dataclass(slots=True)
class _Log:
    """What the log says: the last word of Anki's on each card, and the second of its last review."""

    marks: dict[CardId, tuple[int, bool]] = field(default_factory=dict)  # (Unix second, suspended)
    reviewed: dict[CardId, int] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)


def take_marks(
    vault: Vault,
    events: Iterable[LogEvent],
    package: AnkiPackage,
    known: Mapping[int, CardId],
    now: datetime,
    report: Report,
) -> None:
    """Cards suspended in Anki are suspended here, and resumed once they are there: only where that has changed since
    the last import, so that what the human says here afterwards stands. `known` maps Anki's cards to ours."""
    said = _said(events)
    heard = read_heard(vault)
    learnt: dict[CardId, int] = {}
    new: list[LogEvent] = []
    there = _last_rows(package, known)
    for own, (second, card) in _newest(package, known, unix_ms(now) // 1000).items():
        is_suspended = card.queue == _SUSPENDED
        at, was = said.marks.get(own, (-1, False))
        if (second, is_suspended) <= max((at, was), (heard.get(own, -1), was)):
            continue  # an older package, or the same again
        reviewed = said.reviewed.get(own, -1)
        if is_suspended != was and not (is_suspended and reviewed > max(second, there.get(own, -1))):
            new.append(_event(vault, own, second, suspended=is_suspended))
        elif is_suspended or not _is_told(card, second, max(reviewed, there.get(own, -1))):
            learnt[own] = second
    new = [event for event in new if event.id not in said.ids]
    suspended = sum(isinstance(event, Suspend) for event in new)
    report.marks.update(suspended=suspended, resumed=len(new) - suspended)
    if report.dry_run:
        return
    if new:
        append(vault.guard(Scope.LOG), *new)
    if learnt:
        _keep_heard(vault, heard | learnt)


def _said(events: Iterable[LogEvent]) -> _Log:
    found = _Log()
    for event in events:
        if isinstance(event, Suspend | Resume) and event.stamp.via == VIA:
            word = (unix_ms(event.at) // 1000, isinstance(event, Suspend))
            found.marks[event.card] = max(word, found.marks.get(event.card, word))
            found.ids.add(event.id)
        elif isinstance(event, Review):
            found.reviewed[event.card] = unix_ms(event.at) // 1000
    return found


def _newest(package: AnkiPackage, known: Mapping[int, CardId], latest: int) -> dict[CardId, tuple[int, AnkiCard]]:
    """Our card -> (Unix second, Anki's card) that was touched last, where two of Anki's are one of ours."""
    found: dict[CardId, tuple[int, AnkiCard]] = {}
    for card in package.cards:
        if card.id not in known:
            continue
        own, word = known[card.id], (min(max(card.mod, 0), latest), card)
        if own not in found or _order(word) > _order(found[own]):
            found[own] = word
    return found


def _order(word: tuple[int, AnkiCard]) -> tuple[int, bool]:
    return word[0], word[1].queue == _SUSPENDED


def _last_rows(package: AnkiPackage, known: Mapping[int, CardId]) -> dict[CardId, int]:
    """Our card -> the second of its last answer that the package has: the card stood as it stands after that."""
    found: dict[CardId, int] = {}
    for row in package.reviews:
        if row.card in known and row.ease > 0 and row.kind < MANUAL and (row.kind != FILTERED or row.factor):
            own = known[row.card]
            found[own] = max(found.get(own, -1), row.id // 1000)
    return found


def _is_told(card: AnkiCard, second: int, reviewed: int) -> bool:
    """Whether no older package can say that a card was suspended and be believed: a review came later, or the card has
    not been touched since it was made."""
    return second <= reviewed or second <= card.id // 1000


def _event(vault: Vault, card: CardId, second: int, *, suspended: bool) -> LogEvent:
    """The same wherever it is made. Of two in one second, being suspended is the last word."""
    at = _EPOCH + timedelta(seconds=second)
    kind = Suspend if suspended else Resume
    seed = hashlib.sha256(f"{vault.settings.vault_id}\0{kind.type}:{card}".encode()).digest()
    return kind(Stamp(ulid(unix_ms(at), bytes([255 * suspended]) + seed[:9]), at, via=VIA), card)


def read_heard(vault: Vault) -> dict[CardId, int]:
    """Card -> the Unix second of what was last heard of it; none where the file is gone or spoilt."""
    try:
        found = json.loads(vault.read_bytes(HEARD) or b"{}")
        return {CardId(card): int(second) for card, second in found.items()}
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        return {}


def _keep_heard(vault: Vault, heard: Mapping[CardId, int]) -> None:
    guard = vault.guard(Scope.LOG)
    with suppress(WriteFailed, Refused):
        old = guard.read(HEARD)
        data = json.dumps(heard, indent=0, sort_keys=True).encode()
        guard.write(HEARD, data, expect=None if old is None else sha256_hex(old))
