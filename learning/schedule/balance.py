"""Which day a card is due on: within the range of its interval, where there is room, and its siblings are not. Pure.

What is chosen is written beside the rating, so that nothing here is needed to fold the log.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

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


class DueDays(Protocol):
    """On which study days cards are due, by the index."""

    def load(self, card: CardId) -> Load:
        """Return what is due, as it matters to a card."""

    def group(self, card: CardId) -> str:
        """Return the name that a card shares with its siblings."""


@dataclass(frozen=True, slots=True)
class Move:
    """A card of `group` that was due on the study day `before` and is now on `after`; 0 for no day."""

    group: str
    before: int
    after: int


def moved(load: Load, group: str, moves: Sequence[Move]) -> Load:
    """Return the load after these moves, for a card of `group`."""
    if not moves:
        return load
    cards, siblings = dict(load.cards), set(load.siblings)
    for move in moves:
        cards[move.before] = cards.get(move.before, 1) - 1
        cards[move.after] = cards.get(move.after, 0) + 1
        if move.group == group:
            siblings.discard(move.before)
            siblings.add(move.after)
    return Load(cards, siblings, load.shares)


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
    weights = [_weight(today, day, load) for day in choice] if days.most <= MOST_BALANCED else []
    total = sum(weights)
    if not total:
        return choice[draw * len(choice) >> 32]
    left = total * draw / (1 << 32)
    for day, weight in zip(choice, weights, strict=True):
        left -= weight
        if left < 0:
            return day
    return choice[-1]


def _weight(today: int, days: int, load: Load) -> float:
    """Return how likely an interval is chosen: twice the cards on its day make it a quarter as likely, an easy day is
    full sooner and chosen less often.

    Days further ahead are emptier as a rule, as fewer intervals reach them; shorter intervals are the likelier for it,
    or all would become longer.
    """
    day = today + days
    share, count = load.shares[(day - 1) % 7], load.cards.get(day, 0)
    return share * (share / (1 + count)) ** 2 / (days**2 if count else 1)
