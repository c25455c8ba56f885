"""The base class of all screens: keys, navigation, errors, the state of jobs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from textual.events import Resize
from textual.message import Message
from textual.screen import Screen

from tui.context import Context
from tui.keys import ANYWHERE, SCREENS, Key, bindings
from tui.models import work
from tui.strings.app import FEWEST_COLUMNS, FEWEST_ROWS
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.notice import Notice, TooSmall
from vault.errors import RetainError


class Page(Screen[None]):
    """The base class of all screens. `NAME` is its key in `keys.SCREENS` and `palette.PLACES`.

    The framework calls the handlers here and those of a subclass both, under the same names.
    """

    BLANK = True  # its parts have the words: the framework need not ask it for each row
    NAME: ClassVar[str] = ""
    AUTO_FOCUS = ""  # the framework would choose the first field, shown or not, and it would swallow keys

    def __init_subclass__(cls, key: str = "", **settings: Any) -> None:
        """Give the screen `key` its bindings and the style sheet of that name beside its module."""
        if key:
            cls.NAME, cls.CSS_PATH, cls.BINDINGS = key, f"{key}.tcss", [*bindings(SCREENS[key])]
        super().__init_subclass__(**settings)

    @dataclass
    class Failed(Message):
        """Something could not be read or written."""

        error: RetainError

    def __init__(self, context: Context, about: str = "", classes: str = "") -> None:
        super().__init__(classes=classes)
        self.context, self.about = context, about

    def on_mount(self) -> None:
        self.context.jobs.watch(self)
        self.on_work_moved()
        if self.context.preferences.keys:
            for bar in self.query(KeyBar):
                bar.follow(self.context.preferences.keys)

    def on_resize(self, event: Resize) -> None:
        """Cover the screen with one line while the terminal is too small."""
        small = event.size.width < FEWEST_COLUMNS or event.size.height < FEWEST_ROWS
        if small and not self.query(TooSmall):
            self.mount(TooSmall())
        elif not small:
            self.query(TooSmall).remove()

    def on_unmount(self) -> None:
        self.context.jobs.unwatch(self)

    def on_work_moved(self) -> None:
        """Show the progress or result of the running job at the top of the screen."""
        for bar in self.query(TopBar):
            bar.show_job(work.in_short(self.context.jobs.state))

    def use_context(self, context: Context) -> None:
        """Replace the context after a settings change on another screen."""
        self.context = context
        for bar in self.query(KeyBar):
            bar.follow(context.preferences.keys)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return False for urgent keys while the user types in a text field."""
        if not hasattr(self.focused, "cursor_blink"):  # fields alone have that; loading them to ask would cost a start
            return True
        return not any(key.urgent and key.action.partition("(")[0] == action for key in SCREENS.get(self.NAME, ()))

    def offers(self, key: Key) -> bool:
        """Return whether `key` does anything now; the palette leaves the others out."""
        return True

    @contextmanager
    def posting_errors(self) -> Iterator[None]:
        """Post Failed for an error raised inside, which ends the block: for work in a thread."""
        try:
            yield
        except RetainError as error:
            self.post_message(self.Failed(error))

    def on_page_failed(self, message: Failed) -> None:
        self.show_error(message.error)

    def show_error(self, problem: RetainError) -> None:
        """Show an error until something succeeds."""
        self.query_one(Notice).show_error(problem)

    def go(self, where: str, about: str = "") -> None:
        """Open another screen above this one."""
        self.post_message(Go(where, about, self))

    def leave(self) -> None:
        """Close this screen."""
        self.post_message(Back(self))

    def action_back(self) -> None:
        self.leave()

    def _pop_result_callback(self) -> None:
        """Work around Textual: its first screen has no result callback, and yet one is popped."""
        if self._result_callbacks:
            super()._pop_result_callback()

    async def on_key_bar_chosen(self, message: KeyBar.Chosen) -> None:
        everywhere = message.action in [key.action for key in ANYWHERE]
        await (self.app if everywhere else self).run_action(message.action)


@dataclass
class Go(Message):
    """Show the screen `where` (a key of `tui.palette.PLACES`); what `about` means is said by that screen.

    `sender` is the screen that asks. The app ignores it if that screen is no longer in front: an earlier key left it.
    """

    where: str
    about: str = ""
    sender: Screen[None] | None = None


@dataclass
class Back(Message):
    """Show the screen below, or home if there is none. `sender` as with `Go`."""

    sender: Screen[None]
