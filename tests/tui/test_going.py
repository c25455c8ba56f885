"""From screen to screen: a key that comes late does nothing to the screen that is in front by then."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

import pytest
from textual.events import Key
from textual.pilot import Pilot
from textual.widgets import Input

from learning.review.plan import Plan
from tui.app import RetainApp
from tui.context import Context
from tui.screen import Page
from tui.widgets.notice import Notice
from vault.locks import lock
from vault.log.review_log import LOG_PATH
from vault.vault import Vault

Settled = Callable[[Pilot[int]], Awaitable[None]]
Clock = Callable[[], datetime]


def stack(app: RetainApp) -> list[str]:
    return [screen.NAME for screen in app.screen_stack if isinstance(screen, Page)]


async def at_once(pilot: Pilot[int], settled: Settled, *keys: str) -> None:
    """The keys as a slow line brings them: all in one read."""
    for key in keys:
        pilot.app.post_message(Key(key, None))
    await settled(pilot)


def is_free(vault: Vault, clock: Clock) -> bool:
    with lock(vault.root, "review", purpose="reviewing", now=clock()):
        return True


async def test_two_keys_that_lead_back_lead_back_once(
    home: RetainApp, vault: Vault, clock: Clock, settled: Settled
) -> None:
    async with home.run_test() as pilot:
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert isinstance(home.screen, Page)
        home.screen.go("article")
        await settled(pilot)
        assert stack(home) == ["home", "review", "article"]
        await at_once(pilot, settled, "escape", "escape")
        assert stack(home) == ["home", "review"]
        await at_once(pilot, settled, "escape", "escape")
        assert stack(home) == ["home"]
        assert is_free(vault, clock)


async def test_two_keys_that_lead_on_lead_on_once(home: RetainApp, settled: Settled) -> None:
    async with home.run_test() as pilot:
        await settled(pilot)
        await at_once(pilot, settled, "g", "g")
        assert stack(home) == ["home", "gaps"]
        await at_once(pilot, settled, "escape", "escape")
        await at_once(pilot, settled, "enter", "enter")
        assert stack(home) == ["home", "review"]
        assert not home.screen.query_one(Notice).has_class("error")


async def test_a_review_is_gone_back_to_and_never_in_its_own_way(home: RetainApp, settled: Settled) -> None:
    async with home.run_test() as pilot:
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        review = home.screen
        assert isinstance(review, Page)
        review.go("article")
        await settled(pilot)
        assert isinstance(home.screen, Page)
        home.screen.go("review")
        await settled(pilot)
        assert home.screen is review and stack(home) == ["home", "review"]
        home.screen.go("review", str(Plan(tag="memory")))
        await settled(pilot)
        assert stack(home) == ["home", "review"] and home.screen is not review
        assert not home.screen.query_one(Notice).has_class("error")


async def test_home_is_one_screen_however_one_comes_there(vault: Vault, clock: Clock, settled: Settled) -> None:
    app = RetainApp(Context(vault, clock), "review")
    app.hold_review()
    async with app.run_test() as pilot:
        await settled(pilot)
        assert stack(app) == ["review"]
        assert isinstance(app.screen, Page)
        app.screen.go("home")
        await settled(pilot)
        assert stack(app) == ["home"]
        assert is_free(vault, clock)
        await pilot.press("g")
        await settled(pilot)
        assert isinstance(app.screen, Page)
        app.screen.go("home")
        await settled(pilot)
        assert stack(app) == ["home"]


@pytest.mark.parametrize(
    ("place", "field"), [("browse", "#browse-words"), ("gaps", "#gaps-find"), ("article", "#article-find")]
)
async def test_what_is_typed_behind_the_key_that_finds_is_written_even_if_all_comes_at_once(
    home: RetainApp, vault: Vault, settled: Settled, place: str, field: str
) -> None:
    async with home.run_test() as pilot:
        await settled(pilot)
        assert isinstance(home.screen, Page)
        home.screen.go(place)
        await settled(pilot)
        for key, character in (("slash", "/"), ("x", "x"), ("slash", "/"), ("b", "b")):
            home.post_message(Key(key, character))
        await settled(pilot)
        assert stack(home) == ["home", place]
        assert home.screen.query_one(field, Input).value == "x/b"
    assert not (vault.root / LOG_PATH).exists()
