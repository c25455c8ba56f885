"""Cards made, deleted and looked into in the app; and more new cards today."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from time import monotonic

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static, TextArea

from learning.cards.workspace import open_desk, rate
from tests.tui.conftest import PATIENCE_S, until
from tui.app import RetainApp
from tui.context import Context
from tui.screens.browse import BrowseScreen
from tui.screens.card_info import CardInfoScreen
from tui.screens.new_card import NewCardScreen
from tui.screens.practice import PractiseScreen
from tui.screens.review import ReviewScreen
from tui.views.card import CardView
from tui.widgets.notice import Notice
from vault.ids import CardId
from vault.log.events import LogEvent, More, Rating
from vault.vault import Vault, open_vault

Clock = Callable[[], datetime]
Logged = Callable[[], list[LogEvent]]
PassTime = Callable[[float], None]


async def rest(pilot: Pilot[int]) -> None:
    """Waits until nothing is read, searched or written any more."""
    await pilot.pause()
    end = monotonic() + PATIENCE_S
    while pilot.app.workers or _is_busy(pilot):
        assert monotonic() < end, "something is still read or written"
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()


def _is_busy(pilot: Pilot[int]) -> bool:
    found = pilot.app.screen
    return isinstance(found, BrowseScreen) and (found._loading or found._searching or found._looking)


def app_at(vault: Vault, clock: Clock, start: str, about: str = "") -> RetainApp:
    return RetainApp(
        Context(vault, clock, environment={"TERM": "xterm-256color", "COLORTERM": "truecolor"}), start, about
    )


def place(app: RetainApp) -> type:
    return type(app.screen)


def notice(app: RetainApp) -> str:
    found = app.screen.query_one(Notice)
    return str(found.render()) if found.display else ""


def rows(app: RetainApp) -> int:
    """How many cards the browser lists."""
    screen = app.screen
    assert isinstance(screen, BrowseScreen) and screen._listed is not None
    return len(screen._listed)


async def said(pilot: Pilot[int], words: str) -> None:
    """Waits until the notice of the screen has these words."""
    await until(pilot, lambda: words in notice(pilot.app), words)  # type: ignore[arg-type]


def limited(vault: Vault, new_per_day: int) -> Vault:
    """The vault with another limit of new cards."""
    file = vault.root / "retain.toml"
    file.write_text(file.read_text().replace("new_per_day = 20", f"new_per_day = {new_per_day}"))
    return open_vault(str(vault.root), None, vault.root)


async def test_a_cloze_is_written_in_browse_for_the_deck_at_the_cursor_and_undone(vault: Vault, clock: Clock) -> None:
    app = app_at(vault, clock, "browse")
    async with app.run_test(size=(100, 30)) as pilot:
        await rest(pilot)
        assert rows(app) == 4
        await pilot.press("plus")
        await rest(pilot)
        assert place(app) is NewCardScreen
        assert app.screen.query_one("#new-deck", Input).value == "Forgetting curve"
        await pilot.press("ctrl+n", "ctrl+n", *"{{c1::Gaps}} help {{c2::recall}}", "ctrl+s")
        await rest(pilot)
        await said(pilot, "2 cards added to Forgetting curve. Press u in Browse to undo.")
        assert app.screen.query_one("#new-question", TextArea).text == ""
        await pilot.press("escape")
        await rest(pilot)
        assert place(app) is BrowseScreen and rows(app) == 6
        await pilot.press("u")
        await rest(pilot)
        assert rows(app) == 4 and "Gaps" not in (vault.root / "learning/flashcards/forgetting-curve.md").read_text()


async def test_a_card_both_ways_goes_into_a_new_deck_with_tags_and_a_source(vault: Vault, clock: Clock) -> None:
    app = app_at(vault, clock, "new")
    async with app.run_test(size=(80, 24)) as pilot:
        await rest(pilot)
        await pilot.press("ctrl+n", *"Wasser", "tab", *"water", "tab", *"a1", "space", *"german", "tab", *"Duden")
        app.screen.query_one("#new-deck", Input).value = "German"
        await pilot.press("ctrl+s")
        await rest(pilot)
        await said(pilot, "2 cards added to German, a new deck")
    desk = open_desk(vault, clock())
    there, back = [card for card in desk.cards.values() if card.title == "German"]
    assert (there.card.question, there.card.answer) == ("Wasser", "water\n> Source: Duden")
    assert back.card.question == "water" and desk.state(there.id).tags == ("a1", "german")


async def test_what_is_no_card_is_said_and_what_is_written_stays_until_it_is_discarded(
    vault: Vault, clock: Clock
) -> None:
    app = app_at(vault, clock, "browse")
    async with app.run_test(size=(80, 24)) as pilot:
        await rest(pilot)
        await pilot.press("plus")
        await rest(pilot)
        await pilot.press(*"Half", "ctrl+s")
        await rest(pilot)
        await said(pilot, "the answer is empty")
        await pilot.press("escape")
        await said(pilot, "esc again to discard it")
        assert place(app) is NewCardScreen
        await pilot.press("escape")
        await rest(pilot)
        assert place(app) is BrowseScreen and rows(app) == 4


async def test_cards_are_deleted_in_browse_and_come_back(vault: Vault, clock: Clock) -> None:
    files = {path: path.read_bytes() for path in (vault.root / "learning/flashcards").iterdir()}
    app = app_at(vault, clock, "browse")
    async with app.run_test(size=(100, 30)) as pilot:
        await rest(pilot)
        await pilot.press("space", "space", "space", "delete")
        await rest(pilot)
        await said(pilot, "3 cards deleted. Press u to undo.")
        assert rows(app) == 1
        assert len(open_desk(vault, clock()).cards) == 1
        await pilot.press("u")
        await rest(pilot)
        assert rows(app) == 4
    assert {path: path.read_bytes() for path in files} == files


async def test_the_info_of_a_card_has_its_schedule_and_every_rating(vault: Vault, clock: Clock) -> None:
    rate(open_desk(vault, clock()), "aaaaaaaaa1", Rating.GOOD, via="test")
    rate(open_desk(vault, clock()), "aaaaaaaaa1", Rating.EASY, via="test")
    app = app_at(vault, clock, "browse")
    async with app.run_test(size=(80, 24)) as pilot:
        await rest(pilot)
        await pilot.press("I")
        await rest(pilot)
        assert place(app) is CardInfoScreen
        shown = str(app.screen.query_one("#info", Static).content)
        for words in ("Due", "Interval", "Stability", "Difficulty", "Lapses", "Easy", "Good"):
            assert words in shown
        assert shown.index("Easy") < shown.index("Good"), "the latest first"
        await pilot.press("escape")
        await rest(pilot)
        assert place(app) is BrowseScreen


async def test_in_a_review_a_card_is_looked_into_and_a_new_one_joins_the_queue(
    vault: Vault, clock: Clock, logged: Logged
) -> None:
    app = app_at(vault, clock, "review")
    app.hold_review()
    async with app.run_test(size=(80, 24)) as pilot:
        await rest(pilot)
        question = app.screen.query_one(CardView).shown["question"]
        await pilot.press("I")
        await rest(pilot)
        assert "No ratings yet." in str(app.screen.query_one("#info", Static).content)
        await pilot.press("I")
        await rest(pilot)
        await pilot.press("plus")
        await rest(pilot)
        await pilot.press(*"Mine?", "tab", *"Yes.", "ctrl+s", "ctrl+s")
        await rest(pilot)
        await pilot.press("escape")
        await rest(pilot)
        assert place(app) is ReviewScreen
        assert app.screen.query_one(CardView).shown["question"] == question, "the card on the screen stays"
        assert len(open_desk(vault, clock()).cards) == 5 and logged() == []
        await pilot.press("space", "4")
        await rest(pilot)
        found = app.screen
        assert isinstance(found, ReviewScreen) and found._study_session is not None
        assert found._study_session.left == 4
    app.end_session()


async def test_more_new_cards_at_the_end_go_on_and_are_taken_back(
    vault: Vault, clock: Clock, logged: Logged, pass_time: PassTime
) -> None:
    app = app_at(limited(vault, 1), clock, "review")
    app.hold_review()
    async with app.run_test(size=(80, 24)) as pilot:
        await rest(pilot)
        await pilot.press("space", "4")
        await rest(pilot)
        assert app.screen.has_class("-ended")
        await pilot.press("n")
        await rest(pilot)
        await said(pilot, "3 more new cards today")
        assert not app.screen.has_class("-ended")
        await pilot.press("u")
        await rest(pilot)
        await said(pilot, "Removed the extra new cards")
        assert app.screen.has_class("-ended")
        assert isinstance(logged()[1], More)
        assert open_desk(vault, clock()).past.new_allowed(clock().toordinal()) == 0
    app.end_session()


async def test_without_a_new_card_left_more_are_refused_in_words(vault: Vault, clock: Clock, logged: Logged) -> None:
    app = app_at(vault, clock, "review")
    app.hold_review()
    async with app.run_test(size=(80, 24)) as pilot:
        await rest(pilot)
        for _ in range(4):
            await pilot.press("space", "4")
            await rest(pilot)
        assert app.screen.has_class("-ended")
        await pilot.press("n")
        await rest(pilot)
        await said(pilot, "there are no more new cards")
        assert not any(isinstance(event, More) for event in logged())
    app.end_session()


async def test_more_new_cards_in_practise_begin_a_review(vault: Vault, clock: Clock) -> None:
    app = app_at(limited(vault, 0), clock, "practise")
    async with app.run_test(size=(80, 24)) as pilot:
        await rest(pilot)
        assert place(app) is PractiseScreen
        await pilot.press("n")
        await rest(pilot)
        assert place(app) is ReviewScreen and app.screen.query_one(CardView).shown["question"]
    app.end_session()


@pytest.mark.parametrize("key", ["delete", "I"])
async def test_an_article_is_no_card_to_delete_or_look_into(vault: Vault, clock: Clock, key: str) -> None:
    (vault.root / "wiki/concepts").mkdir(parents=True, exist_ok=True)
    (vault.root / "wiki/concepts/forgetting-curve.md").write_text("---\ntype: concept\n---\n\n# Forgetting\n\nX.\n")
    app = app_at(vault, clock, "browse")
    async with app.run_test(size=(80, 24)) as pilot:
        await rest(pilot)
        await pilot.press("c")
        await rest(pilot)
        await pilot.press(key)
        await rest(pilot)
        await said(pilot, "No card selected")
        assert place(app) is BrowseScreen
    assert CardId("aaaaaaaaa1") in open_desk(vault, clock()).cards
