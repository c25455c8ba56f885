"""What a review covers: today's queue, some of its cards, or practice besides; as one line of text.

"" · "review limit:20 tag:applied" · "cram tag:topic:Memory" · "preview limit:10" · "ahead days:3"
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from learning.cards.workspace import Desk
from learning.history.due import items
from learning.memory.state import MemoryState, Phase
from learning.schedule.queue import Item, Queue, apart, new_order
from learning.store.graph import GRAPH, prerequisites
from vault.errors import UsageError
from vault.ids import CardId

MOST = 9999  # cards or days
_FORM = re.compile(
    r"(?P<mode>[a-z]+)(?: limit:(?P<limit>[0-9]{1,4}))?(?: days:(?P<days>[0-9]{1,4}))?(?: tag:(?P<tag>.+))?"
)
_EVER = datetime.max.replace(tzinfo=UTC) - timedelta(days=2)
_STEPS = (Phase.LEARNING, Phase.RELEARNING)


class Mode(StrEnum):
    """What a review is of."""

    REVIEW = "review"  # what is due today, and what is new, as far as the limits go
    AHEAD = "ahead"  # what falls due in the next days, too, rated for good
    CRAM = "cram"  # every card, again until it is recalled; nothing is scheduled
    PREVIEW = "preview"  # a look at new cards; nothing is scheduled


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan of a review: `tag` narrows it to a tag, kind or concept, or as `topic:NAME` to a topic; `limit` 0 means no
    limit.

    `days` counts only with AHEAD.
    """

    mode: Mode = Mode.REVIEW
    tag: str = ""
    limit: int = 0
    days: int = 0

    @property
    def counts(self) -> bool:
        """Return whether its ratings are logged and schedule the cards."""
        return self.mode in (Mode.REVIEW, Mode.AHEAD)

    def __str__(self) -> str:
        """Return the text that `plan_of` reads."""
        parts = [self.mode.value]
        parts += [f"limit:{self.limit}"] if self.limit else []
        parts += [f"days:{self.days}"] if self.days else []
        parts += [f"tag:{self.tag}"] if self.tag else []
        return " ".join(parts)


def plan_of(text: str) -> Plan:
    """Return the plan in `text`, "" being today's. Raises: UsageError for any other text."""
    if not text:
        return Plan()
    found = _FORM.fullmatch(text)
    if found is None or found["mode"] not in set(Mode):
        raise UsageError("not a review plan", where=text[:60], hint="write it like `cram limit:20 tag:applied`")
    plan = Plan(Mode(found["mode"]), found["tag"] or "", int(found["limit"] or 0), int(found["days"] or 0))
    if plan.tag != plan.tag.strip() or bool(plan.days) != (plan.mode is Mode.AHEAD):
        raise UsageError(
            "not a review plan", where=text[:60], hint="`ahead` needs `days`, and `days` only goes with `ahead`"
        )
    return plan


def planned_desk(desk: Desk, plan: Plan, met: Collection[CardId] = (), rated: Collection[CardId] = ()) -> Desk:
    """Return `desk` with the queue of the plan; `met` are cards that the session has shown already, within the limit.

    Ahead of their time cards have one turn: of those `rated` in this session only such as are being learnt come back.
    Reads the decks of the cards that a tag asks for. Raises: NotFound for a topic that is not there.
    """
    if plan.mode is Mode.REVIEW:
        return desk if not plan.limit else replace(desk, queue=_limited(desk.queue, plan.limit, frozenset(met)))
    queue = Queue(today=tuple(_cards(desk, plan, frozenset(rated))))
    return replace(
        desk,
        queue=_limited(queue, plan.limit, frozenset(met)) if plan.limit else queue,
        limits=replace(desk.limits, why=""),
    )


def _cards(desk: Desk, plan: Plan, rated: frozenset[CardId]) -> Iterable[Item]:
    """Return the cards of the plan, in order."""
    calendar, now = desk.scheduler.calendar, desk.now
    if plan.mode is Mode.AHEAD:
        until = calendar.start(calendar.day(now) + plan.days + 1)
        shown = _shown(desk, plan.tag, until, seen=True)
        again = (item for item in shown if item.card not in rated or desk.state(item.card).phase in _STEPS)
        return by_need(again, desk, until)
    items = list(_shown(desk, plan.tag, _EVER, seen=plan.mode is Mode.CRAM))
    fresh = [item for item in items if desk.state(item.card).phase is Phase.NEW]
    if plan.mode is Mode.CRAM:
        return [*by_need(items, desk, _EVER), *fresh]
    return new_order(fresh, prerequisites(desk.vault.read_bytes(GRAPH) or b""))


def _shown(desk: Desk, tag: str, until: datetime, *, seen: bool) -> Iterable[Item]:
    """Return the cards that may be shown now: none that is suspended, buried or retracted."""

    for item in items(desk.vault, desk.cards, desk.past, tag, until):
        state = desk.state(item.card)
        if not state.hidden(desk.now) and (seen or state.phase is Phase.NEW):
            yield item


def by_need(items: Iterable[Item], desk: Desk, until: datetime) -> list[Item]:
    """Return those of `items` that were reviewed before and fall due before `until`, the most nearly forgotten
    first.
    """
    day = desk.scheduler.calendar.day(desk.now)
    due: list[tuple[float, CardId, Item]] = []
    for item in items:
        state = desk.state(item.card)
        if state.due is not None and state.due < until:
            due.append((-_waited(state, day), item.card, item))
    return apart(item for *_, item in sorted(due))


def _waited(state: MemoryState, day: int) -> float:
    """Return how far the card is forgotten: the wait as a share of its stability."""
    return (day - state.last_day) / state.stability if state.stability else 0.0


def _limited(queue: Queue, limit: int, met: frozenset[CardId]) -> Queue:
    """Return the first cards of the queue; those in `met` count towards the limit."""
    room = max(0, limit - len(met))
    fresh = [item for item in (*queue.today, *queue.waiting) if item.card not in met][:room]
    kept = met | {item.card for item in fresh}
    today = tuple(item for item in queue.today if item.card in kept)
    return replace(queue, today=today, waiting=tuple(item for item in queue.waiting if item.card in kept))
