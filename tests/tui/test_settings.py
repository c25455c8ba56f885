"""The settings screen: what is changed there stands in the files, holds at once, and can be taken back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from learning.cards.plans import paused_until
from learning.cards.workspace import open_desk
from tui.app import RetainApp
from tui.context import Context
from tui.models import settings as rows
from tui.preferences import Preferences
from tui.screens.settings import SettingsScreen
from tui.strings import settings as strings
from tui.views.settings import SettingList
from tui.widgets.bars import KeyBar
from tui.widgets.notice import Notice
from vault.config.settings import FILE, Settings
from vault.ids import CardId, ulid
from vault.log.events import Rating, Review, Stamp, encode
from vault.log.review_log import LOG_PATH, unix_ms
from vault.vault import Vault

Settled = Callable[[Pilot[int]], Awaitable[None]]
Compare = Callable[..., bool]


@pytest.fixture
def config(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the user's own settings are."""
    folder = tmp_path_factory.mktemp("config")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    return folder / "retain/config.toml"


@pytest.fixture
def app(vault: Vault, clock: Callable[[], datetime], config: Path) -> RetainApp:
    return RetainApp(Context(vault, clock, environment={"TERM": "xterm-256color"}), "settings")


def said(app: RetainApp) -> str:
    return str(app.screen.query_one(Notice).render())


def about(app: RetainApp) -> str:
    return str(app.screen.query_one("#setting-about", Static).render())


async def to(app: RetainApp, pilot: Pilot[int], id_: str) -> None:
    """Puts the cursor on a setting."""
    held = app.screen.query_one(SettingList)
    held.highlighted = held.get_option_index(id_)
    await pilot.pause()


async def test_a_step_changes_one_line_holds_at_once_and_is_taken_back(
    app: RetainApp, vault: Vault, settled: Settled
) -> None:
    before = (vault.root / FILE).read_text(encoding="utf-8")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("right", "right")
        await settled(pilot)
        assert (vault.root / FILE).read_text(encoding="utf-8") == before.replace(
            "retention = 0.9 ", "retention = 0.92 "
        )
        assert app.context.vault.settings.retention == 0.92
        await pilot.press("u", "u")
        await settled(pilot)
        assert (vault.root / FILE).read_text(encoding="utf-8") == before
        assert app.context.vault.settings == vault.settings
        await pilot.press("u")
        assert strings.NOTHING_TO_UNDO in said(app)


async def test_what_a_change_does_to_the_days_to_come_is_said_and_nothing_in_between_is_reckoned(
    app: RetainApp, settled: Settled, monkeypatch: pytest.MonkeyPatch
) -> None:
    pressed, reckon = Event(), SettingsScreen._tally
    complete: list[float] = []

    def waiting(self: SettingsScreen, old: Vault, new: Vault) -> None:
        pressed.wait(30)
        complete.append(new.settings.retention)
        reckon(self, old, new)

    monkeypatch.setattr(SettingsScreen, "_tally", waiting)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press(*["right"] * 7)
        pressed.set()
        await settled(pilot)
        await settled(pilot)  # the last change is complete after the first
        assert complete == [0.91, 0.97]
        assert "a day" in about(app) and "90 days" in about(app)


async def test_a_value_can_be_typed_and_what_cannot_be_is_refused_in_the_words_of_the_settings(
    app: RetainApp, vault: Vault, settled: Settled
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await to(app, pilot, "learning.learning_steps")
        await pilot.press("enter", "end", *" 1d", "enter")
        await settled(pilot)
        assert 'learning_steps = ["1m", "10m", "1d"]' in (vault.root / FILE).read_text(encoding="utf-8")
        await to(app, pilot, "learning.rollover")
        await pilot.press("enter", "end", "7", "enter")
        await settled(pilot)
        assert "rollover must be a whole number from 0 to 23" in said(app)
        await pilot.press("x", "enter")
        await settled(pilot)
        assert strings.NOT_A_NUMBER in said(app)
        await pilot.press("escape")
        await settled(pilot)
        assert app.screen.query_one(SettingList).has_focus
        assert "rollover = 4 " in (vault.root / FILE).read_text(encoding="utf-8")


async def test_the_colours_change_at_once_and_are_the_users_own(app: RetainApp, config: Path, settled: Settled) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await to(app, pilot, "app.theme")
        await pilot.press("right", "right")
        await settled(pilot)
        assert app.theme == "retain-light" and config.read_text(encoding="utf-8") == '[app]\ntheme = "light"\n'
        await pilot.press("d")
        await settled(pilot)
        assert app.theme == "retain-dark" and config.read_text(encoding="utf-8") == "[app]\n"


async def test_a_key_is_moved_at_once_and_one_that_is_taken_is_refused(
    app: RetainApp, config: Path, settled: Settled
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await to(app, pilot, "keys.settings.undo")
        await pilot.press("enter", "end", "backspace", "z", "enter")
        await settled(pilot)
        assert '"settings.undo" = "z"' in config.read_text(encoding="utf-8")
        assert " z Undo" in app.screen.query_one(KeyBar).line(80).plain
        await pilot.press("z")
        await settled(pilot)
        assert "settings.undo" not in config.read_text(encoding="utf-8")
        await pilot.press("enter", "end", "backspace", "d", "enter")
        await settled(pilot)
        assert "is already used for settings.default" in said(app)
        assert "settings.undo" not in config.read_text(encoding="utf-8")


async def test_an_edit_made_elsewhere_meanwhile_stays(app: RetainApp, vault: Vault, settled: Settled) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("right")
        await settled(pilot)
        theirs = (vault.root / FILE).read_text(encoding="utf-8") + "# mine\n"
        (vault.root / FILE).write_text(theirs, encoding="utf-8")
        await pilot.press("u")
        await settled(pilot)
        assert FILE in said(app) and (vault.root / FILE).read_text(encoding="utf-8") == theirs


def test_every_setting_has_a_name_and_a_meaning_and_is_read_back_as_it_is_shown() -> None:
    settings, liked = Settings("0" * 26, "x"), Preferences()
    for row in (*rows.LEARNING, *rows.APP, *rows.keys()):
        name, meaning = rows.description(row)
        assert name and meaning, row.id
        held = rows.value(row, settings, liked)
        assert held == row.default
        if row.kind not in (rows.Kind.SWITCH, rows.Kind.CHOICE):
            assert rows.read(row, rows.typed(held)) == held


async def test_what_is_predicted_leaves_the_index_to_the_settings_in_force(
    app: RetainApp, vault: Vault, clock: Callable[[], datetime], settled: Settled
) -> None:
    cards = ("aaaaaaaaa1", "aaaaaaaaa2", "bbbbbbbbb1", "bbbbbbbbb2")
    days = [clock() - timedelta(days=200 - n) for n in range(200)]
    reviews = [
        Review(Stamp(ulid(unix_ms(day), bytes([n]) * 10), day), CardId(card), Rating.GOOD, 4_000)
        for day in days
        for n, card in enumerate(cards)
    ]
    (vault.root / LOG_PATH).write_bytes(b"".join(encode(review) + b"\n" for review in reviews))
    open_desk(vault, clock())
    index = vault.root / ".retain/learning.sqlite3"
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        before = index.read_bytes()
        await pilot.press("right")
        await settled(pilot)
        assert "a day" in about(app) and "90 days" in about(app)
    assert index.read_bytes() == before


async def test_reviews_are_paused_until_a_day_and_that_is_undone(app: RetainApp, settled: Settled) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await to(app, pilot, "pause.until")
        assert "in the review log" in about(app).lower()
        await pilot.press("enter", *"+14d", "enter")
        await settled(pilot)
        vault, now = app.context.vault, app.context.clock()
        assert paused_until(open_desk(vault, now)) == now.date() + timedelta(days=14)
        assert open_desk(vault, now).queue.new == ()
        await pilot.press("u")
        await settled(pilot)
        assert paused_until(open_desk(vault, now)) is None and said(app) == strings.UNDONE
        await pilot.press("enter", *"soon", "enter")
        await settled(pilot)
        assert "not a valid day" in said(app)


async def test_minutes_go_from_auto_to_no_limit_to_numbers_and_back(app: RetainApp, settled: Settled) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await to(app, pilot, "learning.minutes_per_day")
        held = []
        for key in ("right", "right", "left", "left", "left"):
            await pilot.press(key)
            await settled(pilot)
            held.append(app.context.vault.settings.minutes_per_day)
        assert held == [0, 5, 0, None, None]
