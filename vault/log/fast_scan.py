"""The review log read by the million: what `parse_log` gives, but reviews become columns and never a million objects.

Lines are parsed as for `parse_log`, one at a time, and only the columns are kept of a review.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from operator import lt

from vault.diagnostic import Diagnostic
from vault.ids import CardId
from vault.log.events import Graded, Import, LogEvent, Params, Review, Undo
from vault.log.review_columns import MOST_MS, ReviewColumns, columns_of
from vault.log.review_log import BOM, Line, by_time, last_undoable, line_events, live, parse_log, unix_ms

_BLOCK = 1 << 20
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ScannedLog:
    """What counts in the log's files. `others` are the live events that are no reviews, in order of (at, id).

    `places` says of each of `others` how many of `reviews` come before it; `last` is the instant of the last event of
    all that counts, `undoable` what `undo` would void. `files` and `diagnostics` are those of `parse_log`. `newest` is
    the greatest id that was read, whether it counts or not; `reaches_ahead` says that an undo names one that was not.
    """

    reviews: ReviewColumns = field(default_factory=ReviewColumns)
    others: tuple[LogEvent, ...] = ()
    places: tuple[int, ...] = ()
    last: datetime | None = None
    undoable: LogEvent | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    files: tuple[str, ...] = ()
    newest: str = field(default="", compare=False)
    reaches_ahead: bool = field(default=False, compare=False)


def scan_log(files: Iterable[tuple[str, bytes]]) -> ScannedLog:
    """The union of the files (path, bytes), whatever the order of files and lines.

    Raises: SchemaTooNew, naming the line.
    """
    found = sorted(files)
    scan = _Scan()
    for path, data in found:
        scan.take(path, data)
    if scan.repeated():
        return _by_events(found)  # an id is there twice: events are compared, and one of two different ones counts
    return scan.settled(found)


class _Scan:
    """The rows found so far: one of each column a review, in the order of the lines."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.cards: dict[CardId, int] = {}
        self.card, self.ms, self.at_ms = array("L"), array("L"), array("q")
        self.rating, self.imported = bytearray(), bytearray()
        self.clocks: dict[int, int] = {}  # of the rows that happened before their `at`: Unix milliseconds
        self.others: dict[str, LogEvent] = {}
        self.clash = False
        self.unknown: set[str] = set()
        self.diagnostics: list[Diagnostic] = []

    def take(self, path: str, data: bytes) -> None:
        """All lines of one file."""
        number, whole = 0, data.rfind(b"\n") + 1
        for start, end in (*blocks(data), (whole, len(data))):
            for line in data[start:end].removesuffix(b"\n").split(b"\n"):
                number += 1
                where = Line(path, number, last=start == whole)
                bare = line.removeprefix(BOM) if number == 1 else line
                for event in line_events(bare, where, self.unknown, self.diagnostics):
                    self._add(event)

    def _add(self, event: LogEvent) -> None:
        if not isinstance(event, Review):
            self.clash |= event.id in self.others
            self.others[event.id] = event
            return
        if event.when != event.at:
            self.clocks[len(self.ids)] = unix_ms(event.when)
        self.ids.append(event.id)
        self.at_ms.append(unix_ms(event.at))
        self.card.append(self.cards.setdefault(event.card, len(self.cards)))
        self.ms.append(min(event.ms, MOST_MS))
        self.rating.append(event.rating)
        self.imported.append(isinstance(event, Import))

    def repeated(self) -> bool:
        return self.clash or len({*self.ids, *self.others}) < len(self.ids) + len(self.others)

    def _pick(self, rows: Sequence[int]) -> None:
        """Keeps these rows, in this order."""
        places = {row: n for n, row in enumerate(rows)} if self.clocks else {}
        self.clocks = {places[row]: clock for row, clock in self.clocks.items() if row in places}
        self.ids = [self.ids[n] for n in rows]
        self.card, self.ms = (array("L", map(c.__getitem__, rows)) for c in (self.card, self.ms))
        self.at_ms = array("q", map(self.at_ms.__getitem__, rows))
        self.rating, self.imported = (bytearray(map(c.__getitem__, rows)) for c in (self.rating, self.imported))

    # --- what counts ------------------------------------------------------------------------------------------------

    def settled(self, files: Sequence[tuple[str, bytes]]) -> ScannedLog:
        """The log of these rows, once each id is there once."""
        others = sorted(self.others.values(), key=by_time)
        newest = max((*self.ids, *self.others), default="")
        ahead = self._reaches_ahead(others)
        voided = _voided(others)
        counting = tuple(e for e in others if not isinstance(e, Undo) and e.id not in voided)
        if not voided.isdisjoint(self.ids):
            self._pick([n for n, id_ in enumerate(self.ids) if id_ not in voided])
        if not all(map(lt, self.at_ms, islice(self.at_ms, 1, None))):
            self._pick(sorted(range(len(self.ids)), key=list(zip(self.at_ms, self.ids, strict=True)).__getitem__))
        places = tuple(self._place(event) for event in counting)
        undoable = last_undoable((*counting, *self._last_done(files)))
        paths, found = tuple(path for path, _ in files), tuple(self.diagnostics)
        last = self._last(counting)
        return ScannedLog(self._columns(), counting, places, last, undoable, found, paths, newest, ahead)

    def _reaches_ahead(self, others: Iterable[LogEvent]) -> bool:
        named = {event.voids for event in others if isinstance(event, Undo)}
        return bool(named) and not named <= {*named.intersection(self.ids), *named.intersection(self.others)}

    def _place(self, event: LogEvent) -> int:
        at, key = unix_ms(event.at), event.id
        place = bisect_left(self.at_ms, at)
        while place < len(self.ids) and self.at_ms[place] == at and self.ids[place] < key:
            place += 1
        return place

    def _last(self, others: Sequence[LogEvent]) -> datetime | None:
        at_ms = max((*self.at_ms[-1:], *(unix_ms(event.at) for event in others[-1:])), default=None)
        return None if at_ms is None else _EPOCH + timedelta(milliseconds=at_ms)

    def _last_done(self, files: Sequence[tuple[str, bytes]]) -> list[LogEvent]:
        """The last review that the human did here, if there is one."""
        row = self.imported.rfind(0)
        if row < 0:
            return []
        return [_review_of(self.ids[row], files)]

    def _columns(self) -> ReviewColumns:
        names = list(self.cards)
        order = dict.fromkeys(self.card)
        if list(order) == list(range(len(names))):
            card = self.card
        else:
            new = {old: n for n, old in enumerate(order)}
            card, names = array("L", map(new.__getitem__, self.card)), [names[old] for old in order]
        return ReviewColumns(names, card, array("B", self.rating), self.at_ms, self.ms, self.clocks)


def blocks(data: bytes) -> Iterator[tuple[int, int]]:
    """Where blocks of whole lines begin and end; what has no newline after it is in none."""
    start, whole = 0, data.rfind(b"\n") + 1
    while start < whole:
        end = data.find(b"\n", min(start + _BLOCK, whole - 1)) + 1
        yield start, end
        start = end


def _voided(others: Sequence[LogEvent]) -> set[str]:
    """The ids that an undo voids which is not itself undone, as `live` has it."""
    voided: set[str] = set()
    for event in reversed(others):
        if isinstance(event, Undo) and event.id not in voided:
            voided.add(event.voids)
    return voided


def _review_of(id_: str, files: Sequence[tuple[str, bytes]]) -> LogEvent:
    """Return the review of that id, which a line of the files holds."""
    for path, data in files:
        at = data.find(id_.encode())
        while at >= 0:
            start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
            line = data[start : end if end >= 0 else None].removeprefix(BOM if start == 0 else b"")
            for event in line_events(line, Line(path, 0), set(), []):
                if event.id == id_:
                    return event
            at = data.find(id_.encode(), at + 1)
    raise AssertionError("a row of the scan stands in one of its files")


def _by_events(files: Iterable[tuple[str, bytes]]) -> ScannedLog:
    """The same, slowly."""
    log = parse_log(files)
    counting = live(log.events)
    others = [event for event in counting if not isinstance(event, Review)]
    places = [n - k for k, n in enumerate(n for n, e in enumerate(counting) if not isinstance(e, Review))]
    last = max((event.at for event in counting), default=None)
    undoable = next((e for e in reversed(counting) if not isinstance(e, Graded | Import | Params)), None)
    ids = {event.id for event in log.events}
    ahead = any(isinstance(event, Undo) and event.voids not in ids for event in log.events)
    reviews, found = columns_of(log.events), (log.diagnostics, log.files, max(ids, default=""), ahead)
    return ScannedLog(reviews, tuple(others), tuple(places), last, undoable, *found)
