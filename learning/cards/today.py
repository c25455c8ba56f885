"""What today takes of the cards that are due and new: limits, minutes, pauses and plans, and why other cards wait."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from learning.history.due import due_between, items
from learning.history.history import History
from learning.memory.model import Model
from learning.memory.state import MemoryState, Phase
from learning.schedule import usual, workload
from learning.schedule.catch_up import CatchUpPlan, missed_days
from learning.schedule.queue import Done, Item, Limits, Queue, build_queue
from learning.schedule.usual import UsualDay
from learning.schedule.workload import Pace
from learning.store.cards import IndexedCards
from learning.store.graph import GRAPH, importance, prerequisites
from vault.config.settings import Settings
from vault.log.events import EVERYTHING
from vault.vault import Vault

_MOMENT = timedelta(microseconds=1)
_STEPS = (Phase.LEARNING, Phase.RELEARNING)


@dataclass(frozen=True, slots=True)
class Today:
    """What bounds today. `reviews` and `new` are for the whole day, with what is done; days are ordinals.

    `overdue` reviews should have been done on an earlier day. `plan` is in force, until `plan_ends`. `paused_until` is
    0 unless today is in a pause. `last_visit` is the last day before today with reviews, 0: none; since then `missed`
    days passed that were not paused. `why` says in a sentence why new cards wait, "" where none has to.
    """

    reviews: int = EVERYTHING
    new: int = EVERYTHING
    pace: Pace = workload.AVERAGE_PACE
    overdue: int = 0
    usual: UsualDay | None = None
    minutes: int = 0
    plan: CatchUpPlan | None = None
    plan_ends: int = 0
    paused_until: int = 0
    last_visit: int = 0
    missed: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Due:
    """Counts of what could be reviewed now: steps of learning, reviews, those of them from earlier days, new cards.

    `forgotten` is the share of the reviews that are likely to be forgotten.
    """

    steps: int
    reviews: int
    overdue: int
    new: int
    forgotten: float


def queue_of(vault: Vault, cards: IndexedCards, past: History, tag: str, now: datetime) -> tuple[Queue, Today]:
    """Return the queue at `now`, and what bounds it."""
    settings, calendar = vault.settings, past.scheduler.calendar
    day = calendar.day(now)
    done = past.done(calendar, now)
    graph = vault.read_bytes(GRAPH) or b""
    found = items(vault, cards, past, tag, max(calendar.start(day + 1), now + _MOMENT))
    due = _due(found, past, now)
    today = _today(settings, past, cards, due, done, now)
    if today.paused_until:
        return Queue(), today
    if today.minutes:
        found = workload.by_importance(found, importance(graph))
    queue = build_queue(
        found,
        past.states,
        now,
        calendar=calendar,
        limits=Limits(today.new, today.reviews),
        done=done,
        prerequisites=prerequisites(graph),
        met={cards.group(card) for card in done.cards if card in cards} if settings.bury_siblings else None,
        backlog=partial(
            workload.worth_first,
            states=past.states,
            today=day,
            model=Model(past.scheduler.parameters),
        ),
    )
    return queue, today


def _due(found: Iterable[Item], past: History, now: datetime) -> _Due:
    """Return the counts of the cards `found`."""
    scheduler, states = past.scheduler, past.states
    start, chance = scheduler.calendar.start(scheduler.day(now)), scheduler.chances(now)
    steps = reviews = overdue = new = 0
    recalled = 0.0
    unseen = MemoryState()
    for item in found:
        state = states.get(item.card, unseen)
        if state.hidden(now):
            continue
        if state.phase is Phase.NEW:
            new += 1
        elif state.due is not None and state.due <= now:
            if state.phase in _STEPS and not state.interval_days:
                steps += 1
                continue
            reviews += 1
            overdue += state.due < start
            recalled += chance(state)
    return _Due(steps, reviews, overdue, new, 1 - recalled / reviews if reviews else 0.0)


def _today(settings: Settings, past: History, cards: IndexedCards, due: _Due, done: Done, now: datetime) -> Today:
    """Return what bounds today."""
    day, decisions = past.scheduler.calendar.day(now), past.decisions
    latest = past.studied_days(day, usual.DAYS)
    last_visit = latest[0].day if latest else 0
    pause = decisions.pause_on(day)
    today = Today(
        settings.reviews_per_day,
        settings.new_per_day,
        workload.pace_of(workload.ms_per_rating(past.recent_ms()), due.forgotten),
        due.overdue,
        usual.usual_day(latest),
        paused_until=pause.until if pause is not None else 0,
        last_visit=last_visit,
        missed=missed_days(last_visit, day, decisions) if last_visit else 0,
    )
    if pause is not None:
        return today
    today = _within_minutes(_with_plan(today, past, day), settings, done)
    new, why = _new_cards(today, settings, past, cards, due, done, now)
    allowed = past.new_allowed(day)  # by the user, for this day
    return replace(today, new=max(done.new + new, allowed), why="" if allowed > done.new + new else why)


def _with_plan(today: Today, past: History, day: int) -> Today:
    """Return `today` with the plan to catch up that is in force."""
    plan = past.decisions.plan_on(day)
    if plan is None:
        return today
    studied = past.count_studied_days(plan.first, day)
    if not plan.holds(day, studied):
        return today
    reviews = EVERYTHING if plan.is_everything else min(today.reviews, plan.per_day)
    return replace(today, reviews=reviews, plan=plan, plan_ends=plan.last_day(day, studied))


def _within_minutes(today: Today, settings: Settings, done: Done) -> Today:
    """Return `today` with no more reviews than its minutes have room for."""
    if today.plan is not None and today.plan.is_everything:
        return today
    minutes, pace = usual.minutes_limit(settings.minutes_per_day, today.usual), today.pace
    if not minutes:
        return today
    left_s = minutes * 60 - done.new * pace.new_s - done.reviews * pace.review_s
    room = done.reviews + max(0, math.floor(left_s / pace.review_s + 1e-9))
    return replace(today, minutes=minutes, reviews=min(today.reviews, room))


def _new_cards(
    today: Today, settings: Settings, past: History, cards: IndexedCards, due: _Due, done: Done, now: datetime
) -> tuple[int, str]:
    """Return how many more new cards today takes, and why not all that the settings allow."""
    limit = max(0, settings.new_per_day - done.new)
    if not (limit and due.new):
        return limit, ""
    if settings.pause_new_cards and today.usual is not None and usual.too_many_overdue(today.overdue, today.usual):
        return (
            0,
            f"new cards are paused: {today.overdue} reviews are overdue, more than you do on"
            f" a typical day ({today.usual.reviews})",
        )
    if today.plan is not None and not today.plan.is_everything:
        room = max(0, today.reviews - done.reviews - due.reviews - done.new)
        if room < min(limit, due.new):
            return room, f"{room or 'none'} of {due.new} new cards today, while you catch up"
        limit = min(limit, room)
    if not today.minutes:
        return limit, ""
    found = workload.new_room(
        today.minutes,
        _load(today, past, cards, due, done, now),
        today.pace,
        workload.follow_ups(
            Model(past.scheduler.parameters), past.scheduler.rules.retention, maximum=settings.maximum_interval
        ),
        waiting=due.new,
        limit=limit,
    )
    return found.new, found.reason


def _load(today: Today, past: History, cards: IndexedCards, due: _Due, done: Done, now: datetime) -> Sequence[int]:
    """Return the reviews of today, with the time that is spent already, and of the days of a week after it."""
    pace, calendar = today.pace, past.scheduler.calendar
    spent = round(done.reviews + done.new * pace.new_s / pace.review_s)
    day = calendar.day(now)
    starts = [calendar.start(day + n) for n in range(1, workload.WEEK + 1)]
    coming = [0] * (workload.WEEK - 1)
    for at in due_between(cards, starts[0], starts[-1]):
        coming[bisect_right(starts, at) - 1] += 1
    return workload.carried_over([due.steps + due.reviews + spent, *coming], max(today.reviews, spent))
