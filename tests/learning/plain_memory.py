"""Memory once more, written to be read and not to be fast: a dictionary of events and what they come to.

It shares no line with the product: events are the JSON objects of the log, and states are reckoned by `fsrs` itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import fsrs

Event = dict[str, Any]
_ORIGIN = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass
class Remembered:
    """What the log says of one card."""

    theirs: fsrs.Card | None = None
    day: date = date.min
    reps: int = 0
    lapses: int = 0
    due: datetime | None = None
    last: datetime | None = None
    suspended: bool = False
    flagged: bool = False
    buried_until: datetime | None = None

    def shown(self, now: datetime) -> bool:
        return not self.suspended and not (self.buried_until is not None and now < self.buried_until)


@dataclass
class PlainLog:
    """The events of one machine, by id."""

    events: dict[str, Event] = field(default_factory=dict)

    def order(self) -> list[Event]:
        return sorted(self.events.values(), key=lambda e: (e["at"], e["id"]))

    def counts(self, event: Event) -> bool:
        """Whether the event was not undone: an undo works while no later one that counts names it."""
        after = (event["at"], event["id"]) if event["type"] == "undo" else ("", "")
        return not any(
            other["voids"] == event["id"] and (other["at"], other["id"]) > after and self.counts(other)
            for other in self.events.values()
            if other["type"] == "undo"
        )

    def live(self) -> list[Event]:
        return [event for event in self.order() if event["type"] != "undo" and self.counts(event)]

    def last_at(self) -> datetime | None:
        return max((instant(event) for event in self.live()), default=None)

    def add(self, event: Event) -> None:
        assert event["id"] not in self.events
        self.events[event["id"]] = event

    def merge(self, other: PlainLog) -> None:
        self.events |= other.events


def instant(event: Event) -> datetime:
    return datetime.fromisoformat(event["at"])


def day_of(at: datetime, zone: ZoneInfo, rollover: int) -> date:
    """The last date whose beginning is not after `at`."""
    day = at.astimezone(zone).date() + timedelta(days=2)
    while begins(day, zone, rollover) > at:
        day -= timedelta(days=1)
    return day


def begins(day: date, zone: ZoneInfo, rollover: int) -> datetime:
    return datetime(day.year, day.month, day.day, rollover, tzinfo=zone).astimezone(UTC)


def states(log: PlainLog, zone: ZoneInfo, rollover: int, retention: float) -> dict[str, Remembered]:
    """What each card comes to, with fuzz off."""
    scheduler = fsrs.Scheduler(desired_retention=retention, enable_fuzzing=False)
    cards: dict[str, Remembered] = {}
    for event in log.live():
        card = cards.setdefault(event["card"], Remembered())
        day = day_of(instant(event), zone, rollover)
        if event["type"] == "review":
            _review(card, scheduler, event, day, zone, rollover)
        elif event["type"] == "bury":
            card.buried_until = begins(day + timedelta(days=1), zone, rollover)
        elif event["type"] == "flag":
            card.flagged = True
        else:
            card.suspended = event["type"] == "suspend"
            card.buried_until = card.buried_until if card.suspended else None
    return cards


def _review(
    card: Remembered, scheduler: fsrs.Scheduler, event: Event, day: date, zone: ZoneInfo, rollover: int
) -> None:
    at = instant(event)
    was = card.theirs
    now = _ORIGIN if was is None or was.last_review is None else was.last_review + (day - card.day)
    asked = was or fsrs.Card(card_id=1, due=_ORIGIN)
    after, _ = scheduler.review_card(asked, fsrs.Rating(event["rating"]), now)
    card.lapses += was is not None and was.state == fsrs.State.Review and event["rating"] == 1
    wait = after.due - now
    card.due = at + wait if wait < timedelta(days=1) else begins(day + timedelta(days=wait.days), zone, rollover)
    card.theirs, card.day, card.last, card.reps = after, day, at, card.reps + 1


def on_disk(files: Iterable[Path]) -> dict[str, Event]:
    """Every event of a log's files by its id; a line that stands there twice must be the same."""
    found: dict[str, Event] = {}
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            del event["crc"]
            assert found.setdefault(event["id"], event) == event
    return found
