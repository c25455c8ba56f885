"""The reading agenda as a place to decide: each decision is in the ledger, and can be taken back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from tui.app import RetainApp
from tui.context import Context
from tui.views.gaps import GapView
from tui.widgets.notice import Notice
from vault.ids import GapId
from vault.layout import GAPS
from vault.log import ledger
from vault.model.gaps import Gap, GapKind
from vault.vault import Vault

Settled = Callable[[Pilot[int]], Awaitable[None]]


def listed(app: RetainApp) -> list[str]:
    return [str(option.prompt).strip() for option in app.screen.query_one(OptionList).options]


def chosen(app: RetainApp) -> str:
    return str(app.screen.query_one("#gap-what", Static).content)


def decisions(vault: Vault) -> list[tuple[str, str]]:
    events, _ = vault.ledger_events(ledger.DECISIONS)
    return [(e["gap"], e["decision"]) for e in events]


async def test_gaps_are_listed_by_what_most_articles_need(home: RetainApp, settled: Settled) -> None:
    async with home.run_test() as pilot:
        await settled(pilot)
        await pilot.press("g")
        await settled(pilot)
        assert [row.split("  ")[0].split(":")[0].strip() for row in listed(home)] == [
            *("Read next 3", "Consolidation", "Interference", "Spacing effect"),
        ]
        assert chosen(home) == "Consolidation"
        words = home.screen.query(".gap-words").results(Static)
        rows = [str(row.content) for row in words if row.parent is not None and row.parent.display]
        assert rows == [
            "4 articles mention it, none explains it",
            "Forgetting curve, Spacing effect",
            "a source that explains consolidation",
        ]
        await pilot.press("down", "j")
        assert chosen(home) == "Spacing effect"
        await pilot.press("k")
        assert chosen(home) == "Interference"


async def test_a_gap_is_resolved_ignored_planned_and_taken_back(
    home: RetainApp, vault: Vault, settled: Settled
) -> None:
    async with home.run_test() as pilot:
        await settled(pilot)
        await pilot.press("g")
        await settled(pilot)
        await pilot.press("p")
        await settled(pilot)
        assert listed(home)[1].endswith("planned")
        assert chosen(home) == "Consolidation"  # the cursor stays
        await pilot.press("r")
        await settled(pilot)
        assert chosen(home) == "Interference"  # or is on what came after
        await pilot.press("i")
        await settled(pilot)
        assert listed(home)[0].startswith("Read next 1")
        assert "(structural, ignored) **Interference**" in (vault.root / GAPS).read_text(encoding="utf-8")
        await pilot.press("u", "u", "u")
        await settled(pilot)
        assert {row.split(":")[0] for row in listed(home)[1:3]} == {"Consolidation", "Interference"}
        assert decisions(vault) == [
            *(("gaaaaaaaaa", "plan"), ("gaaaaaaaaa", "resolve"), ("gbbbbbbbbb", "ignore")),
            *(("gbbbbbbbbb", "reopen"), ("gaaaaaaaaa", "plan"), ("gaaaaaaaaa", "reopen")),
        ]
        await pilot.press("u")
        assert str(home.screen.query_one(Notice).content) == "Nothing to undo."


async def test_a_decision_that_cannot_be_written_is_refused_in_words(
    home: RetainApp, vault: Vault, settled: Settled
) -> None:
    (vault.root / ledger.DECISIONS).mkdir()
    async with home.run_test() as pilot:
        await settled(pilot)
        await pilot.press("g")
        await settled(pilot)
        before = listed(home)
        await pilot.press("r")
        notice = home.screen.query_one(Notice)
        assert notice.has_class("error") and "ledger/decisions.jsonl" in str(notice.content)
        assert listed(home) == before


async def test_an_agenda_with_nothing_open_says_so(
    bare: Vault, clock: Callable[[], datetime], settled: Settled
) -> None:
    app = RetainApp(Context(bare, clock))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("g")
        await settled(pilot)
        nothing = app.screen.query_one("#nothing", Static)
        assert nothing.display and str(nothing.content).startswith("No gaps.")
        await pilot.press("r", "i", "p", "escape")
        await settled(pilot)
        assert type(app.screen).__name__ == "HomeScreen"


class Alone(App[None]):
    """A screen that shows one gap."""

    def compose(self) -> ComposeResult:
        yield GapView()


async def test_what_is_forgotten_is_labelled_as_on_the_page() -> None:
    see = ("[[wiki/concepts/tide|Tide]]",)
    learners = Gap(GapId("gddddddddd"), GapKind.LEARNER, "Tide", "forgotten 4 of 9 times", "read it again", see)
    wikis = Gap(GapId("geeeeeeeee"), GapKind.STRUCTURAL, "Moon", "no article", "a source", see)
    app = Alone()
    async with app.run_test():
        for gap, labels in (
            (learners, ["Problem", "See", "What helps"]),
            (wikis, ["Missing", "Needed in", "Look for"]),
        ):
            app.query_one(GapView).show(gap)
            shown = (row for row in app.query(".gap-label").results(Static) if row.parent and row.parent.display)
            assert [str(row.content) for row in shown] == labels
