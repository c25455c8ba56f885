"""A refit makes no day much heavier than it was, and nobody waits longer for it than before."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from learning.schedule.refit_load import HORIZON, spread_refit
from vault.ids import CardId

TODAY = 739_000

due_days = st.lists(st.tuples(st.integers(-40, 120), st.integers(-40, 120)), max_size=150)


@given(due_days)
def test_no_day_is_heavier_than_the_bound_and_no_card_waits_beyond_its_day(drawn: list[tuple[int, int]]) -> None:
    before = {CardId(f"{n:010}"): TODAY + old for n, (old, _) in enumerate(drawn)}
    after = {CardId(f"{n:010}"): TODAY + new for n, (_, new) in enumerate(drawn)}
    load = spread_refit(before, after, TODAY, {})
    days = {card: max(load.moved.get(card, day), TODAY) for card, day in after.items()}
    was, now = (Counter(max(day, TODAY) for day in each.values()) for each in (before, days))
    for number in range(HORIZON):
        day = TODAY + number
        assert now[day] == load.after[number] <= max(load.before[number], load.most)
        assert was[day] == load.before[number]
    for card, day in load.moved.items():
        assert day > after[card] and day > TODAY
        assert day <= max(before[card], TODAY) or after[card] > before[card]


def test_the_most_urgent_come_first_and_the_others_day_by_day() -> None:
    cards = [CardId(f"{n:010}") for n in range(60)]
    before = dict.fromkeys(cards, TODAY + 25)
    load = spread_refit(before, dict.fromkeys(cards, TODAY - 3), TODAY, {card: -n for n, card in enumerate(cards)})
    assert load.most == 10
    assert load.after[:7] == (10, 10, 10, 10, 10, 10, 0)
    assert not set(cards[-10:]) & load.moved.keys()
    assert [load.moved[card] for card in cards[:3]] == [TODAY + 5] * 3


def test_a_refit_that_moves_nothing_has_nothing_wait() -> None:
    days = {CardId(f"{n:010}"): TODAY + n // 50 for n in range(500)}
    load = spread_refit(days, days, TODAY, {})
    assert load.before == load.after and load.moved == {}
