"""What is found too late, or not at all: the screen keeps to what was asked for last, and says what went wrong."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from tests.tui.conftest import GAPS as SOME
from tests.tui.conftest import until
from tui.app import RetainApp
from tui.context import Context
from tui.screen import Page
from tui.screens.stats import Filter, StatsScreen
from tui.state.job_state import begun
from tui.widgets.bars import TopBar
from tui.widgets.notice import Notice
from tui.widgets.path_input import PathInput
from vault.errors import Refused
from vault.layout import GAPS
from vault.model.gaps import render_agenda
from vault.vault import Vault

Settled = Callable[[Pilot[int]], Awaitable[None]]
Clock = Callable[[], datetime]


def head(app: RetainApp) -> str:
    return app.screen.query_one(TopBar).status


def notice(app: RetainApp) -> str:
    return str(app.screen.query_one(Notice).content)


async def test_figures_that_come_late_do_not_take_the_place_of_those_asked_for(
    vault: Vault, clock: Clock, settled: Settled
) -> None:
    app = RetainApp(Context(vault, clock), "stats")
    async with app.run_test() as pilot:
        await settled(pilot)
        screen = app.screen
        assert isinstance(screen, StatsScreen) and screen._stats is not None
        screen.post_message(StatsScreen.Counted(screen._stats, Filter(tag="memory"), frozenset()))
        await settled(pilot)
        assert head(app) == Filter().words and screen._ready


async def test_figures_that_cannot_be_found_are_said_to_be_so_and_asked_for_again(
    vault: Vault, clock: Clock, settled: Settled, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = RetainApp(Context(vault, clock), "stats")
    async with app.run_test() as pilot:
        await settled(pilot)

        def refuse(*_: object) -> None:
            raise Refused("the log cannot be read", where="learning/reviews.jsonl")

        with monkeypatch.context() as broken:
            broken.setattr("tui.screens.stats.stats_of_states", refuse)
            await choose(app, pilot, settled)
            assert "the log cannot be read" in notice(app) and head(app) == Filter().words
        await choose(app, pilot, settled)
        assert head(app) == Filter(tag="memory").words


async def choose(app: RetainApp, pilot: Pilot[int], settled: Settled) -> None:
    """Chooses the last of the topics and tags."""
    screen = app.screen
    assert isinstance(screen, StatsScreen)
    screen.action_choose()
    chooser = screen.query_one(OptionList)
    chooser.highlighted = chooser.option_count - 1
    await pilot.press("enter")
    await settled(pilot)


async def test_a_file_for_a_gap_stays_written_while_other_work_goes_on(
    vault: Vault, clock: Clock, settled: Settled, tmp_path: Path
) -> None:
    app = RetainApp(Context(vault, clock), "gaps")
    async with app.run_test() as pilot:
        await settled(pilot)
        app.context.jobs.state = begun(("compile",), clock())
        await pilot.press("plus")
        app.screen.query_one("#gaps-file", PathInput).value = str(tmp_path / "found.md")
        await pilot.press("enter")
        await settled(pilot)
        assert isinstance(app.screen, Page) and app.screen.NAME == "gaps"
        assert "another job is running" in notice(app)
        field = app.screen.query_one("#gaps-file", PathInput)
        assert field.display and field.value == str(tmp_path / "found.md")
        app.context.jobs.state = None


async def test_an_agenda_that_was_empty_is_read_again_on_coming_back(
    vault: Vault, clock: Clock, settled: Settled
) -> None:
    (vault.root / GAPS).write_text(render_agenda([]), encoding="utf-8")
    app = RetainApp(Context(vault, clock), "gaps")
    async with app.run_test() as pilot:
        await settled(pilot)
        assert head(app) == "0 open gaps"
        await pilot.press("question_mark")
        await settled(pilot)
        (vault.root / GAPS).write_text(render_agenda(SOME), encoding="utf-8")
        await pilot.press("escape")
        await settled(pilot)
        assert head(app) == "3 open gaps"


async def test_what_mentions_a_gap_is_looked_for_again_on_coming_back(
    vault: Vault, clock: Clock, settled: Settled
) -> None:
    (vault.root / "wiki/concepts").mkdir()
    article = vault.root / "wiki/concepts/forgetting-curve.md"
    article.write_text("# Forgetting curve\n\nConsolidation takes a night.\n", encoding="utf-8")
    app = RetainApp(Context(vault, clock), "gaps")
    async with app.run_test() as pilot:
        await until(pilot, lambda: "takes a night" in said(app), "the sentence as it was")
        await pilot.press("question_mark")
        await settled(pilot)
        article.write_text("# Forgetting curve\n\nConsolidation takes a week.\n", encoding="utf-8")
        await pilot.press("escape")
        await until(pilot, lambda: "takes a week" in said(app), "the sentence as it is now")


def said(app: RetainApp) -> str:
    return str(app.screen.query_one("#gap-sentences", Static).content)
