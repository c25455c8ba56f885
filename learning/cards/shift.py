"""Postpone due cards, or advance cards that are not due yet: those that lose least by it are chosen."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from learning.cards.actions import Action
from learning.cards.workspace import Desk
from learning.history.due import due_between, due_instants
from learning.memory.model import Model
from learning.memory.state import MemoryState, Phase
from learning.schedule.workload import lost_by_waiting
from vault.ids import CardId
from vault.log.events import Reschedule

_LATER = 0.1  # of a card's interval by which it is postponed at most, as FSRS Helper does
_AHEAD = 366  # days from which cards are advanced


@dataclass(frozen=True, slots=True)
class Shift:
    """A card that is due on the day `to` instead of `due`; `chances` of recall on either day."""

    card: CardId
    due: date
    to: date
    chances: tuple[float, float]


def postponed(desk: Desk, count: int) -> list[Shift]:
    """Return so many of the cards that today takes, which lose least by waiting, each on a day with few reviews."""
    calendar, model = desk.scheduler.calendar, Model(desk.scheduler.parameters)
    today = calendar.day(desk.now)
    due = [item.card for item in desk.queue.due if desk.state(item.card).interval_days]

    def lost(card: CardId) -> tuple[float, CardId]:
        state = desk.state(card)
        return lost_by_waiting(model, state.stability, state.difficulty, max(0, today - state.last_day)), card

    load = _load(desk, today)
    shifts = []
    for card in sorted(due, key=lost)[:count]:
        state = desk.state(card)
        last = today + max(1, round(state.interval_days * _LATER))
        to = min(range(today + 1, last + 1), key=lambda day: (load[day], day))
        load[to] += 1
        shifts.append(_shift(desk, card, state, today, to))
    return shifts


def advanced(desk: Desk, count: int) -> list[Shift]:
    """Return so many of the cards that are due later, for today: the most nearly due by their chance of recall."""
    calendar = desk.scheduler.calendar
    today = calendar.day(desk.now)
    chance = desk.scheduler.chances(desk.now)
    end = calendar.start(today + _AHEAD)
    later = [card for card, at in due_instants(desk.cards, end) if at >= calendar.start(today + 1)]
    states = {card: desk.state(card) for card in later}
    found = [
        card
        for card, state in states.items()
        if state.phase is Phase.REVIEW and state.last_day < today and not state.hidden(desk.now)
    ]
    found.sort(key=lambda card: (chance(states[card]) - desk.scheduler.retention(card), card))
    return [_shift(desk, card, states[card], today, today) for card in found[:count]]


def shifting(desk: Desk, shifts: Sequence[Shift], *, via: str) -> Action:
    """Return the action that gives the cards their new days."""
    stamps = desk.writer(via).stamps(desk.now)
    events = tuple(Reschedule(stamp, shift.card, shift.to) for stamp, shift in zip(stamps, shifts, strict=False))
    return Action(events, len(shifts), via)


def _load(desk: Desk, today: int) -> Counter[int]:
    """Return the reviews of each day after today that one could be postponed to."""
    calendar = desk.scheduler.calendar
    starts = [calendar.start(today + n) for n in range(1, _AHEAD + 1)]
    return Counter(today + bisect_right(starts, at) for at in due_between(desk.cards, starts[0], starts[-1]))


def _shift(desk: Desk, card: CardId, state: MemoryState, today: int, to: int) -> Shift:
    """Return the shift of a card to the day `to`."""
    assert state.due is not None
    calendar = desk.scheduler.calendar
    due = calendar.day(state.due)
    on = tuple(_chances(desk, state, (max(due, today), to)))
    return Shift(card, date.fromordinal(due), date.fromordinal(to), (on[0], on[1]))


def _chances(desk: Desk, state: MemoryState, days: Sequence[int]) -> Iterator[float]:
    """Yield the chance of recall on each of the days."""
    for day in days:
        yield desk.scheduler.retrievability(state, desk.scheduler.calendar.start(day))
