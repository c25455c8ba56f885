"""Each card is queued once, in an order that teaches: what fades first, prerequisites first, siblings apart."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.memory.fold import fold
from learning.memory.scheduler import Scheduler
from learning.memory.state import MemoryState, Phase, Rules
from learning.schedule.queue import (
    Done,
    Item,
    Limits,
    Queue,
    apart,
    build_queue,
    by_prerequisite,
    done_today,
    mixed,
    new_order,
)
from learning.study_day import StudyCalendar
from vault.ids import CardId
from vault.log.events import LogEvent, Rating, Review, Stamp, Undo

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
CALENDAR = StudyCalendar()
SCHEDULER = Scheduler(Rules(CALENDAR))


def item(name: str) -> Item:
    """`a1` is the card "a1" of the concept "a"."""
    return Item(CardId(name), name[0])


def items(names: str) -> list[Item]:
    return [item(name) for name in names.split()]


def names(found: object) -> str:
    return " ".join(i.card for i in found)  # type: ignore[attr-defined]


def rated(rating: Rating, days_ago: float, times: int = 1) -> MemoryState:
    state = MemoryState()
    for _ in range(times):
        state = SCHEDULER.review(CardId("a"), state, rating, NOON - timedelta(days=days_ago))
    return state


def queue_of(names: str, states: dict[str, MemoryState] | None = None, **more: object) -> Queue:
    known = {CardId(card): state for card, state in (states or {}).items()}
    return build_queue(items(names), known, NOON, calendar=CALENDAR, **more)  # type: ignore[arg-type]


concepts = st.text("abcde", min_size=1, max_size=1)
piles = st.lists(st.tuples(concepts, st.integers(0, 99)), max_size=25, unique=True).map(
    lambda drawn: [item(f"{concept}{number}") for concept, number in drawn]
)
graphs = st.dictionaries(concepts, st.sets(concepts, max_size=3), max_size=5)


def test_new_cards_are_new_and_reviewed_ones_come_back_when_due() -> None:
    states = {"b1": rated(Rating.EASY, 8), "c1": rated(Rating.EASY, 7), "d1": rated(Rating.GOOD, 0)}
    queue = queue_of("a1 b1 c1 d1", states)
    assert (names(queue.due), names(queue.new)) == ("b1", "a1")
    assert names(queue.waiting) == "d1"


def test_a_card_is_due_from_the_beginning_of_its_study_day() -> None:
    state = rated(Rating.EASY, 8)
    assert state.due is not None
    known = {CardId("a1"): state}
    before = build_queue(items("a1"), known, state.due - timedelta(milliseconds=1), calendar=CALENDAR)
    after = build_queue(items("a1"), known, state.due, calendar=CALENDAR)
    assert (before.due, names(after.due)) == ((), "a1")


def test_what_is_due_longest_comes_first_and_then_what_is_most_nearly_forgotten() -> None:
    states = {
        "a1": rated(Rating.EASY, 9),
        "b1": rated(Rating.GOOD, 2, 2),
        "c1": rated(Rating.EASY, 8),
    }
    b, c = states["b1"], states["c1"]
    assert b.due == c.due
    assert SCHEDULER.retrievability(c, NOON) < SCHEDULER.retrievability(b, NOON)
    assert names(queue_of("b1 c1 a1", states).due) == "a1 c1 b1"


def test_steps_of_learning_come_before_reviews_by_the_minute() -> None:
    states = {"a1": rated(Rating.EASY, 30), "b1": rated(Rating.AGAIN, 0.01), "c1": rated(Rating.AGAIN, 0.02)}
    queue = queue_of("a1 b1 c1", states)
    assert names(queue.due) == names(queue.today) == "c1 b1 a1"


def test_hidden_cards_are_in_no_queue() -> None:
    hidden = [
        MemoryState(suspended=True),
        MemoryState(retracted=True),
        MemoryState(buried_until=NOON + timedelta(hours=1)),
    ]
    states = {f"a{n}": state for n, state in enumerate(hidden)}
    assert queue_of("a0 a1 a2", states) == Queue()
    assert names(queue_of("a0", {"a0": MemoryState(buried_until=NOON)}).new) == "a0"


def test_limits_hold_back_today_and_nothing_else() -> None:
    states = {f"{c}1": rated(Rating.EASY, 30) for c in "abc"} | {"d1": rated(Rating.AGAIN, 0.1)}
    queue = queue_of("a1 b1 c1 d1 e1 f1 g1", states, limits=Limits(new=2, reviews=2), done=Done(new=1, reviews=1))
    assert (len(queue.due), len(queue.new)) == (4, 3)
    assert names(queue.today) == "d1 a1 e1"


@pytest.mark.parametrize("done", [Done(20, 200), Done(99, 999)])
def test_a_day_that_is_done_has_no_more_room(done: Done) -> None:
    queue = queue_of("a1 b1", {"a1": rated(Rating.EASY, 30)}, done=done)
    assert queue.today == ()


def test_a_card_that_two_files_hold_is_queued_once() -> None:
    assert names(queue_of("a1 b1 a1").new) == "a1 b1"


def test_done_today_counts_cards_and_not_ratings() -> None:
    def review(number: int, card: str, at: datetime) -> LogEvent:
        return Review(Stamp(str(number), at), CardId(card), Rating.GOOD)

    yesterday, this_morning = NOON - timedelta(days=1), NOON - timedelta(hours=7)
    events = [
        review(1, "a1", yesterday),
        review(2, "a1", NOON),
        review(3, "a1", NOON),
        review(4, "b1", this_morning),
        review(5, "b1", NOON),
        review(6, "c1", NOON - timedelta(hours=9)),  # three in the morning
        review(7, "d1", NOON),
        Undo(Stamp("8", NOON), "7"),
    ]
    assert done_today(events, CALENDAR, NOON) == Done(new=1, reviews=1)


def test_siblings_are_apart() -> None:
    assert names(apart(items("a1 a2 a3 b1 b2 c1"))) == "a1 b1 a2 b2 a3 c1"
    assert names(apart(items("b1 c1 a1 a2 a3"))) == "a2 b1 a3 c1 a1"
    assert names(apart(items("a1 a2"))) == "a1 a2"


@given(piles)
def test_siblings_are_never_in_a_row_where_that_can_be(pile: list[Item]) -> None:
    out = apart(pile)
    assert sorted(out, key=lambda i: i.card) == sorted(pile, key=lambda i: i.card)
    most = max(Counter(i.concept for i in pile).values(), default=0)
    if most <= (len(pile) + 1) // 2:
        assert all(a.concept != b.concept for a, b in pairwise(out))


@given(piles, graphs)
def test_new_cards_come_once_each_with_their_concepts_in_order(pile: list[Item], graph: dict[str, set[str]]) -> None:
    out = list(new_order(pile, graph))
    assert sorted(out, key=lambda i: i.card) == sorted(pile, key=lambda i: i.card)
    for concept in {i.concept for i in pile}:
        assert [i for i in out if i.concept == concept] == [i for i in pile if i.concept == concept]


@given(piles, st.sets(st.tuples(concepts, concepts).filter(lambda edge: edge[0] < edge[1])))
def test_the_nth_card_of_a_prerequisite_comes_first(pile: list[Item], edges: set[tuple[str, str]]) -> None:
    graph: dict[str, set[str]] = {}
    for before, after in edges:
        graph.setdefault(after, set()).add(before)
    out = list(new_order(pile, graph))
    place = {}
    count: Counter[str] = Counter()
    for index, card in enumerate(out):
        place[card.concept, count[card.concept]] = index
        count[card.concept] += 1
    for before, after in edges:
        for n in range(min(count[before], count[after])):
            assert place[before, n] < place[after, n]


def test_prerequisites_come_first_through_concepts_without_cards() -> None:
    assert list(by_prerequisite(["c", "a"], {"c": ["b"], "b": ["a"]})) == ["a", "c"]


def test_circles_are_tolerated() -> None:
    circle = {"a": ["b"], "b": ["c"], "c": ["a"], "d": ["d", "a"]}
    assert sorted(by_prerequisite("dcba", circle)) == ["a", "b", "c", "d"]


def test_a_long_chain_of_prerequisites_is_no_trouble() -> None:
    chain = {str(n): [str(n + 1)] for n in range(50_000)}
    assert next(by_prerequisite(["0"], chain)) == "0"


def test_new_concepts_join_one_by_one_and_kinds_mix() -> None:
    assert names(new_order(items("a1 a2 a3 b1 b2 c1"), {})) == "a1 b1 a2 c1 b2 a3"


@given(piles, st.integers(0, 25))
def test_new_cards_are_spread_evenly_among_reviews(pile: list[Item], cut: int) -> None:
    reviews, new = pile[:cut], pile[cut:]
    out = list(mixed(reviews, new))
    assert [i for i in out if i in reviews] == reviews
    assert [i for i in out if i in new] == new


def test_mixing_puts_a_new_card_after_every_few_reviews() -> None:
    assert names(mixed(items("a1 b1 c1 d1 e1 f1"), items("x1 y1"))) == "a1 b1 x1 c1 d1 y1 e1 f1"


ratings = st.sampled_from(Rating)
pasts = st.lists(st.tuples(concepts, st.integers(0, 3), ratings, st.floats(0, 60)), max_size=20)


@given(piles, pasts, graphs, st.integers(0, 5), st.integers(0, 5))
def test_no_card_is_twice_in_a_queue(
    pile: list[Item],
    past: list[tuple[str, int, Rating, float]],
    graph: dict[str, set[str]],
    new: int,
    reviews: int,
) -> None:
    events: list[LogEvent] = [
        Review(Stamp(str(n), NOON - timedelta(days=days)), CardId(f"{concept}{card}"), rating)
        for n, (concept, card, rating, days) in enumerate(past)
    ]
    states = fold(events, SCHEDULER)
    limits = Limits(new, reviews)
    queue = build_queue(pile * 2, states, NOON, calendar=CALENDAR, limits=limits, prerequisites=graph)
    everything = [*queue.due, *queue.new, *queue.waiting]
    assert len({i.card for i in everything}) == len(everything)
    assert {i.card for i in everything} <= {i.card for i in pile}
    assert len({i.card for i in queue.today}) == len(queue.today)
    assert {*queue.today} <= {*queue.due, *queue.new}
    assert sum(i in queue.new for i in queue.today) <= new
    for due in queue.due:
        state = states[due.card]
        assert state.phase is not Phase.NEW
        assert state.due is not None
        assert state.due <= NOON
    assert all(i.card not in states for i in queue.new)
