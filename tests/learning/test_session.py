"""A session behaves as a plain list of cards would, undo included, and its log folds to what it shows."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from learning.cards.edit import Edited, Words
from learning.memory.fold import fold
from learning.memory.scheduler import Scheduler
from learning.memory.state import MemoryState, Phase, Rules
from learning.review.session import (
    LEARN_AHEAD,
    Counts,
    Session,
    advance,
    begin,
    bury,
    drop,
    edited,
    flag,
    last_done,
    rate,
    reveal,
    suspend,
    undo,
)
from learning.schedule.queue import Item, Queue, build_queue
from learning.study_day import StudyCalendar
from tests.batteries import examples
from vault.errors import NotFound, UsageError
from vault.ids import CardId
from vault.log.events import LogEvent, Rating, Review, Stamp

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
CALENDAR = StudyCalendar()
SCHEDULER = Scheduler(Rules(CALENDAR))
A, B, C = CardId("a1"), CardId("b1"), CardId("c1")


def stamp(number: int, at: datetime = NOON) -> Stamp:
    return Stamp(f"{number:026}", at)


def study_session(*cards: CardId, states: dict[CardId, MemoryState] | None = None, now: datetime = NOON) -> Session:
    known = states or {}
    queue = build_queue([Item(card, card[0]) for card in cards], known, now, calendar=CALENDAR)
    return begin(queue, known, SCHEDULER, now)


def rated(session: Session, rating: Rating, number: int, at: datetime = NOON) -> Session:
    return rate(reveal(session), rating, stamp(number, at))[0]


def test_a_sitting_shows_one_card_after_another() -> None:
    session = study_session(A, B)
    assert (session.current, session.revealed) == (A, False)
    session = reveal(session)
    assert session.revealed
    session, event = rate(session, Rating.EASY, stamp(1), 5400)
    assert event == Review(stamp(1), A, Rating.EASY, 5400, 8)
    assert (session.current, session.revealed, session.done) == (B, False, 1)
    session = rated(session, Rating.EASY, 2)
    assert (session.current, session.next_at, session.done) == (None, None, 2)


def test_a_rating_needs_the_answer_first_and_a_card() -> None:
    session = study_session(A)
    with pytest.raises(UsageError, match="answer"):
        rate(session, Rating.GOOD, stamp(1))
    empty = rated(session, Rating.EASY, 1)
    for act in (reveal, lambda s: bury(s, stamp(2)), lambda s: drop(s, NOON)):
        with pytest.raises(UsageError, match="no card"):
            act(empty)


def test_a_card_in_learning_comes_back_when_it_is_due() -> None:
    session = rated(study_session(A, B, C), Rating.AGAIN, 1)
    assert (session.current, session.next_at) == (B, NOON + timedelta(minutes=1))
    session = rated(session, Rating.EASY, 2, NOON + timedelta(seconds=90))
    assert session.current == A
    assert session.counts() == Counts(new=1, learning=1, review=0)


def test_with_nothing_else_left_a_step_is_shown_up_to_twenty_minutes_ahead() -> None:
    session = rated(study_session(A), Rating.GOOD, 1)
    assert session.current == A
    slow = Scheduler(Rules(CALENDAR, learning_steps=(timedelta(minutes=30),)))
    session = begin(Queue(today=(Item(A, "a"),)), {}, slow, NOON)
    session = rated(session, Rating.AGAIN, 1)
    assert (session.current, session.next_at) == (None, NOON + timedelta(minutes=30))
    assert advance(session, NOON + timedelta(minutes=9)).current is None
    assert advance(session, NOON + timedelta(minutes=30) - LEARN_AHEAD).current == A


def test_a_step_left_from_the_last_sitting_waits_in_this_one() -> None:
    state = SCHEDULER.review(A, MemoryState(), Rating.GOOD, NOON - timedelta(minutes=2))
    session = study_session(A, B, states={A: state})
    assert session.current == B
    assert rated(session, Rating.EASY, 1).current == A


def test_undo_puts_the_card_back_on_the_table_as_often_as_there_were_events() -> None:
    start = study_session(A, B, C)
    one = rated(start, Rating.AGAIN, 1)
    two, _ = bury(one, stamp(2))
    three, _ = suspend(two, stamp(3))
    back, event = undo(three, stamp(4))
    assert event is not None and (back.current, event.voids) == (two.current, stamp(3).id)
    back, event = undo(back, stamp(5))
    assert event is not None and (back.current, event.voids) == (one.current, stamp(2).id)
    back, event = undo(back, stamp(6))
    assert event is not None and (back, event.voids) == (start, stamp(1).id)
    with pytest.raises(NotFound):
        undo(back, stamp(7))


def test_a_flag_leaves_the_card_on_the_table() -> None:
    session, event = flag(reveal(study_session(A)), stamp(1), "unclear")
    assert (session.current, session.revealed, session.state(A).flagged) == (A, True, True)
    assert event.reason == "unclear"
    back, _ = undo(session, stamp(2))
    assert (back.revealed, back.state(A).flagged) == (True, False)


def test_a_dropped_card_does_not_come_back() -> None:
    session = drop(study_session(A, B), NOON)
    assert (list(session.to_come()), session.counts()) == ([B], Counts(1, 0, 0))


def test_each_button_says_what_it_will_do() -> None:
    session = reveal(study_session(A))
    previews = session.previews(NOON)
    for rating in Rating:
        assert rate(session, rating, stamp(1))[0].state(A) == previews[rating]
    assert study_session().previews(NOON) == {}


def test_a_clock_that_went_back_spoils_no_preview_and_refuses_no_rating() -> None:
    state = SCHEDULER.review(A, MemoryState(), Rating.AGAIN, NOON)
    session = begin(Queue(today=(Item(A, "a"),)), {A: state}, SCHEDULER, NOON)
    earlier = NOON - timedelta(minutes=5)
    previews = session.previews(earlier)
    late = Stamp("1", NOON + timedelta(milliseconds=1), clock=earlier)
    assert rate(reveal(session), Rating.GOOD, late)[0].state(A) == previews[Rating.GOOD]
    assert previews[Rating.GOOD].stability == session.previews(NOON)[Rating.GOOD].stability


def test_a_sitting_of_a_thousand_cards_keeps_every_state_and_copies_none_of_them_often() -> None:
    cards = [CardId(f"{n:010}") for n in range(1000)]
    session = begin(Queue(today=tuple(Item(card, card) for card in cards)), {}, SCHEDULER, NOON)
    sizes = []
    for number in range(1000):
        session = rated(session, Rating.EASY, number)
        sizes.append([len(states) for states in session.changed])
    assert all(session.state(card) == SCHEDULER.review(card, MemoryState(), Rating.EASY, NOON) for card in cards)
    assert all(newer * 2 <= older for found in sizes for older, newer in pairwise(found))
    assert sum(found[-1] for found in sizes) < 1000 * 12
    assert session.counts() == Counts(0, 0, 0)


CARDS = [CardId(f"{concept}{n}") for concept in "abc" for n in range(3)]
Snapshot = tuple[list[CardId], list[tuple[datetime, CardId]], CardId | None, list[LogEvent]]


class SessionAgainstAList(RuleBasedStateMachine):
    """The naive half keeps lists, copies them before each event, and asks the fold for every state."""

    @initialize(
        cards=st.lists(st.sampled_from(CARDS), unique=True, max_size=6),
        past=st.lists(st.tuples(st.sampled_from(CARDS), st.sampled_from(Rating), st.integers(0, 40)), max_size=6),
    )
    def begin(self, cards: list[CardId], past: list[tuple[CardId, Rating, int]]) -> None:
        self.now, self.number = NOON, 100
        self.past: list[LogEvent] = [
            Review(stamp(n, NOON - timedelta(days=days)), card, rating) for n, (card, rating, days) in enumerate(past)
        ]
        self.log: list[LogEvent] = []
        states = fold(self.past, SCHEDULER)
        queue = build_queue([Item(c, c[0]) for c in cards], states, NOON, calendar=CALENDAR)
        self.session = begin(queue, states, SCHEDULER, NOON)
        order = [item.card for item in (*queue.today, *queue.waiting)]
        self.main = [card for card in order if not self.is_step(card)]
        self.steps = [(self.due(card), card) for card in order if self.is_step(card)]
        self.table: CardId | None = None
        self.snapshots: list[Snapshot] = []
        self.deal()

    def known(self, card: CardId) -> MemoryState:
        return fold([*self.past, *self.log], SCHEDULER).get(card, MemoryState())

    def due(self, card: CardId) -> datetime:
        due = self.known(card).due
        assert due is not None
        return due

    def is_step(self, card: CardId) -> bool:
        state = self.known(card)
        return state.phase in (Phase.LEARNING, Phase.RELEARNING) and state.interval_days == 0

    def deal(self) -> None:
        self.steps.sort()
        ripe = [step for step in self.steps if step[0] <= self.now]
        soon = [step for step in self.steps if step[0] <= self.now + timedelta(minutes=20)]
        if self.table is not None:
            return
        if ripe:
            self.table = ripe[0][1]
            self.steps.remove(ripe[0])
        elif self.main:
            self.table = self.main.pop(0)
        elif soon:
            self.table = soon[0][1]
            self.steps.remove(soon[0])

    def stamp(self) -> Stamp:
        self.number += 1
        self.now += timedelta(milliseconds=1)
        return stamp(self.number, self.now)

    def remember(self) -> None:
        self.snapshots.append((list(self.main), list(self.steps), self.table, list(self.log)))

    @precondition(lambda self: self.table is not None)
    @rule(rating=st.sampled_from(Rating), seconds=st.integers(0, 700))
    def rate(self, rating: Rating, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)
        self.remember()
        self.session, event = rate(reveal(self.session), rating, self.stamp())
        self.log.append(event)
        card = self.table
        assert card is not None
        if self.is_step(card):
            self.steps.append((self.due(card), card))
        self.table = None
        self.deal()

    @precondition(lambda self: self.table is not None)
    @rule(act=st.sampled_from([bury, suspend]))
    def put_away(self, act: object) -> None:
        self.remember()
        self.session, event = act(self.session, self.stamp())  # type: ignore[operator]
        self.log.append(event)
        self.table = None
        self.deal()

    @precondition(lambda self: self.table is not None)
    @rule()
    def flag(self) -> None:
        self.remember()
        self.session, event = flag(self.session, self.stamp())
        self.log.append(event)

    @precondition(lambda self: self.table is not None)
    @rule()
    def edit(self) -> None:
        self.remember()
        assert self.table is not None
        self.session = edited(self.session, Edited(self.table, "d.md", Words("q", "a"), Words("q", f"{self.number}")))

    @rule(minutes=st.integers(0, 60))
    def wait(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)
        self.session = advance(self.session, self.now)
        self.deal()

    @precondition(lambda self: self.snapshots)
    @rule()
    def undo(self) -> None:
        done = last_done(self.session)
        self.session, event = undo(self.session, self.stamp())
        self.main, self.steps, self.table, log = self.snapshots.pop()
        if event is None:  # an edit: no line of the log is of it
            assert isinstance(done, Edited) and self.session.current == done.card
        else:
            assert isinstance(done, LogEvent) and event.voids == done.id == self.log[len(log)].id
            self.log.append(event)

    @invariant()
    def both_hold_the_same_cards_in_the_same_order(self) -> None:
        table = [] if self.table is None else [self.table]
        assert list(self.session.to_come()) == [*table, *self.main, *(card for _, card in self.steps)]
        assert len(set(self.session.to_come())) == len(list(self.session.to_come()))
        phases = Counter(self.known(card).phase for card in self.session.to_come())
        learning = phases[Phase.LEARNING] + phases[Phase.RELEARNING]
        assert self.session.counts() == Counts(phases[Phase.NEW], learning, phases[Phase.REVIEW])

    @invariant()
    def every_deed_can_be_undone_once(self) -> None:
        deeds, past = 0, self.session.past
        while past is not None:
            deeds, past = deeds + 1, past[0].past
        assert deeds == len(self.snapshots)

    @invariant()
    def the_log_folds_to_what_the_sitting_shows(self) -> None:
        folded = fold([*self.past, *self.log], SCHEDULER)
        for card in CARDS:
            assert self.session.state(card) == folded.get(card, MemoryState())


TestSessionAgainstAList = SessionAgainstAList.TestCase
TestSessionAgainstAList.settings = settings(max_examples=examples(150), stateful_step_count=30, deadline=None)
