"""The whole review log as columns, from a cache where the log has only grown.

Two caches in `.retain/cache/`, pure products. `reviews` holds the log as it was once scanned, and is not touched again
until much has come; `reviews-since` says of which files that was made, and keeps the events since. They count only
while every file is as it was, or has only grown, by events that come after all others. In any doubt the log is scanned.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from learning.store.log_growth import LogFile, growth, is_settled_stamp, vault_place
from vault.cache.cache import read_cache, write_cache
from vault.diagnostic import Diagnostic
from vault.errors import RetainError
from vault.ids import CardId
from vault.index import stamps
from vault.log import ledger
from vault.log.events import LogEvent, Review, Undo, UnknownType, decode, encode
from vault.log.review_columns import ReviewColumns, ScannedLog, columns_of, scan_log
from vault.log.review_log import by_time, last_undoable, live, log_paths, parse_log, shown_path
from vault.vault import Vault

REVIEWS, SINCE = "reviews", "reviews-since"
_REVIEWS_KIND, _SINCE_KIND = "retain-reviews 1", "retain-since 1"
_LEAST = 2_000  # reviews; fewer are scanned in no time
_MOST = 2_000  # events that are kept by themselves
_MOST_FOUND = 500  # findings in the log that are kept; a log with more is scanned each time


def whole_log(vault: Vault) -> ScannedLog:
    """Return what `scan_log` gives of the vault's log. Raises: SchemaTooNew; Refused or Damaged where it cannot be
    read.
    """
    try:
        kept = _cached(vault)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError, UnknownType):
        kept = None
    except RetainError:  # said again, with its place, by the scan
        kept = None
    return _scanned(vault) if kept is None else kept


def _scanned(vault: Vault) -> ScannedLog:
    """Return the log from its files, and write the caches of it."""
    paths = [*log_paths(vault.root), ledger.IDS]
    before = [stamps.stamp(vault.root, path) for path in paths]
    data = [vault.read_bytes(path) for path in paths]
    if log_paths(vault.root) != paths[:-1]:  # a file got its year's name meanwhile, and its events may be missing here
        return _scanned(vault)
    logs = zip(paths[:-1], data[:-1], strict=True)
    log = scan_log((shown_path(path), found) for path, found in logs if found is not None)
    files = [
        LogFile(path, stamp, is_settled_stamp(stamp), len(found or b""), zlib.crc32(found or b""))
        for path, stamp, found in zip(paths, before, data, strict=True)
    ]
    if len(log.reviews) >= _LEAST and not log.reaches_ahead and len(log.diagnostics) <= _MOST_FOUND:
        _write_caches(vault, log, files)
    return log


def _write_caches(vault: Vault, log: ScannedLog, files: Sequence[LogFile]) -> None:
    """Write the cache of the scanned reviews, and an empty one of what comes after them."""
    head = {
        "others": [encode(event).decode() for event in log.others],
        "places": log.places,
        "last": log.last.isoformat() if log.last else "",
        "undoable": encode(log.undoable).decode() if log.undoable else "",
        "diagnostics": [[d.path, d.line, d.code, d.message, d.hint] for d in log.diagnostics],
        "names": log.files,
        "newest": log.newest,
        "clocks": list(log.reviews.clocks.items()),
    }
    columns = log.reviews
    names = "\0".join(columns.cards).encode()
    if names.count(b"\0") != len(columns.cards) - 1:
        return  # a card that no deck of ours can hold
    numbers = (columns.card, columns.rating, columns.at_ms, columns.ms)
    parts = [json.dumps(head).encode(), names, *(column.tobytes() for column in numbers)]
    token = _token(parts)
    write_cache(vault, REVIEWS, _REVIEWS_KIND, [token.encode(), *parts])
    _write_since(vault, token, files, ())


def _write_since(vault: Vault, token: str, files: Iterable[LogFile], events: Iterable[LogEvent]) -> None:
    """Write the cache of the files and of the events since."""
    read = [[file.path, *file.stamp, file.is_settled, file.size, file.crc] for file in files]
    head = {"root": vault_place(vault), "reviews": token, "files": read}
    write_cache(vault, SINCE, _SINCE_KIND, [json.dumps(head).encode(), b"\n".join(map(encode, events))])


def _token(parts: Iterable[bytes]) -> str:
    """Return what binds one cache to the other."""
    crc = size = 0
    for part in parts:
        crc, size = zlib.crc32(part, crc), size + len(part)
    return f"{size} {crc:08x}"


def _cached(vault: Vault) -> ScannedLog | None:
    """Return the log from the caches; None where they are not current."""
    since = read_cache(vault.root, SINCE, _SINCE_KIND)
    if since is None or len(since) != 2:
        return None
    head = json.loads(since[0])
    files = [LogFile(f[0], (f[1], f[2], f[3]), f[4], f[5], f[6]) for f in head["files"]]
    grown = growth(vault, head["root"], files)
    parts = None if grown is None else read_cache(vault.root, REVIEWS, _REVIEWS_KIND)
    if grown is None or parts is None or parts[0].decode() != head["reviews"]:
        return None
    now, more = grown
    old = [decode(line) for line in since[1].split(b"\n") if line]
    new = parse_log((shown_path(file.path), data) for file, data in zip(now[:-1], more[:-1], strict=True) if data)
    if new.diagnostics or len(old) + len(new.events) > _MOST:
        return None
    before = _unpacked(parts[1:])
    events = sorted((*old, *new.events), key=by_time)
    log = _with_events(before, events)
    if log is not None and now != files:
        _write_since(vault, head["reviews"], now, events)
    return log


def _unpacked(parts: Sequence[bytes]) -> ScannedLog:
    """Return the log that was cached. Raises: ValueError and others where the parts do not hold one."""
    head: dict[str, Any] = json.loads(parts[0])
    names = [CardId(name) for name in parts[1].decode().split("\0")]
    columns = ReviewColumns(
        names,
        array("L", parts[2]),
        array("B", parts[3]),
        array("q", parts[4]),
        array("L", parts[5]),
        dict(head["clocks"]),
    )
    if len({len(columns.card), len(columns.rating), len(columns.at_ms), len(columns.ms)}) > 1:
        raise ValueError("the columns are of different lengths")
    return ScannedLog(
        columns,
        tuple(decode(line.encode()) for line in head["others"]),
        tuple(head["places"]),
        datetime.fromisoformat(head["last"]) if head["last"] else None,
        decode(head["undoable"].encode()) if head["undoable"] else None,
        tuple(Diagnostic(*each) for each in head["diagnostics"]),
        tuple(head["names"]),
        head["newest"],
    )


def _with_events(before: ScannedLog, events: Sequence[LogEvent]) -> ScannedLog | None:
    """Return `before` with events that come after all of its own; None where they do not, or undo one of its."""
    if not events:
        return before
    ids = {event.id for event in events}
    first = min(event.at for event in events)
    if len(ids) < len(events) or min(ids) <= before.newest or (before.last is not None and first < before.last):
        return None
    if any(isinstance(event, Undo) and event.voids not in ids for event in events):
        return None
    counting = live(events)
    others, places, done = list(before.others), list(before.places), len(before.reviews)
    for event in counting:
        if isinstance(event, Review):
            done += 1
        else:
            others.append(event)
            places.append(done)
    last = max((event.at for event in counting), default=before.last)
    return replace(
        before,
        reviews=_joined(before.reviews, columns_of(events)),
        others=tuple(others),
        places=tuple(places),
        last=last,
        undoable=last_undoable(events) or before.undoable,
        newest=max(ids),
    )


def _joined(old: ReviewColumns, new: ReviewColumns) -> ReviewColumns:
    """Return the columns of both, `new` after `old`."""
    numbers = {card: number for number, card in enumerate(old.cards)}
    for card in new.cards:
        numbers.setdefault(card, len(numbers))
    rows = array("L", (numbers[new.cards[number]] for number in new.card))
    return ReviewColumns(
        list(numbers),
        old.card + rows,
        old.rating + new.rating,
        old.at_ms + new.at_ms,
        old.ms + new.ms,
        old.clocks | {len(old) + row: clock for row, clock in new.clocks.items()},
    )
