"""After an absence: a plan that bounds each day, new cards that wait, minutes that hold, and a pause."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from learning.cards import plans
from learning.cards.actions import do
from learning.cards.shift import advanced, postponed, shifting
from learning.cards.workspace import Desk, open_desk, rate, undo_last
from learning.memory.model import Model
from learning.schedule.catch_up import CatchUpPlan, PausedDays, decisions_of, missed_days
from learning.schedule.usual import StudiedDay, minutes_limit, too_many_overdue, usual_day
from learning.schedule.workload import lost_by_waiting
from learning.stats.catch_up import offer_of
from learning.stats.overview import daybook
from learning.study_day import StudyCalendar
from tests.learning.backlog import FIRST, after_days, stamp, study, vault_of
from vault.errors import UsageError
from vault.ids import CardId
from vault.log.events import EVERYTHING, CatchUp, Pause, Rating
from vault.vault import Vault

CALENDAR = StudyCalendar(UTC, 4)
DAY = date(2026, 12, 1)
TODAY = DAY.toordinal()


def at(day: int) -> datetime:
    """Noon of the day so many days after DAY."""
    return datetime(2026, 12, 1, 12, tzinfo=UTC) + timedelta(days=day)


def on(day: int) -> date:
    return DAY + timedelta(days=day)


# --- what the log says ----------------------------------------------------------------------------------------------


def test_the_last_plan_of_a_day_counts_and_days_without_reviews_do_not() -> None:
    made = [CatchUp(stamp(at(0), n), per_day, on(9)) for n, per_day in enumerate((20, 30))]
    plan = decisions_of(made, CALENDAR).plan_on(TODAY)
    assert plan == CatchUpPlan(30, TODAY, 10)
    assert decisions_of(made, CALENDAR).plan_on(TODAY - 1) is None
    assert plan.holds(TODAY, 0) and plan.holds(TODAY + 40, 9) and not plan.holds(TODAY + 10, 10)
    assert plan.last_day(TODAY, 0) == TODAY + 9 and plan.last_day(TODAY + 40, 9) == TODAY + 40


def test_everything_holds_for_a_day_and_zero_ends_a_plan() -> None:
    everything = CatchUp(stamp(at(0), 0), EVERYTHING, on(0))
    plan = decisions_of([everything], CALENDAR).plan_on(TODAY + 1)
    assert plan is not None and plan.holds(TODAY, 0) and not plan.holds(TODAY + 1, 1)
    ended = decisions_of([everything, CatchUp(stamp(at(1), 0), 0, on(1))], CALENDAR).plan_on(TODAY + 1)
    assert ended is not None and not ended.holds(TODAY + 1, 0)


def test_a_later_pause_replaces_what_is_left_of_an_earlier_one() -> None:
    first = Pause(stamp(at(0), 0), on(14), 30)
    whole = decisions_of([first], CALENDAR)
    assert whole.pauses == (PausedDays(TODAY, TODAY + 14, 30),)
    assert whole.pause_on(TODAY + 13) and not whole.pause_on(TODAY + 14)
    assert whole.plan_on(TODAY + 14) == CatchUpPlan(30, TODAY + 14, 28)
    ended = decisions_of([first, Pause(stamp(at(5), 0), on(5), 20)], CALENDAR)
    assert len(ended.paused_days()) == 5 and ended.pause_on(TODAY + 5) is None
    assert ended.plans == (CatchUpPlan(20, TODAY + 5, 28),)


def test_a_pause_that_is_ended_on_its_first_day_bounds_no_later_day() -> None:
    changed_mind = decisions_of([Pause(stamp(at(0), 0), on(14), 30), Pause(stamp(at(0), 1), on(0), 30)], CALENDAR)
    assert changed_mind.pauses == () and changed_mind.plan_on(TODAY + 1) is None


def test_paused_days_are_not_missed() -> None:
    decisions = decisions_of([Pause(stamp(at(2), 0), on(8))], CALENDAR)
    assert missed_days(TODAY, TODAY + 11, decisions) == 4
    assert missed_days(TODAY, TODAY + 1, decisions) == 0


# --- a usual day ----------------------------------------------------------------------------------------------------


def test_the_default_of_the_minutes_comes_of_the_last_two_weeks() -> None:
    days = [StudiedDay(TODAY - n, 40, 60, 11.0 + n % 3) for n in range(14)]
    assert minutes_limit(None, usual_day(days)) == 20  # half as many again as 12
    assert minutes_limit(None, usual_day(days[:13])) == 0
    assert minutes_limit(0, usual_day(days)) == 0 and minutes_limit(7, usual_day(days)) == 7
    assert minutes_limit(None, usual_day([replace(day, minutes=0.0) for day in days])) == 0


def test_a_few_overdue_cards_pause_nothing() -> None:
    learner = usual_day([StudiedDay(TODAY - n, 2, 4, 1.0) for n in range(5)])
    assert not too_many_overdue(10, learner) and too_many_overdue(11, learner)
    assert not too_many_overdue(1_000, usual_day([]))


# --- at the desk ----------------------------------------------------------------------------------------------------


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """A learner's vault of 300 cards, 150 of them met in 15 days."""
    vault = vault_of(tmp_path / "mind", 300)
    after_days(vault, 15)
    return vault


def back(days: int = 30) -> datetime:
    """The morning after so many days away."""
    return FIRST + timedelta(days=15 + days)


def sizes(desk: Desk) -> tuple[int, int]:
    return desk.today["due"], desk.today["new"]


def test_new_cards_wait_while_more_than_a_usual_day_is_overdue_and_say_so(vault: Vault) -> None:
    desk = open_desk(vault, back())
    assert desk.limits.overdue > 100 and desk.today["new"] == 0
    assert desk.held_back.startswith(f"new cards are paused: {desk.limits.overdue} reviews are overdue")
    free = replace(vault, settings=replace(vault.settings, pause_new_cards=False, minutes_per_day=0))
    assert open_desk(free, back()).today["new"] == 20
    study(vault, back(), new=0)
    assert open_desk(vault, back(31)).today["new"] > 0


def test_the_minutes_of_a_usual_day_bound_the_reviews_too(vault: Vault) -> None:
    desk = open_desk(vault, back())
    assert desk.limits.usual is not None and desk.limits.usual.days == 14
    assert 0 < desk.today["minutes"] <= desk.limits.minutes < 15
    assert desk.beyond["due"] == len(desk.queue.due) - desk.today["due"] > 0
    off = replace(vault, settings=replace(vault.settings, minutes_per_day=0))
    assert open_desk(off, back()).beyond["due"] == 0


def test_a_plan_bounds_each_day_until_nothing_waits_and_can_be_changed_and_undone(vault: Vault) -> None:
    desk = open_desk(vault, back())
    waiting = len(desk.queue.due)
    offer = offer_of(desk)
    assert offer is not None and offer.waiting == waiting > offer.per_day
    desk, _ = plans.catch_up(desk, offer.per_day, offer.until, via="cli")
    assert sizes(desk) == (offer.per_day, 0)
    loads = []
    for day in range(60):
        desk = open_desk(vault, back() + timedelta(days=day))
        loads.append(sum(sizes(desk)))
        if desk.limits.plan is None or not desk.beyond["due"]:
            break
        for item in desk.queue.today:
            desk, _ = rate(replace(desk, is_queued=False), item.card, Rating.GOOD, via="cli")
    assert max(loads) <= offer.per_day and desk.beyond["due"] == 0
    assert offer.until is not None and desk.now.date() <= offer.until


def test_a_plan_is_changed_by_a_later_one_and_undone_as_any_action(vault: Vault) -> None:
    desk = open_desk(vault, back())
    before = sizes(desk)
    desk, _ = plans.catch_up(desk, 25, on(60), via="cli")
    desk, _ = plans.catch_up(desk, 15, on(60), via="cli")
    assert sizes(desk) == (15, 0)
    desk, _, voided = undo_last(desk, via="cli")
    assert sizes(desk) == (25, 0) and [event.type for event in voided] == ["catch_up"]
    desk, _ = plans.catch_up_today(desk, via="cli")
    assert sizes(desk) == (len(desk.queue.due), 0)
    assert sizes(open_desk(vault, back(31)))[0] < len(desk.queue.due)
    desk, _ = plans.end_plan(desk, via="cli")
    assert desk.limits.plan is None and sizes(desk) == before


def test_nothing_is_due_in_a_pause_the_streak_is_kept_and_the_load_is_spread_afterwards(vault: Vault) -> None:
    desk = open_desk(vault, FIRST + timedelta(days=15))
    assert daybook(desk, 7).streak == 15
    desk, _ = plans.pause(desk, (FIRST + timedelta(days=35)).date(), via="cli")
    assert desk.queue.due == desk.queue.new == desk.queue.today == ()
    away = open_desk(vault, FIRST + timedelta(days=34))
    assert away.queue.today == () and daybook(away, 7).streak == 15
    home = open_desk(vault, FIRST + timedelta(days=35))
    assert home.limits.missed == 0 and daybook(home, 7).streak == 15
    assert home.limits.plan is not None
    assert 0 < sum(sizes(home)) <= home.limits.plan.per_day < len(home.queue.due)
    late = open_desk(vault, FIRST + timedelta(days=36))
    assert late.limits.missed == 1 and daybook(late, 7).streak == 0


def test_a_pause_can_be_ended_early_and_undone(vault: Vault) -> None:
    desk = open_desk(vault, FIRST + timedelta(days=15))
    desk, _ = plans.pause(desk, (FIRST + timedelta(days=35)).date(), via="cli")
    soon = open_desk(vault, FIRST + timedelta(days=18))
    soon, _ = plans.end_pause(soon, via="cli")
    assert soon.queue.due and plans.paused_until(soon) is None
    soon, _, _ = undo_last(soon, via="cli")
    assert plans.paused_until(soon) == (FIRST + timedelta(days=35)).date()
    with pytest.raises(UsageError):
        plans.pause(soon, soon.now.date(), via="cli")


def test_the_minutes_that_a_user_sets_hold_on_the_first_day_after_a_gap(vault: Vault) -> None:
    limited = replace(vault, settings=replace(vault.settings, minutes_per_day=6))
    desk = open_desk(limited, back())
    assert desk.today["minutes"] == 6 and desk.beyond["due"] > 50
    half = desk.queue.today[: len(desk.queue.today) // 2]
    for item in half:
        desk, _ = rate(replace(desk, is_queued=False), item.card, Rating.GOOD, via="cli", ms=8_000)
    assert 2 <= open_desk(limited, back()).today["minutes"] <= 4  # what was spent today counts


# --- some cards ------------------------------------------------------------------------------------------------------


def test_postponed_cards_are_those_that_lose_least_and_one_undo_brings_all_back(vault: Vault) -> None:
    desk = open_desk(vault, back(1))
    due = {item.card for item in desk.queue.due}
    shifts = postponed(desk, 20)
    assert len(shifts) == 20 and {shift.card for shift in shifts} <= due
    model = Model(desk.scheduler.parameters)
    today = desk.scheduler.calendar.day(desk.now)

    def lost(card: CardId) -> float:
        state = desk.state(card)
        return lost_by_waiting(model, state.stability, state.difficulty, today - state.last_day)

    chosen = {shift.card for shift in shifts}
    assert max(map(lost, chosen)) <= min(map(lost, due - chosen))
    for shift in shifts:
        wait = shift.to.toordinal() - today
        assert 1 <= wait <= max(1, round(desk.state(shift.card).interval_days * 0.1))
        assert shift.chances[1] <= shift.chances[0]
    after = do(desk, shifting(desk, shifts, via="cli"))
    assert {item.card for item in after.queue.due} == due - chosen
    after, _, _ = undo_last(after, via="cli")
    assert {item.card for item in after.queue.due} == due


def test_advanced_cards_are_the_most_nearly_due_and_come_today(vault: Vault) -> None:
    desk = open_desk(vault, FIRST + timedelta(days=16))
    before = {item.card for item in desk.queue.due}
    shifts = advanced(desk, 10)
    after = do(desk, shifting(desk, shifts, via="cli"))
    came = {item.card for item in after.queue.due} - before
    assert came == {shift.card for shift in shifts} and len(came) == 10
    chance = desk.scheduler.chances(desk.now)
    others = [
        chance(state)
        for card, state in desk.states.items()
        if card not in came | before
        and state.due is not None
        and state.last_day < desk.scheduler.calendar.day(desk.now)
    ]
    assert max(chance(desk.state(card)) for card in came) <= min(others)
