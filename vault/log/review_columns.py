"""The review log as columns: what figures over a million reviews are computed from."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from vault.diagnostic import Diagnostic
from vault.ids import CardId
from vault.log.events import LogEvent, Review
from vault.log.review_log import Log, once_each, parse_log, unix_ms, without_voided

MOST_MS = 0xFFFFFFFF  # the longest time on screen that a column holds
MOST_DAYS = 0xFFFF  # the longest interval


@dataclass(frozen=True, slots=True)
class ReviewColumns:
    """Live reviews, imported ones included, in order of (at, id); row n of each column is one review.

    `card` is an index into `cards`, which holds each card once, in order of its first review. `at_ms` are Unix
    milliseconds, `ms` the time on screen (0 if unknown), `rating` 1 to 4, `interval_days` what the line says of the
    interval (0 if nothing), empty where nobody asked for it. `at_ms` ascends and says no more than the order: what is
    computed in days or hours takes `when_ms`. `clocks` are the rows in which the two differ.
    """

    cards: list[CardId] = field(default_factory=list)
    card: array[int] = field(default_factory=lambda: array("L"))
    rating: array[int] = field(default_factory=lambda: array("B"))
    at_ms: array[int] = field(default_factory=lambda: array("q"))
    ms: array[int] = field(default_factory=lambda: array("L"))
    clocks: dict[int, int] = field(default_factory=dict)
    interval_days: array[int] = field(default_factory=lambda: array("H"))

    def __len__(self) -> int:
        return len(self.card)

    def recorded_days(self, row: int) -> int:
        """Return the interval that the line of a review records; 0 for none."""
        return self.interval_days[row] if self.interval_days else 0

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
    all that counts. `files` and `diagnostics` are those of `parse_log`.
    """

    reviews: ReviewColumns = field(default_factory=ReviewColumns)
    others: tuple[LogEvent, ...] = ()
    places: tuple[int, ...] = ()
    last: datetime | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    files: tuple[str, ...] = ()


def columns_of(events: Iterable[LogEvent]) -> ReviewColumns:
    """Return the columns of the reviews among `events` that no undo voids."""
    return scan_events(events).reviews


def scan_events(events: Iterable[LogEvent]) -> ScannedLog:
    """Return what counts of the events, in any order and each any number of times."""
    return columns_in(Log(tuple(once_each(events))))


def scan_log(files: Iterable[tuple[str, bytes]]) -> ScannedLog:
    """Return the columns of the union of the files (path, bytes), whatever the order of files and lines.

    Raises: SchemaTooNew, naming the line.
    """
    return columns_in(parse_log(files))


def columns_in(log: Log) -> ScannedLog:
    """Return what counts of a log."""
    active = without_voided(log.events)
    marks = [(number, event) for number, event in enumerate(active) if not isinstance(event, Review)]
    return ScannedLog(
        _columns([event for event in active if isinstance(event, Review)]),
        tuple(event for _, event in marks),
        tuple(number - place for place, (number, _) in enumerate(marks)),
        active[-1].at if active else None,
        log.diagnostics,
        log.files,
    )


def _columns(reviews: Sequence[Review]) -> ReviewColumns:
    """Return the columns of reviews that count, in order of (at, id)."""
    numbers: dict[CardId, int] = {}
    stamps = [review.stamp for review in reviews]
    clocks = {row: unix_ms(stamp.when) for row, stamp in enumerate(stamps) if stamp.clock is not None}
    return ReviewColumns(
        card=array("L", [numbers.setdefault(review.card, len(numbers)) for review in reviews]),
        cards=list(numbers),
        rating=array("B", [review.rating for review in reviews]),
        at_ms=array("q", [unix_ms(stamp.at) for stamp in stamps]),
        ms=array("L", [ms if (ms := review.ms) < MOST_MS else MOST_MS for review in reviews]),
        clocks={row: ms for row, ms in clocks.items() if ms != unix_ms(stamps[row].at)},
        interval_days=array("H", [min(review.interval_days, MOST_DAYS) for review in reviews]),
    )
