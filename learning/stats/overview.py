"""What the past year and the coming weeks hold, in a moment: no card is replayed that the answer does not need.

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
    """`reviews` has the study days (ordinals) on which anything was reviewed; `month` is true retention of 30 days.

    `streak` ends today, or yesterday if today has none yet; `coming` are the reviews planned for each day, today's
    first, those that are overdue among them.
    """

    reviews: Mapping[int, int]
    streak: int
    longest: int
    month: Retention
    coming: tuple[int, ...]


def daybook(desk: Desk, days_ahead: int) -> Daybook:
    """The daybook at a desk. Raises: SchemaTooNew, Refused or Damaged, as the log is read anew."""
    columns = desk.past.scanned().reviews
    calendar = desk.scheduler.calendar
    today = calendar.day(desk.now)
    days = Counter(calendar.days_of(columns))
    streak, longest = streaks(set(days), today)
    return Daybook(days, streak, longest, _month(desk, columns, today), coming(desk, days_ahead))


def _month(desk: Desk, columns: ReviewColumns, today: int) -> Retention:
    """True retention of the last 30 days: of the cards that were reviewed in them, and of no other."""
    since = today - MONTH + 1
    days = desk.scheduler.calendar.days_of(columns)
    cards = {columns.cards[card] for card, day in zip(columns.card, days, strict=True) if day >= since}
    if not cards:
        return Retention(MONTH, Tries(), Tries())
    seen = replay(columns_of_cards(columns, cards), desk.scheduler, desk.changes)
    return true_retention(seen, today, (MONTH,))[0]


def coming(desk: Desk, days: int) -> tuple[int, ...]:
    """Reviews that are planned by now for each of so many study days, today's first."""
    calendar = desk.scheduler.calendar
    today = calendar.day(desk.now)
    ends = [calendar.start(today + n + 1) for n in range(days)]
    count = [0] * days
    for due in _due(desk, ends[-1]):
        count[bisect_right(ends, due)] += 1
    return tuple(count)


def _due(desk: Desk, end: datetime) -> Iterator[datetime]:
    """When each card falls due that does so before `end`."""
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
    """When the first card falls due that is not put aside; it may have done so already. None if nothing is planned."""
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
    return state.due is not None and state.due < end and not (state.suspended or state.retracted)


def _of_columns(cards: IndexedCards, states: StateColumns, newer: set[int | None], end: datetime) -> Iterator[datetime]:
    """As `_due`, of the states before the cut; `newer` rows have been reviewed since."""
    crossed = cards.crossed(states)
    due, suspended, retracted = map(states.column, ("due", "suspended", "retracted"))
    for row in crossed.before(micros(end)):
        out = suspended[row] or retracted[row] or crossed.cards[row] < 0 or row in newer
        if not out and due[row] > _NEVER:
            yield instant_of(due[row])
