"""An article among the cards of the browser: what is a card's alone is refused in words, and no key is lost on it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

import pytest
from textual.pilot import Pilot

from tui.app import RetainApp
from tui.context import Context
from tui.screens.browse import BrowseScreen
from tui.strings.browse import NOTHING_MARKED
from tui.widgets.notice import Notice
from vault.log.events import LogEvent
from vault.vault import Vault

Settled = Callable[[Pilot[int]], Awaitable[None]]
ARTICLE = "---\ntype: concept\ntitle: Forgetting curve\n---\n\n# Forgetting curve\n\nIt falls.\n"


@pytest.mark.parametrize("key", ["x", "T", "d", "b", "f", "e", "E"])
async def test_a_deed_for_cards_says_that_an_article_is_none(
    vault: Vault, clock: Callable[[], datetime], settled: Settled, logged: Callable[[], list[LogEvent]], key: str
) -> None:
    (vault.root / "wiki/concepts").mkdir()
    (vault.root / "wiki/concepts/forgetting-curve.md").write_text(ARTICLE, encoding="utf-8")
    app = RetainApp(Context(vault, clock), "browse")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("c")  # articles only
        await settled(pilot)
        await pilot.press(key)
        await settled(pilot)
        assert isinstance(app.screen, BrowseScreen) and logged() == []
        assert str(app.screen.query_one(Notice).content) == NOTHING_MARKED
        assert not app.screen.query_one("#browse-ask").has_class("-shown")
