"""The past year and the coming weeks for the home screen, without replaying cards that it does not need.

Each figure is the one that `learning.stats.stats` gives, which goes through the whole log.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from learning.cards.workspace import Desk
from learning.memory.predictions import columns_of_cards, replay
from learning.memory.state import MemoryState
from learning.stats.activity import streaks
from learning.stats.retention import Retention, Tries, true_retention
from learning.store.cards import IndexedCards
from learning.store.state_table import StateColumns, instant_of, micros
from vault.log.review_columns import ReviewColumns

MONTH = 30
_NEVER = -(2**62)  # a number of microseconds below this is no instant


@dataclass(frozen=True, slots=True)
class Daybook:
    """Figures for the home screen. `reviews` has the study days (ordinals) with reviews; `month` is true retention of
    30 days.

    `streak` ends today, or yesterday if today has none yet; `coming` are the reviews planned for each day, today's
    first, those that are overdue among them.
    """

    reviews: Mapping[int, int]
    streak: int
    longest: int
    month: Retention
    coming: tuple[int, ...]


def daybook(desk: Desk, days_ahead: int) -> Daybook:
    """Return the figures of a desk. Raises: SchemaTooNew, Refused or Damaged, as the log is read."""
    columns = desk.past.scanned().reviews
    calendar = desk.scheduler.calendar
    today = calendar.day(desk.now)
    days = Counter(calendar.days_of(columns))
    streak, longest = streaks(set(days), today)
    return Daybook(days, streak, longest, _month(desk, columns, today), coming(desk, days_ahead))


def _month(desk: Desk, columns: ReviewColumns, today: int) -> Retention:
    """Return true retention of the last 30 days, replaying only cards that were reviewed in them."""
    since = today - MONTH + 1
    days = desk.scheduler.calendar.days_of(columns)
    cards = {columns.cards[card] for card, day in zip(columns.card, days, strict=True) if day >= since}
    if not cards:
        return Retention(MONTH, Tries(), Tries())
    seen = replay(columns_of_cards(columns, cards), desk.scheduler, desk.changes)
    return true_retention(seen, today, (MONTH,))[0]


def coming(desk: Desk, days: int) -> tuple[int, ...]:
    """Return the reviews planned for each of so many study days, today's first."""
    calendar = desk.scheduler.calendar
    today = calendar.day(desk.now)
    ends = [calendar.start(today + n + 1) for n in range(days)]
    count = [0] * days
    for due in _due(desk, ends[-1]):
        count[bisect_right(ends, due)] += 1
    return tuple(count)


def _due(desk: Desk, end: datetime) -> Iterator[datetime]:
    """Yield the due instant of each card that falls due before `end`."""
    states = desk.past.before.states
    if not isinstance(desk.cards, IndexedCards) or not isinstance(states, StateColumns):
        known = (desk.states.get(card) for card in desk.cards)
        yield from (state.due for state in known if state is not None and state.due and _falls(state, end))
        return
    for card, state in desk.past.recent.items():
        if state.due is not None and _falls(state, end) and card in desk.cards:
            yield state.due
    yield from _of_columns(desk.cards, states, {states.row(card) for card in desk.past.recent}, end)


def next_due(desk: Desk) -> datetime | None:
    """Return when the first card falls due that is not hidden, also if it has done so; None if nothing is planned."""
    states, recent = desk.past.before.states, desk.past.recent
    if not isinstance(desk.cards, IndexedCards) or not isinstance(states, StateColumns):
        known = (desk.states.get(card) for card in desk.cards)
        return min((s.due for s in known if s is not None and s.due and not s.hidden(desk.now)), default=None)
    mine = (state for card, state in recent.items() if card in desk.cards)
    times = [state.due for state in mine if state.due is not None and not state.hidden(desk.now)]
    newer, numbers = {states.row(card) for card in recent}, desk.cards.crossed(states).cards
    due = states.column("due")
    for row in desk.cards.crossed(states).by_due:  # in the order of their due dates, so that the first one will do
        if due[row] > _NEVER and numbers[row] >= 0 and row not in newer and not states.state(row).hidden(desk.now):
            times.append(instant_of(due[row]))
            break
    return min(times, default=None)


def _falls(state: MemoryState, end: datetime) -> bool:
    """Return whether the card falls due before `end` and may be shown."""
    return state.due is not None and state.due < end and not (state.suspended or state.retracted)


def _of_columns(cards: IndexedCards, states: StateColumns, newer: set[int | None], end: datetime) -> Iterator[datetime]:
    """Yield what `_due` does for the states before the cut; `newer` rows have been reviewed since."""
    crossed = cards.crossed(states)
    due, suspended, retracted = map(states.column, ("due", "suspended", "retracted"))
    for row in crossed.before(micros(end)):
        out = suspended[row] or retracted[row] or crossed.cards[row] < 0 or row in newer
        if not out and due[row] > _NEVER:
            yield instant_of(due[row])
