"""What a day may hold: new cards by importance and prerequisites, and a backlog by what waiting loses."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.cards.workspace import open_desk
from learning.memory.fsrs import DEFAULTS
from learning.memory.model import Model
from learning.memory.scheduler import fuzz_range
from learning.memory.state import MemoryState, Phase
from learning.schedule.queue import Item
from learning.schedule.workload import (
    NewRoom,
    Pace,
    admitted,
    by_importance,
    carried_over,
    follow_ups,
    lost_by_waiting,
    new_room,
    worth_first,
)
from learning.store.graph import importance
from vault.ids import CardId
from vault.vault import Vault, open_vault

MODEL = Model(DEFAULTS)
PACE = Pace(new_s=30, review_s=10)
GRAPH = b"""\
# Graph

- [[wiki/concepts/attention|Attention]] needs [[wiki/concepts/vector|Vector]], [[wiki/concepts/softmax|Softmax]]
- [[wiki/concepts/kv-cache|KV cache]] needs [[wiki/concepts/attention|Attention]]; relates to [[wiki/concepts/vector|V]]
- [[wiki/concepts/vector|Vector]]
- [[wiki/concepts/loop|Loop]] relates to [[wiki/concepts/loop|Loop]]
"""


def item(concept: str, number: int = 1) -> Item:
    return Item(CardId(f"{concept}{number}"), concept)


def test_importance_is_how_many_concepts_need_or_mention_one() -> None:
    assert importance(GRAPH) == {"vector": 2, "softmax": 1, "attention": 1, "loop": 0}
    assert importance(b"\xff\n- [[a]] needs\n- broken [[ needs ]]\n") == {}


def test_what_others_lean_on_is_admitted_first_and_nothing_before_its_prerequisites() -> None:
    waiting = [item("kv-cache"), item("softmax"), item("attention"), item("vector")]
    needs = {"attention": {"vector", "softmax"}, "kv-cache": {"attention"}}
    rank = importance(GRAPH)
    assert [i.concept for i in by_importance(waiting, rank)] == ["vector", "softmax", "attention", "kv-cache"]
    found = [i.concept for i in admitted(waiting, 9, {**rank, "kv-cache": 50}, needs)]
    assert found.index("attention") < found.index("kv-cache")
    assert found.index("vector") < found.index("attention")
    assert admitted(waiting, 2, rank, needs) == [item("vector"), item("softmax")]
    assert admitted(waiting, 0, rank, needs) == admitted(waiting, -3, rank) == []


@given(
    st.integers(1, 240),
    st.lists(st.integers(0, 400), min_size=1, max_size=10),
    st.integers(0, 200),
    st.integers(0, 50),
)
def test_no_day_of_the_week_goes_beyond_its_minutes_for_new_cards(
    minutes: int, due: list[int], waiting: int, limit: int
) -> None:
    later = follow_ups(MODEL, 0.9)
    found = new_room(minutes, due, PACE, later, waiting=waiting, limit=limit)
    assert 0 <= found.new <= min(waiting, limit)
    for day, reviews in enumerate(due[:7]):
        if found.new:
            spent = reviews * PACE.review_s + found.new * (PACE.new_s + later[day] * PACE.review_s)
            assert spent <= minutes * 60 + 1e-6
    assert bool(found.reason) == (found.new < min(waiting, limit))
    if found.reason:
        one_more = [
            reviews * PACE.review_s + (found.new + 1) * (PACE.new_s + later[day] * PACE.review_s)
            for day, reviews in enumerate(due[:7])
        ]
        assert max(one_more) > minutes * 60


@given(st.lists(st.integers(0, 500), max_size=9), st.integers(0, 200))
def test_what_a_day_cannot_take_waits_for_the_next_and_none_is_lost(due: list[int], per_day: int) -> None:
    found = carried_over(due, per_day)
    assert len(found) == len(due) and max(found, default=0) <= per_day
    for day in range(len(due)):
        assert sum(found[: day + 1]) <= sum(due[: day + 1])
    assert carried_over(due, 10_000) == due


def test_the_reason_is_one_sentence_that_names_the_day_that_is_full() -> None:
    later = follow_ups(MODEL, 0.9)
    full = new_room(10, [0, 0, 60, 0, 0, 0, 0], PACE, later, waiting=12, limit=20)
    assert full.new == 0
    assert full.reason == "none of 12 new cards fit into 10 minutes a day: reviews in 2 days take about 10 of them"
    some = new_room(10, [30], PACE, later, waiting=40, limit=20)
    assert some == NewRoom(10, 40, "10 of 40 new cards fit into 10 minutes a day: reviews today take about 5 of them")


def test_follow_ups_are_the_reviews_that_a_stream_of_new_cards_brings() -> None:
    found = follow_ups(MODEL, 0.9, days=60)
    assert found[0] == 0 and found == sorted(found)
    assert 1 <= found[10] <= 4
    assert follow_ups(MODEL, 0.95, days=60)[-1] > found[-1]


# --- the backlog ----------------------------------------------------------------------------------------------------

Late = tuple[float, float, int, int]  # stability, difficulty, day of the last review, day it was due


def absent(cards: int, days: int, seed: int) -> list[Late]:
    """A deck of all ages whose owner was away for so many days."""
    dice, out = random.Random(seed), []
    for _ in range(cards):
        memory = MODEL.first(dice.choice((1, 2, 3, 3, 3, 3, 4)))
        for _ in range(dice.randint(0, 14)):
            wait = MODEL.interval(memory[0], 0.9, 700)
            recalled = dice.random() < MODEL.retrievability(memory[0], wait)
            memory = MODEL.after(*memory, wait, 3 if recalled else 1)
        wait = MODEL.interval(memory[0], 0.9, 700)
        last = -days - dice.randrange(wait)
        out.append((*memory, last, last + wait))
    return out


def mean_recall(deck: list[Late], order: Callable[[Late, int], float], *, per_day: int, days: int, seed: int) -> float:
    """Cards recalled on a mean day, all cards counted, when `per_day` reviews are done in that order."""
    dice, due, area = random.Random(seed), list(deck), 0.0
    for day in range(days):
        todo = sorted((card for card in due if card[3] <= day), key=lambda card: order(card, day))[:per_day]
        rest = set(map(id, todo))
        due = [card for card in due if id(card) not in rest]
        for stability, difficulty, last, _ in todo:
            if dice.random() < MODEL.retrievability(stability, day - last):
                memory = MODEL.after(stability, difficulty, day - last, 3)
            else:
                memory = MODEL.after(*MODEL.after(stability, difficulty, day - last, 1), 0, 3)
            wait = dice.randint(*fuzz_range(MODEL.interval(memory[0], 0.9, 700), 700))
            due.append((*memory, day, day + wait))
        area += sum(MODEL.retrievability(card[0], day + 1 - card[2]) for card in due)
    return area / days


def _most_lost_first(card: Late, day: int) -> float:
    return -lost_by_waiting(MODEL, card[0], card[1], day - card[2])


@pytest.mark.parametrize("away", [45, 90])
def test_reviews_in_order_of_what_waiting_loses_keep_more_than_in_order_of_their_dates(away: int) -> None:
    ours = theirs = forgotten_last = 0.0
    for seed in range(3):
        deck = absent(500, away, seed)
        ours += mean_recall(deck, _most_lost_first, per_day=10, days=45, seed=seed)
        theirs += mean_recall(deck, lambda card, _: card[3], per_day=10, days=45, seed=seed)
        forgotten_last += mean_recall(
            deck, lambda card, day: -MODEL.retrievability(card[0], day - card[2]), per_day=10, days=45, seed=seed
        )
    assert ours > theirs
    assert ours > forgotten_last


@given(st.floats(0.1, 5_000), st.floats(1, 10), st.integers(0, 5_000))
def test_what_waiting_loses_is_a_number_of_days(stability: float, difficulty: float, waited: int) -> None:
    lost = lost_by_waiting(MODEL, stability, difficulty, waited)
    assert -21 <= lost <= 21


def test_a_stable_card_can_wait_longer_than_one_that_fades() -> None:
    assert lost_by_waiting(MODEL, 400, 5, 440) < lost_by_waiting(MODEL, 10, 5, 50)


def test_the_order_of_a_backlog_holds_each_review_once_and_the_same_each_time() -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    states, items = {}, []
    for number in range(20):
        stability = 2.0 + number * 7
        items.append(item("c", number))
        states[items[-1].card] = MemoryState(Phase.REVIEW, stability, 5.0, None, at, at, 1000, int(stability))
    found = worth_first(items, states, 1100, MODEL)
    assert sorted(i.card for i in found) == sorted(i.card for i in items)
    lost = [lost_by_waiting(MODEL, states[i.card].stability, 5.0, 100) for i in found]
    assert all(a > b - 0.15 for a, b in pairwise(lost))  # alike cards stand as they came
    assert worth_first(items, states, 1100, MODEL) == found


# --- at the desk ----------------------------------------------------------------------------------------------------


def test_minutes_a_day_hold_new_cards_back_and_say_why_and_more_minutes_let_them_in(vault: Vault) -> None:
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    free = open_desk(vault, now)
    assert len(free.queue.new) == 3 and free.today["new"] == 3 and free.held_back == ""

    tight = open_desk(with_minutes(vault, 1), now)  # 25 s for a new card, and reviews that follow
    assert tight.today["new"] == 1
    assert tight.held_back == "1 of 3 new cards fit into a minute a day: their follow-up reviews need time too"
    assert set(tight.queue.new) == set(free.queue.new)  # nothing is hidden from the list
    assert open_desk(with_minutes(vault, 10), now).today["new"] == 3


def with_minutes(vault: Vault, minutes: int) -> Vault:
    path = vault.root / "retain.toml"
    text = re.sub(r"(?m)^(# )?minutes_per_day = \S+", f"minutes_per_day = {minutes}", path.read_text())
    path.write_text(text)
    return open_vault(str(vault.root), None, vault.root)
