"""Programs that take over the terminal for a while: the user's editor, or `retain` as a process of its own."""

from __future__ import annotations

from textual.app import App, SuspendNotSupported

from tui.context import Context
from tui.process.suspended import Ended, run_program
from tui.screen import Page
from tui.strings import app as said
from tui.widgets.notice import Notice
from vault.errors import Refused, RetainError


def run_in_terminal(app: App[int], context: Context, *words: str) -> Ended:
    """Run `retain WORDS` on this terminal while the app is suspended; return how it ended.

    What it does is done by the very command that does it elsewhere, in a process that holds no screen and no model.
    """
    command = [*context.program, "--vault", str(context.vault.root), *words]
    shown = " ".join(["retain", *words])
    try:
        with app.suspend():
            return run_program(command, context.environment)
    except SuspendNotSupported:
        return Ended(1, error=Refused(said.NOT_LENT, hint=said.elsewhere(shown)))
    except OSError as error:
        return Ended(1, error=Refused(said.not_started(shown, str(error))))


def show_result(page: Page, ended: Ended) -> None:
    """Show the last message of a program that ran on the terminal."""
    if ended.error is not None:
        page.show_error(ended.error)
    elif ended.code:
        page.show_error(RetainError(" ".join(ended.notes) or said.ended(ended.code)))
    elif ended.notes:
        page.query_one(Notice).show_message(" ".join(ended.notes))
