"""How long a rating takes: what every estimate of minutes rests on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice

from vault.log.events import LogEvent, Review

_RECENT = 500  # ratings that the estimate looks back on
_LONGEST_MS = 60_000  # a card left on screen over tea says nothing of the next one
_GUESS_MS = 10_000  # for who has rated nothing yet
_RATINGS_PER_NEW = 2.5  # a new card is met at each step of learning


def ms_per_rating(events: Sequence[LogEvent]) -> float:
    """Mean milliseconds a card was on screen, over the latest ratings that say so; ten seconds before there are any."""
    known = (event.ms for event in reversed(events) if isinstance(event, Review) and event.ms)
    recent = [min(ms, _LONGEST_MS) for ms in islice(known, _RECENT)]
    return sum(recent) / len(recent) if recent else _GUESS_MS


def minutes(due: int, new: int, events: Sequence[LogEvent]) -> int:
    """Minutes that so many due and new cards will take, rounded up; `events` in order of time."""
    return math.ceil((due + new * _RATINGS_PER_NEW) * ms_per_rating(events) / 60_000)
