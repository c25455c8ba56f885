"""The history of a vault without replaying the whole log: states as of a cut, and the events since.

Two caches in `.retain/cache/`, pure products. `memory` holds the state of every card as a fold of all events before the
cut gives it, and is not touched again until the cut moves on. `log` says of which files that was made, and keeps the
lines since the cut. Both count only while every file is as it was, or has only grown, by events that lie behind the
cut; settings and parameters must be the same. In any doubt the whole log is read and folded anew.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from learning.memory.fold import card_events, fold
from learning.memory.scheduler import Scheduler
from learning.memory.state import CardEvent, MemoryState
from learning.store.history import (
    EVER,
    RECENT,
    Before,
    History,
    first_id,
    is_after_cut,
    latest_of,
    reaching_back,
    recent_states,
    renewed,
    times,
)
from learning.store.log_growth import LogFile, growth, is_settled_stamp, vault_place
from learning.store.state_table import NAMES, StateColumns, columns_from, columns_with
from learning.study_day import StudyCalendar
from vault.cache.cache import read_cache, write_cache
from vault.diagnostic import Diagnostic
from vault.errors import RetainError
from vault.ids import CardId
from vault.index import stamps
from vault.log import ledger
from vault.log.events import LogEvent, Params, Review, Tag, Undo, UnknownType, decode, encode
from vault.log.review_log import at_of, by_time, live, log_paths, parse_log, shown_path, unix_ms
from vault.vault import Vault

MEMORY, LOG = "memory", "log"
_MEMORY_KIND, _LOG_KIND = "retain-memory 2", "retain-log 3"
_LEAST, _MOST = 250, 2_500  # events that are kept since the cut
_MOST_FOUND = 500  # findings in the log that are kept; a log with more is read each time
_FOLD = 3  # of the fold: when the same log gives other states, it grows
_END = datetime.max.replace(tzinfo=UTC)

SchedulerOf = Callable[[Iterable[LogEvent]], Scheduler]


# --- reading it -----------------------------------------------------------------------------------------------------


def open_past(vault: Vault, scheduler_of: SchedulerOf) -> History:
    """Return the history as the files have it now. Raises: SchemaTooNew; Refused or Damaged where the log cannot be
    read.
    """
    kept = _cached(vault, scheduler_of)
    if kept is None:
        return _rebuilt(vault, scheduler_of)
    past, files, fresh = kept
    if len(past.events) > _MOST:
        return _with_later_cut(past, files)
    if fresh and all(file.is_settled for file in files):  # a young file is read again in any case
        _write_log_cache(past, files)
    return past


def _cached(vault: Vault, scheduler_of: SchedulerOf) -> tuple[History, list[LogFile], bool] | None:
    """Return the history from the caches, its files, and whether the cache should be written again; None where the
    caches are not current.
    """
    parts = read_cache(vault.root, LOG, _LOG_KIND)
    if parts is None or len(parts) < 2:
        return None
    try:
        head = json.loads(parts[0])
        files = [LogFile(f[0], (f[1], f[2], f[3]), f[4], f[5], f[6]) for f in head["files"]]
        grown = growth(vault, head["root"], files)
        return None if grown is None else _continued(vault, scheduler_of, head, parts[1:], *grown)
    except (
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
        RetainError,
        UnknownType,
    ):
        return None


def _continued(
    vault: Vault,
    scheduler_of: SchedulerOf,
    head: dict[str, Any],
    parts: list[bytes],
    files: list[LogFile],
    more: list[bytes],
) -> tuple[History, list[LogFile], bool] | None:
    """Return the history from a cache and the lines that came since; None where they do not continue what is cached."""
    cut = datetime.fromisoformat(head["cut"])
    events = [decode(line) for line in parts[0].split(b"\n") if line]
    new = [decode(line) for part in more[:-1] for line in map(_without_return, part.split(b"\n")) if line]
    changes = tuple(CardEvent(CardId(c[0]), c[1], datetime.fromisoformat(c[2]), c[3]) for c in head["changes"])
    changed = card_events(more[-1])
    united = {event.id: event for event in (*events, *new)}
    if not is_after_cut(new, cut) or any(united[event.id] != event for event in events):
        return None
    if any(event.at < cut for event in changed) or (more[-1] and more[-1][-1:] != b"\n"):
        return None
    ordered = tuple(sorted(united.values(), key=by_time))
    params = tuple(decode(line.encode()) for line in head["params"])
    scheduler = scheduler_of((*params, *ordered))
    undos = reaching_back(ordered)
    if _digest(vault, scheduler) != head["scheduler"] or sorted(undos) != head["undos"]:
        return None
    states = _cached_states(vault, head["memory"])
    if states is None:
        return None
    last = datetime.fromisoformat(head["last"]) if head["last"] else None
    latest = datetime.fromisoformat(head["latest"]) if head["latest"] else None
    before = Before(cut, states, last, tuple(head["recent"]), params, latest)
    recent = renewed(columns_from(parts[1:]), before, ordered, (*changes, *changed), (*new, *changed), scheduler)
    found = tuple(Diagnostic(*each) for each in head["diagnostics"])
    past = History(vault, scheduler, before, ordered, (*changes, *changed), recent, found, tuple(head["names"]), undos)
    fresh = any(more) or any(a.is_settled != b[4] for a, b in zip(files, head["files"], strict=True))
    return past, files, fresh


def _without_return(line: bytes) -> bytes:
    """Return the line without a carriage return at its end."""
    return line.removesuffix(b"\r")


def _cached_states(vault: Vault, token: str) -> StateColumns | None:
    """Return the cached states that `token` names; None where the cache holds others."""
    parts = read_cache(vault.root, MEMORY, _MEMORY_KIND)
    if parts is None or not parts or parts[0].decode("ascii", "replace") != token:
        return None
    return columns_from(parts[1:])


# --- making it ------------------------------------------------------------------------------------------------------


def _rebuilt(vault: Vault, scheduler_of: SchedulerOf) -> History:
    """Return the history from the whole log, and write the caches of it."""
    paths = [*log_paths(vault.root), ledger.IDS]
    before = {path: stamps.stamp(vault.root, path) for path in paths}
    data = {path: found for path in paths if (found := vault.read_bytes(path)) is not None}
    if log_paths(vault.root) != paths[:-1]:  # a file was renamed meanwhile, and its events may be missing here
        return _rebuilt(vault, scheduler_of)
    changes = card_events(data.get(ledger.IDS, b""))
    log = [(shown_path(path), data[path]) for path in paths[:-1] if path in data]
    past = _folded(vault, log, changes, scheduler_of)
    files = [
        LogFile(
            path,
            before[path],
            is_settled_stamp(before[path]),
            len(data.get(path, b"")),
            zlib.crc32(data.get(path, b"")),
        )
        for path in paths
    ]
    _write_caches(past, files)
    return past


def _folded(
    vault: Vault, files: list[tuple[str, bytes]], changes: tuple[CardEvent, ...], scheduler_of: SchedulerOf
) -> History:
    """Return the history of these files. Where the log cannot be cut in two its cut is the end, and nothing of it is
    cached.
    """
    log = parse_log(files)
    active = live(log.events)
    scheduler = scheduler_of([event for event in active if not isinstance(event, Review)])
    past = History(vault, scheduler, changes=changes, diagnostics=log.diagnostics, files=log.files)
    cut = _cut([unix_ms(event.at) for event in active if isinstance(event, Review)], scheduler.calendar)
    if not _is_clean_cut(log.events, cut):
        return replace(past, before=_before(vault, active, _END, fold(active, scheduler, changes)))
    old = [event for event in active if event.at < cut]
    states = fold(old, scheduler, [change for change in changes if change.at < cut])
    events = tuple(event for event in log.events if event.at >= cut)
    before = _before(vault, old, cut, columns_with(StateColumns(), states) or states)
    recent = recent_states(before, events, changes, scheduler)
    return replace(past, before=before, events=events, recent=recent, undos=reaching_back(events))


def _is_clean_cut(events: Iterable[LogEvent], cut: datetime) -> bool:
    """Return whether instant and id of each event are on one side of the cut, and no undo before it voids an event
    after.
    """
    first = first_id(cut)
    return cut == EVER or all(
        (event.at >= cut) == (event.id >= first)
        and not (isinstance(event, Undo) and event.at < cut and event.voids >= first)
        for event in events
    )


def _cut(at_ms: Sequence[int], calendar: StudyCalendar) -> datetime:
    """Return where to cut a log of these reviews: a day before the last one begins, or earlier; EVER where they are
    few.
    """
    if len(at_ms) < 2 * _LEAST:
        return EVER
    least = calendar.day(at_of(at_ms[-_LEAST]))
    return max(at_of(0), calendar.start(min(least, calendar.day(at_of(at_ms[-1])) - 1)))


def _tuning(vault: Vault) -> tuple[type[LogEvent], ...]:
    """Return the types of events that the scheduler depends on, of whatever age: tags, too, where some ask for another
    retention.
    """
    return (Params, Tag) if vault.settings.retention_by_tag else (Params,)


def _before(vault: Vault, old: Sequence[LogEvent], cut: datetime, states: Mapping[CardId, MemoryState]) -> Before:
    """Return what is known of the time before `cut`, from all events of it that count."""
    tuning = tuple(event for event in old if isinstance(event, _tuning(vault)))
    latest = max((event.when for event in old), default=None)
    return Before(cut, states, old[-1].at if old else None, tuple(times(old)[-RECENT:]), tuning, latest)


# --- moving on, and keeping it --------------------------------------------------------------------------------------


def _with_later_cut(past: History, files: list[LogFile]) -> History:
    """Return `past` with a later cut, where there is one, and write the caches."""
    counting = live(past.events)
    reviews = [unix_ms(event.at) for event in counting if isinstance(event, Review)]
    cut = _cut(reviews, past.scheduler.calendar)
    if (
        cut <= past.before.cut
        or not _is_clean_cut(past.events, cut)
        or not isinstance(past.before.states, StateColumns)
    ):
        _write_log_cache(past, files)
        return past
    old = [event for event in counting if event.at < cut]
    gone = [change for change in past.changes if change.at < cut]
    columns = columns_with(past.before.states, recent_states(past.before, old, gone, past.scheduler))
    if columns is None:
        return past
    params = tuple(event for event in old if isinstance(event, _tuning(past.vault)))
    before = Before(
        cut,
        columns,
        old[-1].at if old else past.before.last,
        (*past.before.recent_ms, *times(old))[-RECENT:],
        (*past.before.params, *params),
        latest_of(past.before, old),
    )
    events = tuple(event for event in past.events if event.at >= cut)
    recent = recent_states(before, events, past.changes, past.scheduler)
    moved = replace(past, before=before, events=events, recent=recent, undos=reaching_back(events))
    _write_caches(moved, files)
    return moved


def _write_caches(past: History, files: list[LogFile]) -> None:
    """Write both caches, where the history can be restored from them."""
    states = past.before.states
    if past.before.cut == _END or not isinstance(states, StateColumns) or len(past.diagnostics) > _MOST_FOUND:
        return
    write_cache(past.vault, MEMORY, _MEMORY_KIND, [_token(past).encode(), *states.parts()])
    _write_log_cache(past, files)


def _write_log_cache(past: History, files: list[LogFile]) -> None:
    """Write the cache of the events since the cut."""
    before = past.before
    head = {
        "root": vault_place(past.vault),
        "memory": _token(past),
        "scheduler": _digest(past.vault, past.scheduler),
        "cut": before.cut.isoformat(),
        "last": before.last.isoformat() if before.last else "",
        "latest": before.latest.isoformat() if before.latest else "",
        "recent": before.recent_ms,
        "params": [encode(event).decode() for event in before.params],
        "undos": sorted(past.undos),
        "changes": [[c.card, c.type, c.at.isoformat(), c.id] for c in past.changes],
        "diagnostics": [[d.path, d.line, d.code, d.message, d.hint] for d in past.diagnostics],
        "names": past.files,
        "files": [[file.path, *file.stamp, file.is_settled, file.size, file.crc] for file in files],
    }
    lines = b"\n".join(map(encode, past.events))
    recent = columns_with(StateColumns(), past.recent)
    parts = [] if recent is None else recent.parts()
    write_cache(past.vault, LOG, _LOG_KIND, [json.dumps(head).encode(), lines, *parts])


def _token(past: History) -> str:
    """Return what binds one cache to the other: a checksum of the states, and what they rest on."""
    states = past.before.states
    assert isinstance(states, StateColumns)
    crc = 0
    for part in states.parts():
        crc = zlib.crc32(part, crc)
    return f"{len(states)} {crc:08x} {past.before.cut.isoformat()}"


def _digest(vault: Vault, scheduler: Scheduler) -> str:
    """Return a text that changes when the same log would give other states, or other events must be cached."""
    wanted = zlib.crc32(repr(sorted(scheduler.retention_of.items())).encode())
    kept = " ".join(kind.__name__ for kind in _tuning(vault))
    return f"{_FOLD} {NAMES} {scheduler.rules!r} {wanted:08x} {kept}"
