"""The agenda as a place to work: narrowed, read where it is felt, searched for, filled; a thousand gaps are fine."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from learning.agenda.gap_decisions import read_agenda
from learning.agenda.gap_mentions import first_mention, mentions_of
from learning.agenda.gap_rules import gap_id
from learning.cards import workspace as desks
from tests.tui.conftest import GAPS as SOME
from tests.tui.conftest import until
from tui.app import RetainApp
from tui.context import Context
from tui.screen import Go
from tui.widgets.bars import TopBar
from tui.widgets.notice import Notice
from tui.widgets.path_input import PathInput
from vault.ids import CardId, GapId
from vault.layout import GAPS
from vault.log.events import Rating
from vault.model.gaps import Gap, GapKind, render_agenda
from vault.vault import Vault

Settled = Callable[[Pilot[int]], Awaitable[None]]
Compare = Callable[..., bool]
Clock = Callable[[], datetime]
HERE = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-c", f"import sys; sys.path.insert(0, {str(HERE)!r}); from cli.main import main; main()")
COLOURS = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
CITE = "[[wiki/summaries/memory#^c-aaaaaaaaa1|1]]"
ARTICLE = f"""---
type: concept
title: Forgetting curve
---

# Forgetting curve

Retention falls steeply at first. {CITE} It is slowed by \x1b **consolidation** in [[wiki/concepts/sleep|sleep]]. {CITE}
"""


@pytest.fixture
def felt(vault: Vault) -> Vault:
    """The vault with an article that names a gap, and a learner's gap with a card that was forgotten."""
    (vault.root / "wiki/concepts").mkdir()
    (vault.root / "wiki/concepts/forgetting-curve.md").write_text(ARTICLE, encoding="utf-8")
    deck = ("[[learning/flashcards/spacing-effect|Spacing effect]]",)
    trouble = "forgotten 3 of 5 times in 90 days; likely cause: lapse"
    learner = Gap(gap_id("spacing-effect"), GapKind.LEARNER, "Spacing effect", trouble, "read it again", deck)
    (vault.root / GAPS).write_text(render_agenda([*SOME, learner]), encoding="utf-8")
    desk = desks.open_desk(vault, datetime(2026, 11, 22, 9, 0, tzinfo=UTC))
    for days, rating in ((-20, Rating.EASY), (-9, Rating.AGAIN), (-8, Rating.GOOD), (-4, Rating.AGAIN)):
        at = desk.now + timedelta(days=days)
        desk, _ = desks.rate(desk, CardId("bbbbbbbbb2"), rating, via="cli", dated=at)
    return vault


def app_on(vault: Vault, clock: Clock) -> RetainApp:
    return RetainApp(Context(vault, clock, program=PROGRAM, environment={**COLOURS}), "gaps")


def listed(app: RetainApp) -> list[str]:
    options = app.screen.query_one(OptionList).options
    return [str(option.prompt).strip().split(":")[0] for option in options if not option.disabled]


def told(app: RetainApp) -> str:
    return app.screen.query_one(TopBar).status


async def test_the_list_is_narrowed_by_kind_and_by_words(felt: Vault, clock: Clock, settled: Settled) -> None:
    app = app_on(felt, clock)
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("2")
        assert listed(app) == ["Spacing effect"] and told(app) == "4 open gaps · only unanswered questions · 1 shown"
        await pilot.press("0", "slash", *"curve inter")
        assert listed(app) == ["Interference"]
        await pilot.press("x")
        assert str(app.screen.query_one("#nothing", Static).content).startswith("No matching gaps")
        await pilot.press("escape")
        assert not app.screen.query_one("#gaps-ask").display
        await pilot.press("escape")
        await pilot.pause()
        assert len(listed(app)) == 4 and app.screen.query_one("#gaps-find", Input).value == ""


async def test_settled_gaps_are_shown_on_demand_and_decided_anew(felt: Vault, clock: Clock, settled: Settled) -> None:
    app = app_on(felt, clock)
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("1", "r", "i", "s")
        rows = [str(option.prompt) for option in app.screen.query_one(OptionList).options]
        assert any(row.endswith("resolved") for row in rows) and any(row.endswith("ignored") for row in rows)
        app.screen.query_one(OptionList).highlighted = next(n for n, r in enumerate(rows) if r.endswith("resolved"))
        await pilot.pause()
        await pilot.press("r")  # what is so already is taken back
        assert str(app.screen.query_one(Notice).content) == "Consolidation: reopened."
        await pilot.press("u", "u", "u")
        await settled(pilot)
        assert [gap.status.value for gap in read_agenda(felt)] == ["open"] * 4


async def test_the_sentence_that_mentions_a_gap_is_shown_clean_and_its_article_is_opened(
    felt: Vault, clock: Clock, settled: Settled
) -> None:
    app = app_on(felt, clock)
    went: list[Go] = []
    async with app.run_test(message_hook=lambda m: went.append(m) if isinstance(m, Go) else None) as pilot:
        await settled(pilot)
        await pilot.press("1")
        await settled(pilot)
        said = str(app.screen.query_one("#gap-sentences", Static).content)
        assert said == "It is slowed by \ufffd consolidation in sleep.  Forgetting curve, line 8"
        app.screen.post_message(Go("gaps"))
        await settled(pilot)
        await pilot.press("1", "enter")
        await settled(pilot)
    assert ("article", "wiki/concepts/forgetting-curve.md") in [(go.where, go.about) for go in went]


async def test_a_query_for_the_web_is_copied_and_told(felt: Vault, clock: Clock, settled: Settled) -> None:
    app = app_on(felt, clock)
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("2", "y")
        assert app.clipboard == "Spacing effect no evidence of when to use it"
        assert app.clipboard in str(app.screen.query_one(Notice).content)


async def test_a_file_that_fills_a_gap_is_added_by_the_command(
    felt: Vault, clock: Clock, settled: Settled, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("found") / "it's here.md"
    file.write_text("# Consolidation\n\nConsolidation makes a memory last.\n", encoding="utf-8")
    app = app_on(felt, clock)
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("1", "plus")
        app.screen.query_one("#gaps-file", PathInput).value = str(file)
        await pilot.press("enter")
        await until(pilot, lambda: app.context.jobs.state is not None, "work on the file")
        assert app.screen.NAME == "work"  # type: ignore[attr-defined]
        await until(pilot, lambda: not app.context.jobs.running, "the end of the work")
    state = app.context.jobs.state
    assert state is not None and state.code == 0 and state.result["fills"] == ["gaaaaaaaaa"]
    assert (felt.root / "raw/articles/it's here.md").exists()


async def test_what_is_forgotten_shows_its_cards(felt: Vault, clock: Clock, settled: Settled) -> None:
    app = app_on(felt, clock)
    went: list[Go] = []
    async with app.run_test(message_hook=lambda m: went.append(m) if isinstance(m, Go) else None) as pilot:
        await settled(pilot)
        await pilot.press("3")
        await settled(pilot)
        cards = str(app.screen.query_one("#gap-cards", Static).content)
        assert cards.startswith("When should the second review of a new fact take place?  forgotten ")
        assert cards.endswith("in 4 reviews")
        await pilot.press("c")
        await pilot.pause()
    assert ("browse", "id:bbbbbbbbb2") in [(go.where, go.about) for go in went]


async def test_a_thousand_gaps_are_listed_searched_and_decided(vault: Vault, clock: Clock, settled: Settled) -> None:
    ids = [GapId(f"g{number:09}".replace("0", "a").replace("1", "b")) for number in range(1000)]
    many = [Gap(id_, GapKind.EPISTEMIC, f"Subject {number}", "a", "b") for number, id_ in enumerate(ids)]
    (vault.root / GAPS).write_text(render_agenda(many), encoding="utf-8")
    app = app_on(vault, clock)
    async with app.run_test() as pilot:
        await settled(pilot)
        assert len(listed(app)) == 1000
        await pilot.press("p", "slash", *"77", "enter", "i")
        await settled(pilot)
        assert len(listed(app)) == 18
        assert told(app) == "999 open gaps · with “77” · 18 shown"


def test_only_whole_beginnings_of_words_name_a_gap_and_headings_do_not() -> None:
    note = f"---\ntitle: x\n---\n\n# Tide\n\nBetides nothing. A tide comes \\*in\\*. {CITE}\n"
    assert first_mention(note, "Tide") == (7, "A tide comes *in*.")
    assert first_mention(note, "Moon") == (0, "")
    assert first_mention("潮汐是海水的涨落。\n", "潮汐") == (1, "潮汐是海水的涨落。")


def test_a_note_that_cannot_be_read_is_still_named(felt: Vault) -> None:
    (felt.root / "wiki/concepts/spacing-effect.md").write_bytes(b"\xff\xfe")
    found = mentions_of(felt, SOME[0])
    assert [(m.title, m.line) for m in found] == [("Forgetting curve", 8), ("Spacing effect", 0)]


@pytest.mark.parametrize("size", [(80, 24), (140, 45)], ids=["80x24", "140x45"])
@pytest.mark.parametrize("keys", [("p",), ("3",), ("slash", "i", "n")], ids=["planned", "learner", "finding"])
def test_gaps(
    snap_compare: Compare, felt: Vault, clock: Clock, settled: Settled, size: tuple[int, int], keys: tuple[str, ...]
) -> None:
    async def run(pilot: Pilot[int]) -> None:
        for each in pilot.app.screen.query(Input):
            each.cursor_blink = False
        await settled(pilot)
        for key in keys:
            await pilot.press(key)
            await settled(pilot)

    assert snap_compare(app_on(felt, clock), run_before=run, terminal_size=size)
