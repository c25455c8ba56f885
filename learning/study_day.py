"""Study days: an instant, a time zone and a rollover hour give the day a review belongs to."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo

from vault.log.review_columns import ReviewColumns
from vault.log.review_log import at_of, unix_ms

# Between the first day's beginning and the last one's, in any zone, lies every instant from the earliest to the latest.
_FIRST = date.min.toordinal() + 1
_LAST = date.max.toordinal() - 1
_EARLIEST = datetime(1, 1, 5, tzinfo=UTC)
_LATEST = datetime(9999, 12, 27, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class StudyCalendar:
    """Study days begin when the clock of `zone` first shows the hour `rollover` (0-23). Days count as date ordinals.

    A day is what lies between two beginnings, so days never go back, whatever the zone's clock does: a day may have 23
    or 25 hours, and where a zone left out a date, none.
    """

    zone: tzinfo = UTC
    rollover: int = 4

    def day(self, at: datetime) -> int:
        """Return the ordinal of the study day that holds the instant `at`."""
        at = min(max(at, _EARLIEST), _LATEST)
        wall = at.astimezone(self.zone).replace(tzinfo=None) - timedelta(hours=self.rollover)
        day = wall.date().toordinal()
        while self.start(day) > at:
            day -= 1
        while self.start(day + 1) <= at:
            day += 1
        return day

    def start(self, day: int) -> datetime:
        """Return the instant (UTC) at which the study day `day` begins; outside the calendar, its first or last day."""
        first = date.fromordinal(min(max(day, _FIRST), _LAST))
        return datetime(first.year, first.month, first.day, self.rollover, tzinfo=self.zone).astimezone(UTC)

    def days(self, instants: Iterable[datetime]) -> Iterator[int]:
        """Yield the study day of each instant; cheap where neighbours share their day."""
        day, start, end = 0, _LATEST, _LATEST
        for at in instants:
            if not start <= at < end:
                day = self.day(at)
                start, end = self.start(day), self.start(day + 1)
            yield day

    def days_of_ms(self, instants: Sequence[int]) -> array[int]:
        """Return the study day of each of these Unix milliseconds, which must ascend."""
        days = array("q")
        while (row := len(days)) < len(instants):
            day = self.day(at_of(instants[row]))
            end = unix_ms(self.start(day + 1))
            days.extend(array("q", (day,)) * max(1, bisect_left(instants, end, row) - row))
        return days

    def days_of(self, columns: ReviewColumns) -> array[int]:
        """Return the study day of each of these reviews, by when it happened."""
        days = self.days_of_ms(columns.at_ms)
        clocks = columns.clocks
        for row, day in zip(clocks, self.days(map(at_of, clocks.values())), strict=True):
            days[row] = day
        return days

    def shown(self, at: datetime) -> str:
        """Return `at` on the zone's clock with its offset: `2026-11-24T04:00+01:00`."""
        at = min(max(at, _EARLIEST), _LATEST)
        return at.astimezone(self.zone).isoformat(timespec="minutes")
