"""Where the log is cut in two: before it is folded for good, since then each event is kept; and what is known of it."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from learning.history.files import vault_place
from learning.memory.scheduler import Scheduler
from learning.study_day import StudyCalendar
from vault.index.database import Database
from vault.index.facts import fact, set_fact
from vault.log.events import LogEvent, Undo
from vault.log.review_log import EVER, at_of, first_id
from vault.vault import Vault

LEAST, MOST = 250, 2_500  # events that are kept since the cut
_FOLD = 5  # of the fold: when the same log gives other states, it grows


class Head(msgspec.Struct, frozen=True):
    """What is known of log and ledger as a whole; `place` and `scheduler` are what the states depend on besides.

    `last`, `latest` and `recent_ms` are of the time before the cut: the last instant that counts, when the latest
    event happened, and the times on screen of the last ratings. `newest` is the greatest instant of all. `undos` are
    those since the cut that count and void something before it.
    """

    place: str
    scheduler: str
    cut: datetime = EVER
    last: datetime | None = None
    latest: datetime | None = None
    newest: datetime = EVER
    recent_ms: tuple[int, ...] = ()
    undos: tuple[str, ...] = ()
    diagnostics: tuple[tuple[str, int, str, str, str], ...] = ()


def read_head(vault: Vault, database: Database) -> Head | None:
    """Return what is known; None if nothing is, or that of another vault."""
    text = fact(database, "log")
    head = msgspec.json.decode(text, type=Head) if text else None
    return head if head is not None and head.place == vault_place(vault) else None


def save_head(database: Database, head: Head) -> None:
    set_fact(database, "log", msgspec.json.encode(head).decode())


def digest(vault: Vault, scheduler: Scheduler) -> str:
    """Return a text that changes when the same log would give other states."""
    wanted = zlib.crc32(repr(sorted(scheduler.retention_of.items())).encode())
    return f"{_FOLD} {scheduler.rules!r} {wanted:08x}"


def cut_of(at_ms: Sequence[int], calendar: StudyCalendar) -> datetime:
    """Return where to cut a log whose last reviews are these."""
    if len(at_ms) < 2 * LEAST:
        return EVER
    least = calendar.day(at_of(at_ms[-LEAST]))
    return max(at_of(0), calendar.start(min(least, calendar.day(at_of(at_ms[-1])) - 1)))


def is_clean_cut(events: Iterable[LogEvent], cut: datetime) -> bool:
    """Return whether instant and id of each event are on one side of the cut, and no undo before it voids an event
    after.
    """
    first = first_id(cut)
    return cut == EVER or all(
        (event.at >= cut) == (event.id >= first)
        and not (isinstance(event, Undo) and event.at < cut and event.voids >= first)
        for event in events
    )


def is_after_cut(events: Iterable[LogEvent], cut: datetime) -> bool:
    """Return whether all events are after the cut, by instant and by id: then none of them was folded in before."""
    first = first_id(cut)
    return cut == EVER or all(event.at >= cut and event.id >= first for event in events)


def reaching_back(events: Sequence[LogEvent]) -> frozenset[str]:
    """Return the undos among `events`, which are in order, that count and void none of them."""
    ids = {event.id for event in events}
    voided: set[str] = set()
    out = []
    for event in reversed(events):
        if isinstance(event, Undo) and event.id not in voided:
            voided.add(event.voids)
            if event.voids not in ids:
                out.append(event.id)
    return frozenset(out)
