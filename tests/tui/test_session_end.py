"""The end of a session says how many concepts are ripe for a thought of the human's own, and is silent without any."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from learning.cards.workspace import open_desk, rate
from learning.memory import labels
from learning.review.plan import Plan
from learning.review.study_session import StudySession
from learning.review.summary import Tally
from learning.study_day import StudyCalendar
from tui.app import RetainApp
from tui.screens.review import ReviewScreen
from tui.views.session_end import _words
from vault.layout import PROMOTION_QUEUE
from vault.log import ledger
from vault.log.events import Rating
from vault.vault import Vault

NOW = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
Settled = Callable[[Pilot[int]], Awaitable[None]]


@pytest.mark.parametrize(("ripe", "said"), [(1, "note on 1 concept"), (7, "notes on 7 concepts"), (0, "")])
def test_it_says_how_many_are_ready(ripe: int, said: str) -> None:
    tally = Tally(Counter({Rating.GOOD: 3}), 60.0, 2, None, ripe)
    rows = _words(tally, NOW, StudyCalendar(), Plan(), [], complete=True)
    lines = [row.plain for row in rows]
    assert (lines[-1] == f"You can now write your own {said}: `retain insight`") is bool(said)
    assert ("retain insight" in "".join(lines)) is bool(said)
    assert all(len(line) <= 72 for line in lines) and (not ripe or labels.ready_concepts(ripe) == lines[-1])


async def test_a_sitting_that_makes_one_ready_says_so_and_leaves_it_in_the_queue(
    review: RetainApp, vault: Vault, settled: Settled
) -> None:
    """An answer changed after this session learnt it: so the ledger has it, as soon as the card is rated."""
    card = {"v": 1, "of": "card", "id": "aaaaaaaaa1", "q": "Q?"}
    events = [
        card | {"type": "birth", "at": "2026-11-01T00:00:00.000Z", "a": "Old."},
        card | {"type": "change", "at": "2999-01-01T00:00:00.000Z", "a": "New."},
    ]
    (vault.root / ledger.IDS).write_bytes(b"".join(map(ledger.encode, events)))
    async with review.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        for _ in range(4):
            await pilot.press("space", "4")
            await settled(pilot)
        assert "You can now write your own note on 1 concept" in str(review.screen.query_one("#ended", Static).render())
        await pilot.press("escape")
        await settled(pilot)
    assert "[[wiki/concepts/forgetting-curve" not in (page := (vault.root / PROMOTION_QUEUE).read_text())
    assert "What you learnt about Forgetting curve has changed." in page  # it has no article to link to


async def test_the_end_says_the_streak_the_next_card_and_the_minutes_of_tomorrow(
    review: RetainApp, vault: Vault, clock: Callable[[], datetime], settled: Settled, pass_time: Callable[[float], None]
) -> None:
    yesterday = clock() - timedelta(days=1)
    rate(open_desk(vault, yesterday), "aaaaaaaaa1", Rating.AGAIN, via="cli")
    async with review.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        for _ in range(4):
            pass_time(30)
            await pilot.press("space", "4")
            await settled(pilot)
        ended = str(review.screen.query_one("#ended", Static).render())
    assert re.search(r"^Next card +(tomorrow|in \d+ days)$", ended, re.MULTILINE)
    assert re.search(r"^Tomorrow +(\d cards? due, \S.*|nothing due), not counting new cards$", ended, re.MULTILINE)
    assert re.search(r"^Streak +2 days in a row  ·  your longest$", ended, re.MULTILINE)


def test_a_card_in_learning_comes_first_and_what_is_due_already_is_no_next_card() -> None:
    learning = Tally(Counter({Rating.AGAIN: 1}), 9.0, 12, NOW + timedelta(minutes=6), tomorrow_s=250.0, streak=1)
    rows = [row.plain for row in _words(learning, NOW, StudyCalendar(), Plan(), [], complete=True)]
    assert "Next card  in 6 minutes (learning)" in rows
    assert "Tomorrow   12 cards due, 4 minutes, not counting new cards" in rows
    limited = Tally(Counter({Rating.GOOD: 1}), 9.0, 12, None, next_due=NOW - timedelta(days=1))
    rows = [row.plain for row in _words(limited, NOW, StudyCalendar(), Plan(), [], complete=True)]
    assert not any(row.startswith("Next card") for row in rows)


async def test_learning_ahead_asked_for_twice_at_once_looks_one_day_ahead(
    review: RetainApp, settled: Settled, pass_time: Callable[[float], None]
) -> None:
    async with review.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        for _ in range(4):
            pass_time(5)
            await pilot.press("space", "4")
            await settled(pilot)
        screen = review.screen
        assert isinstance(screen, ReviewScreen) and screen.has_class("-ended")
        opened: list[str] = []
        for _ in range(2):  # as a key held down says it, before the vault has been read
            screen.action_ahead()
            opened.append(str(screen._plan))
        await settled(pilot)
        assert opened == ["ahead days:1"] * 2
        assert str(screen._plan) == "ahead days:1"


async def test_what_is_reckoned_at_the_end_lets_the_opening_of_the_next_sitting_be(
    review: RetainApp, settled: Settled, pass_time: Callable[[float], None]
) -> None:
    async with review.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        for _ in range(4):
            pass_time(5)
            await pilot.press("space", "4")
            await settled(pilot)
        screen = review.screen
        assert isinstance(screen, ReviewScreen)
        ended = screen._study_session
        screen.action_ahead()
        screen.action_reveal()  # at the end it looks again whether a card has come back, and reckons anew
        await settled(pilot)
        assert isinstance(screen._study_session, StudySession) and screen._study_session is not ended
