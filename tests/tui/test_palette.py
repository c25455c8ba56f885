"""The command palette: this screen's commands first and each once, and what the vault holds by its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import datetime

import pytest
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from tests.tui.conftest import until
from tests.tui.test_every_screen import lived
from tui import palette
from tui.app import RetainApp
from tui.context import Context
from tui.keys import SCREENS
from tui.screen import Page
from vault.layout import GAPS
from vault.vault import Vault

Clock = Callable[[], datetime]
Settled = Callable[[Pilot[int]], Awaitable[None]]
HOSTILE = "[b]Interference[/b]"


def listed(app: RetainApp) -> list[str]:
    """Return what the palette lists, each with its line of help."""
    options = app.screen.query_one(OptionList).options if isinstance(app.screen, CommandPalette) else []
    return [str(option.prompt) for option in options]


async def typed(pilot: Pilot[int], words: str) -> None:
    await pilot.press("ctrl+p")
    await until(pilot, lambda: isinstance(pilot.app.screen, CommandPalette), "the palette")
    pilot.app.screen.query_one(Input).value = words


@pytest.mark.parametrize("place", [place for place in palette.PLACES if place != "review"])
async def test_each_command_is_there_once_and_those_of_the_screen_come_first(
    vault: Vault, clock: Clock, place: str, settled: Settled
) -> None:
    lived(vault, clock())
    app = RetainApp(Context(vault, clock), place)
    async with app.run_test() as pilot:
        await settled(pilot)
        found = list(app.get_system_commands(app.screen))
        page = app.screen
        assert isinstance(page, Page)
        own = [key for key in SCREENS[place] if key.words and page.offers(key)]
        assert [c.title for c in found if c.discover][: len(own)] == [key.words for key in own]
        assert {title: n for title, n in Counter(c.title for c in found if c.discover).items() if n > 1} == {}


async def test_the_palette_opens_with_the_commands_of_the_screen_in_the_order_of_its_keys(
    home: RetainApp, settled: Settled
) -> None:
    async with home.run_test() as pilot:
        await settled(pilot)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: listed(home), "the commands")
        assert [each.split("\n")[0] for each in listed(home)[:4]] == ["Review", "Ask", "Gaps", "Browse"]


@pytest.mark.parametrize(
    ("words", "name", "place"),
    [
        ("tempor", "Forgetting curve\narticle", "article"),
        ("memory", "Memory\ntopic", "article"),
        ("second review", "When should the second review of a new fact take place?\ncard", "browse"),
        ("consolid", "Consolidation\ngap: 4 articles mention it, none explains it", "gaps"),
    ],
)
async def test_the_palette_finds_what_the_vault_holds_by_name_and_leads_there(
    vault: Vault, clock: Clock, settled: Settled, words: str, name: str, place: str
) -> None:
    lived(vault, clock())
    article = vault.root / "wiki/concepts/forgetting-curve.md"
    title = "Forgetting curve"
    if words == "tempor":
        article.write_text(article.read_text().replace("# Forgetting curve", "# Temporal decay"))
        title = "Temporal decay"
    app = RetainApp(Context(vault, clock))
    async with app.run_test() as pilot:
        await settled(pilot)
        await typed(pilot, words)
        wanted = name.replace("Forgetting curve", title)
        await until(pilot, lambda: wanted in listed(app), f"{wanted!r} among {listed(app)}")
        choices = app.screen.query_one(OptionList)
        choices.highlighted = listed(app).index(wanted)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Page) and place == app.screen.NAME, place)
        await settled(pilot)


async def test_a_command_of_that_name_comes_before_what_the_vault_holds(
    vault: Vault, clock: Clock, settled: Settled
) -> None:
    lived(vault, clock())
    app = RetainApp(Context(vault, clock))
    async with app.run_test() as pilot:
        await settled(pilot)
        await typed(pilot, "review")
        await until(pilot, lambda: any(each.endswith("\ncard") for each in listed(app)), "cards on reviews")
        assert listed(app)[0].startswith("Review\n")


async def test_names_are_shown_as_they_are_written(vault: Vault, clock: Clock, settled: Settled) -> None:
    agenda = vault.root / GAPS
    agenda.write_text(agenda.read_text().replace("Interference", HOSTILE.replace("[", "\\[")))
    app = RetainApp(Context(vault, clock))
    async with app.run_test() as pilot:
        await settled(pilot)
        await typed(pilot, "interference")
        await until(pilot, lambda: any(HOSTILE in each for each in listed(app)), f"the gap among {listed(app)}")


async def test_a_vault_that_cannot_be_read_still_offers_commands(vault: Vault, clock: Clock, settled: Settled) -> None:
    (vault.root / "learning/reviews.jsonl").mkdir()
    app = RetainApp(Context(vault, clock), "settings")
    async with app.run_test() as pilot:
        await settled(pilot)
        await typed(pilot, "default")
        await until(pilot, lambda: listed(app), "a command")
        await until(pilot, lambda: "Default" in listed(app)[0], "the command")
        assert listed(app)[0] == "Default\nd: reset to default"
        await app.workers.wait_for_complete()


async def test_settings_move_with_letters(vault: Vault, clock: Clock, settled: Settled) -> None:
    app = RetainApp(Context(vault, clock), "settings")
    async with app.run_test() as pilot:
        await settled(pilot)
        settings = app.screen.query_one(OptionList)
        first = settings.highlighted
        await pilot.press("j", "j")
        assert first is not None and settings.highlighted == first + 2
        await pilot.press("k")
        assert settings.highlighted == first + 1
