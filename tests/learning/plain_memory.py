"""Memory once more, written to be read and not to be fast: a dictionary of events and what they come to.

It shares no line with the product: events are the JSON objects of the log, and states are reckoned by `fsrs` itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cache
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
    leech: bool = False
    retracted: bool = False
    flagged: bool = False
    buried_until: datetime | None = None

    def shown(self, now: datetime) -> bool:
        return (
            not self.suspended
            and not self.retracted
            and not (self.buried_until is not None and now < self.buried_until)
        )


@dataclass(frozen=True)
class Wishes:
    """What the settings say, fuzz left out. `retention_of` names the cards that want another one."""

    zone: ZoneInfo
    rollover: int
    retention: float
    retention_of: dict[str, float] = field(default_factory=dict)
    leech_threshold: int = 0
    leech_suspends: bool = False

    def day(self, at: datetime) -> date:
        """The last date whose beginning is not after `at`."""
        day = at.astimezone(self.zone).date() + timedelta(days=2)
        while self.begins(day) > at:
            day -= timedelta(days=1)
        return day

    def begins(self, day: date) -> datetime:
        return datetime(day.year, day.month, day.day, self.rollover, tzinfo=self.zone).astimezone(UTC)


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


def happened(event: Event) -> datetime:
    """By the clock of the wall, where the log had to put the event later than that."""
    return datetime.fromisoformat(min(event["at"], event.get("clock", event["at"])))


def states(log: PlainLog, wishes: Wishes) -> dict[str, Remembered]:
    """What each card comes to, with fuzz off."""
    cards: dict[str, Remembered] = {}
    for event in log.live():
        card = cards.setdefault(event["card"], Remembered())
        day = wishes.day(happened(event))
        if event["type"] == "review":
            _review(card, event, day, wishes)
        elif event["type"] == "bury":
            card.buried_until = wishes.begins(day + timedelta(days=1))
        elif event["type"] == "flag":
            card.flagged = True
        else:
            card.suspended = event["type"] == "suspend"
            card.buried_until = card.buried_until if card.suspended else None
    return cards


def _review(card: Remembered, event: Event, day: date, wishes: Wishes) -> None:
    retention = wishes.retention_of.get(event["card"], wishes.retention)
    scheduler = _scheduler(retention)
    at, was = happened(event), card.theirs
    passed = max(day - card.day, timedelta())
    now = _ORIGIN if was is None or was.last_review is None else was.last_review + passed
    asked = was or fsrs.Card(card_id=1, due=_ORIGIN)
    after, _ = scheduler.review_card(asked, fsrs.Rating(event["rating"]), now)
    if was is not None and was.state == fsrs.State.Review and event["rating"] == 1:
        card.lapses += 1
        if wishes.leech_threshold and card.lapses in _leech_lapses(wishes.leech_threshold):
            card.leech = True
            card.suspended |= wishes.leech_suspends
    wait = after.due - now
    days = _days_that_count(event.get("interval_days", 0), wait.days)
    card.due = at + wait if wait < timedelta(days=1) else wishes.begins(day + timedelta(days=days))
    card.theirs, card.day, card.last, card.reps = after, day, at, card.reps + 1


def _days_that_count(recorded: int, planned: int) -> int:
    """The interval of the line, where it is at most a day below the range of the planned one, and three above."""
    apart = 0.0 if planned < 2.5 else 1 + 0.15 * (min(planned, 7) - 2.5)
    apart += 0.1 * max(0, min(planned, 20) - 7) + 0.05 * max(0, planned - 20)
    least = round(planned - apart) if planned < 2.5 else max(2, round(planned - apart))
    return recorded if max(1, least - 1) <= recorded <= round(planned + apart) + 3 else planned


@cache
def _scheduler(retention: float) -> fsrs.Scheduler:
    return fsrs.Scheduler(desired_retention=retention, enable_fuzzing=False)


def _leech_lapses(threshold: int) -> range:
    """At the threshold, and at every half of it more."""
    return range(threshold, 10_000, max(1, -(-threshold // 2)))


def on_disk(files: Iterable[Path]) -> dict[str, Event]:
    """Every event of a log's files by its id; a line that stands there twice must be the same."""
    found: dict[str, Event] = {}
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            del event["crc"]
            assert found.setdefault(event["id"], event) == event
    return found
