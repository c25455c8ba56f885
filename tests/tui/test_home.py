"""Home says what today holds, and never leaves anyone before a blank screen."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Digits, Static

from cli.log_watch import watched
from learning.cards.plans import pause
from learning.cards.workspace import open_desk, rate
from learning.schedule import date_text as words
from learning.study_day import StudyCalendar
from tests.learning.backlog import after_days, vault_of
from tui import theme
from tui.app import RetainApp, run_app
from tui.context import Context
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.notice import Notice
from tui.widgets.path_input import PathInput
from vault.errors import LockHeld
from vault.ids import CardId
from vault.locks import lock
from vault.log.events import Rating, Stamp, Suspend, encode
from vault.log.review_log import LOG_PATH
from vault.vault import Vault

Clock = Callable[[], datetime]
Settled = Callable[[Pilot[int]], Awaitable[None]]
NOW = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)


def shown(app: RetainApp, selector: str) -> str:
    return str(app.screen.query_one(selector, Static).content)


def numbers(app: RetainApp) -> list[str]:
    return [tile.value for tile in app.screen.query(Digits)]


def on_screen(app: RetainApp) -> str:
    return type(app.screen).__name__


async def test_home_says_what_today_holds(home: RetainApp, settled: Settled) -> None:
    async with home.run_test() as pilot:
        await settled(pilot)
        assert home.screen.query_one(TopBar).status == "my-vault · Sunday 22 November"
        assert numbers(home) == ["0", "4", "2"]
        assert shown(home, "#advice") == "Press enter to begin."
        assert shown(home, "#agenda .fact-words").startswith("3 open gaps")
        assert "Consolidation: 4 articles mention it, none explains it" in shown(home, "#agenda .fact-words")
        assert shown(home, "#holdings") == "4 cards on 2 concepts"


async def test_an_empty_vault_says_how_to_fill_it(bare: Vault, clock: Clock, settled: Settled) -> None:
    app = RetainApp(Context(bare, clock))
    async with app.run_test() as pilot:
        await settled(pilot)
        advice = shown(app, "#advice")
        assert "This vault is empty" in advice
        assert "1  Add a document" in advice and "2  Compile" in advice and "retain add FILE..." in advice
        assert "notes that are already in this folder" in advice
        assert not app.screen.query_one("#today").display
        await pilot.press("3")  # nothing to review: the end is said, and home is one key away
        await settled(pilot)
        assert "Nothing is due now." in shown(app, "#ended")
        await pilot.press("enter")
        await settled(pilot)
        assert on_screen(app) == "HomeScreen"


@pytest.mark.parametrize("key", ["1", "enter"])
async def test_an_empty_vault_leads_to_adding_a_document(bare: Vault, clock: Clock, settled: Settled, key: str) -> None:
    app = RetainApp(Context(bare, clock))
    async with app.run_test() as pilot:
        await settled(pilot)
        assert "enter Add a document" in app.screen.query_one(KeyBar).line(80).plain
        await pilot.press(key)
        await settled(pilot)
        assert on_screen(app) == "WorkScreen" and isinstance(app.focused, PathInput)
        await pilot.press("escape", "escape")
        await settled(pilot)
        assert on_screen(app) == "HomeScreen"


async def test_the_numbers_of_the_steps_do_nothing_where_there_are_cards(home: RetainApp, settled: Settled) -> None:
    async with home.run_test() as pilot:
        await settled(pilot)
        await pilot.press("1", "2", "3")
        await settled(pilot)
        assert on_screen(home) == "HomeScreen"


async def test_home_says_that_the_day_is_done_instead_of_three_zeros(
    vault: Vault, clock: Clock, settled: Settled
) -> None:
    for card in ("aaaaaaaaa1", "aaaaaaaaa2", "bbbbbbbbb1", "bbbbbbbbb2"):
        rate(open_desk(vault, clock()), card, Rating.EASY, via="cli")
    app = RetainApp(Context(vault, clock))
    async with app.run_test() as pilot:
        await settled(pilot)
        assert not app.screen.query_one("#today").display
        first, second = shown(app, "#advice").split("\n")
        assert first == "Done for today."
        assert re.fullmatch(r"4 cards reviewed today. The next card is due in \d+ days.", second)


async def test_home_scrolls_by_keys_where_it_does_not_fit(home: RetainApp, settled: Settled) -> None:
    async with home.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        await pilot.press("space", "4", "escape")
        await settled(pilot)
        column = home.screen.query_one("#home")
        assert column.max_scroll_y > 0
        for key, way in (("down", 1), ("up", 0), ("pagedown", column.size.height - 1), ("pageup", 0)):
            await pilot.press(key)
            await settled(pilot)
            assert column.scroll_y == way


async def test_home_in_sixty_columns_shows_as_many_days_as_it_has_room_for(home: RetainApp, settled: Settled) -> None:
    vault, now = home.context.vault, home.context.clock()
    first = open_desk(vault, now).queue.new[0].card
    rate(open_desk(vault, now), first, Rating.EASY, via="cli")
    async with home.run_test(size=(60, 18)) as pilot:
        await settled(pilot)
        await pilot.pause()  # the scrollbar has taken its column, and what is drawn follows
        await pilot.pause()
        room = home.screen.query_one("#coming .fact-words").content_size.width
        rows = shown(home, "#coming .fact-words").split("\n")[1:]
        assert all(len(row.rstrip()) <= room for row in rows) and rows[-1].startswith("today")


async def test_a_wide_home_says_the_gaps_in_full(home: RetainApp, settled: Settled) -> None:
    async with home.run_test(size=(140, 45)) as pilot:
        await settled(pilot)
        words = home.screen.query_one("#agenda .fact-words", Static)
        rows = shown(home, "#agenda .fact-words").split("\n")
        assert max(map(len, rows)) <= words.content_size.width and len(rows) <= words.size.height
        assert "Interference: 2 articles mention it, none explains it" in " ".join(rows)


async def test_documents_without_cards_want_to_be_compiled(bare: Vault, clock: Clock, settled: Settled) -> None:
    (bare.root / "raw/articles/a.md").write_text("# A\n")
    app = RetainApp(Context(bare, clock))
    async with app.run_test() as pilot:
        await settled(pilot)
        assert "no cards yet" in shown(app, "#advice") and "retain compile" in shown(app, "#advice")


async def test_home_after_a_sitting_knows_what_was_done_and_what_comes(
    home: RetainApp, settled: Settled, pass_time: Callable[[float], None]
) -> None:
    async with home.run_test() as pilot:
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        for _ in range(4):
            await pilot.press("space", "4")
        await pilot.press("escape")
        await settled(pilot)
        assert numbers(home)[:2] == ["0", "0"]
        assert shown(home, "#advice") == "Done for today.\n4 cards reviewed today. The next card is due in 6 days."
        pass_time(86_400 * 12)
        await pilot.press("r")
        await settled(pilot)
        assert numbers(home)[:2] == ["4", "0"]


async def test_enter_g_and_q_go_where_they_say(home: RetainApp, settled: Settled) -> None:
    async with home.run_test() as pilot:
        await settled(pilot)
        for key, screen in (("g", "GapsScreen"), ("escape", "HomeScreen"), ("enter", "ReviewScreen")):
            await pilot.press(key)
            await settled(pilot)
            assert on_screen(home) == screen
        await pilot.press("q")
        await settled(pilot)
        assert on_screen(home) == "HomeScreen"
        await pilot.press("q")
    assert home.return_value == 0


async def test_what_cannot_be_read_is_named_and_the_rest_is_shown(
    home: RetainApp, vault: Vault, settled: Settled
) -> None:
    (vault.root / "learning/flashcards/bad.md").write_text("## Applied\n\nQ: No answer?\n")
    (vault.root / "learning/reviews.jsonl").write_text('{"v":1,"id":"x"}\n')
    async with home.run_test() as pilot:
        await settled(pilot)
        notice = str(home.screen.query_one(Notice).content)
        assert "learning/flashcards/bad.md:3: this card has no answer (A:) (and 1 more)" in notice
        assert numbers(home)[1] == "4"


async def test_a_log_that_lost_its_records_is_said_at_home(vault: Vault, clock: Clock, settled: Settled) -> None:
    log = vault.root / LOG_PATH
    log.write_bytes(encode(Suspend(Stamp("01KB0000000000000000000000", NOW), CardId("k7q2m9xd3f"))) + b"\n")
    assert watched(vault).notices == ()
    log.unlink()
    app = RetainApp(Context(watched(vault), clock))
    async with app.run_test() as pilot:
        await settled(pilot)
        notice = str(app.screen.query_one(Notice).content)
        assert "learning/reviews.jsonl: 1 of 1 records are missing: the file was deleted" in notice


async def test_a_log_of_a_newer_retain_is_refused_in_words(home: RetainApp, vault: Vault, settled: Settled) -> None:
    import zlib

    body = b'{"v":2,"id":"x","type":"review"'
    (vault.root / "learning/reviews.jsonl").write_bytes(body + b',"crc":"%08x"}\n' % zlib.crc32(body))
    async with home.run_test() as pilot:
        await settled(pilot)
        assert (
            shown(home, "#advice")
            == "The vault cannot be read. Run `retain doctor` to check it, then press r to try again."
        )
        assert "learning/reviews.jsonl:1: this review is in format 2" in str(home.screen.query_one(Notice).content)
        await pilot.press("enter")
        await settled(pilot)
        assert on_screen(home) == "HomeScreen"
        assert "this review is in format 2" in str(home.screen.query_one(Notice).content)
        with lock(vault.root, "review", purpose="reviewing"):
            pass  # nobody holds it


async def test_light_and_dark_change_at_a_key(home: RetainApp, settled: Settled) -> None:
    async with home.run_test() as pilot:
        await settled(pilot)
        before = home.theme
        await pilot.press("ctrl+t")
        assert home.theme == theme.other(before) != before


async def test_the_palette_offers_the_keys_of_the_screen_the_places_and_the_colours(
    home: RetainApp, settled: Settled
) -> None:
    async with home.run_test() as pilot:
        await settled(pilot)
        titles = [command.title for command in home.get_system_commands(home.screen)]
        assert {"Help", "Quit", "Colours: dark"} <= set(titles)
        await pilot.press("ctrl+p")
        await settled(pilot)
        await pilot.press(*"colours: light")
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert home.theme == "retain-light"


def test_the_terminal_says_whether_it_is_light() -> None:
    assert theme.preferred({}) == "retain-dark"
    assert theme.preferred({"COLORFGBG": "0;15"}) == "retain-light"
    assert theme.preferred({"COLORFGBG": "15;default;0"}) == "retain-dark"


def test_a_review_that_another_session_holds_does_not_start(vault: Vault, clock: Clock) -> None:
    with lock(vault.root, "review", purpose="reviewing"), pytest.raises(LockHeld, match="locked by process"):
        run_app(Context(vault, clock), "review")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "under a minute"), (44, "under a minute"), (61, "1 minute"), (720, "12 minutes"), (3900, "1 h 05 min")],
)
def test_a_stretch_of_time_in_words(seconds: float, said: str) -> None:
    assert words.stretch(seconds) == said


def test_when_something_falls_due_in_words() -> None:
    calendar = StudyCalendar(UTC)
    assert words.when(NOW, NOW, calendar) == "now"
    assert words.when(NOW.replace(minute=42), NOW, calendar) == "in 12 minutes"
    assert words.when(NOW.replace(day=23, hour=4), NOW, calendar) == "tomorrow"
    assert (
        words.when(NOW.replace(day=23, hour=3, minute=30), NOW, calendar) == "in 18 h 00 min"
    )  # the study day is not over
    assert words.when(NOW.replace(day=26), NOW, calendar) == "in 4 days"


# --- after an absence -----------------------------------------------------------------------------------------------


@pytest.fixture
def back(tmp_path: Path) -> tuple[Vault, datetime]:
    """A vault of a learner who has been away for 30 days, and the morning of the return."""
    vault = vault_of(tmp_path / "mind", 300)
    (vault.root / "raw/articles/a.md").write_text("# A\n")
    return vault, after_days(vault, 15) + timedelta(days=30)


async def test_after_an_absence_home_proposes_a_plan_that_c_takes_and_u_undoes(
    back: tuple[Vault, datetime], settled: Settled
) -> None:
    vault, now = back
    app = RetainApp(Context(vault, lambda: now))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        greeting = shown(app, "#advice")
        waiting = len(open_desk(vault, now).queue.due)
        assert "Welcome back. Last visit: 15 September, 31 days ago." in greeting
        assert f"{waiting} waiting. Catch up at 15 a day, cleared by " in greeting
        assert "Review everything today (enter)" in greeting and "New cards are paused" in greeting
        assert "no reviews in the last 30 days" in shown(app, "#recalled .fact-words")
        await pilot.press("c")
        await settled(pilot)
        assert numbers(app)[:2] == ["15", "0"]
        assert "Catching up at 15 a day until " in shown(app, "#advice")
        await pilot.press("c", "end", "backspace", "backspace", "4", "0", "enter")
        await settled(pilot)
        assert numbers(app)[0] == "40" and "Catching up at 40 a day" in shown(app, "#advice")
        for _ in range(2):
            await pilot.press("u")
            await settled(pilot)
        assert "Welcome back" in shown(app, "#advice")
        await pilot.press("u")
        await settled(pilot)
        assert "your last action was not a catch-up plan" in str(app.screen.query_one(Notice).content)


async def test_after_an_absence_enter_takes_all_that_is_due(back: tuple[Vault, datetime], settled: Settled) -> None:
    vault, now = back
    app = RetainApp(Context(vault, lambda: now))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert on_screen(app) == "ReviewScreen"
        desk = open_desk(vault, now)
        assert desk.today["due"] == len(desk.queue.due) > 100


async def test_home_says_until_when_reviews_are_paused(back: tuple[Vault, datetime], settled: Settled) -> None:
    vault, now = back
    pause(open_desk(vault, now), now.date() + timedelta(days=7), via="cli")
    app = RetainApp(Context(vault, lambda: now))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert numbers(app) == ["0", "0", "0"]
        assert shown(app, "#advice").startswith(
            "Reviews are paused until 23 October.\nNothing is due and your streak is kept."
        )
