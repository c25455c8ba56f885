"""A key held down is one press, however long the app took to hear of the rest."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from textual.events import Key
from textual.pilot import Pilot

from tui.app import RetainApp
from tui.context import Presses
from tui.screens.review import ReviewScreen
from tui.views.card import CardView
from tui.widgets.notice import Notice
from vault.log.events import LogEvent

Settled = Callable[[Pilot[int]], Awaitable[None]]
Logged = Callable[[], list[LogEvent]]
PassTime = Callable[[float], None]


def test_repeats_are_told_from_presses_by_when_they_were_read() -> None:
    presses, repeated = Presses(), []
    for key, at in (("space", 9.0), ("space", 9.03), ("space", 9.9), ("3", 9.91), ("space", 9.92), ("space", 10.3)):
        presses.came(key, at)
        repeated.append(presses.repeated)
    assert repeated == [False, True, True, False, False, False]  # at 9.9: a line that stalled


async def test_spaces_that_queued_while_the_app_was_slow_rate_nothing(
    review: RetainApp, logged: Logged, settled: Settled, instants: list[datetime]
) -> None:
    async with review.run_test() as pilot:
        await settled(pilot)
        began = instants[-1]
        held = []
        for n in range(200):  # read every 30 ms
            instants.append(began + timedelta(milliseconds=30 * n))
            held.append(Key("space", " "))
        for n, key in enumerate(held):  # and handled much later, a second apart
            instants.append(began + timedelta(seconds=10 + n))
            review.post_message(key)
            await pilot.pause()
        assert "answer" in review.screen.query_one(CardView).shown and logged() == []


async def test_a_press_made_before_the_answer_was_painted_rates_nothing(
    review: RetainApp, logged: Logged, settled: Settled, instants: list[datetime], pass_time: PassTime
) -> None:
    async with review.run_test() as pilot:
        await settled(pilot)
        early = [Key("space", " ")]
        pass_time(1)
        early.append(Key("space", " "))
        pass_time(5)  # the app was busy meanwhile
        for key in early:
            review.post_message(key)
        await settled(pilot)
        assert "answer" in review.screen.query_one(CardView).shown and logged() == []
        pass_time(1)
        await pilot.press("space")
        assert len(logged()) == 1


async def test_neither_a_held_key_nor_one_press_too_many_leaves_the_end_unseen(
    review: RetainApp, settled: Settled, pass_time: PassTime
) -> None:
    async with review.run_test() as pilot:
        await settled(pilot)
        for _ in range(4):
            await pilot.press("space", "4")
        assert review.screen.has_class("-ended")
        await pilot.press("space")
        assert isinstance(review.screen, ReviewScreen)
        pass_time(1)
        await settled(pilot)
        await pilot.press("space")  # one too many, at an even pace: it is said what the next one does
        await settled(pilot)
        assert isinstance(review.screen, ReviewScreen)
        assert "Press again to return to Home" in str(review.screen.query_one(Notice).content)
        pass_time(1)
        await settled(pilot)
        await pilot.press("space")
        await settled(pilot)
        assert not isinstance(review.screen, ReviewScreen)
