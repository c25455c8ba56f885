"""Memory is a fold of the log: FSRS-6 over study days, the same on every machine, whatever order lines lie in."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import fsrs
import fsrs_rs_python
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.memory.fold import fold, fold_log, mark, scheduler_for
from learning.memory.fsrs import DEFAULTS, HIGHEST, LOWEST, MOST_STABLE
from learning.memory.predictions import replay
from learning.memory.scheduler import Scheduler, fuzz_range
from learning.memory.state import CardEvent, MemoryState, Phase, Rules, is_leech, rules_of
from learning.study_day import StudyCalendar
from vault.config.settings import Settings
from vault.errors import ClockWentBackwards
from vault.ids import CardId
from vault.log.events import (
    Bury,
    CardMark,
    Flag,
    Import,
    LogEvent,
    Params,
    Rating,
    Reschedule,
    Resume,
    Review,
    Stamp,
    Suspend,
    Tag,
    Undo,
    encode,
)
from vault.log.review_columns import columns_of, scan_log
from vault.log.review_log import live

CARD, OTHER = CardId("k7q2m9xd3f"), CardId("0000000000")
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
BERLIN = StudyCalendar(ZoneInfo("Europe/Berlin"), 4)
SCHEDULER = Scheduler(Rules(BERLIN))

ratings = st.sampled_from(Rating)
histories = st.lists(st.tuples(st.integers(0, 400), ratings), min_size=1, max_size=15)


def stamp(number: int, at: datetime) -> Stamp:
    return Stamp(f"{number:026}", at)


def daily(history: Sequence[tuple[int, Rating]], card: CardId = CARD, first: datetime = NOON) -> list[LogEvent]:
    """Reviews at noon, each so many days after the one before."""
    events: list[LogEvent] = []
    at = first
    for number, (days, rating) in enumerate(history):
        at += timedelta(days=days if number else 0, milliseconds=1)
        events.append(Review(stamp(number, at), card, rating))
    return events


def state_of(events: Sequence[LogEvent], scheduler: Scheduler = SCHEDULER) -> MemoryState:
    return fold(events, scheduler)[CARD]


@given(histories)
def test_reviews_at_noon_are_scheduled_as_plain_fsrs_does(history: list[tuple[int, Rating]]) -> None:
    plain = fsrs.Scheduler(enable_fuzzing=False)
    events = daily(history)
    card = fsrs.Card(card_id=1, due=NOON)
    for event in events:
        assert isinstance(event, Review)
        noon = event.at.replace(hour=12, minute=0, second=0, microsecond=0)
        card, _ = plain.review_card(card, fsrs.Rating(int(event.rating)), noon)
    ours = state_of(events)
    assert (ours.stability, ours.difficulty, ours.step) == (card.stability, card.difficulty, card.step)
    assert ours.phase.value == card.state.name.lower()
    assert ours.due is not None
    assert card.last_review is not None
    assert ours.interval_days == (card.due - card.last_review).days
    if ours.interval_days:
        assert BERLIN.day(ours.due) == card.due.date().toordinal()


def states_in_rust(history: Sequence[tuple[int, Rating]]) -> tuple[float, float]:
    model = fsrs_rs_python.FSRS(list(fsrs_rs_python.DEFAULT_PARAMETERS))
    reviews = [fsrs_rs_python.FSRSReview(int(r), days if n else 0) for n, (days, r) in enumerate(history)]
    state = model.memory_state(fsrs_rs_python.FSRSItem(reviews))
    return state.stability, state.difficulty


@given(histories)
def test_the_scheduler_and_the_crate_inside_anki_agree(history: list[tuple[int, Rating]]) -> None:
    ours = state_of(daily(history))
    stability, difficulty = states_in_rust(history)
    assert ours.stability == pytest.approx(stability, rel=1e-5, abs=1e-5)
    assert ours.difficulty == pytest.approx(difficulty, rel=1e-5)


@pytest.mark.real_data
def test_a_real_history_gives_the_states_of_the_crate_inside_anki(shared_data: Path) -> None:
    calendar = StudyCalendar(UTC, 4)
    events: list[LogEvent] = []
    with (shared_data / "revlogs" / "py-fsrs-japanese-12580.csv").open(newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            at = datetime.fromisoformat(row["review_time"])
            events.append(Review(stamp(number, at), CardId(row["card_id"]), Rating(int(row["review_rating"]))))
    states = fold(events, Scheduler(Rules(calendar)))
    assert len(states) == 1205
    history: dict[CardId, list[tuple[int, Rating]]] = {}
    last: dict[CardId, int] = {}
    for event in sorted(events, key=lambda e: e.at):
        assert isinstance(event, Review)
        day = calendar.day(event.at)
        history.setdefault(event.card, []).append((day - last.get(event.card, day), event.rating))
        last[event.card] = day
    apart = []
    for card, state in states.items():
        stability, difficulty = states_in_rust(history[card])
        apart.append(abs(state.stability / stability - 1))
        assert state.difficulty == pytest.approx(difficulty, abs=1e-5)
        assert state.reps == len(history[card])
    # The crate reckons in 32 bits; where a card fails again and again, its stability is a difference of near equals.
    assert sum(a > 1e-5 for a in apart) <= 5
    assert max(apart) < 1e-4


Mark = Callable[[Stamp, CardId], LogEvent]
DUE_DAYS = [date(1, 1, 1), date(2026, 11, 20), date(2026, 12, 24), date(2027, 3, 28), date(9999, 12, 31)]
MARKS: list[Mark] = [
    Suspend,
    Resume,
    Bury,
    Flag,
    *(partial(Reschedule, due=day) for day in DUE_DAYS),
    *(partial(Tag, add=add, remove=remove) for add in ((), ("b", "A")) for remove in ((), ("a",), ("B", "x y"))),
]
marks = st.sampled_from(MARKS)
minutes = st.integers(0, 60 * 24 * 30)
mixed: st.SearchStrategy[LogEvent] = st.one_of(
    st.builds(
        lambda n, m, c, r: Review(stamp(n, NOON + timedelta(minutes=m)), c, r),
        st.integers(0, 10**6),
        minutes,
        st.sampled_from([CARD, OTHER]),
        ratings,
    ),
    st.builds(
        lambda n, m, c, kind: kind(stamp(n, NOON + timedelta(minutes=m)), c),
        st.integers(0, 10**6),
        minutes,
        st.sampled_from([CARD, OTHER]),
        marks,
    ),
)
logs = st.lists(mixed, max_size=15, unique_by=lambda e: e.id)


@given(logs, st.randoms(use_true_random=False))
def test_the_fold_ignores_order_and_repetition(events: list[LogEvent], chance: random.Random) -> None:
    changes = [CardEvent(CARD, kind, NOON + timedelta(days=3)) for kind in ("retracted", "revived", "changed")]
    jumbled = [event for event in events for _ in range(chance.randint(1, 3))]
    chance.shuffle(jumbled)
    assert fold(jumbled, SCHEDULER, changes[::-1] * 2) == fold(events, SCHEDULER, changes)


@given(logs.filter(bool), st.data())
def test_an_undo_gives_the_memory_without_that_event(events: list[LogEvent], data: st.DataObject) -> None:
    target = data.draw(st.sampled_from(events))
    undo = Undo(stamp(10**9, NOON + timedelta(days=40)), target.id)
    without = [event for event in events if event is not target]
    assert fold([*events, undo], SCHEDULER) == fold(without, SCHEDULER)


@given(histories, st.integers(0, 500))
def test_a_preview_is_what_the_rating_will_do(history: list[tuple[int, Rating]], days: int) -> None:
    events = daily(history)
    state = state_of(events)
    at = events[-1].at + timedelta(days=days)
    previews = SCHEDULER.preview(CARD, state, at)
    for rating in Rating:
        assert state_of([*events, Review(stamp(999, at), CARD, rating)]) == previews[rating]


@given(
    histories,
    st.lists(st.integers(1, 60 * 48), max_size=3),
    st.lists(st.integers(1, 60 * 48), max_size=3),
    st.integers(0, 60 * 24 * 500),
    st.sampled_from(["", "changed", "flagged"]),
    st.booleans(),
)
def test_a_preview_is_the_rating_whatever_steps_marks_and_changes_a_card_has(
    history: list[tuple[int, Rating]], learning: list[int], relearning: list[int], after: int, mark: str, fuzz: bool
) -> None:
    first, again = (tuple(timedelta(minutes=n) for n in each) for each in (learning, relearning))
    scheduler = Scheduler(Rules(BERLIN, 0.93, (), first, again, fuzz=fuzz, leech_threshold=2, leech_suspends=True))
    events, at = daily(history), NOON + timedelta(days=500 * len(history), minutes=after, microseconds=1)
    flags = [Flag(stamp(998, events[-1].at + timedelta(seconds=1)), CARD)] if mark == "flagged" else []
    changes = [CardEvent(CARD, "changed", at - timedelta(minutes=after // 2))] if mark == "changed" else []
    rated = fold([*events, *flags], scheduler, changes)[CARD]
    for state in (rated, MemoryState(), MemoryState(flagged=True)):
        expected = {rating: scheduler.review(CARD, state, rating, at) for rating in Rating}
        assert scheduler.preview(CARD, state, at) == expected


def test_a_step_shorter_than_a_day_is_due_to_the_minute() -> None:
    state = state_of([Review(stamp(1, NOON), CARD, Rating.AGAIN)])
    assert (state.phase, state.due, state.interval_days) == (Phase.LEARNING, NOON + timedelta(minutes=1), 0)


def test_an_interval_of_days_is_due_when_a_study_day_begins() -> None:
    late = datetime(2026, 11, 21, 23, 30, tzinfo=UTC)
    state = state_of([Review(stamp(1, late), CARD, Rating.EASY)])
    assert state.due == BERLIN.start(date(2026, 11, 21).toordinal() + state.interval_days)
    assert state.interval_days == 8


def test_a_step_of_a_day_counts_in_study_days() -> None:
    scheduler = Scheduler(Rules(BERLIN, learning_steps=(timedelta(minutes=1), timedelta(days=1))))
    state = state_of([Review(stamp(1, NOON), CARD, Rating.GOOD)], scheduler)
    assert (state.phase, state.due) == (Phase.LEARNING, datetime(2026, 11, 22, 3, tzinfo=UTC))


def test_nine_in_the_evening_and_seven_in_the_morning_are_a_day_apart() -> None:
    evening = Review(stamp(1, datetime(2026, 11, 21, 20, tzinfo=UTC)), CARD, Rating.EASY)
    morning = Review(stamp(2, datetime(2026, 11, 22, 6, tzinfo=UTC)), CARD, Rating.GOOD)
    stability, difficulty = states_in_rust([(0, Rating.EASY), (1, Rating.GOOD)])
    state = state_of([evening, morning])
    assert state.stability == pytest.approx(stability, rel=1e-5)
    assert state.difficulty == pytest.approx(difficulty, rel=1e-5)


def test_a_lapse_is_a_failed_review_and_not_a_failed_step() -> None:
    events = daily([(0, Rating.AGAIN), (0, Rating.EASY), (9, Rating.AGAIN), (0, Rating.AGAIN), (0, Rating.GOOD)])
    state = state_of(events)
    assert (state.reps, state.lapses, state.phase) == (5, 1, Phase.REVIEW)


def test_retrievability_is_one_on_the_day_and_falls_to_the_wanted_retention_at_the_stability() -> None:
    state = state_of(daily([(0, Rating.EASY)]))
    assert SCHEDULER.retrievability(state, NOON + timedelta(hours=10)) == 1.0
    nine = SCHEDULER.retrievability(state, NOON + timedelta(days=round(state.stability)))
    assert nine == pytest.approx(0.9, abs=0.01)
    falling = [SCHEDULER.retrievability(state, NOON + timedelta(days=n)) for n in range(1, 50)]
    assert all(a > b for a, b in pairwise(falling))
    assert SCHEDULER.retrievability(MemoryState(), NOON) == 0.0


def test_a_rating_before_the_last_review_is_refused() -> None:
    state = state_of(daily([(0, Rating.GOOD)]))
    before = NOON - timedelta(days=30)
    with pytest.raises(ClockWentBackwards, match="before the card's last review"):
        SCHEDULER.review(CARD, state, Rating.GOOD, before)
    assert SCHEDULER.retrievability(state, before) == 1.0
    assert SCHEDULER.preview(CARD, state, before)[Rating.GOOD].last_review == before


def test_suspending_burying_and_flagging_leave_the_memory_alone() -> None:
    rated = state_of(daily([(0, Rating.GOOD), (0, Rating.GOOD)]))
    at = NOON + timedelta(hours=1)
    marked = [*daily([(0, Rating.GOOD), (0, Rating.GOOD)]), Flag(stamp(7, at), CARD, "wrong")]
    state = state_of([*marked, Suspend(stamp(8, at), CARD), Bury(stamp(9, at), CARD)])
    assert (state.suspended, state.flagged, state.buried_until) == (True, True, datetime(2026, 11, 22, 3, tzinfo=UTC))
    assert (state.stability, state.due, state.reps) == (rated.stability, rated.due, rated.reps)
    resumed = state_of([*marked, Suspend(stamp(8, at), CARD), Resume(stamp(9, at), CARD)])
    assert not resumed.hidden(at)
    assert state.hidden(at)


def test_a_buried_card_is_back_the_next_study_day() -> None:
    state = state_of([Bury(stamp(1, NOON), CARD)])
    assert (state.phase, state.hidden(NOON)) == (Phase.NEW, True)
    assert not state.hidden(datetime(2026, 11, 22, 3, tzinfo=UTC))


def test_what_the_knowledge_did_to_a_card_is_folded_with_the_reviews_by_time() -> None:
    events = daily([(0, Rating.EASY), (5, Rating.GOOD)])
    gone = fold(events, SCHEDULER, [CardEvent(CARD, "retracted", NOON)])[CARD]
    assert gone.hidden(NOON)
    assert gone.reps == 2
    back = [CardEvent(CARD, "retracted", NOON), CardEvent(CARD, "revived", NOON + timedelta(days=1))]
    assert fold(events, SCHEDULER, back)[CARD] == state_of(events)
    assert fold(events, SCHEDULER, [CardEvent(CARD, "reworded", NOON)])[CARD] == state_of(events)
    assert fold([], SCHEDULER, [CardEvent(CARD, "changed", NOON)]) == {}


def test_a_card_whose_fact_changed_is_relearned_as_if_forgotten_that_day_without_a_lapse() -> None:
    events = daily([(0, Rating.EASY), (8, Rating.GOOD)])
    known = state_of(events)
    change = CardEvent(CARD, "changed", NOON + timedelta(days=20))
    state = fold(events, SCHEDULER, [change])[CARD]
    failed = SCHEDULER.review(CARD, known, Rating.AGAIN, change.at)
    assert (state.phase, state.step, state.due, state.interval_days) == (Phase.RELEARNING, 0, change.at, 0)
    assert (state.changed, state.lapses, state.reps, failed.lapses) == (True, 0, 2, 1)
    assert (state.stability, state.difficulty) == (failed.stability, known.difficulty)
    again = Review(stamp(50, change.at + timedelta(days=2)), CARD, Rating.GOOD)
    assert not fold([*events, again], SCHEDULER, [change])[CARD].changed
    without_steps = Scheduler(Rules(BERLIN, relearning_steps=()))
    state = fold(events, without_steps, [change])[CARD]
    assert (state.phase, state.due) == (Phase.REVIEW, change.at)


def test_so_many_lapses_make_a_leech_and_every_half_as_many_more_suspend_it_again() -> None:
    flags = Scheduler(Rules(BERLIN, leech_threshold=4))
    suspends = Scheduler(Rules(BERLIN, leech_threshold=4, leech_suspends=True))
    never = Scheduler(Rules(BERLIN, leech_threshold=0, leech_suspends=True))
    events = daily([(0, Rating.EASY), *[(9, Rating.AGAIN), (0, Rating.GOOD)] * 5])
    for lapses in range(6):
        upto = events[: 1 + 2 * lapses]
        assert state_of(upto, flags).lapses == lapses
        assert (state_of(upto, flags).leech, state_of(upto, flags).suspended) == (lapses >= 4, False)
        assert state_of(upto, suspends).suspended == (lapses >= 4)
        assert not state_of(upto, never).leech
    resumed = [*events[:9], Resume(Stamp("0" * 25 + "Z", events[8].at), CARD)]
    assert (state_of(resumed, suspends).leech, state_of(resumed, suspends).suspended) == (True, False)
    assert not state_of([*resumed, *events[9:]], suspends).suspended  # the fifth lapse
    sixth = daily([(0, Rating.EASY), *[(9, Rating.AGAIN), (0, Rating.GOOD)] * 6])[-2:]
    assert state_of([*resumed, *events[9:], *sixth], suspends).suspended
    assert [n for n in range(30) if is_leech(n, 8)] == [8, 12, 16, 20, 24, 28]


def test_the_latest_parameters_in_the_log_that_fsrs_takes_are_used() -> None:
    fitted = tuple(p * 1.01 for p in fsrs.scheduler.DEFAULT_PARAMETERS)
    events = [
        Params(stamp(1, NOON), fsrs.scheduler.DEFAULT_PARAMETERS),
        Params(stamp(2, NOON + timedelta(days=1)), fitted, 0.85),
        Params(stamp(3, NOON + timedelta(days=2)), (1.0, 2.0)),
        Params(stamp(4, NOON + timedelta(days=3)), fitted, 7.0),
    ]
    rules = scheduler_for(Rules(BERLIN), events).rules
    assert (rules.parameters, rules.retention) == (fitted, 0.85)
    assert scheduler_for(Rules(BERLIN), []).rules == Rules(BERLIN)


def test_no_review_of_any_year_crashes_or_goes_negative() -> None:
    chance = random.Random(2038)
    for zone in ("UTC", "Europe/Berlin", "Pacific/Apia", "America/St_Johns"):
        scheduler = Scheduler(Rules(StudyCalendar(ZoneInfo(zone), 4)))
        ends = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, tzinfo=UTC)
        for _ in range(50):
            instants = sorted(ends[0] + (ends[1] - ends[0]) * chance.random() for _ in range(6))
            events = [
                Review(stamp(n, at), CARD, Rating(chance.randint(1, 4))) for n, at in enumerate([*ends, *instants])
            ]
            state = fold(events, scheduler)[CARD]
            assert state.due is not None
            assert state.stability > 0
            assert state.interval_days >= 0
            assert 0 <= scheduler.retrievability(state, ends[1]) <= 1


@pytest.mark.parametrize(
    "zone",
    ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Pacific/Apia", "Africa/Casablanca"],
)
def test_no_hour_of_a_year_brings_a_negative_wait_or_a_day_before_the_last(zone: str) -> None:
    chance = random.Random(8784)
    scheduler = Scheduler(Rules(StudyCalendar(ZoneInfo(zone), 4), fuzz=True))
    first = datetime(2011 if zone == "Pacific/Apia" else 2028, 1, 1, tzinfo=UTC)
    events = [
        Review(stamp(n, first + timedelta(hours=n)), CardId(f"{n % 97:010}"), Rating(chance.randint(1, 4)))
        for n in range(8784)
    ]
    for upto in (len(events) * part // 4 for part in range(1, 5)):
        states = fold(events[:upto], scheduler)
        for state in states.values():
            assert state.due is not None
            assert state.last_review is not None
            assert state.due > state.last_review
            assert state.interval_days >= 0
            assert state.last_day == scheduler.calendar.day(state.last_review)
            assert scheduler.calendar.day(state.due) - state.last_day >= state.interval_days


def test_the_same_log_gives_the_same_memory_whatever_the_global_random_says() -> None:
    events = daily([(0, Rating.EASY), (9, Rating.GOOD), (40, Rating.GOOD)])
    random.seed(1)
    one = state_of(events)
    random.seed(2)
    assert state_of(events) == one


# --- fuzz -----------------------------------------------------------------------------------------------------------

FUZZED = Scheduler(Rules(BERLIN, fuzz=True))


@given(histories, st.integers(0, 500), st.sampled_from([9, 60, 36_500]))
def test_chance_moves_an_interval_within_its_range_and_never_a_better_rating_below_a_worse(
    history: list[tuple[int, Rating]], days: int, maximum: int
) -> None:
    plain, fuzzed = (Scheduler(Rules(BERLIN, maximum_interval=maximum, fuzz=fuzz)) for fuzz in (False, True))
    events = daily(history)
    at = events[-1].at + timedelta(days=days)
    state = state_of(events, fuzzed)
    assert state.stability == state_of(events, plain).stability
    previews = fuzzed.preview(CARD, state, at)
    straight = plain.preview(CARD, state, at)
    for rating, preview in previews.items():
        assert state_of([*events, Review(stamp(999, at), CARD, rating)], fuzzed) == preview
        if preview.phase is Phase.REVIEW:
            least, most = fuzz_range(straight[rating].interval_days, maximum)
            assert least <= preview.interval_days <= most <= maximum
        else:
            assert preview == straight[rating]
    passed = [previews[r].interval_days for r in (Rating.HARD, Rating.GOOD, Rating.EASY)]
    assert passed == sorted(passed)


def test_cards_learnt_together_do_not_stay_together_and_reach_every_day_of_the_range() -> None:
    cards = [CardId(f"{n:010}") for n in range(400)]
    days = {FUZZED.review(card, MemoryState(), Rating.EASY, NOON).interval_days for card in cards}
    assert days == set(range(fuzz_range(8, 36_500)[0], fuzz_range(8, 36_500)[1] + 1))
    assert {FUZZED.varied(CARD, reps, 2) for reps in range(99)} == {2}
    assert len({FUZZED.varied(CARD, reps, 90) for reps in range(99)}) == 13


def test_chance_is_the_same_on_every_machine() -> None:
    assert [FUZZED.varied(CARD, reps, 100) for reps in range(8)] == [104, 98, 103, 93, 103, 96, 94, 94]


# --- rules ----------------------------------------------------------------------------------------------------------


def test_a_card_that_wants_more_retention_comes_back_sooner() -> None:
    scheduler = Scheduler(Rules(BERLIN), {OTHER: 0.97})
    usual, exam = (scheduler.review(card, MemoryState(), Rating.EASY, NOON) for card in (CARD, OTHER))
    assert (usual.interval_days, exam.interval_days) == (8, 2)
    assert usual.stability == exam.stability
    events = [Params(stamp(1, NOON), fsrs.scheduler.DEFAULT_PARAMETERS, 0.85)]
    fitted = scheduler_for(Rules(BERLIN), events, {OTHER: 0.97})
    assert (fitted.retention(CARD), fitted.retention(OTHER)) == (0.85, 0.97)


def test_the_settings_of_a_vault_are_its_rules() -> None:
    steps = (timedelta(minutes=5), timedelta(days=1), timedelta(days=3))
    settings = Settings(
        "01KB0000000000000000000000", "Mind", timezone="Asia/Kolkata", rollover=3, retention=0.85, learning_steps=steps,
        relearning_steps=(), maximum_interval=90, fuzz=False, leech_threshold=5, leech_action="suspend",
    )  # fmt: skip
    calendar = StudyCalendar(ZoneInfo("Asia/Kolkata"), 3)
    assert rules_of(settings) == Rules(calendar, 0.85, (), steps, (), 90, False, 5, True)


def test_a_parameters_event_that_was_undone_rules_nothing() -> None:
    fitted = tuple(p * 1.01 for p in fsrs.scheduler.DEFAULT_PARAMETERS)
    events = [Params(stamp(1, NOON), fitted), Undo(stamp(2, NOON), stamp(1, NOON).id)]
    assert scheduler_for(Rules(BERLIN), events).rules == Rules(BERLIN)


# --- the fold of any log --------------------------------------------------------------------------------------------

step_lists = st.sampled_from(
    [
        (),
        (timedelta(minutes=10),),
        (timedelta(minutes=1), timedelta(minutes=10)),
        (timedelta(minutes=1), timedelta(hours=7), timedelta(days=1), timedelta(days=3)),
        (timedelta(days=2),),
    ]
)
growing = tuple(
    high if n in (8, 10, 16, 17, 18) else low if n in (9, 19) else default
    for n, (low, default, high) in enumerate(zip(LOWEST, DEFAULTS, HIGHEST, strict=True))
)  # stability grows as fast as parameters let it
all_rules = st.builds(
    Rules,
    st.builds(
        StudyCalendar,
        st.sampled_from(["UTC", "Europe/Berlin", "Australia/Lord_Howe"]).map(ZoneInfo),
        st.integers(0, 23),
    ),
    st.floats(0.7, 0.99),
    st.sampled_from([(), growing]),
    step_lists,
    step_lists,
    st.sampled_from([1, 30, 36_500]),
    st.booleans(),
    st.integers(0, 3),
    st.booleans(),
)
long_instants = st.one_of(
    st.integers(0, 90 * 24 * 60).map(lambda m: NOON + timedelta(minutes=m)),
    st.sampled_from([NOON, NOON + timedelta(days=1)]),
    st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 27)).map(lambda t: t.replace(microsecond=0, tzinfo=UTC)),
)
any_card = st.sampled_from([CARD, OTHER, CardId("aaaaaaaaa1")])
event_stamps = st.builds(
    lambda n, at, clock: Stamp(f"{n:026}", at, clock=clock),
    st.integers(0, 10**6),
    long_instants,
    st.none() | st.none() | long_instants,
)
any_event: st.SearchStrategy[LogEvent] = st.one_of(
    *[st.builds(Review, event_stamps, any_card, st.sampled_from([Rating.AGAIN, *Rating]))] * 4,
    st.builds(Import, event_stamps, any_card, ratings),
    st.builds(lambda kind, s, c: kind(s, c), marks, event_stamps, any_card),
)
changes_of_cards = st.lists(
    st.builds(
        CardEvent,
        any_card,
        st.sampled_from(["retracted", "revived", "changed", "changed", "reworded"]),
        long_instants,
        st.just(""),
        st.sampled_from(["", "one", "two"]),
        st.sampled_from(["", "one", "two"]),
    ),
    max_size=4,
)


@given(st.lists(any_event, max_size=40, unique_by=lambda e: e.id), changes_of_cards, all_rules, st.data())
def test_a_fold_in_two_parts_is_the_fold_of_the_whole_and_its_states_are_within_bounds(
    events: list[LogEvent], changes: list[CardEvent], rules: Rules, data: st.DataObject
) -> None:
    scheduler = Scheduler(rules, {OTHER: 0.95})
    states = fold(events, scheduler, changes)
    cut = data.draw(long_instants)
    old = fold([e for e in events if e.at < cut], scheduler, [c for c in changes if c.at < cut])
    assert fold([e for e in events if e.at >= cut], scheduler, [c for c in changes if c.at >= cut], old) == states
    for state in states.values():
        assert state.due is None or state.due.tzinfo is UTC
        assert 0 <= state.interval_days <= max(rules.maximum_interval, 4)
        assert state.phase is Phase.NEW or 0.001 <= state.stability <= MOST_STABLE


def one_by_one(events: list[LogEvent], changes: list[CardEvent], scheduler: Scheduler) -> dict[CardId, MemoryState]:
    """The states after each event in its turn."""
    states: dict[CardId, MemoryState] = {}
    steps: list[LogEvent | CardEvent] = [*live(events), *set(changes)]
    steps.sort(
        key=lambda e: (e.at, isinstance(e, CardEvent), e.id, e.type, getattr(e, "was", ""), getattr(e, "now", ""))
    )
    for step in steps:
        day = scheduler.calendar.day(step.when)
        if isinstance(step, Review):
            state = states.get(step.card, MemoryState())
            states[step.card] = scheduler.review(step.card, state, step.rating, step.when, day)
        elif isinstance(step, CardMark | CardEvent) and (marked := mark(states.get(step.card), step, scheduler, day)):
            states[step.card] = marked
    return states


@given(
    st.lists(any_event, max_size=40, unique_by=lambda e: e.id),
    st.lists(st.tuples(event_stamps, st.integers(0, 50)), max_size=4),
    changes_of_cards,
    all_rules,
    st.randoms(use_true_random=False),
)
def test_a_log_in_several_files_is_folded_as_its_events_are_one_after_another(
    events: list[LogEvent],
    undone: list[tuple[Stamp, int]],
    changes: list[CardEvent],
    rules: Rules,
    chance: random.Random,
) -> None:
    events += [Undo(Stamp(f"u{n}", s.at), events[k % len(events)].id) for n, (s, k) in enumerate(undone) if events]
    lines = [encode(event) + b"\n" for event in events]
    lines += [chance.choice(lines) for _ in range(chance.choice([0, 0, 3])) if lines]
    chance.shuffle(lines)
    cut = chance.randrange(len(lines) + 1)
    torn = chance.choice([b"", lines[0][: chance.randrange(len(lines[0]))] if lines else b""])
    scheduler = Scheduler(rules, {OTHER: 0.95})
    log = scan_log([("a.jsonl", b"".join(lines[:cut])), ("b.jsonl", b"".join(lines[cut:]) + torn)])
    assert fold_log(log, scheduler, changes) == one_by_one(events, changes, scheduler)


def test_a_fact_that_changes_back_before_anyone_saw_it_leaves_memory_as_it_was() -> None:
    reviews = daily([(0, Rating.GOOD), (0, Rating.GOOD), (5, Rating.GOOD)])
    day = timedelta(days=1)
    changes = [
        CardEvent(CARD, "changed", NOON + (10 + n) * day, "", was, now)
        for n, (was, now) in enumerate([("first", "second"), ("second", "third"), ("third", "first")])
    ]
    untouched, back = fold(reviews, SCHEDULER)[CARD], fold(reviews, SCHEDULER, changes)[CARD]
    assert fold(reviews, SCHEDULER, changes[:2])[CARD].stability < untouched.stability
    assert back == untouched
    again = Review(stamp(9, NOON + 20 * day), CARD, Rating.GOOD)
    columns = columns_of([*reviews, again])
    assert fold([*reviews, again], SCHEDULER, changes) == fold([*reviews, again], SCHEDULER)
    assert replay(columns, SCHEDULER, changes) == replay(columns, SCHEDULER)
    seen = Review(stamp(8, NOON + timedelta(days=10, hours=1)), CARD, Rating.GOOD)
    assert fold([*reviews, seen], SCHEDULER, changes)[CARD].changed  # the learner knew the second answer
    suspended = Suspend(stamp(7, NOON + timedelta(days=11, hours=1)), CARD)
    assert fold([*reviews, suspended], SCHEDULER, changes)[CARD] == replace(untouched, suspended=True)


def test_a_day_chosen_for_a_card_whose_fact_changed_holds_when_it_changes_back() -> None:
    reviews = daily([(0, Rating.GOOD), (0, Rating.GOOD), (5, Rating.GOOD)])
    there, back = (
        CardEvent(CARD, "changed", NOON + timedelta(days=days), "", was, now)
        for days, was, now in ((10, "a", "b"), (12, "b", "a"))
    )
    chosen = Reschedule(stamp(9, NOON + timedelta(days=11)), CARD, date(2027, 3, 1))
    untouched, found = fold(reviews, SCHEDULER)[CARD], fold([*reviews, chosen], SCHEDULER, [there, back])[CARD]
    assert found == replace(untouched, due=fold([*reviews, chosen], SCHEDULER)[CARD].due)


def test_a_stability_without_end_is_held_where_numbers_still_count() -> None:
    scheduler = Scheduler(Rules(BERLIN, parameters=growing))
    events = daily([(0, Rating.EASY), *[(0, Rating.EASY)] * 200])
    assert fold(events, scheduler)[CARD].stability == MOST_STABLE


def test_a_fact_that_changes_again_before_anyone_saw_it_is_forgotten_no_further() -> None:
    reviews = daily([(0, Rating.GOOD), (0, Rating.GOOD), (5, Rating.GOOD)])
    day = timedelta(days=1)
    changes = [CardEvent(CARD, "changed", NOON + (10 + n) * day) for n in range(3)]
    once, thrice = fold(reviews, SCHEDULER, changes[:1])[CARD], fold(reviews, SCHEDULER, changes)[CARD]
    assert once.stability < fold(reviews, SCHEDULER)[CARD].stability
    assert thrice == replace(once, due=changes[-1].at)
    again = Review(stamp(9, NOON + 20 * day), CARD, Rating.GOOD)
    asked = [fold([*reviews, again], SCHEDULER, some)[CARD] for some in (changes[:1], changes)]
    assert asked[0] == asked[1]
    seen = [replay(columns_of([*reviews, again]), SCHEDULER, some).stability for some in (changes[:1], changes)]
    assert seen[0] == seen[1]
