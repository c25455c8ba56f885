"""A review session as a state machine: show, reveal, rate, undo. Pure: the caller writes each event before it goes on.

session = begin(queue, states, scheduler, now)
while session.current:
    after, event = rate(reveal(session), rating, stamp)
    append(guard, event)            # if this raises, `session` still stands
    session = after
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from learning.cards.edit import Edited
from learning.memory.scheduler import Scheduler
from learning.memory.state import MemoryState, Phase
from learning.schedule.balance import DueDays, Load, Move, intervals, moved
from learning.schedule.queue import Queue
from vault.errors import NotFound, UsageError
from vault.ids import CardId
from vault.log.events import Bury, CardMark, Flag, LogEvent, Rating, Review, Stamp, Suspend, Undo

LEARN_AHEAD = timedelta(minutes=20)  # with nothing else left, a step is shown this much before it is due


@dataclass(frozen=True, slots=True)
class Counts:
    """How many cards are to come, the current card included."""

    new: int
    learning: int
    review: int

    @property
    def all(self) -> int:
        """Return the sum."""
        return self.new + self.learning + self.review

    def plus(self, phase: Phase, cards: int = 1) -> Counts:
        """Return the counts with so many cards more of that phase."""
        if phase is Phase.NEW:
            return Counts(self.new + cards, self.learning, self.review)
        if phase is Phase.REVIEW:
            return Counts(self.new, self.learning, self.review + cards)
        return Counts(self.new, self.learning + cards, self.review)


Steps = tuple[tuple[datetime, CardId], ...]
# States since the session began, the newest last. None is ever changed, as a session that undo leads back to holds them
# too; each is at least twice as large as the next, so that a card is copied a dozen times in thousands, not each time.
Changed = tuple[Mapping[CardId, MemoryState], ...]


@dataclass(frozen=True, slots=True)
class Session:
    """A review session. `current` is the card shown, None if nothing can be shown now; `done` counts ratings.

    Every card that is still to come is in one place: on the table, in `main` from `position` on, or in `steps`.
    """

    scheduler: Scheduler = field(repr=False, compare=False)
    before: Mapping[CardId, MemoryState] = field(repr=False, compare=False)  # as the session began
    main: tuple[CardId, ...]
    left: Counts
    steps: Steps = ()  # cards in learning, by when they are due
    position: int = 0
    current: CardId | None = None
    revealed: bool = False
    done: int = 0
    changed: Changed = field(default=(), repr=False)
    past: tuple[Session, LogEvent | Edited] | None = field(default=None, repr=False, compare=False)
    due_days: DueDays | None = field(default=None, repr=False, compare=False)  # None: days are not balanced
    moves: tuple[Move, ...] = field(default=(), repr=False, compare=False)  # of the cards rated since the session began

    def state(self, card: CardId) -> MemoryState:
        """Return the state of the card now; NEW for a card never reviewed."""
        for newer in reversed(self.changed):
            if (found := newer.get(card)) is not None:
                return found
        return self.before.get(card) or _UNSEEN

    @property
    def next_at(self) -> datetime | None:
        """Return when the next step of learning falls due; None if none is left."""
        return self.steps[0][0] if self.steps else None

    def to_come(self) -> Iterable[CardId]:
        """Return every card still to come, the current one first."""
        if self.current is not None:
            yield self.current
        yield from self.main[self.position :]
        for _, card in self.steps:
            yield card

    def next_up(self) -> tuple[CardId, ...]:
        """Return the cards of which one comes next, whatever is done with the current one."""
        return *self.main[self.position : self.position + 1], *(card for _, card in self.steps[:1])

    def counts(self) -> Counts:
        """Return how many cards are still to come; cheap, as it is asked for at every card."""
        return self.left

    def previews(self, now: datetime) -> dict[Rating, MemoryState]:
        """Return what each rating would make of the current card; empty without one."""
        if self.current is None:
            return {}
        card, state, day = self.current, self.state(self.current), self.scheduler.day(now)
        chosen = intervals(self.scheduler, card, state, now, self.load(card))
        return {rating: self.scheduler.review(card, state, rating, now, day, days) for rating, days in chosen.items()}

    def load(self, card: CardId) -> Load:
        """Return what is due on the coming days, as it matters to a card."""
        if self.due_days is None:
            return Load()
        return moved(self.due_days.load(card), self.due_days.group(card), self.moves)


_UNSEEN = MemoryState()


def begin(
    queue: Queue,
    states: Mapping[CardId, MemoryState],
    scheduler: Scheduler,
    now: datetime,
    due_days: DueDays | None = None,
) -> Session:
    """Return a session over today's queue, its first card shown; by `due_days` the coming days are balanced."""
    return advance(replace(_from_queue(queue, states, scheduler), due_days=due_days), now)


def caught_up(
    session: Session,
    queue: Queue,
    states: Mapping[CardId, MemoryState],
    scheduler: Scheduler,
    now: datetime,
    due_days: DueDays | None = None,
) -> Session:
    """Return `session` over the queue as it is now, after others have written; what was done can still be undone.

    The card on the table stays there if the queue still has it.
    """
    opened = replace(_from_queue(queue, states, scheduler), done=session.done, past=session.past, due_days=due_days)
    card = session.current
    if card is None or card not in set(opened.to_come()):
        return advance(opened, now)
    return _showing(opened, card)


def _showing(opened: Session, card: CardId) -> Session:
    """Return `opened`, which shows no card, with one of its cards shown."""
    main = tuple(other for other in opened.main if other != card)
    return replace(opened, main=main, steps=tuple(step for step in opened.steps if step[1] != card), current=card)


def _from_queue(queue: Queue, states: Mapping[CardId, MemoryState], scheduler: Scheduler) -> Session:
    """Return a session over the queue that shows no card yet."""
    main: list[CardId] = []
    steps: list[tuple[datetime, CardId]] = []
    phases: Counter[Phase] = Counter()
    for item in (*queue.today, *queue.waiting):
        state = states.get(item.card, _UNSEEN)
        phases[state.phase] += 1
        if state.due is not None and _is_step(state):
            insort(steps, (state.due, item.card))
        else:
            main.append(item.card)
    learning = phases[Phase.LEARNING] + phases[Phase.RELEARNING]
    left = Counts(phases[Phase.NEW], learning, phases[Phase.REVIEW])
    return Session(scheduler, states, tuple(main), left, tuple(steps))


def _is_step(state: MemoryState) -> bool:
    """Return whether the card is in a step of learning or relearning."""
    return state.phase in (Phase.LEARNING, Phase.RELEARNING) and not state.interval_days


def advance(session: Session, now: datetime) -> Session:
    """Return `session` with a card shown, if one can be at `now`: to be called again when time has passed.

    A step that is due comes first, then the queue, then a step that is due within twenty minutes.
    """
    if session.current is not None:
        return session
    steps, position, current = _next_card(session.steps, session.main, session.position, now)
    if current is None:
        return session
    return replace(session, current=current, revealed=False, position=position, steps=steps)


def _next_card(
    steps: Steps, main: tuple[CardId, ...], position: int, now: datetime
) -> tuple[Steps, int, CardId | None]:
    """Return the remaining steps, the new position in the queue, and the card to show, if there is one."""
    if steps and steps[0][0] <= now:
        return steps[1:], position, steps[0][1]
    if position < len(main):
        return steps, position + 1, main[position]
    if steps and steps[0][0] <= now + LEARN_AHEAD:
        return steps[1:], position, steps[0][1]
    return steps, position, None


def reveal(session: Session) -> Session:
    """Return the session with the answer shown."""
    _current(session)
    return replace(session, revealed=True)


def rate(session: Session, rating: Rating, stamp: Stamp, ms: int = 0) -> tuple[Session, Review]:
    """Return the session with the next card shown, and the review to write before that card is seen.

    Raises: UsageError if the answer is not shown yet.
    """
    card = _current(session)
    if not session.revealed:
        raise UsageError("show the answer before you rate the card", hint="show the answer first")
    before, scheduler = session.state(card), session.scheduler
    days = intervals(scheduler, card, before, stamp.when, session.load(card), rating)[rating]
    event = Review(stamp, card, rating, ms, days)
    state = scheduler.review(card, before, rating, stamp.when, scheduler.day(stamp.when), days)
    steps, left = session.steps, session.left.plus(before.phase, -1)
    if state.due is not None and _is_step(state) and not state.suspended:  # as a leech may be
        step = state.due, card
        place = bisect_right(steps, step)
        steps, left = (*steps[:place], step, *steps[place:]), left.plus(state.phase)
    after = _next(session, event, state, steps, left, 1)
    if session.due_days is not None and days:
        move = Move(session.due_days.group(card), _due_day(scheduler, before), _due_day(scheduler, state))
        after = replace(after, moves=(*session.moves, move))
    return after, event


def _due_day(scheduler: Scheduler, state: MemoryState) -> int:
    """Return the study day on which a card is due; 0 for none."""
    return 0 if state.due is None else scheduler.calendar.day(state.due)


def bury(session: Session, stamp: Stamp) -> tuple[Session, Bury]:
    """Return the session without its current card until the next study day, and the event."""
    event = Bury(stamp, _current(session))
    calendar = session.scheduler.calendar
    until = calendar.start(calendar.day(stamp.when) + 1)
    return _marked(session, event, replace(session.state(event.card), buried_until=until)), event


def suspend(session: Session, stamp: Stamp) -> tuple[Session, Suspend]:
    """Return the session without its current card until it is resumed, and the event."""
    event = Suspend(stamp, _current(session))
    return _marked(session, event, replace(session.state(event.card), suspended=True)), event


def flag(session: Session, stamp: Stamp, reason: str = "") -> tuple[Session, Flag]:
    """Return the session with its current card, which stays, flagged, and the event."""
    event = Flag(stamp, _current(session), reason)
    state = replace(session.state(event.card), flagged=True)
    return replace(session, changed=_with(session.changed, event.card, state), past=(session, event)), event


def _marked(session: Session, event: CardMark, state: MemoryState) -> Session:
    """Return the session without its current card, whose new state is `state`."""
    return _next(session, event, state, session.steps, session.left.plus(state.phase, -1))


def _next(
    session: Session,
    event: Review | CardMark,
    state: MemoryState,
    steps: Steps,
    left: Counts,
    done: int = 0,
) -> Session:
    """Return `session`, to which undo leads back, without its current card, whose new state is `state`."""
    steps, position, current = _next_card(steps, session.main, session.position, event.when)
    return Session(
        session.scheduler,
        session.before,
        session.main,
        left,
        steps,
        position,
        current,
        done=session.done + done,
        changed=_with(session.changed, event.card, state),
        past=(session, event),
        due_days=session.due_days,
        moves=session.moves,
    )


def _with(changed: Changed, card: CardId, state: MemoryState) -> Changed:
    """Return `changed` with one state more."""
    newest: dict[CardId, MemoryState] = {card: state}
    place = len(changed)
    while place and len(changed[place - 1]) < 2 * len(newest):
        place -= 1
        newest = {**changed[place], **newest}
    return *changed[:place], newest


def edited(session: Session, edit: Edited) -> Session:
    """Return the session after the user edited its current card, which stays shown; undo reverts the edit."""
    _current(session)
    return replace(session, past=(session, edit))


def last_done(session: Session) -> LogEvent | Edited:
    """Return what `undo` would undo. Raises: NotFound if nothing is left to undo."""
    if session.past is None:
        raise NotFound("nothing to undo in this session", hint="use `retain undo` to undo earlier actions")
    return session.past[1]


def undo(session: Session, stamp: Stamp) -> tuple[Session, Undo | None]:
    """Return the session before the last action, with that card shown again; can be repeated.

    With the event that voids the last one; None for an edit, which is in no log. Raises: NotFound if nothing is left.
    """
    last = last_done(session)
    assert session.past is not None
    before, _ = session.past
    stays = isinstance(last, Flag) or not isinstance(last, LogEvent)
    after = replace(before, revealed=stays and before.revealed)
    return after, Undo(stamp, last.id) if isinstance(last, LogEvent) else None


def drop(session: Session, now: datetime) -> Session:
    """Return the session without its current card, which is gone from its file; nothing is written."""
    left = session.left.plus(session.state(_current(session)).phase, -1)
    return advance(replace(session, current=None, revealed=False, left=left), now)


def _current(session: Session) -> CardId:
    """Return the current card. Raises: NotFound."""
    if session.current is None:
        raise UsageError("no card is shown")
    return session.current


IDLE = timedelta(seconds=60)  # after so long without a key one has gone away; no more than this is counted


_NOTHING = timedelta()


@dataclass(frozen=True, slots=True)
class Stopwatch:
    """Time counted up to the last key at `stirred`; None while it is stopped."""

    counted: timedelta = _NOTHING
    stirred: datetime | None = None

    def stir(self, now: datetime) -> Stopwatch:
        """Return the watch after a key was pressed: the time since the last one counts, up to IDLE. Starts a stopped
        watch.
        """
        return Stopwatch(self.spent(now), now)

    def stop(self, now: datetime) -> Stopwatch:
        """Return the watch stopped until the next `stir`."""
        return Stopwatch(self.spent(now))

    def spent(self, now: datetime) -> timedelta:
        """Return the time counted by `now`; a clock that goes back subtracts nothing."""
        if self.stirred is None:
            return self.counted
        return self.counted + min(max(now - self.stirred, _NOTHING), IDLE)

    def away(self, now: datetime) -> bool:
        """Return whether the user has been idle for so long that the time until the next key does not count."""
        return self.stirred is None or now - self.stirred >= IDLE

    def reset(self) -> Stopwatch:
        """Return the watch with nothing counted, for the next card."""
        return replace(self, counted=_NOTHING)
