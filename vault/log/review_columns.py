"""The review log as columns: what figures over a million reviews are computed from."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from operator import eq

from vault.diagnostic import Diagnostic
from vault.ids import CardId
from vault.log.events import LogEvent, Review, ReviewLine, Undo, shared
from vault.log.review_log import (
    EVER,
    at_of,
    by_time,
    first_id,
    live,
    parse_log,
    read_lines,
    unix_ms,
    voided_by,
)

_SOME = 50_000  # lines that are read at once: as many objects, and not a million
MOST_MS = 0xFFFFFFFF  # the longest time on screen that a column holds


@dataclass(frozen=True, slots=True)
class ReviewColumns:
    """Live reviews, imported ones included, in order of (at, id); row n of each column is one review.

    `card` is an index into `cards`, which holds each card once, in order of its first review. `at_ms` are Unix
    milliseconds, `ms` the time on screen (0 if unknown), `rating` 1 to 4. `at_ms` ascends and says no more than the
    order: what is reckoned in days or hours takes `when_ms`. `clocks` are the rows in which the two differ.
    """

    cards: list[CardId] = field(default_factory=list)
    card: array[int] = field(default_factory=lambda: array("L"))
    rating: array[int] = field(default_factory=lambda: array("B"))
    at_ms: array[int] = field(default_factory=lambda: array("q"))
    ms: array[int] = field(default_factory=lambda: array("L"))
    clocks: dict[int, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.card)

    @property
    def when_ms(self) -> array[int]:
        """Return when each review happened (`LogEvent.when`), in Unix milliseconds. It need not ascend."""
        if not self.clocks:
            return self.at_ms
        when = self.at_ms[:]
        for row, ms in self.clocks.items():
            when[row] = ms
        return when


@dataclass(frozen=True, slots=True)
class ScannedLog:
    """What counts in the log's files. `others` are the live events that are no reviews, in order of (at, id).

    `places` says of each of `others` how many of `reviews` come before it; `last` is the instant of the last event of
    all that counts. `files` and `diagnostics` are those of `parse_log`. `since` are
    all events from the instant on that was asked for, in order, whether they count or not; None where some event's id
    is on the other side of it than its instant, or where an undo before it voids one after.
    """

    reviews: ReviewColumns = field(default_factory=ReviewColumns)
    others: tuple[LogEvent, ...] = ()
    places: tuple[int, ...] = ()
    last: datetime | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    files: tuple[str, ...] = ()
    since: tuple[LogEvent, ...] | None = field(default=(), compare=False)


def columns_of(events: Iterable[LogEvent]) -> ReviewColumns:
    """Return the columns of the reviews among `events` that no undo voids."""
    return scan_events(events).reviews


def scan_events(events: Iterable[LogEvent]) -> ScannedLog:
    """Return what counts of the events, in any order and each any number of times."""
    table = _Table()
    table.add(live(events))
    return table.scanned()


def scan_log(files: Iterable[tuple[str, bytes]], since: datetime | None = None) -> ScannedLog:
    """Return the columns of the union of the files (path, bytes), whatever the order of files and lines.

    Raises: SchemaTooNew, naming the line.
    """
    files = sorted(files)
    table, diagnostics, unknown = _Table(since), list[Diagnostic](), set[str]()
    for path, data in files:
        lines = read_lines(path, data, unknown, diagnostics)
        while some := [read for _, read in islice(lines, _SOME)]:
            table.add(some)
    if table.has_same_ids():  # the same lines in two files, or two events with one id: which of them counts?
        log = parse_log(files)
        table, diagnostics = _Table(since), list(log.diagnostics)
        table.add(log.events)
    return replace(table.scanned(files), diagnostics=tuple(diagnostics))


class _Table:
    """Events that are each there once, in any order: the reviews in columns, those `since` and others as they are."""

    def __init__(self, since: datetime | None = None) -> None:
        self._since, self._later = since, list[ReviewLine | LogEvent]()
        self._ids: list[str] = []
        self._at_ms = array("q")
        self._cards: list[CardId] = []
        self._rating, self._ms = array("B"), array("L")
        self._events: dict[int, Review] = {}  # by row, of the reviews that were added as events
        self._others: list[LogEvent] = []

    def add(self, read: Iterable[ReviewLine | LogEvent]) -> None:
        """Add events."""
        reviews: list[ReviewLine | Review] = []
        if self._since is not None:
            read = list(read)
            self._later += [each for each in read if each.at >= self._since]
        for each in read:
            if isinstance(each, ReviewLine):
                reviews.append(each)
            elif isinstance(each, Review):
                self._events[len(self._ids) + len(reviews)] = each
                reviews.append(each)
            else:
                self._others.append(each)
        self._ids += [review.id for review in reviews]
        self._at_ms.extend([unix_ms(review.at) for review in reviews])
        self._cards += map(shared, [review.card for review in reviews])
        self._rating.extend([review.rating for review in reviews])
        self._ms.extend([ms if (ms := review.ms) < MOST_MS else MOST_MS for review in reviews])

    def has_same_ids(self) -> bool:
        """Return whether two events have the same id."""
        ids = sorted([*self._ids, *(event.id for event in self._others)])
        return any(map(eq, ids, ids[1:]))

    def scanned(self, files: Sequence[tuple[str, bytes]] = ()) -> ScannedLog:
        """Return what counts of the events; `files` hold those that were added as lines."""
        ids, at_ms = self._ids, self._at_ms
        everything = sorted(self._others, key=by_time)
        voided = voided_by(everything)
        order = sorted(range(len(ids)), key=ids.__getitem__)
        order.sort(key=at_ms.__getitem__)
        if voided:
            order = [row for row in order if ids[row] not in voided]
        others = [event for event in everything if not isinstance(event, Undo) and event.id not in voided]
        ends = [at_of(at_ms[order[-1]])] if order else []
        ends += [others[-1].at] if others else []
        return ScannedLog(
            self._columns(order),
            tuple(others),
            tuple(bisect_left(order, _key(e), key=lambda row: (at_ms[row], ids[row])) for e in others),
            max(ends, default=None),
            files=tuple(path for path, _ in files),
            since=self._events_since(),
        )

    def _events_since(self) -> tuple[LogEvent, ...] | None:
        """Return `ScannedLog.since`."""
        if self._since is None:
            return ()
        first, start = first_id(self._since), unix_ms(self._since)
        before = [event for event in self._others if event.at < self._since]
        crossing = (
            *((at >= start) != (id_ >= first) for at, id_ in zip(self._at_ms, self._ids, strict=True)),
            *((event.at >= self._since) != (event.id >= first) for event in self._others),
            *(isinstance(event, Undo) and event.voids >= first for event in before),
        )
        if start > unix_ms(EVER) and any(crossing):
            return None
        found = (each.event() if isinstance(each, ReviewLine) else each for each in self._later)
        return tuple(sorted(found, key=by_time))

    def _columns(self, order: Sequence[int]) -> ReviewColumns:
        """Return the columns of the reviews in these rows, in this order."""
        numbers: dict[CardId, int] = {}
        events = {n: self._events[row] for n, row in enumerate(order) if row in self._events} if self._events else {}
        return ReviewColumns(
            card=array("L", [numbers.setdefault(card, len(numbers)) for card in map(self._cards.__getitem__, order)]),
            cards=list(numbers),
            rating=array("B", map(self._rating.__getitem__, order)),
            at_ms=array("q", map(self._at_ms.__getitem__, order)),
            ms=array("L", map(self._ms.__getitem__, order)),
            clocks={n: unix_ms(event.when) for n, event in events.items() if event.when != event.at},
        )


def _key(event: LogEvent) -> tuple[int, str]:
    """Return what orders events as `by_time` does."""
    return unix_ms(event.at), event.id
