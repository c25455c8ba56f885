"""The review log: appended, never edited, and the only source of what is remembered.

Readers take `learning/reviews*.jsonl`, copies that a sync tool left behind included. Lines may come in any order and
any number of times: an event is known by its id, and events count in order of (at, id).
"""

from __future__ import annotations

import contextlib
import io
import itertools
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from pathlib import Path

from vault.diagnostic import Diagnostic
from vault.errors import SchemaTooNew
from vault.files.durable import AppendedLines
from vault.files.folder import Folder
from vault.files.guard import Guard
from vault.ids import ulid
from vault.log.events import (
    ANKI,
    Graded,
    Import,
    LogEvent,
    Params,
    Stamp,
    Undo,
    UnknownType,
    decode,
    encode,
    review_in,
)
from vault.text.formatting import clean_line

FOLDER = "learning"
LOG_PATH = f"{FOLDER}/reviews.jsonl"
NAME = re.compile(r"reviews[^/]*\.jsonl", re.DOTALL)
_START = re.compile(rb'(?=\{"v":)')
_UNIX = datetime(1970, 1, 1, tzinfo=UTC)
_MINUTE, _MS = timedelta(minutes=1), timedelta(milliseconds=1)
_COMMON = 5  # random bytes that the ids of one action share; the other five count its events
ALIKE = 18  # characters of an id that these bytes and the instant make
IMPORTED = "import"  # the program that events of an import of cards name; `undo` leaves these to the import
BOM = b"\xef\xbb\xbf"
EVER = datetime(1, 1, 1, tzinfo=UTC)  # an instant before which nothing is


@dataclass(frozen=True, slots=True)
class Log:
    """All that the log's files hold: each event once, in order of (at, id), and diagnostics of unreadable lines."""

    events: tuple[LogEvent, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    files: tuple[str, ...] = ()


def by_time(event: LogEvent) -> tuple[datetime, str]:
    """Return the sort key of an event: instant, then id."""
    return event.stamp.at, event.stamp.id


def parse_log(files: Iterable[tuple[str, bytes]]) -> Log:
    """Return the union of the files (path, bytes), whatever the order of files and lines.

    Raises: SchemaTooNew, naming the line.
    """
    events: dict[str, LogEvent] = {}
    diagnostics: list[Diagnostic] = []
    names: list[str] = []
    unknown: set[str] = set()
    for path, data in sorted(files):
        names.append(path)
        for number, event in _lines(path, data, unknown, diagnostics):
            if events.setdefault(event.stamp.id, event) is not event and not _unite(events, event):
                what = f"two different events share the id {clean_line(event.id)}; only one of them counts, "
                what += "and it is the same one on every machine"
                diagnostics.append(Diagnostic(path, number, "log-same-id", what))
    return Log(tuple(sorted(events.values(), key=by_time)), tuple(diagnostics), tuple(names))


def _unite(events: dict[str, LogEvent], event: LogEvent) -> bool:
    """Add an event; return False if another event has its id, of which one stays whichever came first."""
    known = events.setdefault(event.stamp.id, event)
    if known is event or known == event:
        return True
    events[event.stamp.id] = min(known, event, key=encode)
    return False


def _lines(path: str, data: bytes, unknown: set[str], diagnostics: list[Diagnostic]) -> Iterator[tuple[int, LogEvent]]:
    """Yield the file's events by line; what is no event goes to `diagnostics`, each unknown type once."""
    for number, line in enumerate(io.BytesIO(data.removeprefix(BOM)), 1):
        if (review := review_in(line)) is not None:
            yield number, review
            continue
        where = Line(path, number, not line.endswith(b"\n"))
        for event in line_events(line.removesuffix(b"\n"), where, unknown, diagnostics):
            yield number, event


@dataclass(frozen=True, slots=True)
class Line:
    """The place of a line; `last` if no newline follows it."""

    path: str
    number: int
    last: bool = False


def line_events(line: bytes, where: Line, unknown: set[str], diagnostics: list[Diagnostic]) -> list[LogEvent]:
    """Return the events of one line: one, or none, or those that are whole where lines ran into each other.

    What is no event goes to `diagnostics`, each type that is not in `unknown` once. Raises: SchemaTooNew.
    """
    if not line or line == b"\r":
        return []
    try:
        return [decode(line[:-1] if line.endswith(b"\r") else line)]
    except ValueError as problem:
        kept = _whole_events(line)
        torn = where.last and not kept
        diagnostics.append(_bad_line(where.path, where.number, str(problem), torn, len(kept)))
        return kept
    except UnknownType as stranger:
        kind = str(stranger)
        if kind not in unknown:
            unknown.add(kind)
            what = f"events of the unknown type {clean_line(kind)!r} are kept but ignored"
            diagnostics.append(Diagnostic(where.path, where.number, "log-unknown-type", what))
        return []
    except SchemaTooNew as newer:
        raise SchemaTooNew(newer.what, where=f"{where.path}:{where.number}", hint=newer.hint) from None


def _bad_line(path: str, number: int, problem: str, torn: bool, kept: int) -> Diagnostic:
    """Return the diagnostic of a line that is no event."""
    if torn:
        what = "the last line is cut off; one record is lost"
    else:
        what = f"skipped: {problem}" + (f"; {kept} complete records on the same line were kept" if kept else "")
    code = "log-torn-line" if torn else "log-bad-line"
    return Diagnostic(path, number, code, clean_line(what), "the file was left as it is")


def _whole_events(line: bytes) -> list[LogEvent]:
    """Return the events with a right checksum inside a bad line: where a line end was lost, or zeros precede one.

    Inside a JSON text every quotation mark is escaped, so that no event can hide in another's words.
    """
    found = []
    for piece in _START.split(line):
        with contextlib.suppress(ValueError, UnknownType, SchemaTooNew):
            found.append(decode(piece[: piece.rfind(b'"}') + 2]))
    return found


def read_log(root: Path) -> Log:
    """Return the review log of the vault at `root`; empty where there is none yet. Raises as `log_files` and
    `parse_log`.
    """
    return parse_log(log_files(root))


def stream_log(root: Path) -> Iterator[LogEvent]:
    """Yield the events of every file of the log, in any order and each any number of times, without holding any of
    them.

    What is no event is left out. Raises as `log_files`, and SchemaTooNew, naming the line.
    """
    folder, read = Folder(root), set[str]()
    while paths := [path for path in log_paths(root) if path not in read]:  # one may get its year's name meanwhile
        read.update(paths)
        for path in paths:
            for number, (line, has_end) in enumerate(folder.lines(path), 1):
                where = Line(shown_path(path), number, not has_end)
                yield from line_events(line.removeprefix(BOM) if number == 1 else line, where, set(), [])


def log_files(root: Path) -> list[tuple[str, bytes]]:
    """Return the files of the review log, by vault path, and their bytes.

    Raises: Refused or Damaged if a file cannot be read at all, as without it cards would look new.
    """
    folder = Folder(root)
    while True:
        paths = log_paths(root)
        found = [(shown_path(path), folder.read(path)) for path in paths]
        if log_paths(root) == paths:  # else a file was renamed meanwhile, and its events may be missing here
            return [(path, data) for path, data in found if data is not None]


def log_paths(root: Path) -> list[str]:
    """Return the vault paths of the review log's files, sorted, as the disk has them. Raises: Refused, Damaged."""
    return [
        entry.path for entry in Folder(root).listing(FOLDER) if NAME.fullmatch(entry.path.removeprefix(f"{FOLDER}/"))
    ]


def shown_path(path: str) -> str:
    """Return the path of a file of the log as it may be shown."""
    return clean_line(path.encode(errors="replace").decode())


def live(events: Iterable[LogEvent]) -> list[LogEvent]:
    """Return the events that count, each once, in order of (at, id): no undo, and nothing that an undo voids.

    An undo can itself be undone, by a later one; two that name each other make no circle.
    """
    return without_voided(once_each(events))


def once_each(events: Iterable[LogEvent]) -> list[LogEvent]:
    """Return each of the events once, in order of (at, id)."""
    united: dict[str, LogEvent] = {}
    for event in events:
        _unite(united, event)
    return sorted(united.values(), key=by_time)


def without_voided(once: Sequence[LogEvent]) -> list[LogEvent]:
    """As `live`, of events that are each there once and in order, as in a `Log`."""
    voided: set[str] = set()
    for undo in reversed([event for event in once if isinstance(event, Undo)]):
        if undo.id not in voided:
            voided.add(undo.voids)
    return [event for event in once if not isinstance(event, Undo) and event.stamp.id not in voided]


def last_undoable(events: Iterable[LogEvent]) -> LogEvent | None:
    """Return what `undo` would void: the user's latest action that still counts; imports, what was done in Anki,
    parameters and what was rescheduled together with new parameters stay.
    """
    active = [event for event in live(events) if event.stamp.via != ANKI]
    fits = [event for event in active if isinstance(event, Params)]
    undoable = (
        event
        for event in reversed(active)
        if not isinstance(event, Graded | Import | Params) and event.stamp.via != IMPORTED
    )
    return next((event for event in undoable if not any(is_written_with(event, fit) for fit in fits)), None)


def is_same_action(event: LogEvent, last: LogEvent) -> bool:
    """Return whether the two were written by one action and are of one kind."""
    return event.type == last.type and is_written_with(event, last)


def is_written_with(event: LogEvent, other: LogEvent) -> bool:
    """Return whether the two were written by one action: at one instant, with ids that begin alike."""
    return (event.at, event.id[:ALIKE]) == (other.at, other.id[:ALIKE])


def mint_stamp(
    now: datetime,
    *,
    last: datetime | None,
    zone: tzinfo,
    via: str,
    entropy: bytes,
    dated: datetime | None = None,
) -> Stamp:
    """Return the stamp of a new event: `now`, or one millisecond after `last` should the clock have gone back.

    `last` is the latest instant that still counts; `dated` is an instant the human gave, taken as it is;
    `entropy` is ten random bytes. Where `at` is not the true clock, `clock` keeps that; it keeps `dated` where `last`
    is ahead of the clock, as such an event has to come after it, too. A date to come stands alone: it is meant.
    """
    true = _whole_ms(now)
    at = true if dated is None else _whole_ms(dated)
    clock = max(true, at)
    if last is not None and at <= last and (dated is None or at <= true < last):
        clock, at = at, last + timedelta(milliseconds=1)
    tz = _offset((at.astimezone(zone).utcoffset() or timedelta()) // _MINUTE)
    return Stamp(ulid(max(0, unix_ms(at)), entropy), at, tz, via, None if at == clock else clock)


@cache
def _offset(minutes: int) -> str:
    """Return how far a zone is from UTC, as a line of the log has it."""
    sign, minutes = ("-", -minutes) if minutes < 0 else ("+", minutes)
    return f"{sign}{minutes // 60:02}:{minutes % 60:02}"


def first_id(at: datetime) -> str:
    """Return the least id that an event at that instant can have."""
    return ulid(max(0, unix_ms(at)), bytes(10))


def unix_ms(at: datetime) -> int:
    """Return Unix milliseconds."""
    return (at - _UNIX) // _MS


def at_of(ms: int) -> datetime:
    """Return the instant of Unix milliseconds."""
    return _UNIX + timedelta(milliseconds=ms)


def _whole_ms(at: datetime) -> datetime:
    """Return the instant in UTC, without parts of a millisecond."""
    utc = at.astimezone(UTC)
    return utc.replace(microsecond=utc.microsecond // 1000 * 1000)


def append(guard: Guard, *events: LogEvent) -> None:
    """Append the events to the log; when this returns they are on disk.

    Raises: WriteFailed, Refused; then none of them counts as written.
    """
    guard.append(LOG_PATH, _lines_of(events))


def _lines_of(events: Iterable[LogEvent]) -> bytes:
    """Return the lines of the events."""
    return b"".join(encode(event) + b"\n" for event in events)


class LogWriter:
    """Appends to one vault's log: stamps that never go back, and lines that are on disk when it returns.

    `events` are what the log holds, `last` the instant of the last of them that counts, where the caller knows it;
    `via` says whose hand it is ("tui", "cli").
    """

    def __init__(
        self, guard: Guard, events: Iterable[LogEvent], *, zone: tzinfo, via: str, last: datetime | None = None
    ) -> None:
        self._guard, self._zone, self._via = guard, zone, via
        self._last = max((event.at for event in live(events)), default=last)

    def stamp(self, now: datetime, dated: datetime | None = None) -> Stamp:
        """Return a stamp after every event that counts; or at `dated`, an instant that the user gave."""
        return mint_stamp(
            now, last=self._last, zone=self._zone, via=self._via, entropy=secrets.token_bytes(10), dated=dated
        )

    def stamps(self, now: datetime) -> Iterator[Stamp]:
        """Yield stamps for the events of one action, which `is_same_action` recognizes."""
        common = secrets.token_bytes(_COMMON)
        for number in itertools.count():
            entropy = common + number.to_bytes(10 - _COMMON, "big")
            yield mint_stamp(now, last=self._last, zone=self._zone, via=self._via, entropy=entropy)

    def write(self, event: LogEvent, *more: LogEvent) -> None:
        """Append one event, or several that are one action, in one write.

        Raises: WriteFailed, Refused, LockHeld; then none of them counts as written.
        """
        self.begin(event, *more).sync()

    def begin(self, event: LogEvent, *more: LogEvent) -> AppendedLines:
        """Append as `write` does; the caller must `sync` the lines in any case."""
        appended = self._guard.begin_append(LOG_PATH, _lines_of((event, *more)))
        for one in (event, *more):
            if not isinstance(one, Undo):
                self._last = one.at if self._last is None else max(self._last, one.at)
        return appended
