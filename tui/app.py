"""The app: the stack of screens, the lock of the review, signals, the end. The clock is read here and in commands."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from textual.app import App, SystemCommand
from textual.command import CommandPalette
from textual.events import Event, Key
from textual.message import Message
from textual.screen import Screen
from textual.worker import Worker

from learning.review.study_session import StudySession
from tui import palette, theme
from tui.context import Context
from tui.driver import TerminalDriver
from tui.help import HelpScreen
from tui.keys import ANYWHERE, APP, SCREENS, SHELL, bindings
from tui.screen import Back, Go, Page
from tui.strings.app import PALETTE
from vault.errors import RetainError
from vault.locks import lock

if TYPE_CHECKING:  # screens are loaded when they are first shown
    from textual.command import Provider
    from textual.driver import Driver

    from learning.review.study_session import StudySession
    from tui.screens.review import ReviewScreen
    from tui.screens.settings import SettingsScreen

INTERRUPTED = 130
_ASK_AGAIN_S = 0.5


def _palette_provider() -> type[Provider]:
    from tui.palette_provider import Commands  # the app starts without what is searched

    return Commands


class RetainApp(App[int]):
    CSS_PATH = "theme.tcss"
    TITLE = "retain"
    COMMANDS = {_palette_provider}  # noqa: RUF012 (so it is declared above)
    BINDINGS = [*bindings(APP, priority=True), *bindings((*ANYWHERE, *SHELL))]  # noqa: RUF012
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 (so it is declared above)
    VERTICAL_BREAKPOINTS = [(0, "-low"), (32, "-tall")]  # noqa: RUF012

    @dataclass
    class PageFailed(Message):
        """`_review.md` could not be written; the ratings themselves are saved."""

        error: RetainError

    def __init__(self, context: Context, start: str = "home", about: str = "") -> None:
        # Without colour the framework would turn colours into greys, and the terminal's own into black on black.
        super().__init__(
            driver_class=_driver(context.environment), ansi_color=theme.colourless(context.environment) or None
        )
        self.context, self._start, self._about = context, start, about
        self._held = ExitStack()
        self._study_session: StudySession | None = None
        self._ending: Worker[None] | None = None
        self._problem: RetainError | None = None  # with `_review.md`, until it is written after all
        for each in theme.ALL:
            self.register_theme(each)
        self._apply_preferences()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme.VARIABLES

    def get_default_screen(self) -> Screen[None]:
        first = palette.new_screen(self._start, self.context, self._about)
        self._load_screen_css(first)  # the framework does so for screens that come later, and not for the first
        return first

    # --- from screen to screen ----------------------------------------------------------------------------------------

    async def on_go(self, message: Go) -> None:
        """Show another screen; if that fails, the current screen shows the error."""
        if message.sender is not None and message.sender is not self.screen:
            return  # it was left by the key before
        if message.where == "home":
            await self._go_home()
        elif message.where == "review":
            await self._review(message.about)
        else:
            await self.push_screen(palette.new_screen(message.where, self.context, message.about))

    async def _go_home(self) -> None:
        """Return to the home screen, closing the screens above it."""
        if self._review_below() is not None:
            self._end_review()
        while len(self.screen_stack) > 1 and self._place != "home":
            await self.pop_screen()
        if self._place != "home":
            await self.switch_screen(palette.new_screen("home", self.context))

    @property
    def _place(self) -> str:
        return self.screen.NAME if isinstance(self.screen, Page) else ""

    async def _review(self, about: str) -> None:
        """Show the review. A review that is open is reused, unless other cards are asked for."""
        open_ = self._review_below()
        if open_ is not None:
            await self._pop_to(open_)
            if not about:
                return
            self._end_review()
        if await self._may_review():
            review = palette.new_screen("review", self.context, about)
            await (self.push_screen(review) if open_ is None else self.switch_screen(review))

    def _review_below(self) -> Page | None:
        """Return the open review screen, in front or not."""
        return next((s for s in self.screen_stack if isinstance(s, Page) and s.NAME == "review"), None)

    async def _pop_to(self, wanted: Screen[Any]) -> None:
        """Close the screens above `wanted`, if it is still open."""
        while wanted in self.screen_stack and self.screen is not wanted:
            await self.pop_screen()

    async def _may_review(self) -> bool:
        if self._ending is not None:
            await self._ending.wait()
        try:
            self.hold_review()
        except RetainError as error:
            if isinstance(self.screen, Page):
                self.screen.show_error(error)
            return False
        return True

    async def on_back(self, message: Back) -> None:
        if message.sender is self.screen:
            await self._go_back()

    async def _go_back(self, problem: RetainError | None = None) -> None:
        """Close the current screen; if it is the only one, show home instead."""
        if len(self.screen_stack) > 1:
            await self.pop_screen()
        else:
            await self.switch_screen(palette.new_screen("home", self.context))
        if problem is not None and isinstance(self.screen, Page):
            self.screen.show_error(problem)

    # --- the review is held by one session at a time ----------------------------------------------------------------

    def hold_review(self) -> None:
        """Lock the review for this session. Raises: LockHeld, naming the other session."""
        self._held.enter_context(lock(self.context.vault.root, "review", purpose="reviewing", now=self.context.clock()))

    def end_session(self) -> RetainError | None:
        """Write `_review.md` and unlock the review; return the error of this or an earlier write of the page."""
        study_session, self._study_session = self._study_session, None
        try:
            if study_session is not None:
                study_session.finish()
                self._problem = None
        except RetainError as error:
            self._problem = error
        finally:
            self._held.close()
        return self._problem

    def report_rendering(self, report: Callable[[int], None] | None) -> None:
        """Call `report` with the number of cards whose pages `end_session` will render, if any."""
        if report is not None and self._study_session is not None and self._study_session.is_unrendered:
            with suppress(OSError):  # the terminal may be closed
                report(len(self._study_session.desk.cards))

    def _end_in_background(self) -> None:
        problem = self.end_session()
        if problem is not None:
            self.post_message(self.PageFailed(problem))

    def on_retain_app_page_failed(self, message: PageFailed) -> None:
        if isinstance(self.screen, Page):
            self.screen.show_error(message.error)

    def on_review_screen_opened(self, message: ReviewScreen.Opened) -> None:
        """Remember a session, whose pages are written at its end; practice writes nothing."""
        self._study_session = message.study_session if isinstance(message.study_session, StudySession) else None

    async def on_review_screen_failed(self, message: ReviewScreen.Failed) -> None:
        review = self._review_below()
        self.end_session()
        if review is not None:
            await self._pop_to(review)
            await self._go_back(message.error)

    async def on_review_screen_left(self) -> None:
        if self._place == "review":  # else the key before has left it
            self._end_review()
            await self._go_back()

    def _end_review(self) -> None:
        self._ending = self.run_worker(self._end_in_background, thread=True)

    # --- keys and commands of the whole app -------------------------------------------------------------------------

    def on_load(self) -> None:
        """Exit cleanly on SIGINT, SIGTERM, SIGHUP and SIGQUIT, so that the terminal is restored."""
        loop = asyncio.get_running_loop()
        ends = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP, signal.SIGQUIT] if sys.platform != "win32" else [])]
        for number in ends:
            with suppress(RuntimeError, ValueError, NotImplementedError):  # not in the main thread, or on Windows
                loop.add_signal_handler(number, self._exit_on_signal, 128 + number)

    async def on_event(self, event: Event) -> None:
        """Record when a key was read: the action that runs next does not know."""
        if isinstance(event, Key) and not event.is_forwarded:
            self.context.presses.came(event.key, event.time)
        await super().on_event(event)

    def _exit_on_signal(self, code: int) -> None:
        """Exit, again and again until it takes effect: Textual may forget an exit during start-up."""
        self.exit(code)
        asyncio.get_running_loop().call_later(_ASK_AGAIN_S, self._exit_on_signal, code)

    def action_interrupt(self) -> None:
        """Copy the selection; without a selection exit the app."""
        selected = self.screen.get_selected_text()
        if selected:
            self.copy_to_clipboard(selected)
            self.screen.clear_selection()
        else:
            self.exit(INTERRUPTED)

    def action_toggle_dark(self) -> None:
        self.theme = theme.other(self.theme)

    def apply_theme(self, name: str) -> None:
        """Apply the theme that the settings call `name`."""
        self.theme = theme.preferred(self.context.environment, name)

    def on_settings_screen_changed(self, message: SettingsScreen.Changed) -> None:
        """Apply changed settings to all open screens."""
        vault = replace(self.context.vault, settings=message.settings)
        self.context = replace(self.context, vault=vault, preferences=message.preferences)
        for screen in self.screen_stack:
            if isinstance(screen, Page):
                screen.use_context(self.context)
        self._apply_preferences()

    def _apply_preferences(self) -> None:
        """Apply the user's theme, keys and animation preference."""
        liked = self.context.preferences
        self.apply_theme(liked.theme)
        self.set_keymap(dict(liked.keys))
        still = not liked.motion or "SSH_CONNECTION" in self.context.environment
        self.animation_level = "none" if still else "full"  # a glide is many small paintings, and a line may be slow

    async def action_help(self) -> None:
        """Show the keys of this screen above it; pressed again, hide them."""
        if isinstance(self.screen, HelpScreen):
            self.screen.dismiss()
        elif isinstance(self.screen, Page):
            await self.push_screen(HelpScreen(SCREENS[self.screen.NAME], dict(self.context.preferences.keys)))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Return the commands of the palette: keys of this screen, other screens, themes."""
        yield from palette.commands(self, screen, self.apply_theme)

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, CommandPalette):
            self.push_screen(CommandPalette(placeholder=PALETTE, id="--command-palette"))

    def _fatal_error(self) -> None:
        """End after an unexpected error without printing local variables; `run_app` raises the error."""
        self._close_messages_no_wait()


def _driver(environment: Mapping[str, str]) -> type[Driver] | None:
    """Return the class of the terminal driver; None leaves the choice to Textual."""
    if sys.platform == "win32" or "TEXTUAL_DRIVER" in environment:
        return None

    return TerminalDriver


def run_app(context: Context, start: str = "home", about: str = "", report: Callable[[int], None] | None = None) -> int:
    """Run the app from the screen `start` about `about`; return its exit code.

    `report` is called with how many cards the pages are rendered once the app has left the terminal. Raises: LockHeld
    if another session reviews already; whatever a defect raised.
    """
    app = RetainApp(context, start, about)
    if start == "review":
        app.hold_review()
    try:
        code = app.run()
    finally:
        context.jobs.end()
        app.report_rendering(report)
        problem = app.end_session()
    if app._exception is not None:
        raise app._exception
    if problem is not None:
        raise problem
    return code or 0
