"""Which day a card is due on: within the range of its interval, where there is room, and its siblings are not. Pure.

What is chosen is written beside the rating, so that nothing here is needed to fold the log.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from learning.memory.scheduler import Scheduler, drawn, fuzz_range
from learning.memory.state import MemoryState, Phase
from vault.ids import CardId
from vault.log.events import Rating

MOST_BALANCED = 90  # days; a longer interval meets few others, so Anki balances up to this, too
USUAL = (1.0,) * 7


@dataclass(frozen=True, slots=True)
class Load:
    """What is due already: how many cards on each study day, and on which of them `siblings` of the card.

    `shares` are how much of a usual day's reviews each day of the week takes, from Monday on.
    """

    cards: Mapping[int, int] = field(default_factory=dict)
    siblings: Collection[int] = ()
    shares: tuple[float, ...] = USUAL


@dataclass(frozen=True, slots=True)
class _Range:
    """The days that an interval may become; `longest` where siblings or a worse rating take all up to `most`."""

    least: int
    most: int
    longest: int


def intervals(
    scheduler: Scheduler, card: CardId, state: MemoryState, at: datetime, load: Load, upto: Rating = Rating.EASY
) -> dict[Rating, int]:
    """Return the interval in days that each rating at `at` would get, 0 where it leads to a step.

    Hard, Good and Easy are at least a day apart, up to the longest interval. Those after `upto` are left out.
    """
    day, draw = scheduler.day(at), drawn(card, state.reps + 1)
    out: dict[Rating, int] = {}
    shortest = 1
    for rating in Rating:
        after = scheduler.review(card, state, rating, at, day)
        out[rating] = 0
        if after.phase is Phase.REVIEW:
            days = _range(scheduler, state, scheduler.planned(card, after.stability), rating, shortest)
            out[rating] = _chosen(days, day, draw, load)
            shortest = out[rating] + 1 if rating > Rating.AGAIN else shortest
        if rating == upto:
            break
    return out


def _range(scheduler: Scheduler, state: MemoryState, planned: int, rating: Rating, shortest: int) -> _Range:
    """Return the range of a rating whose interval is to be at least `shortest`.

    One that is to grow does, whatever the draw; the room beyond the usual range is what `Scheduler.counted` allows.
    """
    maximum = scheduler.rules.maximum_interval
    least, most = fuzz_range(planned, maximum)
    longest = min(maximum, most + max(rating - 1, 1))
    if not scheduler.rules.fuzz:
        least = most = planned
    if state.phase is Phase.REVIEW and state.interval_days < planned:
        least = max(least, state.interval_days + 1)
    least = min(max(least, shortest), longest)
    return _Range(least, max(most, least), longest)


def _chosen(days: _Range, today: int, draw: int, load: Load) -> int:
    """Return a day of the range that has no sibling, if there is one, the likelier the fewer cards are due on it."""
    choice: Sequence[int] = range(days.least, days.most + 1)
    if load.siblings:
        free = [day for day in choice if today + day not in load.siblings]
        more = range(days.most + 1, days.longest + 1) if days.most > 1 else ()
        choice = free or [day for day in more if today + day not in load.siblings][:1] or choice
    if len(choice) == 1:
        return choice[0]
    weights = [_weight(today + day, load) for day in choice] if days.most <= MOST_BALANCED else []
    total = sum(weights)
    if not total:
        return choice[draw * len(choice) >> 32]
    left = total * draw / (1 << 32)
    for day, weight in zip(choice, weights, strict=True):
        left -= weight
        if left < 0:
            return day
    return choice[-1]


def _weight(day: int, load: Load) -> float:
    """Return how likely a study day is chosen: twice the cards make it a quarter as likely, an easy day is full sooner
    and chosen less often.
    """
    share = load.shares[(day - 1) % 7]
    return share * (share / (1 + load.cards.get(day, 0))) ** 2
