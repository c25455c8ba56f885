"""Every card and article: searched as one types, sorted, looked at, and changed, one or many at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from time import monotonic

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input, Static

from learning.cards.workspace import open_desk, rate
from learning.history.history import History
from tests.tui.conftest import PATIENCE_S, SPACING
from tui.app import RetainApp
from tui.context import Context
from tui.screens.browse import COLUMNS, BrowseScreen
from tui.views.card_preview import CardPreview
from tui.views.card_table import CardTable, layout
from tui.widgets.bars import TopBar
from tui.widgets.notice import Notice
from vault.ids import CardId
from vault.log.events import LogEvent, Rating, Suspend, Undo
from vault.log.review_log import LOG_PATH
from vault.vault import Vault

Settled = Callable[[Pilot[int]], Awaitable[None]]
Compare = Callable[..., bool]
SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 45)], ids=["80x24", "140x45"])
COLOURS = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
ARTICLE = "---\ntype: concept\n---\n\n# Forgetting curve\n\nRetention falls **steeply** in the first hours.\n"


@pytest.fixture
def vault(vault: Vault) -> Vault:
    (vault.root / "wiki/concepts").mkdir(parents=True, exist_ok=True)
    (vault.root / "wiki/concepts/forgetting-curve.md").write_text(ARTICLE, encoding="utf-8")
    return vault


@pytest.fixture
def browse(vault: Vault, clock: Callable[[], datetime]) -> RetainApp:
    return RetainApp(Context(vault, clock, environment=COLOURS), "browse")


@pytest.fixture
def settled() -> Settled:
    """Waits until nothing is read, searched or looked at any more: each of these may ask for the next."""

    async def settled(pilot: Pilot[int]) -> None:
        await pilot.pause()
        end = monotonic() + PATIENCE_S
        while pilot.app.workers or busy(pilot.app):
            assert monotonic() < end, "something is still read, searched or looked at"
            await pilot.app.workers.wait_for_complete()
            await pilot.pause()

    return settled


def busy(app: App[int]) -> bool:
    found = app.screen
    return isinstance(found, BrowseScreen) and (found._loading or found._searching or found._looking)


def screen(app: RetainApp) -> BrowseScreen:
    assert isinstance(app.screen, BrowseScreen)
    return app.screen


def listed(app: RetainApp) -> list[str]:
    """The questions and titles in the list."""
    rows = screen(app)._listed
    assert rows is not None
    return [rows.cells(row, ["question"])[0] for row in range(len(rows))]


def shown(app: RetainApp, what: type[Notice | CardPreview]) -> str:
    widget = screen(app).query_one(what)
    statics = [widget] if isinstance(widget, Static) else list(widget.query(Static))
    return " ".join(str(each.render()) for each in statics)


async def test_typing_searches_at_once_and_escape_goes_back_step_by_step(browse: RetainApp, settled: Settled) -> None:
    async with browse.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert len(listed(browse)) == 4 and "4" in browse.screen.query_one(TopBar).status
        await pilot.press("slash", *"retrie")
        await settled(pilot)
        assert listed(browse) == ["Why does retrieving something slow down forgetting?"]
        assert "1 of 4" in browse.screen.query_one(TopBar).status
        await pilot.press("escape")
        assert browse.focused is screen(browse).query_one(CardTable)
        await pilot.press("escape")
        await settled(pilot)
        assert not isinstance(browse.screen, BrowseScreen)


@pytest.mark.parametrize(("width", "least"), [(80, 60), (100, 50), (140, 60)])
async def test_the_question_has_most_of_the_width(browse: RetainApp, settled: Settled, width: int, least: int) -> None:
    async with browse.run_test(size=(width, 24)) as pilot:
        await settled(pilot)
        table = screen(browse).query_one(CardTable)
        placed = layout(COLUMNS, table.scrollable_content_region.width)
        assert placed[0][0].name == "question" and placed[0][1] >= least
        assert max(cells for column, cells in placed[1:]) < placed[0][1]


async def test_filters_work_and_a_wrong_one_is_explained_while_the_list_stays(
    browse: RetainApp, settled: Settled
) -> None:
    async with browse.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        screen(browse).query_one(Input).value = "kind:applied"
        await settled(pilot)
        assert len(listed(browse)) == 1
        screen(browse).query_one(Input).value = "kind:aplied"
        await settled(pilot)
        assert "character 1" in shown(browse, Notice) and "applied" in shown(browse, Notice)
        assert len(listed(browse)) == 1


async def test_articles_and_cards_stand_in_one_list_on_demand(browse: RetainApp, settled: Settled) -> None:
    async with browse.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("c")
        await settled(pilot)
        assert listed(browse) == ["Forgetting curve"]
        assert "steeply" in shown(browse, CardPreview)
        await pilot.press("c")
        await settled(pilot)
        assert len(listed(browse)) == 5


async def test_the_preview_follows_the_cursor_and_opens_with_the_card_s_past(
    browse: RetainApp, vault: Vault, clock: Callable[[], datetime], settled: Settled
) -> None:
    rate(open_desk(vault, clock() - timedelta(days=1)), "aaaaaaaaa2", Rating.GOOD, via="cli")
    async with browse.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert "What does the forgetting curve describe?" in shown(browse, CardPreview)
        await pilot.press("down")
        await settled(pilot)
        assert "Retrieval makes the memory trace more durable" in shown(browse, CardPreview)
        await pilot.press("enter")
        await settled(pilot)
        words = shown(browse, CardPreview)
        assert "2026-11-21 Good" in words and "makes the trace more durable than another reading" in words
        await pilot.press("escape")
        assert not screen(browse).has_class("-full")


async def test_many_are_suspended_at_once_and_undo_takes_all_of_it_back(
    browse: RetainApp,
    settled: Settled,
    logged: Callable[[], list[LogEvent]],
    vault: Vault,
    clock: Callable[[], datetime],
) -> None:
    def suspended() -> set[CardId]:
        past: History = open_desk(vault, clock()).past
        return {card for card, state in past.states.items() if state.suspended}

    async with browse.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("space", "down", "space", "x")
        await settled(pilot)
        assert suspended() == {"aaaaaaaaa1", "bbbbbbbbb1"}
        assert "2 cards suspended" in shown(browse, Notice)
        await pilot.press("u")
        await settled(pilot)
        assert suspended() == set() and len(logged()) == 4
        await pilot.press("escape", "ctrl+a", "x")
        await settled(pilot)
        assert len(suspended()) == 4
        await pilot.press("x")
        await settled(pilot)
        assert suspended() == set()


async def test_undo_pressed_twice_takes_two_deeds_back_each_once(
    browse: RetainApp, settled: Settled, logged: Callable[[], list[LogEvent]]
) -> None:
    async with browse.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        for key in ("x", "down", "x"):
            await pilot.press(key)
            await settled(pilot)
        await pilot.press("u", "u", "u")
        await settled(pilot)
        undone = sorted(event.voids for event in logged() if isinstance(event, Undo))
        assert undone == sorted(event.id for event in logged() if isinstance(event, Suspend)) and len(undone) == 2
        assert "nothing" in shown(browse, Notice).casefold()


async def test_tags_days_and_flags_are_asked_for_and_found_again(browse: RetainApp, settled: Settled) -> None:
    async with browse.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("shift+down", "T", *"exam", "enter")
        await settled(pilot)
        assert "2 cards tagged" in shown(browse, Notice)
        screen(browse).query_one("#browse-words", Input).value = "tag:exam"
        await settled(pilot)
        assert len(listed(browse)) == 2
        await pilot.press("escape", "f", *"unclear", "enter")
        await settled(pilot)
        screen(browse).query_one("#browse-words", Input).value = "is:flagged"
        await settled(pilot)
        assert len(listed(browse)) == 1
        await pilot.press("d", "x", "enter")
        await settled(pilot)
        assert "number of days" in shown(browse, Notice)


async def test_the_list_is_sorted_by_key_and_by_mouse(browse: RetainApp, settled: Settled) -> None:
    async with browse.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        before = listed(browse)
        await pilot.press("o", *["down"] * 3, "enter")
        await settled(pilot)
        assert listed(browse) == sorted(before, key=str.casefold)
        await pilot.click("TableHead", offset=(40, 0))
        await settled(pilot)
        assert listed(browse) == sorted(before, key=str.casefold, reverse=True)
        await pilot.click("CardTable", offset=(0, 2))
        await settled(pilot)
        assert "1 selected" in browse.screen.query_one(TopBar).status


async def test_search_and_choice_are_there_again_on_coming_back(browse: RetainApp, settled: Settled) -> None:
    app = browse
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        screen(app).query_one("#browse-words", Input).value = "forgetting"
        await settled(pilot)
        await pilot.press("down", "space", "end")
        await settled(pilot)
        await app.push_screen(BrowseScreen(app.context))
        await settled(pilot)
        assert screen(app).query_one("#browse-words", Input).value == "forgetting"
        assert "1 selected · 3 of 4" in app.screen.query_one(TopBar).status
        assert screen(app).query_one(CardTable).cursor == 2


async def test_a_card_that_goes_from_its_file_is_said_to_be_gone(
    browse: RetainApp, vault: Vault, settled: Settled
) -> None:
    async with browse.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        (vault.root / "learning/flashcards/spacing-effect.md").unlink()
        await pilot.press("end")
        await settled(pilot)
        assert "no longer in its deck" in shown(browse, CardPreview)


async def test_a_damaged_index_is_made_anew(browse: RetainApp, vault: Vault, settled: Settled) -> None:
    (vault.root / ".retain").mkdir(exist_ok=True)
    (vault.root / ".retain/learning.sqlite3").write_bytes(b"no index")
    async with browse.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert len(listed(browse)) == 4


async def test_a_deed_that_the_disk_refuses_is_said_and_changes_nothing(
    browse: RetainApp, vault: Vault, settled: Settled
) -> None:
    async with browse.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        (vault.root / LOG_PATH).mkdir()
        await pilot.press("x")
        await settled(pilot)
        assert screen(browse).query_one(Notice).has_class("error") and not screen(browse)._open.done


async def test_hostile_words_are_shown_as_they_are_and_do_nothing(
    browse: RetainApp, vault: Vault, settled: Settled
) -> None:
    evil = "[@click=app.quit]x[/] \x1b]8;;http://e\x07 \x9b31m [bold]b"
    deck = SPACING.replace("Spacing effect", evil).replace("How does", f"{evil} How does")
    (vault.root / "learning/flashcards/spacing-effect.md").write_text(deck, encoding="utf-8")
    async with browse.run_test(size=(140, 45)) as pilot:
        await settled(pilot)
        screen(browse).query_one("#browse-words", Input).value = '"[bold]" -NEAR(x'
        await settled(pilot)
        assert any("[@click=app.quit]" in question for question in listed(browse))
        await pilot.click("CardPreview", offset=(3, 3))
        await pilot.press("enter")
        await settled(pilot)
        lines = screen(browse).query_one(CardTable).render_lines(screen(browse).query_one(CardTable).region)
        assert "\x1b" not in "".join(segment.text for line in lines for segment in line)
        assert browse.is_running


async def test_an_empty_vault_says_what_to_do(bare: Vault, clock: Callable[[], datetime], settled: Settled) -> None:
    app = RetainApp(Context(bare, clock), "browse")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert screen(app).has_class("-empty")
        await pilot.press("down", "enter", "space", "x", "ctrl+a", "u", "E")
        await settled(pilot)
        assert app.is_running
