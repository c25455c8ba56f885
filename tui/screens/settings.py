"""The settings screen: learning, appearance and keys, changed in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from learning.cards.plans import end_pause, pause, paused_until
from learning.cards.workspace import Desk, open_desk, undo_last
from learning.schedule.date_text import study_day
from learning.stats.outlook import Outlook
from learning.study_day import StudyCalendar
from tui.context import Context
from tui.keys import SETTINGS
from tui.models import settings as rows
from tui.models.settings import Row
from tui.preferences import Preferences, read_preferences
from tui.screen import Page
from tui.strings import settings as strings
from tui.text import content
from tui.views.settings import Line, SettingList
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.grouped_list import move_cursor
from tui.widgets.notice import Notice
from vault import toml_edit
from vault.config import user
from vault.config.settings import Settings
from vault.errors import RetainError, UsageError
from vault.log.events import Pause
from vault.toml_edit import Value
from vault.vault import Vault

_DAYS = 90
_PREDICTED = ("retention", "new_per_day", "reviews_per_day", "minutes_per_day", "maximum_interval")


class SettingsScreen(Page, key="settings"):
    @dataclass
    class Changed(Message):
        """The settings or preferences have changed, for all screens."""

        settings: Settings
        preferences: Preferences

    @dataclass
    class Paused(Message):
        """Reviews are paused until that day; None: they are not. `saved` if the user has just decided that."""

        until: date | None
        saved: bool = False

    @dataclass
    class Predicted(Message):
        """The effect of a change on the coming days."""

        words: str

    def __init__(self, context: Context, about: str = "") -> None:
        super().__init__(context, about)
        self._settings, self._preferences = context.vault.settings, context.preferences
        self._rows = {row.id: row for row in (*rows.LEARNING, *rows.APP, *rows.keys())}
        self._at: Row = rows.LEARNING[0]
        self._paused = ""  # the day until which reviews are paused
        self._undo: list[Callable[[], None]] = []
        self._asked: tuple[Vault, Vault] | None = None  # the next prediction: before a change and after it
        self._reckoning = False

    def compose(self) -> ComposeResult:
        yield TopBar(strings.TITLE)
        with Vertical(id="settings"):
            yield SettingList()
            yield Static(markup=False, id="setting-about")
            yield Input(id="setting-input", compact=True)
        yield Notice()
        yield KeyBar(SETTINGS)

    def on_mount(self) -> None:
        self.query_one(SettingList).show(self._lines())
        self.query_one(SettingList).focus()
        self.query_one(TopBar).show_status(self._settings.name)
        self.query_one(Notice).show_findings(self._preferences.found)
        self._with_desk(lambda desk: self.Paused(paused_until(desk)), queued=False)

    def _lines(self) -> list[Line]:
        lines: list[Line] = []
        heads = ((strings.LEARNING, rows.LEARNING), (strings.APP, rows.APP), (strings.KEYS, rows.keys()))
        for head, of_head in heads:
            lines += [Line("", ""), Line("", head)] if lines else [Line("", head)]
            lines += [self._line(row) for row in of_head]
        return lines

    def _line(self, row: Row) -> Line:
        held = self._held(row)
        return Line(row.id, rows.description(row)[0], rows.shown(row, held), held != row.default)

    def _held(self, row: Row) -> Value:
        if row is rows.PAUSE:
            return self._paused
        return rows.value(row, self._settings, self._preferences)

    def action_move(self, rows: int) -> None:
        move_cursor(self.query_one(SettingList), rows)

    def on_reaching_list_reached(self, message: SettingList.Reached) -> None:
        if message.id in self._rows:
            self._at = self._rows[message.id]
            self._explain()

    def _explain(self, effect: str = "") -> None:
        row = self._at
        place = strings.OF_LOG if row is rows.PAUSE else strings.OF_VAULT if row.in_vault else strings.OF_USER
        usual = strings.default(rows.shown(row, row.default), place)
        parts = [content.line(rows.description(row)[1]), content.line(usual, content.DIM), content.line(effect, "bold")]
        self.query_one("#setting-about", Static).update(Content("\n").join(parts))

    # --- changing -------------------------------------------------------------------------------------------------

    def action_step(self, steps: int) -> None:
        """Set the next value of a number, choice or switch."""
        after = rows.stepped(self._at, self._held(self._at), steps)
        if after is not None:
            self._change(self._at, after)

    def on_setting_list_asked(self) -> None:
        self.action_edit()

    def action_edit(self) -> None:
        """Toggle a switch, or edit the value as text."""
        if self._at.kind in (rows.Kind.SWITCH, rows.Kind.CHOICE):
            self.action_step(1)
            return
        line = self.query_one("#setting-input", Input)
        line.value = rows.typed(self._held(self._at))
        self.add_class("-editing")
        line.focus()
        self.query_one(Notice).show_message(strings.EDIT)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        try:
            after = rows.read(self._at, message.value)
        except ValueError:
            self.show_error(UsageError(strings.NOT_A_NUMBER))
            return
        if self._change(self._at, after):
            self._leave_line()

    def _leave_line(self) -> None:
        self.remove_class("-editing")
        self.query_one(SettingList).focus()

    def action_default(self) -> None:
        """Reset the setting to its default."""
        self._change(self._at, self._at.default)

    def action_undo(self) -> None:
        if not self._undo:
            self.query_one(Notice).show_message(strings.NOTHING_TO_UNDO)
            return
        try:
            self._undo[-1]()
        except RetainError as error:
            self.show_error(error)
            return
        self._undo.pop()
        self._hold()
        self.query_one(Notice).show_message(strings.UNDONE)

    def action_back(self) -> None:
        """Cancel the edit, else close the screen."""
        if self.has_class("-editing"):
            self.query_one(Notice).clear()
            self._leave_line()
        else:
            super().action_back()

    def _change(self, row: Row, after: Value) -> bool:
        """Write a value to the file; return False and show the error if that fails."""
        if after == self._held(row):
            return True
        if row is rows.PAUSE:
            return self._pause(str(after))
        before = self._settings
        try:
            if row.in_vault:
                self._change_vault(row, after)
            else:
                self._change_user(row, None if after == row.default else after)
        except RetainError as error:
            self.show_error(error)
            return False
        self._hold()
        self.query_one(Notice).show_message(strings.SAVED)
        if row.in_vault and row.key in _PREDICTED:
            self._predict(before, self._settings)
        return True

    def _pause(self, words: str) -> bool:
        """Pause reviews until a day, or end the pause; return False and show the error for what is no day."""
        try:
            today = date.fromordinal(self._calendar.day(self.context.clock()))
            until = study_day(words, today) if words.strip() else None
        except UsageError as error:
            self.show_error(error)
            return False

        def decide(desk: Desk) -> Message:
            after, made = end_pause(desk, via="tui") if until is None else pause(desk, until, via="tui")
            return self.Paused(paused_until(after), saved=made is not None)

        self._with_desk(decide)
        return True

    @property
    def _calendar(self) -> StudyCalendar:
        return StudyCalendar(self._settings.zone, self._settings.rollover)

    def _with_desk(self, what: Callable[[Desk], Message], *, queued: bool = True) -> None:
        """Post what `what` returns for the vault, read in the background; with the queue only if that is asked for."""

        def work() -> None:
            with self.posting_errors():
                self.post_message(what(open_desk(self.context.vault, self.context.clock(), queued=queued)))

        self.run_worker(work, thread=True, group="pause")

    def on_settings_screen_paused(self, message: Paused) -> None:
        self._paused = message.until.isoformat() if message.until is not None else ""
        self.query_one(SettingList).update(self._line(rows.PAUSE))
        if message.saved:
            self._undo.append(self._undo_pause)
            self._explain()
            self.query_one(Notice).show_message(strings.SAVED)

    def _undo_pause(self) -> None:
        """Undo the pause, or its end. Raises: UsageError where something else was done since."""

        desk = open_desk(self.context.vault, self.context.clock(), queued=False)
        if not isinstance(desk.past.undoable(), Pause):
            raise UsageError(strings.PAUSE_NOT_LAST)
        after, _, _ = undo_last(desk, via="tui")
        until = paused_until(after)
        self._paused = until.isoformat() if until is not None else ""

    def _change_vault(self, row: Row, after: Value) -> None:
        vault = self.context.vault
        was = toml_edit.vault_text(vault)
        self._settings = toml_edit.change_vault(vault, row.key, after)
        now = toml_edit.vault_text(vault)

        def undo() -> None:
            self._settings = toml_edit.put_back_vault(vault, now, was)

        self._undo.append(undo)

    def _change_user(self, row: Row, after: Value | None) -> None:
        was, path = user.config_text(), str(user.config_folder() / user.CONFIG)
        table = toml_edit.changed(was, row.table, row.key, after, path)
        wrong = [each for each in read_preferences(table, path).found if each not in self._preferences.found]
        if wrong:
            raise UsageError(wrong[0].message)
        now = toml_edit.change_user(row.table, row.key, after)
        self._preferences = read_preferences(now, path)

        def undo() -> None:
            toml_edit.put_back_user(now, was)
            self._preferences = read_preferences(was, path)

        self._undo.append(undo)

    def _hold(self) -> None:
        """Publish the changed settings to all screens."""
        held = self.query_one(SettingList)
        for row in self._rows.values():
            held.update(self._line(row))
        self._explain()
        self.post_message(self.Changed(self._settings, self._preferences))

    # --- what it does ---------------------------------------------------------------------------------------------

    def _predict(self, before: Settings, after: Settings) -> None:
        self._explain(strings.CALCULATING)
        tried = replace(self.context.vault, keeps_caches=False)  # the index is for the settings that hold
        self._asked = replace(tried, settings=before), replace(tried, settings=after)
        if not self._reckoning:
            self._start_prediction()

    def _start_prediction(self) -> None:
        """Predict the effect of a change in the background, one at a time; only the newest request is kept."""
        if self._asked is not None:
            (old, new), self._asked, self._reckoning = self._asked, None, True
            self.run_worker(lambda: self._tally(old, new), thread=True)

    def _tally(self, old: Vault, new: Vault) -> None:
        try:
            (before, _), (after, minutes) = self._a_day(old), self._a_day(new)
        except RetainError:
            self.post_message(self.Predicted(""))
            return
        self.post_message(self.Predicted(strings.effect(before, after, minutes, _DAYS)))

    def _a_day(self, vault: Vault) -> tuple[float, float]:
        """Return the reviews and minutes a day with these settings."""

        found = Outlook(open_desk(vault, self.context.clock()), _DAYS).at(vault.settings.retention)
        return sum(found.reviews) / _DAYS, sum(found.minutes) / _DAYS

    def on_settings_screen_predicted(self, message: Predicted) -> None:
        self._reckoning = False
        if self._asked is None:
            self._explain(message.words)
        else:
            self._start_prediction()
