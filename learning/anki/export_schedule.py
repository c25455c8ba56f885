"""The schedule of exported cards in Anki's terms: rows of cards and of the review log, and a preset.

Anki counts due days from the day its collection was created, so the package names a creation day and the hour at which
a day begins; an import moves the days to those of the receiving collection. Stability and difficulty are in a card's
`data`, as Anki 23.10 and later have them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from learning.cards.workspace import Desk
from learning.history.reviews import CardReviews
from learning.memory.scheduler import Scheduler
from learning.memory.state import UNSEEN, MemoryState, Phase
from vault.ids import CardId
from vault.log.events import Forget
from vault.log.review_log import at_of, unix_ms

PRESET = 1_763_719_211  # the number of our preset, in every vault
_TYPES = {Phase.NEW: 0, Phase.LEARNING: 1, Phase.REVIEW: 2, Phase.RELEARNING: 3}
_KINDS = {Phase.NEW: 0, Phase.LEARNING: 0, Phase.REVIEW: 1, Phase.RELEARNING: 2}  # of a review, by the phase before it
_SUSPENDED, _BURIED, _INTRADAY, _REVIEWS, _OTHER_DAY = -1, -3, 1, 2, 3  # Anki's queues
_MANUAL = 4  # of a review that is none
_EASE = 2500  # the ease factor of a card, which FSRS does not use
_RED = 1  # of Anki's flags
_UPDATE = (
    "UPDATE cards SET type = ?, queue = ?, due = ?, ivl = ?, factor = ?, reps = ?, lapses = ?, left = ?, flags = ?,"
    " data = ? WHERE id = ?"
)
_REVIEW = "INSERT INTO revlog VALUES (?, ?, -1, ?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Schedule:
    """The statements' values. `cards` end with the card's number; `reviews` are rows of Anki's review log; `created` is
    the Unix second of the day from which due days count; `config` goes into the collection's, `preset` is its options.
    """

    cards: Sequence[tuple[object, ...]]
    reviews: Sequence[tuple[object, ...]]
    created: int
    config: Mapping[str, Any]
    preset: Mapping[str, Any]


def schedule_of(desk: Desk, numbers: Mapping[CardId, int]) -> Schedule:
    """Return the schedule of the cards in `numbers`, which maps them to their numbers in the package."""
    history = {card: reviews for card, reviews in desk.past.reviews_of_each(list(numbers)) if card in numbers}
    forgotten = _forgotten(desk)
    scheduler = desk.scheduler
    today = scheduler.day(desk.now)
    first = min((reviews.when[0] for reviews in history.values() if reviews.when), default=unix_ms(desk.now))
    origin = min(scheduler.day(at_of(first)), today)
    rules = scheduler.rules
    created = scheduler.calendar.start(origin)
    offset = created.astimezone(rules.calendar.zone).utcoffset()
    minutes_west = -int(offset.total_seconds() // 60) if offset else 0
    return Schedule(
        [
            (*_card(scheduler, card, desk.state(card), desk.now, origin), number)
            for card, number in numbers.items()
            if desk.state(card) != UNSEEN
        ],
        _numbered(
            row
            for card, reviews in history.items()
            for row in _reviews(scheduler, card, numbers[card], reviews, forgotten.get(card, ()))
        ),
        int(created.timestamp()),
        {
            "schedVer": 2,
            "sched2021": True,
            "fsrs": True,
            "rollover": rules.calendar.rollover,
            "creationOffset": minutes_west,
        },
        _preset(desk),
    )


def review_rows(desk: Desk, numbers: Mapping[CardId, int]) -> Iterator[tuple[int, list[tuple[int, ...]]]]:
    """Yield for each card with reviews its number in Anki, and its rows of Anki's review log."""
    forgotten = _forgotten(desk)
    for card, reviews in desk.past.reviews_of_each(list(numbers)):
        if card in numbers:
            rows = _reviews(desk.scheduler, card, numbers[card], reviews, forgotten.get(card, ()))
            yield numbers[card], list(rows)


def card_row(desk: Desk, card: CardId, origin: int) -> tuple[object, ...]:
    """Return type, queue, due, interval, ease, reviews, lapses, steps left and the Unix second of the last review of a
    card, and None for its memory state. `origin` is the ordinal of Anki's day 0.
    """
    state = desk.state(card)
    *values, _, _ = _card(desk.scheduler, card, state, desk.now, origin)
    return (*values, int(state.last_review.timestamp()) if state.last_review else None, None)


def _forgotten(desk: Desk) -> dict[CardId, list[int]]:
    """Return the Unix milliseconds at which cards were forgotten, in order."""
    found: dict[CardId, list[int]] = {}
    for event in desk.past.marks():
        if isinstance(event, Forget):
            found.setdefault(event.card, []).append(unix_ms(event.at))
    return found


def _card(scheduler: Scheduler, card: CardId, state: MemoryState, now: datetime, origin: int) -> tuple[object, ...]:
    """Return type, queue, due, interval, ease, reviews, lapses, steps left, flag and data of a card."""
    kind, flag = _TYPES[state.phase], _RED if state.flagged else 0
    queue, due, left = 0, 0, 0
    if state.phase is not Phase.NEW and state.due is not None:
        day = scheduler.day(state.due)
        if state.phase is Phase.REVIEW:
            queue, due = _REVIEWS, day - origin
        elif day > scheduler.day(now):
            queue, due, left = _OTHER_DAY, day - origin, _steps_left(scheduler, state)
        else:
            queue, due, left = _INTRADAY, int(state.due.timestamp()), _steps_left(scheduler, state)
    if state.suspended:
        queue = _SUSPENDED
    elif state.buried_until is not None and now < state.buried_until:
        queue = _BURIED
    days = max(1, state.interval_days) if state.phase in (Phase.REVIEW, Phase.RELEARNING) else 0
    ease = 0 if state.phase is Phase.NEW else _EASE
    return kind, queue, due, days, ease, state.reps, state.lapses, left, flag, _data(scheduler, card, state)


def _steps_left(scheduler: Scheduler, state: MemoryState) -> int:
    """Return how many steps are left of those of the card's phase, at least 1."""
    rules = scheduler.rules
    steps = rules.relearning_steps if state.phase is Phase.RELEARNING else rules.learning_steps
    return max(1, len(steps) - (state.step or 0))


def _data(scheduler: Scheduler, card: CardId, state: MemoryState) -> str:
    """Return the memory state as Anki keeps it with a card: stability in days, difficulty, desired retention."""
    if state.phase is Phase.NEW:
        return ""
    values: dict[str, float | int] = {
        "s": round(state.stability, 4),
        "d": round(state.difficulty, 3),
        "dr": round(scheduler.retention(card), 3),
        "decay": round(scheduler.parameters[20], 4),
    }
    if state.last_review is not None:
        values["lrt"] = int(state.last_review.timestamp())
    return json.dumps(values, separators=(",", ":"))


def _reviews(
    scheduler: Scheduler, card: CardId, number: int, reviews: CardReviews, forgotten: Sequence[int]
) -> Iterator[tuple[int, ...]]:
    """Yield the rows of a card's reviews: number, card, rating, interval, interval before, difficulty, time and kind;
    and one without rating for each Unix millisecond at which it was `forgotten`.

    Intervals are days, or seconds where negative; a difficulty from 1 to 10 is a number from 100 to 1100.
    """
    state, before, left = UNSEEN, 0, list(forgotten)
    for id_, when, ms, recorded, rating in zip(*reviews, strict=True):
        while left and left[0] <= id_:
            yield left.pop(0), number, 0, 0, before, 0, 0, _MANUAL
            state, before = UNSEEN, 0
        at = at_of(when)
        after = scheduler.after(card, state, (rating,), (scheduler.day(at),), at, recorded)
        interval = after.interval_days or -round((after.due - at).total_seconds() if after.due else 0)
        difficulty = round((after.difficulty - 1) / 9 * 1000) + 100
        yield id_, number, rating, interval, before, difficulty, ms, _KINDS[state.phase]
        state, before = after, interval
    for at_ms in left:
        yield at_ms, number, 0, 0, before, 0, 0, _MANUAL
        before = 0


def _numbered(rows: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return the rows in order of time, each with a number of its own: a millisecond later where one is taken."""
    numbered, last = [], 0
    for id_, *values in sorted(rows):
        last = max(id_, last + 1)
        numbered.append((last, *values))
    return numbered


def _preset(desk: Desk) -> dict[str, Any]:
    """Return the options of the decks: steps, limits, desired retention and parameters of FSRS."""
    rules, settings = desk.scheduler.rules, desk.vault.settings
    return {
        "id": PRESET,
        "name": "retain",
        "mod": 0,
        "usn": -1,
        "maxTaken": 60,
        "autoplay": True,
        "timer": 0,
        "replayq": True,
        "dyn": False,
        "new": {
            "delays": [step.total_seconds() / 60 for step in rules.learning_steps],
            "perDay": settings.new_per_day,
            "ints": [1, 4, 0],
            "initialFactor": _EASE,
            "order": 1,
            "bury": settings.bury_siblings,
        },
        "rev": {
            "perDay": settings.reviews_per_day,
            "maxIvl": rules.maximum_interval,
            "ease4": 1.3,
            "ivlFct": 1.0,
            "hardFactor": 1.2,
            "bury": settings.bury_siblings,
        },
        "lapse": {
            "delays": [step.total_seconds() / 60 for step in rules.relearning_steps],
            "mult": 0.0,
            "minInt": 1,
            "leechFails": rules.leech_threshold or 99,
            "leechAction": 0 if rules.leech_suspends else 1,
        },
        "desiredRetention": rules.retention,
        "fsrsParams6": list(desk.scheduler.parameters),
    }


def write_schedule(cursor: Any, schedule: Schedule) -> None:
    """Write a schedule into the package's database, whose cards are there."""
    cursor.executemany(_UPDATE, schedule.cards)
    cursor.executemany(_REVIEW, schedule.reviews)
    config, decks, presets = cursor.execute("SELECT conf, decks, dconf FROM col").fetchone()
    config = json.loads(config) | schedule.config
    presets = json.loads(presets) | {str(PRESET): dict(schedule.preset)}
    decks = {key: deck | {"conf": PRESET if key != "1" else 1} for key, deck in json.loads(decks).items()}
    cursor.execute(
        "UPDATE col SET crt = ?, conf = ?, decks = ?, dconf = ?",
        (schedule.created, json.dumps(config), json.dumps(decks), json.dumps(presets)),
    )
