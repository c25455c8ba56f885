"""The app: which screen is on, who holds the review, and how it ends. Here, and in the commands, the clock is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from datetime import datetime
from typing import Any, Literal

from textual.app import App, SystemCommand
from textual.screen import Screen
from textual.worker import Worker

from learning.sitting import Sitting
from tui import theme
from tui.keys import APP, bindings
from tui.screens.gaps import GapsScreen
from tui.screens.home import HomeScreen
from tui.screens.review import ReviewScreen
from vault.errors import RetainError
from vault.locks import lock
from vault.store import Vault

INTERRUPTED = 130


class RetainApp(App[int]):
    CSS_PATH = "theme.tcss"
    TITLE = "retain"
    BINDINGS = bindings(APP, priority=True)  # type: ignore[assignment]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 (so it is declared above)

    def __init__(
        self,
        vault: Vault,
        *,
        clock: Callable[[], datetime],
        start: Literal["home", "review"] = "home",
        tag: str | None = None,
        environment: dict[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._vault, self._now, self._start, self._tag = vault, clock, start, tag
        self._held = ExitStack()
        self._sitting: Sitting | None = None
        self._ending: Worker[RetainError | None] | None = None
        self.register_theme(theme.DARK)
        self.register_theme(theme.LIGHT)
        self.theme = theme.preferred(environment or {})

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme.VARIABLES

    async def on_mount(self) -> None:
        reviewing = self._start == "review"
        await self.push_screen(ReviewScreen(self._vault, self._now, self._tag) if reviewing else self._home())

    def _home(self, problem: RetainError | None = None) -> HomeScreen:
        return HomeScreen(self._vault, self._now, self._tag, problem)

    # --- the review is held by one session at a time ----------------------------------------------------------------

    def hold_review(self) -> None:
        """Makes this the one session that reviews. Raises: LockHeld, naming the other."""
        self._held.enter_context(lock(self._vault.root, "review", purpose="reviewing", now=self._now()))

    def end_sitting(self) -> RetainError | None:
        """Renders `_review.md` and lets others review; what went wrong with the page, if anything did."""
        sitting, self._sitting = self._sitting, None
        try:
            if sitting is not None:
                sitting.finish()
        except RetainError as error:
            return error
        finally:
            self._held.close()
        return None

    async def on_home_screen_review_chosen(self) -> None:
        if self._ending is not None:
            await self._ending.wait()
        try:
            self.hold_review()
        except RetainError as error:
            if isinstance(self.screen, HomeScreen):
                self.screen.say(error)
            return
        await self.switch_screen(ReviewScreen(self._vault, self._now, self._tag))

    def on_review_screen_opened(self, message: ReviewScreen.Opened) -> None:
        self._sitting = message.sitting

    async def on_review_screen_failed(self, message: ReviewScreen.Failed) -> None:
        self.end_sitting()
        await self.switch_screen(self._home(message.error))

    async def on_review_screen_left(self) -> None:
        self._ending = self.run_worker(self.end_sitting, thread=True)
        await self.switch_screen(self._home())

    async def on_home_screen_gaps_chosen(self) -> None:
        await self.switch_screen(GapsScreen(self._vault, self._now))

    async def on_gaps_screen_left(self) -> None:
        await self.switch_screen(self._home())

    # --- keys and commands of the whole app -------------------------------------------------------------------------

    def action_interrupt(self) -> None:
        """Ctrl-C copies what is selected; with nothing selected it ends the app: all that was rated is on disk."""
        selected = self.screen.get_selected_text()
        if selected:
            self.copy_to_clipboard(selected)
            self.screen.clear_selection()
        else:
            self.exit(INTERRUPTED)

    def action_toggle_dark(self) -> None:
        self.theme = theme.LIGHT.name if self.current_theme.dark else theme.DARK.name

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The palette's commands: none that writes a file."""
        yield SystemCommand("Theme", "Choose the colours", self.action_change_theme)
        yield SystemCommand("Light or dark", "Change between the two", self.action_toggle_dark)
        yield SystemCommand("Quit", "Leave retain", lambda: self.exit(0))

    def _fatal_error(self) -> None:
        """Ends after a defect without painting local variables on the terminal: `run_app` raises what it was."""
        self._close_messages_no_wait()


def run_app(
    vault: Vault, *, start: Literal["home", "review"] = "home", tag: str | None = None, clock: Callable[[], datetime]
) -> int:
    """Runs the app; its exit code. Raises: LockHeld if another session reviews already; whatever a defect raised."""
    app = RetainApp(vault, clock=clock, start=start, tag=tag, environment=dict(os.environ))
    if start == "review":
        app.hold_review()
    try:
        code = app.run()
    finally:
        problem = app.end_sitting()
    if app._exception is not None:
        raise app._exception
    if problem is not None:
        raise problem
    return code or 0
