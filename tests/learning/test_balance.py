"""The day a card is due on: ratings a day apart, siblings on other days, days alike, and all of it in the log."""

from __future__ import annotations

import random
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.cards.workspace import open_desk, rate
from learning.memory.fold import fold
from learning.memory.fsrs import DEFAULTS
from learning.memory.scheduler import Scheduler, fuzz_range
from learning.memory.state import MemoryState, Phase, Rules
from learning.review.study_session import StudySession
from learning.schedule.balance import USUAL, Load, Move, intervals, moved
from learning.study_day import StudyCalendar
from vault.ids import CardId
from vault.log.events import LogEvent, Rating, Review, Stamp, Undo, decode, encode
from vault.vault import Vault

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)  # a Saturday
CALENDAR = StudyCalendar()
CARD = CardId("k7q2m9xd3f")
TODAY = CALENDAR.day(NOON)
PASSED = (Rating.HARD, Rating.GOOD, Rating.EASY)

stabilities = st.floats(0.01, 40_000)
steps = st.sampled_from([(), (timedelta(minutes=10),), (timedelta(minutes=1), timedelta(minutes=10))])
loads = st.builds(
    Load,
    st.dictionaries(st.integers(TODAY + 1, TODAY + 120), st.integers(0, 300), max_size=60),
    st.frozensets(st.integers(TODAY + 1, TODAY + 40), max_size=40),
    st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=7, max_size=7).map(tuple),
)
schedulers = st.builds(
    lambda fuzz, retention, maximum, learning, relearning: Scheduler(
        Rules(CALENDAR, retention, (), learning, relearning, maximum, fuzz)
    ),
    st.booleans(),
    st.floats(0.7, 0.99),
    st.sampled_from([1, 4, 30, 36_500]),
    steps,
    steps,
)
states = st.builds(
    lambda phase, stability, difficulty, ago, planned, reps: MemoryState(
        phase,
        stability,
        difficulty,
        0 if phase is not Phase.REVIEW else None,
        NOON,
        NOON - timedelta(days=ago),
        TODAY - ago,
        planned,
        reps,
    ),
    st.sampled_from([Phase.LEARNING, Phase.REVIEW, Phase.RELEARNING]),
    stabilities,
    st.floats(1, 10),
    st.integers(0, 900),
    st.integers(1, 900),
    st.integers(1, 90),
)


def stamp(number: int, at: datetime) -> Stamp:
    return Stamp(f"{number:026}", at)


# --- one prompt -----------------------------------------------------------------------------------------------------


@given(schedulers, st.one_of(st.just(MemoryState()), states), loads)
def test_better_ratings_are_at_least_a_day_apart_up_to_the_longest_interval(
    scheduler: Scheduler, state: MemoryState, load: Load
) -> None:
    chosen = intervals(scheduler, CARD, state, NOON, load)
    maximum = scheduler.rules.maximum_interval
    assert all(0 <= days <= maximum for days in chosen.values())
    passed = [days for rating in PASSED if (days := chosen[rating])]
    assert all(worse < better or better == maximum for worse, better in pairwise(passed))


@given(schedulers, st.one_of(st.just(MemoryState()), states), loads, st.sampled_from(Rating))
def test_the_interval_that_was_shown_counts_whatever_is_due_later(
    scheduler: Scheduler, state: MemoryState, load: Load, rating: Rating
) -> None:
    days = intervals(scheduler, CARD, state, NOON, load)[rating]
    assert intervals(scheduler, CARD, state, NOON, load, rating)[rating] == days
    after = scheduler.review(CARD, state, rating, NOON, TODAY, days)
    assert after.interval_days == days or after.phase is not Phase.REVIEW
    assert (days > 0) == (after.phase is Phase.REVIEW)
    event = Review(stamp(1, NOON), CARD, rating, 5_000, days)
    read = decode(encode(event))
    assert read == event
    assert fold([read], scheduler, known={CARD: state})[CARD] == after


@given(states, loads)
def test_a_card_is_moved_within_the_range_of_its_interval_but_for_siblings_and_other_ratings(
    state: MemoryState, load: Load
) -> None:
    scheduler = Scheduler(Rules(CALENDAR, fuzz=True))
    chosen = intervals(scheduler, CARD, state, NOON, load)
    for rating in Rating:
        planned = scheduler.planned(CARD, scheduler.review(CARD, state, rating, NOON, TODAY).stability)
        if days := chosen[rating]:
            least, most = fuzz_range(planned, 36_500)
            assert least <= days <= most + max(rating - 1, 1)


@given(states)
def test_with_nothing_else_due_the_day_is_that_of_a_line_that_says_none(state: MemoryState) -> None:
    scheduler = Scheduler(Rules(CALENDAR, fuzz=True))
    chosen = intervals(scheduler, CARD, state, NOON, Load())
    after = scheduler.review(CARD, state, Rating.HARD, NOON, TODAY)
    if chosen[Rating.HARD] and after.interval_days > state.interval_days:
        least, _ = fuzz_range(scheduler.planned(CARD, after.stability), 36_500)
        if least > state.interval_days:
            assert chosen[Rating.HARD] == after.interval_days


def test_the_day_of_a_sibling_is_left_to_it_and_the_next_one_taken_where_all_are() -> None:
    scheduler = Scheduler(Rules(CALENDAR, fuzz=True))
    state = MemoryState(Phase.REVIEW, 8.0, 5.0, None, NOON, NOON - timedelta(days=8), TODAY - 8, 8, 3)
    plain = intervals(scheduler, CARD, state, NOON, Load())
    least, most = fuzz_range(scheduler.planned(CARD, scheduler.review(CARD, state, Rating.GOOD, NOON).stability), 999)
    free = next(day for day in range(least, most) if day > plain[Rating.HARD])
    others = frozenset(TODAY + day for day in range(least, most + 1) if day != free)
    assert intervals(scheduler, CARD, state, NOON, Load({}, others))[Rating.GOOD] == free
    every = frozenset(TODAY + day for day in range(1, most + 1))
    assert intervals(scheduler, CARD, state, NOON, Load({}, every))[Rating.GOOD] == most + 1


def test_a_new_card_of_the_same_concept_learnt_on_the_same_day_comes_on_another() -> None:
    scheduler = Scheduler(Rules(CALENDAR, fuzz=True))
    state = MemoryState(Phase.LEARNING, 2.3065, 2.1, 1, NOON, NOON, TODAY, 0, 1)
    seen: set[int] = set()
    for number in range(3):
        days = intervals(scheduler, CardId(f"{number}"), state, NOON, Load({}, frozenset(seen)))[Rating.GOOD]
        assert TODAY + days not in seen
        seen.add(TODAY + days)


def test_an_interval_that_is_to_grow_grows() -> None:
    scheduler = Scheduler(Rules(CALENDAR, fuzz=True))
    for reps in range(60):
        state = MemoryState(Phase.REVIEW, 40.0, 9.5, None, NOON, NOON - timedelta(days=20), TODAY - 20, 41, reps)
        chosen = intervals(scheduler, CARD, state, NOON, Load())
        planned = scheduler.planned(CARD, scheduler.review(CARD, state, Rating.GOOD, NOON).stability)
        assert planned > 41
        assert chosen[Rating.GOOD] > 41


def test_a_recorded_interval_that_the_rules_no_longer_allow_gives_way_to_what_they_say() -> None:
    events = [Review(stamp(1, NOON), CARD, Rating.EASY, 0, 9)]
    now, strict, short = (
        Scheduler(Rules(CALENDAR, retention, maximum_interval=maximum))
        for retention, maximum in ((0.9, 36_500), (0.99, 36_500), (0.9, 4))
    )
    assert [fold(events, scheduler)[CARD].interval_days for scheduler in (now, strict, short)] == [9, 1, 4]
    unsaid = [Review(stamp(1, NOON), CARD, Rating.EASY)]
    assert [fold(unsaid, scheduler)[CARD].interval_days for scheduler in (now, strict, short)] == [8, 1, 4]


def test_a_move_in_the_session_counts_for_the_next_card() -> None:
    load = moved(Load({TODAY + 3: 5}, {TODAY + 4}), "x", [Move("x", TODAY + 4, TODAY + 6), Move("y", 0, TODAY + 3)])
    assert load.cards[TODAY + 3] == 6 and load.cards[TODAY + 6] == 1
    assert load.siblings == {TODAY + 6}


# --- a learner ------------------------------------------------------------------------------------------------------


def reviewed_days(*, balanced: bool, shares: tuple[float, ...] = USUAL, days: int = 150) -> tuple[Counter[int], float]:
    """The reviews on each study day of a learner who does all that is due, and the mean of chosen over planned days.

    New cards come unevenly, on some days none and on others many.
    """
    scheduler, dice, decks = Scheduler(Rules(CALENDAR, fuzz=True)), random.Random(1), random.Random(2)
    memory: dict[CardId, MemoryState] = {}
    due: dict[int, list[CardId]] = {}
    counts: Counter[int] = Counter()
    ratios: list[float] = []
    for day in range(TODAY, TODAY + days):
        at = CALENDAR.start(day) + timedelta(hours=8)
        new = [CardId(f"{day}-{n}") for n in range(decks.choice((0, 10, 20, 60)) if day < TODAY + 130 else 0)]
        for card in (*due.pop(day, []), *new):
            state = memory.get(card, MemoryState())
            rating = Rating.GOOD if dice.random() < 0.9 else Rating.HARD
            load = Load({d: len(cards) for d, cards in due.items()}, (), shares)
            step = state.phase is Phase.NEW
            rating = Rating.EASY if step else rating  # past the steps at once
            chosen = intervals(scheduler, card, state, at, load, rating)[rating] if balanced else 0
            after = scheduler.review(card, state, rating, at, day, chosen)
            ratios.append(after.interval_days / scheduler.planned(card, after.stability))
            memory[card] = after
            due.setdefault(day + after.interval_days, []).append(card)
            counts[day] += not step
    return counts, statistics.mean(ratios)


def unevenness(counts: Mapping[int, int], days: Sequence[int]) -> float:
    """The standard deviation of a day's reviews from the mean of its week, in shares of a mean day."""
    found = [counts.get(day, 0) for day in days]
    apart = [found[n] - statistics.mean(found[n - 3 : n + 4]) for n in range(3, len(found) - 3)]
    return statistics.pstdev(apart) / statistics.mean(found)


def test_balanced_days_are_flatter_and_intervals_hardly_longer() -> None:
    later = range(TODAY + 30, TODAY + 130)
    (plain, usual), (even, mean) = (reviewed_days(balanced=balanced) for balanced in (False, True))
    assert unevenness(even, later) < 0.65 * unevenness(plain, later)
    assert max(even[day] for day in later) < max(plain[day] for day in later)
    assert mean == pytest.approx(usual, rel=0.025)


def test_easy_days_get_about_their_share_and_a_day_off_next_to_nothing() -> None:
    weekend = (1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.0)
    counts, _ = reviewed_days(balanced=True, shares=weekend)
    by_weekday = [sum(counts[day] for day in range(TODAY + 40, TODAY + 138) if (day - 1) % 7 == n) for n in range(7)]
    usual = statistics.mean(by_weekday[:5])
    assert 0.3 * usual < by_weekday[5] < 0.75 * usual
    assert by_weekday[6] < 0.1 * usual


# --- the log --------------------------------------------------------------------------------------------------------


@st.composite
def ratings_with_days(draw: st.DrawFn) -> list[LogEvent]:
    events: list[LogEvent] = []
    at = NOON
    for number in range(draw(st.integers(1, 20))):
        at += timedelta(days=draw(st.integers(0, 40)), milliseconds=1)
        card = CardId(draw(st.sampled_from(["a", "b", "c"])))
        event = Review(stamp(number, at), card, draw(st.sampled_from(Rating)), 0, draw(st.integers(0, 60)))
        events.append(event)
        if draw(st.integers(0, 5)) == 0:
            at += timedelta(milliseconds=1)
            events.append(Undo(stamp(1_000 + number, at), event.id))
    return events


@given(ratings_with_days(), st.randoms(use_true_random=False), schedulers)
def test_two_machines_that_merge_their_logs_see_the_same_days(
    events: list[LogEvent], chance: random.Random, scheduler: Scheduler
) -> None:
    mixed = [*events, *events[::2]]
    chance.shuffle(mixed)
    assert fold(mixed, scheduler) == fold(events, scheduler)


@given(ratings_with_days(), st.integers(0, 20), schedulers)
def test_a_fold_in_two_parts_is_that_of_the_whole(events: list[LogEvent], cut: int, scheduler: Scheduler) -> None:
    reviews = [event for event in events if isinstance(event, Review)]
    first = fold(reviews[:cut], scheduler)
    assert fold(reviews[cut:], scheduler, known=first) == fold(reviews, scheduler)


def test_a_line_of_before_is_read_as_before_and_one_of_now_by_a_reader_of_before() -> None:
    old = encode(Review(stamp(1, NOON), CARD, Rating.GOOD, 5_000))
    assert b"interval" not in old
    read = decode(old)
    assert isinstance(read, Review) and read.interval_days == 0
    assert b',"ms":5000,"interval_days":12,"via":' in encode(Review(stamp(1, NOON), CARD, Rating.GOOD, 5_000, 12))


def test_a_rating_at_the_desk_writes_the_day_that_it_chose_and_siblings_do_not_meet(vault: Vault) -> None:
    desk = open_desk(vault, NOON)
    days = []
    for number, card in enumerate(("aaaaaaaaa1", "aaaaaaaaa2")):  # of one concept
        desk, event = rate(desk, card, Rating.EASY, via="cli")
        assert event.interval_days == desk.state(CardId(card)).interval_days > 1
        days.append(event.interval_days)
        assert open_desk(vault, NOON + timedelta(seconds=number)).states[CardId(card)] == desk.state(CardId(card))
    assert days[0] != days[1]


# --- without steps --------------------------------------------------------------------------------------------------

STEPLESS = Scheduler(Rules(CALENDAR, learning_steps=(), relearning_steps=()))


def test_without_steps_a_card_that_is_barely_known_comes_back_within_the_day() -> None:
    again = STEPLESS.review(CARD, MemoryState(), Rating.AGAIN, NOON)
    assert (again.phase, again.interval_days) == (Phase.LEARNING, 0)
    assert again.due == NOON + timedelta(seconds=int(DEFAULTS[0] * 86_400))
    known = STEPLESS.review(CARD, again, Rating.EASY, NOON + timedelta(hours=5))
    assert (known.phase, known.interval_days) == (Phase.REVIEW, 1)
    good = STEPLESS.review(CARD, MemoryState(), Rating.GOOD, NOON)
    assert (good.phase, good.interval_days) == (Phase.REVIEW, 2)


@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from(Rating)), min_size=1, max_size=12), st.integers(0, 12))
def test_without_steps_a_fold_at_once_is_one_review_after_another(history: list[tuple[int, Rating]], cut: int) -> None:
    at, events = NOON, []
    for number, (days, rating) in enumerate(history):
        at += timedelta(days=days, milliseconds=1)
        events.append(Review(stamp(number, at), CARD, rating))
    state = MemoryState()
    for event in events:
        state = STEPLESS.review(CARD, state, event.rating, event.at)
    assert fold(events, STEPLESS)[CARD] == state
    assert fold(events[cut:], STEPLESS, known=fold(events[:cut], STEPLESS))[CARD] == state


def test_a_session_writes_what_its_buttons_show_and_counts_what_it_wrote(vault: Vault) -> None:
    session = StudySession.at(vault, lambda: NOON, None)
    days: dict[str, list[int]] = {}
    while (placed := session.table()) is not None:
        session.reveal()
        shown = session.previews()[Rating.EASY]
        session.rate(Rating.EASY)
        assert session.state(placed.id) == shown == open_desk(vault, NOON).states[placed.id]
        days.setdefault(placed.concept, []).append(shown.interval_days)
    assert any(len(found) > 1 for found in days.values())
    assert all(len(set(found)) == len(found) for found in days.values())
