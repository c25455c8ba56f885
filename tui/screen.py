"""What all screens have in common: their keys, the way back, and a place to say what went wrong."""

from __future__ import annotations

from typing import ClassVar

from textual.events import Resize
from textual.screen import Screen

from tui.context import Context
from tui.keys import ANYWHERE, SCREENS, Key
from tui.navigation import Back, Go
from tui.strings import work
from tui.strings.app import FEWEST_COLUMNS, FEWEST_ROWS
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.notice import Notice
from tui.widgets.too_small import TooSmall
from vault.errors import RetainError


class Page(Screen[None]):
    """A screen of the app. `NAME` is its name in `keys.SCREENS` and `places.PLACES`; BINDINGS come from there.

    The framework calls the handlers here and those of a subclass both, under the same names.
    """

    NAME: ClassVar[str] = ""
    AUTO_FOCUS = ""  # the framework would choose the first field, shown or not, and it would swallow keys

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
        """Where the screen cannot be read any more, one line says so, until the terminal is larger again."""
        small = event.size.width < FEWEST_COLUMNS or event.size.height < FEWEST_ROWS
        if small and not self.query(TooSmall):
            self.mount(TooSmall())
        elif not small:
            self.query(TooSmall).remove()

    def on_unmount(self) -> None:
        self.context.jobs.unwatch(self)

    def on_work_moved(self) -> None:
        """Says at the head of the screen what long work goes on, or has ended and was not looked at yet."""
        for bar in self.query(TopBar):
            bar.at_work(work.in_short(self.context.jobs.state))

    def live_with(self, context: Context) -> None:
        """Something was set on a screen above: from now on this holds."""
        self.context = context
        for bar in self.query(KeyBar):
            bar.follow(context.preferences.keys)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A key that opens a field is a letter like any other while one writes in a field."""
        writes = hasattr(self.focused, "cursor_blink")  # fields alone have that; loading them to ask would cost a start
        return not (writes and any(key.writes and key.action == action for key in SCREENS.get(self.NAME, ())))

    def offers(self, key: Key) -> bool:
        """Whether `key` does anything just now; the palette leaves the others out."""
        return True

    def say(self, problem: RetainError) -> None:
        """Shows what went wrong, until something goes right."""
        self.query_one(Notice).failure(problem)

    def go(self, where: str, about: str = "") -> None:
        """To another screen, above this one."""
        self.post_message(Go(where, about, self))

    def leave(self) -> None:
        """To the screen below this one."""
        self.post_message(Back(self))

    def action_back(self) -> None:
        self.leave()

    def _pop_result_callback(self) -> None:
        """The framework gives its first screen none, and yet takes one away when another takes its place."""
        if self._result_callbacks:
            super()._pop_result_callback()

    async def on_key_bar_chosen(self, message: KeyBar.Chosen) -> None:
        everywhere = message.action in [key.action for key in ANYWHERE]
        await (self.app if everywhere else self).run_action(message.action)
