"""Programs that take the terminal over for a while: the human's editor, or `retain` itself in a process of its own."""

from __future__ import annotations

from textual.app import App, SuspendNotSupported

from tui.context import Context
from tui.process.suspended import Ended, run_lent
from tui.screen import Page
from tui.strings import app as said
from tui.widgets.notice import Notice
from vault.errors import Refused, RetainError


def run_outside(app: App[int], context: Context, *words: str) -> Ended:
    """Runs `retain WORDS` on this terminal, with the app out of its way; what came of it.

    What it does is done by the very command that does it elsewhere, in a process that holds no screen and no model.
    """
    command = [*context.program, "--vault", str(context.vault.root), *words]
    shown = " ".join(["retain", *words])
    try:
        with app.suspend():
            return run_lent(command, context.environment)
    except SuspendNotSupported:
        return Ended(1, error=Refused(said.NOT_LENT, hint=said.elsewhere(shown)))
    except OSError as error:
        return Ended(1, error=Refused(said.not_started(shown, str(error))))


def tell(page: Page, ended: Ended) -> None:
    """Says on the screen what the program said last, which nobody could read where it stood."""
    if ended.error is not None:
        page.say(ended.error)
    elif ended.code:
        page.say(RetainError(" ".join(ended.notes) or said.ended(ended.code)))
    elif ended.notes:
        page.query_one(Notice).tell(" ".join(ended.notes))
