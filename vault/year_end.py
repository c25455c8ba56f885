"""When a year of the review log is over: its file is closed by a name of its own, and never written again.

A file that only grows would be read, copied and diffed whole for ever. Nothing in it is touched: it gets another name,
which readers know, and the next line begins a new file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import tzinfo

from vault.errors import SchemaTooNew
from vault.log_event import Import, LogEvent, UnknownType, decode

Closing = Callable[[bytes], list[str]]  # the log's end -> the paths it may get, best first; none: it stays open
_NAMES = 99


def closing(event: LogEvent, zone: tzinfo) -> Closing:
    """What `Guard.append` asks before it adds `event`: whether the log's last line is of an earlier year of `zone`.

    Years are those of the clock at which a line was written; a clock that went back closes nothing.
    """

    def names(end: bytes) -> list[str]:
        now, last = year(event, zone), max(_years(end, zone), default=None)
        if now is None or last is None or last >= now:
            return []
        free = (f"-{number}" if number > 1 else "" for number in range(1, _NAMES + 1))
        return [f"learning/reviews-{last:04}{suffix}.jsonl" for suffix in free]

    return names


def _years(end: bytes, zone: tzinfo) -> Iterator[int]:
    """The years of the lines that can be read; what the file's end cuts in two says nothing."""
    for line in end.split(b"\n"):
        with suppress(ValueError, UnknownType, SchemaTooNew):
            found = year(decode(line), zone)
            if found is not None:
                yield found


def year(event: LogEvent, zone: tzinfo) -> int | None:
    """The year in which the line was written, as far as it says so: what came from elsewhere has only its own."""
    if isinstance(event, Import) and event.stamp.clock is None:
        return None
    try:
        return (event.stamp.clock or event.at).astimezone(zone).year
    except OverflowError:  # at the ends of the calendar
        return None
