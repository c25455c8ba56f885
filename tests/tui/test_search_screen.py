"""The search of the app finds passages, articles, claims and cards by words, and opens each where it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from compiler.build.compile import Options, compile_vault
from tests.builders import make_vault
from tests.tui.conftest import until
from tui.app import RetainApp
from tui.context import Context
from tui.screens.article import ArticleScreen
from tui.screens.browse import BrowseScreen
from tui.screens.search import SearchScreen
from tui.strings.search import HEADS
from tui.views.article import ArticleView
from tui.widgets.bars import TopBar
from tui.widgets.grouped_list import GroupedList
from tui.widgets.notice import Notice
from vault.vault import Vault, open_vault

Settled = Callable[[Pilot[int]], Awaitable[None]]
ROPES = "# Ropes\n\nA halyard is a rope that hoists a sail. The halyard runs over a block at the top of the mast.\n"


@pytest.fixture
def library(tmp_path: Path, clock: Callable[[], datetime]) -> Vault:
    made = make_vault(tmp_path / "v", {"raw/articles/ropes.md": ROPES})
    compile_vault(made, Options(), clock(), lambda event: None)
    return open_vault(str(made.root), None, made.root)


def listed(app: RetainApp) -> list[str]:
    return [str(option.prompt) for option in app.screen.query_one(GroupedList).options]


async def asked(pilot: Pilot[int], words: str) -> None:
    app = pilot.app
    app.screen.query_one(Input).value = words
    await pilot.press("enter")
    await until(pilot, lambda: not getattr(app.screen, "_is_searching", False), "the search ends")
    await pilot.pause()


async def test_hits_stand_in_groups_and_a_passage_opens_in_its_source(
    library: Vault, clock: Callable[[], datetime], settled: Settled
) -> None:
    app = RetainApp(Context(library, clock), "home")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("slash")
        await settled(pilot)
        assert isinstance(app.screen, SearchScreen)
        await asked(pilot, "hoisting zeppelins halyard")
        rows = listed(app)
        assert [row for row in rows if row in HEADS.values()][:2] == [HEADS["passage"], HEADS["article"]]
        assert {HEADS["claim"], HEADS["card"]} <= set(rows)
        assert "zeppelins" in str(app.screen.query_one(TopBar).render_line(0).text)
        assert "raw/articles/ropes.md" in str(app.screen.query_one("#search-text Static", Static).content)
        await pilot.press("enter")
        await settled(pilot)
        assert isinstance(app.screen, ArticleScreen)
        assert app.screen.about.partition("#")[0] == "raw/articles/ropes.md"


async def test_a_card_opens_in_the_browser_and_a_filter_goes_there(
    library: Vault, clock: Callable[[], datetime], settled: Settled
) -> None:
    app = RetainApp(Context(library, clock), "search")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await asked(pilot, "halyard")
        await pilot.press("end", "enter")
        await settled(pilot)
        assert isinstance(app.screen, BrowseScreen) and app.screen.about.startswith("id:")
        await pilot.press("escape")
        await settled(pilot)
        await pilot.press("slash")
        app.screen.query_one(Input).value = "is:new"
        await pilot.press("enter")
        await settled(pilot)
        assert isinstance(app.screen, BrowseScreen) and app.screen.about == "is:new"


async def test_nothing_found_is_said_and_a_wrong_filter_is_named(
    library: Vault, clock: Callable[[], datetime], settled: Settled
) -> None:
    app = RetainApp(Context(library, clock), "search")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await asked(pilot, "zeppelin")
        assert app.screen.has_class("-empty")
        app.screen.query_one(Input).value = "is:lech"
        await pilot.press("enter")
        await settled(pilot)
        notice = app.screen.query_one(Notice)
        assert isinstance(app.screen, SearchScreen) and "leech" in str(notice.content)


async def test_a_passage_opens_where_it_is_in_its_source(
    library: Vault, clock: Callable[[], datetime], settled: Settled
) -> None:
    filler = "\n\n".join(f"Sailor number {n} looked at the sea for hours and said nothing at all." for n in range(80))
    text = f"# Voyage\n\n{filler}\n\n## Winds\n\nThe *sirocco* is a [wind](https://example.org) that blows south.\n"
    (library.root / "raw/articles/voyage.md").write_text(text)
    compile_vault(library, Options(), clock(), lambda event: None)
    app = RetainApp(Context(library, clock), "search")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await asked(pilot, "sirocco")
        await pilot.press("enter")
        await settled(pilot)
        page = app.screen.query_one("#article-text", ArticleView)
        rows = [page.render_line(y).text for y in range(page.size.height)]
        assert isinstance(app.screen, ArticleScreen) and any("The sirocco is a wind" in row for row in rows), rows


async def test_a_passage_of_a_source_that_is_no_text_opens_on_the_sources_page(
    library: Vault, clock: Callable[[], datetime], settled: Settled
) -> None:
    page = "<html><body><h1>Winds</h1><p>A sirocco is a wind that blows from the south.</p></body></html>"
    (library.root / "raw/articles/winds.html").write_text(page)
    compile_vault(library, Options(), clock(), lambda event: None)
    app = RetainApp(Context(library, clock), "search")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await asked(pilot, "sirocco")
        await pilot.press("enter")
        await settled(pilot)
        assert isinstance(app.screen, ArticleScreen) and app.screen.about.startswith("wiki/summaries/winds.md#^c-")
        assert not app.screen.query_one(Notice).display or not str(app.screen.query_one(Notice).content)
