"""The queue of a study day: which cards are due or new, in which order, within the limits."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from operator import itemgetter

from learning.memory.state import MemoryState, Phase
from learning.study_day import StudyCalendar
from vault.ids import CardId
from vault.log.events import LogEvent, Review
from vault.log.review_log import live

_ACTIVE = 5  # concepts that are introduced side by side
_STEPS = (Phase.LEARNING, Phase.RELEARNING)


@dataclass(frozen=True, slots=True)
class Item:
    """A card in the queue. Cards with the same `concept` are siblings, which for an imported card is its Anki note."""

    card: CardId
    concept: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """At most so many reviews and new cards a study day; steps of learning are not limited."""

    new: int = 20
    reviews: int = 200


@dataclass(frozen=True, slots=True)
class Done:
    """Cards already reviewed on the present study day: how many for the first time, how many again, and which."""

    new: int = 0
    reviews: int = 0
    cards: frozenset[CardId] = field(default=frozenset(), repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Queue:
    """Each card once, in study order.

    `due` and `new` know no limits. `today` is what the limits leave of them, mixed; `waiting` are steps of learning
    that fall due later in the same study day.
    """

    due: tuple[Item, ...] = ()
    new: tuple[Item, ...] = ()
    today: tuple[Item, ...] = ()
    waiting: tuple[Item, ...] = ()


def build_queue(
    items: Sequence[Item],
    states: Mapping[CardId, MemoryState],
    now: datetime,
    *,
    calendar: StudyCalendar,
    limits: Limits | None = None,
    done: Done | None = None,
    prerequisites: Mapping[str, Collection[str]] | None = None,
    met: Collection[str] | None = None,
    backlog: Callable[[Sequence[Item]], list[Item]] | None = None,
) -> Queue:
    """The queue at `now`. `items` in the order of the decks; `prerequisites` by concept, circles allowed.

    With `met`, the concepts of the cards seen today, no more than one card of a concept has room in a study day; steps
    of learning do always. `backlog` orders reviews of which today has not room for all.
    """
    limits, done = limits or Limits(), done or Done()
    fresh: list[Item] = []
    due: list[tuple[Item, MemoryState]] = []
    waiting: list[tuple[datetime, Item]] = []
    day = calendar.day(now)
    tomorrow = calendar.start(day + 1)
    for item in _once(items):
        state = states.get(item.card)
        if state is None or (state.phase is Phase.NEW and not state.hidden(now)):
            fresh.append(item)
        elif state.due is None or state.hidden(now):
            continue
        elif state.due <= now:
            due.append((item, state))
        elif state.phase in _STEPS and state.due < tomorrow:
            waiting.append((state.due, item))
    steps, reviews = _due_order(due, calendar, day)
    if backlog is not None and len(reviews) > max(0, limits.reviews - done.reviews):
        reviews = apart(backlog(reviews))
    new = list(new_order(fresh, prerequisites or {}))
    room, fresh = (reviews, new) if met is None else _one_of_each(reviews, new, {*met, *(i.concept for i in steps)})
    room = room[: max(0, limits.reviews - done.reviews)]
    today = steps + list(mixed(room, fresh[: max(0, limits.new - done.new)]))
    waiting.sort(key=lambda w: (w[0], w[1].card))
    return Queue(tuple(steps + reviews), tuple(new), tuple(today), tuple(item for _, item in waiting))


def _one_of_each(reviews: list[Item], new: list[Item], met: set[str]) -> tuple[list[Item], list[Item]]:
    """Of each concept that is not `met` yet its first card: a review before a new one."""
    kept: tuple[list[Item], list[Item]] = ([], [])
    for items, out in zip((reviews, new), kept, strict=True):
        for item in items:
            if item.concept not in met:
                met.add(item.concept)
                out.append(item)
    return kept


def done_today(events: Iterable[LogEvent], calendar: StudyCalendar, now: datetime) -> Done:
    """What has been reviewed in the study day of `now`, each card once."""
    day = calendar.day(now)
    start, end = calendar.start(day), calendar.start(day + 1)
    seen: set[CardId] = set()
    first: set[CardId] = set()
    today: set[CardId] = set()
    for event in live(events):
        if isinstance(event, Review):
            if start <= event.when < end:
                today.add(event.card)
                if event.card not in seen:
                    first.add(event.card)
            seen.add(event.card)
    return Done(len(first), len(today) - len(first), frozenset(today))


def _once(items: Iterable[Item]) -> Iterable[Item]:
    """Each card where it comes first."""
    first: dict[CardId, Item] = {}
    for item in items:
        first.setdefault(item.card, item)
    return first.values()


def _due_order(
    due: Iterable[tuple[Item, MemoryState]], calendar: StudyCalendar, today: int
) -> tuple[list[Item], list[Item]]:
    """Steps of learning by the minute; then reviews by the day they fell due, the most nearly forgotten first."""
    steps: list[tuple[datetime, CardId, Item]] = []
    reviews: list[tuple[int, float, CardId, Item]] = []
    for item, state in due:
        assert state.due is not None
        if state.phase in _STEPS and not state.interval_days:
            steps.append((state.due, item.card, item))
        else:
            # One forgetting curve for all cards: the longer the wait for its stability, the lower retrievability.
            waited = (today - state.last_day) / state.stability
            reviews.append((calendar.day(state.due), -waited, item.card, item))
    steps.sort(key=itemgetter(0, 1))
    reviews.sort(key=itemgetter(0, 1, 2))
    return [step[-1] for step in steps], apart(review[-1] for review in reviews)


def apart(items: Iterable[Item]) -> list[Item]:
    """`items` as nearly in their order as can be with no two siblings in a row, wherever that is possible."""
    out: list[Item] = []
    held: deque[Item] = deque()  # siblings of the last one out, all of one concept
    for item in items:
        if out and item.concept == out[-1].concept:
            held.append(item)
            continue
        out.append(item)
        if held:
            out.append(held.popleft())
    return _between(out, held) if held else out


def _between(items: list[Item], siblings: deque[Item]) -> list[Item]:
    """`items` with the `siblings` between them as late as they fit; those that don't fit come last."""
    concept = siblings[0].concept
    out: list[Item] = []
    after: Item | None = None
    for item in reversed(items):
        if siblings and item.concept != concept and (after is None or after.concept != concept):
            out.append(siblings.pop())
        out.append(item)
        after = item
    if siblings and items[0].concept != concept:
        out.append(siblings.pop())
    return [*reversed(out), *siblings]


def new_order(items: Sequence[Item], prerequisites: Mapping[str, Collection[str]]) -> Iterator[Item]:
    """New cards: a concept's first card after those of its prerequisites, siblings apart, kinds mixed.

    Concepts join one by one. In each round the latest gives its first card, then each one before it its next; so the
    n-th card of a prerequisite comes before the n-th card of what builds on it.
    """
    cards: dict[str, deque[Item]] = {}
    for item in items:
        cards.setdefault(item.concept, deque()).append(item)
    coming = (cards[concept] for concept in by_prerequisite(cards, prerequisites))
    active: deque[deque[Item]] = deque()
    while True:
        if len(active) < _ACTIVE:
            active.extendleft(islice(coming, 1))
        if not active:
            return
        for concept in active:
            yield concept.popleft()
        active = deque(concept for concept in active if concept)


def by_prerequisite(concepts: Iterable[str], prerequisites: Mapping[str, Collection[str]]) -> Iterator[str]:
    """`concepts` in their order, but each after its prerequisites, those through a third one included.

    In a circle the one that is reached first goes in last.
    """
    wanted = list(concepts)
    given = set(wanted)
    seen: set[str] = set()
    for root in wanted:
        path: list[tuple[str, Iterator[str]]] = [(root, _needs(root, prerequisites))] if root not in seen else []
        seen.add(root)
        while path:
            concept, needs = path[-1]
            below = next((n for n in needs if n not in seen), None)
            if below is not None:
                seen.add(below)
                path.append((below, _needs(below, prerequisites)))
                continue
            path.pop()
            if concept in given:
                yield concept


def _needs(concept: str, prerequisites: Mapping[str, Collection[str]]) -> Iterator[str]:
    return iter(sorted(prerequisites.get(concept, ())))


def mixed(reviews: Sequence[Item], new: Sequence[Item]) -> Iterator[Item]:
    """Both, each in its own order, the new ones spread evenly; siblings of the one before wait if they can."""
    last = ""
    r = n = 0
    while r < len(reviews) or n < len(new):
        take_new = n < len(new) and (r == len(reviews) or (n + 1) * (len(reviews) + 1) < (r + 1) * (len(new) + 1))
        if r < len(reviews) and n < len(new) and (new[n] if take_new else reviews[r]).concept == last:
            take_new = not take_new
        item = new[n] if take_new else reviews[r]
        n, r = (n + 1, r) if take_new else (n, r + 1)
        last = item.concept
        yield item
