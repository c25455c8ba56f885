"""How much a day may hold: which new cards are let in, and in which order a backlog is worked off. All pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from learning.memory.model import Model
from learning.memory.state import MemoryState
from learning.schedule.queue import Item, new_order
from vault.ids import CardId
from vault.log.events import Rating

_RATINGS_PER_NEW = 2.5
_FORGOTTEN = 0.1  # of reviews, where nothing is due
WEEK = 7  # study days that the limit of new cards looks ahead
_PUT_OFF = (3, 10, 17)  # days at which the two curves are compared
_PUT_OFF_STEP = 7
_RATINGS_FORGOTTEN = 1.5  # more that a forgotten card takes, until it is recalled
_RELEARNING = 1.5  # reviews' worth of time that a forgotten card takes besides


# --- the load governor ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds that a card takes, its steps included, on the day it is met and on a day it is reviewed."""

    new_s: float
    review_s: float


@dataclass(frozen=True, slots=True)
class NewRoom:
    """New cards that today takes, of how many that wait, and why in one sentence; "" if nothing holds them back."""

    new: int
    waiting: int
    reason: str = ""


def pace_of(ms_per_rating: float, forgotten: float = _FORGOTTEN) -> Pace:
    """Return the pace of a user who takes so long for a rating: a new card is rated at each step, and so is a forgotten
    one.
    """
    return Pace(ms_per_rating * _RATINGS_PER_NEW / 1000, ms_per_rating * (1 + _RATINGS_FORGOTTEN * forgotten) / 1000)


def carried_over(due_by_day: Iterable[int], per_day: int) -> list[int]:
    """Return the reviews of each day when a day takes `per_day` and the rest waits for the next."""
    out, waiting = [], 0
    for due in due_by_day:
        out.append(min(waiting + due, per_day))
        waiting += due - out[-1]
    return out


def new_room(
    minutes: int, due_by_day: Sequence[int], pace: Pace, follow_ups: Sequence[float], *, waiting: int, limit: int
) -> NewRoom:
    """Return how many new cards today takes, so that as many a day for a week bring no day beyond `minutes`.

    `due_by_day` are the reviews of today, overdue ones included, and of the days after it; `follow_ups[n]` the reviews
    that one new card a day has brought to day n. `limit` is what the settings allow besides.
    """
    wanted = min(waiting, limit)
    rooms = [
        max(0.0, minutes * 60 - due * pace.review_s) / (pace.new_s + later * pace.review_s)
        for due, later in zip(due_by_day[:WEEK], follow_ups, strict=False)
    ]
    tightest = min(range(len(rooms)), key=rooms.__getitem__, default=0)
    fits = math.floor(rooms[tightest] + 1e-9) if rooms else wanted
    if fits >= wanted:
        return NewRoom(wanted, waiting)
    taken = round(due_by_day[tightest] * pace.review_s / 60)
    when = "today" if tightest == 0 else "tomorrow" if tightest == 1 else f"in {tightest} days"
    why = f"reviews {when} take about {taken} of them" if taken else "their follow-up reviews need time too"
    a_day = f"{minutes} minutes a day" if minutes > 1 else "a minute a day"
    return NewRoom(fits, waiting, f"{fits or 'none'} of {waiting} new cards fit into {a_day}: {why}")


def follow_ups(model: Model, retention: float, days: int = WEEK, maximum: int = 36_500) -> list[float]:
    """Return the reviews on day n of the cards of days 0 to n, one new card a day, each first and ever after rated
    Good.
    """
    memory = model.after(*model.first(Rating.GOOD), 0, Rating.GOOD)
    at = [0] * days
    day = model.interval(memory[0], retention, maximum)
    while day < days:
        at[day] += 1
        waited = model.interval(memory[0], retention, maximum)
        memory = model.after(*memory, waited, Rating.GOOD)
        day += model.interval(memory[0], retention, maximum)
    return [float(sum(at[: n + 1])) for n in range(days)]


def by_importance(items: Iterable[Item], rank: Mapping[str, int]) -> list[Item]:
    """Return `items` with the concepts that most others need first, else in their order."""
    return sorted(items, key=lambda item: -rank.get(item.concept, 0))


def admitted(
    waiting: Sequence[Item],
    room: int,
    rank: Mapping[str, int],
    prerequisites: Mapping[str, Collection[str]] | None = None,
) -> list[Item]:
    """Return the new cards of today: what others need first, but never before its own prerequisites."""
    return list(new_order(by_importance(waiting, rank), prerequisites or {}))[: max(0, room)]


# --- the backlog ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BacklogPlan:
    """`overdue` reviews, more than the `per_day` that a day has room for; in `days` none is left, 0: not in a year."""

    overdue: int
    per_day: int
    days: int


def lost_by_waiting(model: Model, stability: float, difficulty: float, waited: int) -> float:
    """Return the days of recall lost if a card that has waited `waited` days waits three weeks more, for the time it
    takes now.

    What is gained by a review is the area between the two forgetting curves: that of the card as it would be then,
    recalled or learnt again, and that of the card as it is. A card all but forgotten gains most and takes longest; one
    that is very stable loses little by waiting.
    """
    chance = model.retrievability(stability, waited)
    recalled = model.after(stability, difficulty, waited, Rating.GOOD)[0]
    relearnt = model.after(*model.after(stability, difficulty, waited, Rating.AGAIN), 0, Rating.GOOD)[0]
    curve = model.retrievability
    gained = sum(
        chance * curve(recalled, day) + (1 - chance) * curve(relearnt, day) - curve(stability, waited + day)
        for day in _PUT_OFF
    )
    return gained * _PUT_OFF_STEP / (1 + _RELEARNING * (1 - chance))


def worth_first(items: Iterable[Item], states: Mapping[CardId, MemoryState], today: int, model: Model) -> list[Item]:
    """Return overdue reviews, those that lose most by waiting first; equal ones in the order they came in. `today` is a
    day.

    Cards that differ by less than a tenth are taken as alike, so that a hundred thousand are soon put in order.
    """
    known: dict[tuple[int, int, int], float] = {}
    scored = []
    for item in items:
        state = states[item.card]
        waited = max(0, today - state.last_day)
        key = round(4 * math.log2(state.stability)), round(state.difficulty), round(4 * math.log2(waited + 1))
        lost = known.get(key)
        if lost is None:
            stability, waited = 2 ** (key[0] / 4), round(2 ** (key[2] / 4)) - 1
            lost = known[key] = lost_by_waiting(model, stability, key[1], waited)
        scored.append((lost, item))
    return [item for _, item in sorted(scored, key=lambda each: -each[0])]


_RECENT = 500  # ratings that the estimate looks back on


_LONGEST_MS = 60_000  # a card left on screen over tea says nothing of the next one


_GUESS_MS = 10_000  # for who has rated nothing yet


def ms_per_rating(times_ms: Sequence[int]) -> float:
    """Return the mean milliseconds a card was on screen, over the latest ratings that say so, in order of time; ten
    seconds before there are any.
    """
    recent = [min(ms, _LONGEST_MS) for ms in times_ms[-_RECENT:]]
    return sum(recent) / len(recent) if recent else _GUESS_MS


def minutes(due: int, new: int, pace: Pace) -> int:
    """Return the minutes that so many due and new cards will take, rounded up."""
    return math.ceil((due * pace.review_s + new * pace.new_s) / 60 - 1e-9)


AVERAGE_PACE = pace_of(_GUESS_MS)
