"""The review log read by the million: what `parse_log` gives, but reviews become columns and never a million objects.

A line that stands just as `encode` writes a review is taken apart by one pattern, a block of lines at a time; every
other line goes the way of `parse_log`, by itself. Nothing is guessed: what this gives equals what that gives.
"""

from __future__ import annotations

import re
import sys
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from operator import add, lt

from vault.diagnostic import Diagnostic
from vault.errors import SchemaTooNew
from vault.ids import CardId
from vault.log_event import TAIL, Graded, Import, LogEvent, Params, Review, Undo, UnknownType, decode, encode
from vault.review_columns import MOST_MS, ReviewColumns, columns_of
from vault.review_log import BOM, Line, by_time, last_undoable, line_events, live, parse_log, unix_ms

_BLOCK = 1 << 20
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TEXT = r"[ !#-\[\]-~]*"  # what JSON leaves as it is
_HOUR = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3])"
_LINE = re.compile(
    (
        rf'(?:(\{{"v":1,"id":"({_TEXT})","type":"(review|import)","card":"({_TEXT})","rating":([1-4]),'
        rf'"at":"({_HOUR}):([0-5][0-9]:[0-5][0-9])(\.[0-9]{{3}})Z","tz":"{_TEXT}","ms":(0|[1-9][0-9]{{0,8}})'
        rf'(?:,"origin":"{_TEXT}")?,"via":"{_TEXT}"(?:,"clock":"({_HOUR}:[0-5][0-9]:[0-5][0-9]\.[0-9]{{3}})Z")?)'
        r',"crc":"([0-9a-f]{8})"\}\r?|([^\n]*))\n'
    ).encode()
)
_BODY, _ID, _TYPE, _CARD, _RATING, _AT_HOUR, _AT_SECOND, _AT_MS, _MS, _CLOCK, _CRC, _OTHER = range(12)
_Row = tuple[bytes, ...]
_SECONDS = {b"%02d:%02d" % (n // 60, n % 60): n * 1000 for n in range(3600)}
_THOUSANDTHS = {b".%03d" % n: n for n in range(1000)}
_NUMBERS = bytes((n - 48) % 256 for n in range(256))  # the byte of a digit becomes its number


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
    if scan.repeated() and not scan.drop_repeated(data for _, data in found):
        return _by_events(found)  # two events share an id: the slow way knows which one counts
    return scan.settled(found)


class _Hours(dict[bytes, int]):
    """The Unix milliseconds at which an hour begins, by its text; a ValueError for one that no calendar has."""

    def __missing__(self, hour: bytes) -> int:
        begins = datetime.fromisoformat(hour.decode() + ":00:00+00:00")
        found = self[hour] = unix_ms(begins)
        return found


class _Cards(dict[bytes, int]):
    def __missing__(self, card: bytes) -> int:
        found = self[card] = len(self)
        return found


class _Scan:
    """The rows found so far: one of each column a review, in the order of the lines."""

    def __init__(self) -> None:
        self.ids: list[bytes] = []
        self.cards, self.hours = _Cards(), _Hours()
        self.card, self.ms, self.at_ms = array("L"), array("L"), array("q")
        self.rating, self.imported = bytearray(), bytearray()
        self.clocks: dict[int, int] = {}  # of the rows that happened before their `at`: Unix milliseconds
        self.odd: list[LogEvent] = []  # what came by the slow way, and
        self.odd_rows: dict[int, Review] = {}  # those of them that are rows here
        self.others: dict[bytes, LogEvent] = {}
        self.clash = False
        self.unknown: set[str] = set()
        self.diagnostics: list[Diagnostic] = []

    def take(self, path: str, data: bytes) -> None:
        """All lines of one file."""
        number = 0
        for start, end in blocks(data):
            rows: list[_Row] = _LINE.findall(data, start, end)
            if not self._whole(rows):
                self._each(path, number, rows)
            number += len(rows)
        tail = data[data.rfind(b"\n") + 1 :] if b"\n" in data else data.removeprefix(BOM)
        self._odd(tail, Line(path, number + 1, last=True))

    def _whole(self, rows: list[_Row]) -> bool:
        """Takes the rows in, if every one is a review whose checksum and instants hold; else none of them."""
        columns = list(zip(*rows, strict=True))
        if not columns or not all(columns[_BODY]):
            return False
        try:
            hours = map(self.hours.__getitem__, columns[_AT_HOUR])
            parts = map(add, map(_SECONDS.__getitem__, columns[_AT_SECOND]), map(_THOUSANDTHS.get, columns[_AT_MS]))
            at_ms = array("q", map(add, hours, parts))
            clocks = [(n, self._ms_of(clock)) for n, clock in enumerate(columns[_CLOCK]) if clock]
        except ValueError:
            return False
        if _checksums(columns[_CRC]) != array("I", map(zlib.crc32, columns[_BODY])):
            return False
        self.clocks |= {len(self.ids) + n: clock for n, clock in clocks if clock < at_ms[n]}
        self.ids += columns[_ID]
        self.at_ms += at_ms
        self.card.extend(map(self.cards.__getitem__, columns[_CARD]))
        self.ms.extend(map(int, columns[_MS]))
        self.rating += b"".join(columns[_RATING]).translate(_NUMBERS)
        self.imported += bytes(map(b"import".__eq__, columns[_TYPE]))
        return True

    def _ms_of(self, instant: bytes) -> int:
        return self.hours[instant[:13]] + _SECONDS[instant[14:19]] + _THOUSANDTHS[instant[19:]]

    def _each(self, path: str, number: int, rows: list[_Row]) -> None:
        for at, row in enumerate(rows, number + 1):
            if not row[_BODY]:
                self._odd(row[_OTHER].removeprefix(BOM) if at == 1 else row[_OTHER], Line(path, at))
            elif not self._whole([row]):
                self._odd(row[_BODY] + b',"crc":"' + row[_CRC] + b'"}', Line(path, at))

    def _odd(self, line: bytes, where: Line) -> None:
        """A line that the pattern doesn't know, or whose values don't hold."""
        for event in line_events(line, where, self.unknown, self.diagnostics):
            self.odd.append(event)
            key = event.id.encode()
            if isinstance(event, Review):
                self.odd_rows[len(self.ids)] = event
                self._row(key, event)
            else:
                self.clash |= self.others.setdefault(key, event) != event

    def _row(self, key: bytes, event: Review) -> None:
        if event.when != event.at:
            self.clocks[len(self.ids)] = unix_ms(event.when)
        self.ids.append(key)
        self.at_ms.append(unix_ms(event.at))
        self.card.append(self.cards[event.card.encode()])
        self.ms.append(min(event.ms, MOST_MS))
        self.rating.append(event.rating)
        self.imported.append(isinstance(event, Import))

    # --- the same id twice ------------------------------------------------------------------------------------------

    def repeated(self) -> bool:
        return self.clash or len({*self.ids, *self.others}) < len(self.ids) + len(self.others)

    def drop_repeated(self, files: Iterable[bytes]) -> bool:
        """Leaves one row of each id; False, and nothing is changed, if two different events share one."""
        if self.clash or not self.others.keys().isdisjoint(self.ids) or self._differ(files):
            return False
        first: dict[bytes, int] = {}
        for number, id_ in enumerate(self.ids):
            first.setdefault(id_, number)
        self._pick(list(first.values()))
        return True

    def _differ(self, files: Iterable[bytes]) -> bool:
        """Whether an id stands in lines that are not the same to the byte: those of the pattern are read again."""
        seen: set[bytes] = set()
        twice = {id_ for id_ in self.ids if id_ in seen or seen.add(id_)}  # type: ignore[func-returns-value]
        bodies: dict[bytes, bytes] = {}
        for event in self.odd:
            body = encode(event)[:-TAIL]
            if bodies.setdefault(event.id.encode(), body) != body:
                return True
        for data in files:
            for start, end in blocks(data):
                for row in _LINE.findall(data, start, end):
                    if row[_ID] in twice and bodies.setdefault(row[_ID], row[_BODY]) != row[_BODY]:
                        return True
        return False

    def _pick(self, rows: Sequence[int]) -> None:
        """Keeps these rows, in this order."""
        places = {row: n for n, row in enumerate(rows)} if self.odd_rows or self.clocks else {}
        self.clocks = {places[row]: clock for row, clock in self.clocks.items() if row in places}
        self.odd_rows = {places[row]: event for row, event in self.odd_rows.items() if row in places}
        self.ids = [self.ids[n] for n in rows]
        self.card, self.ms = (array("L", map(c.__getitem__, rows)) for c in (self.card, self.ms))
        self.at_ms = array("q", map(self.at_ms.__getitem__, rows))
        self.rating, self.imported = (bytearray(map(c.__getitem__, rows)) for c in (self.rating, self.imported))

    # --- what counts ------------------------------------------------------------------------------------------------

    def settled(self, files: Sequence[tuple[str, bytes]]) -> ScannedLog:
        """The log of these rows, once each id is there once."""
        others = sorted(self.others.values(), key=by_time)
        newest = max((*self.ids, *self.others), default=b"").decode()
        ahead = self._reaches_ahead(others)
        voided = _voided(others)
        counting = tuple(e for e in others if not isinstance(e, Undo) and e.id.encode() not in voided)
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
        named = {event.voids.encode() for event in others if isinstance(event, Undo)}
        return bool(named) and not named <= {*named.intersection(self.ids), *named.intersection(self.others)}

    def _place(self, event: LogEvent) -> int:
        at, key = unix_ms(event.at), event.id.encode()
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
        return [self.odd_rows[row] if row in self.odd_rows else _found(self.ids[row], files)]

    def _columns(self) -> ReviewColumns:
        names = [card.decode() for card in self.cards]
        order = dict.fromkeys(self.card)
        if list(order) == list(range(len(names))):
            card = self.card
        else:
            new = {old: n for n, old in enumerate(order)}
            card, names = array("L", map(new.__getitem__, self.card)), [names[old] for old in order]
        rating, cards = array("B", self.rating), [CardId(name) for name in names]
        return ReviewColumns(cards, card, rating, self.at_ms, self.ms, self.clocks)


def blocks(data: bytes) -> Iterator[tuple[int, int]]:
    """Where blocks of whole lines begin and end; what has no newline after it is in none."""
    start, whole = 0, data.rfind(b"\n") + 1
    while start < whole:
        end = data.find(b"\n", min(start + _BLOCK, whole - 1)) + 1
        yield start, end
        start = end


def _checksums(written: Sequence[bytes]) -> array[int]:
    found = array("I", bytes.fromhex(b"".join(written).decode()))
    if sys.byteorder == "little":
        found.byteswap()
    return found


def _voided(others: Sequence[LogEvent]) -> set[bytes]:
    """The ids that an undo voids which is not itself undone, as `live` has it."""
    voided: set[bytes] = set()
    for event in reversed(others):
        if isinstance(event, Undo) and event.id.encode() not in voided:
            voided.add(event.voids.encode())
    return voided


def _found(id_: bytes, files: Sequence[tuple[str, bytes]]) -> LogEvent:
    """The event of that id, which a line of the pattern holds."""
    start = b'{"v":1,"id":"' + id_ + b'"'
    for _, data in reversed(files):
        at = data.rfind(start)
        while at >= 0:
            if found := _LINE.match(data, at):
                with suppress(ValueError, UnknownType, SchemaTooNew):
                    return decode(found[0].rstrip(b"\r\n"))
            at = data.rfind(start, 0, at + len(start) - 1)
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
