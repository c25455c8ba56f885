"""The article reader: pages, links, quotes in their place, the way back; and nothing that a page says can act."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from tui.app import RetainApp
from tui.context import Context
from tui.screens.article import ArticleScreen
from tui.views.article import ArticleView
from tui.widgets.notice import Notice
from vault.vault import Vault

Compare = Callable[..., bool]
Settled = Callable[[Pilot[int]], Awaitable[None]]
SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 45)], ids=["80x24", "140x45"])

FORGETTING = """---
type: concept
title: Forgetting curve
updated: "2026-01-02"
confidence: high
freshness: normal
sources:
  - "[[wiki/summaries/memory|Memory]]"
---

# Forgetting curve

The forgetting curve describes how retention falls over time. [[wiki/summaries/memory#^c-aaaaaaaaa1|1]] It is
slowed by the [[wiki/concepts/spacing-effect|spacing effect]], and by [[Sleep]].

## Shape

| Day | Kept |
|----:|-----:|
| 1 | 60 % |
| 30 | 20 % |

It was measured by [Ebbinghaus](https://example.org/memory), in a way that [others](javascript:alert(1)) repeated.
"""
SPACING = "---\ntype: concept\ntitle: Spacing effect\n---\n\n# Spacing effect\n\n" + "".join(
    f"Row {n} leads to the [[wiki/concepts/forgetting-curve|forgetting curve]].\n\n" for n in range(60)
)
GRAPH = (
    "- [[wiki/concepts/forgetting-curve|Forgetting curve]] needs [[wiki/concepts/memory|Memory]]; "
    "relates to [[wiki/concepts/spacing-effect|Spacing effect]]\n"
)
RAW = "He learnt syllables.\n\nRetention falls steeply in the first hours and then levels off.\n\nSleep slows it.\n"


@pytest.fixture
def wiki(vault: Vault) -> Vault:
    """The vault of all tests, with two pages, a graph and an index."""
    (vault.root / "wiki/concepts").mkdir()
    files = {
        "wiki/concepts/forgetting-curve.md": FORGETTING,
        "wiki/concepts/spacing-effect.md": SPACING,
        "wiki/_graph.md": GRAPH,
        "wiki/_index.md": "# Index\n\n- [[wiki/concepts/forgetting-curve|Forgetting curve]] · high\n",
        "raw/articles/On memory (1885).md": RAW.replace("Retention", "retention"),
    }
    for path, text in files.items():
        (vault.root / path).write_text(text, encoding="utf-8")
    return vault


@pytest.fixture
def reader(wiki: Vault, clock: Callable[[], datetime]) -> RetainApp:
    return RetainApp(Context(wiki, clock, environment={}))


async def opened(
    pilot: Pilot[int], settled: Settled, about: str = "wiki/concepts/forgetting-curve.md"
) -> ArticleScreen:
    await settled(pilot)
    app = pilot.app
    assert isinstance(app, RetainApp)
    screen = ArticleScreen(app.context, about)
    await app.push_screen(screen)
    await rest(pilot, settled)
    return screen


async def rest(pilot: Pilot[int], settled: Settled) -> None:
    """What a page asks for, and what that asks for in its turn, has come."""
    for _ in range(4):
        await settled(pilot)


async def pressed(pilot: Pilot[int], settled: Settled, *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await rest(pilot, settled)


def words(screen: ArticleScreen, view: str = "#article-text") -> str:
    return "\n".join(row.plain for row in screen.query_one(view, ArticleView)._rows)


def told(screen: ArticleScreen) -> str:
    notice = screen.query_one(Notice)
    return str(notice.content) if notice.display else ""


def head(screen: ArticleScreen) -> str:
    return str(screen.query_one("#article-head", Static).content)


async def test_a_page_says_how_far_it_can_be_trusted_now(reader: RetainApp, settled: Settled) -> None:
    async with reader.run_test() as pilot:
        screen = await opened(pilot, settled)
        assert head(screen) == "concept · medium confidence (high, outdated) · 1 source · updated 2026-01-02"
        assert "The forgetting curve describes" in words(screen)


async def test_around_a_page_stand_mastery_gaps_neighbours_and_backlinks(reader: RetainApp, settled: Settled) -> None:
    async with reader.run_test(size=(140, 45)) as pilot:
        screen = await opened(pilot, settled)
        around = " ".join(words(screen, "#article-aside").split())
        assert "Definition" in around and "2 cards, none reviewed" in around
        assert "• Memory" in around and "• Spacing effect" in around
        assert "Consolidation: 4 articles mention it, none explains it" in around


async def test_a_citation_opens_its_quote_in_the_place_where_the_source_has_it(
    reader: RetainApp, settled: Settled
) -> None:
    async with reader.run_test() as pilot:
        screen = await opened(pilot, settled)
        await pressed(pilot, settled, "tab", "enter")
        beside = words(screen, "#article-aside")
        assert beside.startswith("He learnt syllables.\n│ retention falls steeply in the first hours and")
        assert "Sleep slows it." in beside and "Memory, line 12 · definition" in beside
        await pressed(pilot, settled, "escape")
        assert not screen.query_one("#article-aside").display and pilot.app.screen is screen
        await pressed(pilot, settled, "enter", "enter")
        assert screen._page is not None and screen._page.path == "wiki/summaries/memory.md"


async def test_one_comes_back_to_the_row_and_the_link_that_one_left(reader: RetainApp, settled: Settled) -> None:
    async with reader.run_test() as pilot:
        screen = await opened(pilot, settled, "wiki/concepts/spacing-effect.md")
        view = screen.query_one("#article-text", ArticleView)
        await pressed(pilot, settled, *("pagedown",) * 3, "tab")
        top, at = view.top, view.at
        assert top > 20 and at > 10
        await pressed(pilot, settled, "enter")
        assert "The forgetting curve describes" in words(screen)
        await pressed(pilot, settled, "left_square_bracket")
        assert "Row 40" in words(screen) and (view.top, view.at) == (top, at)
        await pressed(pilot, settled, "right_square_bracket")
        assert "The forgetting curve describes" in words(screen)
        await pressed(pilot, settled, "escape")
        assert pilot.app.screen is not screen


async def test_a_page_that_is_not_there_is_named(reader: RetainApp, settled: Settled) -> None:
    async with reader.run_test() as pilot:
        screen = await opened(pilot, settled)
        await pressed(pilot, settled, *("tab",) * 3, "enter")
        assert "Page not found in this vault: Sleep" in told(screen)
        await pressed(pilot, settled, "g")
        assert "Index" in words(screen)
        gone = await opened(pilot, settled, "wiki/concepts/gone.md")
        assert "there is no such page yet" in told(gone)


async def test_an_address_is_shown_first_and_opened_when_it_is_followed_again(
    reader: RetainApp, settled: Settled, monkeypatch: pytest.MonkeyPatch
) -> None:
    went: list[str] = []
    async with reader.run_test() as pilot:
        monkeypatch.setattr(pilot.app, "open_url", went.append)
        screen = await opened(pilot, settled)
        await pressed(pilot, settled, *("tab",) * 4, "enter")
        assert "Press again to open https://example.org/memory in your browser" in told(screen) and went == []
        await pressed(pilot, settled, "tab", "shift+tab", "enter")
        assert went == []
        await pressed(pilot, settled, "enter")
        assert went == ["https://example.org/memory"]
        assert "others (javascript:alert(1)) repeated" in words(screen).replace("\n", " ")


@pytest.mark.parametrize(
    "to", ["../../../etc/passwd", "/etc/passwd", "insights/mine", "wiki/../../x", "wiki/concepts/../../insights/mine"]
)
async def test_no_link_leads_to_what_is_not_of_the_wiki(
    wiki: Vault, reader: RetainApp, settled: Settled, to: str
) -> None:
    (wiki.root / "insights").mkdir()
    (wiki.root / "insights/mine.md").write_text("the human's own words", encoding="utf-8")
    (wiki.root / "wiki/evil.md").write_text(f"# Evil\n\n[[{to}|go]] [too](<{to}.md>)\n", encoding="utf-8")
    async with reader.run_test() as pilot:
        screen = await opened(pilot, settled, "wiki/evil.md")
        for keys in (("tab", "enter"), ("tab", "enter")):
            await pressed(pilot, settled, *keys)
            assert screen._page is not None and screen._page.path == "wiki/evil.md"
            assert "own words" not in words(screen)


async def test_a_page_that_is_a_link_out_of_the_vault_is_refused(
    wiki: Vault, reader: RetainApp, settled: Settled, tmp_path: Path
) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-secret.md"
    outside.write_text("# a secret", encoding="utf-8")
    (wiki.root / "wiki/concepts/link.md").symlink_to(outside)
    async with reader.run_test() as pilot:
        screen = await opened(pilot, settled, "wiki/concepts/link.md")
        assert "link.md" in told(screen) and "secret" not in words(screen)


async def test_a_hostile_page_only_shows(wiki: Vault, reader: RetainApp, settled: Settled) -> None:
    evil = "\x1b]0;x\x07[@click=app.exit(9)]boom[/] [bold]b[/bold] \u202egnp ![[../../a.png|\x1b[2J]] `[red]` $\\x1b$\n"
    page = f'---\ntitle: "[@click=app.exit(9)]T[/]"\ntype: "[red]k"\n---\n\n# {evil}\n\n> [!x] {evil}\n\n- {evil}\n\n'
    page += f"| {evil.strip()} |\n|---|\n| {evil.strip()} |\n\n```python\n{evil}```\n"
    (wiki.root / "wiki/concepts/[@click=app.exit(9)]e.md").write_text(page, encoding="utf-8")
    async with reader.run_test(size=(100, 40)) as pilot:
        screen = await opened(pilot, settled, "wiki/concepts/[@click=app.exit(9)]e.md")
        assert "[@click=app.exit(9)]boom[/]" in words(screen) and "\x1b" not in words(screen)
        assert "\u202e" not in words(screen) and "[red]k" in head(screen)
        for y in range(2, 38, 3):
            await pilot.click(offset=(12, y))
            await rest(pilot, settled)
        assert pilot.app.is_running
    assert reader.return_value is None


async def test_words_are_found_and_marked_and_found_further(reader: RetainApp, settled: Settled) -> None:
    async with reader.run_test() as pilot:
        screen = await opened(pilot, settled, "wiki/concepts/spacing-effect.md")
        view = screen.query_one("#article-text", ArticleView)
        await pressed(pilot, settled, "slash", *"row 5", "enter")
        assert "row 5: found on 11 lines" in told(screen)
        first = view.top
        await pressed(pilot, settled, "enter")
        assert view.top > first
        await pressed(pilot, settled, "escape")
        assert not screen.query_one("#article-find", Input).display and pilot.app.screen is screen


async def test_a_click_follows_a_link(reader: RetainApp, settled: Settled) -> None:
    async with reader.run_test() as pilot:
        screen = await opened(pilot, settled)
        view = screen.query_one("#article-text", ArticleView)
        row = next(n for n, each in enumerate(view._rows) if "spacing effect" in each.plain)
        column = view._rows[row].plain.index("spacing")
        await pilot.click("#article-text", offset=(column + 2, row))
        await rest(pilot, settled)
        assert screen._page is not None and screen._page.title == "Spacing effect"


async def test_a_page_without_end_is_laid_out_while_it_is_read(
    wiki: Vault, reader: RetainApp, settled: Settled
) -> None:
    text = "# Long\n\n" + "A row of words with a [[wiki/concepts/spacing-effect|link]] in it.\n\n" * 4_000
    (wiki.root / "wiki/long.md").write_text(text, encoding="utf-8")
    async with reader.run_test() as pilot:
        screen = await opened(pilot, settled, "wiki/long.md")
        view = screen.query_one("#article-text", ArticleView)
        await rest(pilot, settled)
        assert view.virtual_size.height == 8_001
        await pressed(pilot, settled, "end")
        assert view.top > 7_900
        await pilot.resize_terminal(60, 20)
        await rest(pilot, settled)
        assert "A row of words" in words(screen)


async def test_an_insight_is_written_only_about_a_concept(reader: RetainApp, settled: Settled) -> None:
    async with reader.run_test() as pilot:
        screen = await opened(pilot, settled, "")
        await pressed(pilot, settled, "i")
        assert "Notes belong to a concept" in told(screen)
