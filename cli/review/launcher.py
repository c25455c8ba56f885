"""Open the terminal app, the first run where no vault can be opened, or plain text without a terminal."""

from __future__ import annotations

import os
import sys
from typing import Literal

from cli import output
from cli.environment import here, now
from cli.options import opened_to_write
from cli.terminal import is_dumb
from cli.workspace import say_rendering
from templates import example
from vault.errors import Damaged, Refused, RetainError, SchemaTooNew, UsageError, VaultNotFound
from vault.vault import Vault

# The command line of retain itself; -I, so that no module in the working directory is imported.
START_AGAIN = (sys.executable, "-I", "-c", "from cli.main import main; main()")


def open_app(
    vault_dir: str | None,
    loading: output.Loading,
    *,
    start: Literal["home", "review"],
    tag: str = "",
    plan: str = "",
    plain: bool = False,
) -> int:
    """Open the app at a screen, or plain text if `plain` or without a terminal; return the exit code.

    `plan` is the text of a review plan, "" for today's queue. `loading` is cleared before anything else is shown.
    """
    if is_dumb() and not plain:
        output.say("using plain text because this terminal cannot show the app (TERM=dumb)")
        plain = True
    terminal = not plain and sys.stdin.isatty() and sys.stdout.isatty()
    try:
        vault, screen = opened_to_write(vault_dir), ""
    except (VaultNotFound, Damaged, SchemaTooNew, Refused) as error:
        if not terminal:
            raise
        started = _first_run(vault_dir, loading, error)
        if started is None:
            return output.DONE
        vault, screen = started
    if terminal:
        code = _run_app(vault, loading, screen or start, tag, plan)
    elif start == "home":
        if not plain:
            hint = "`retain --plain` prints the home screen; `retain review --plain` reviews in plain text"
            raise UsageError("the app needs a terminal", hint=hint)
        from cli.review.plain_home import show_home

        show_home(vault, now(), tag)
        return output.DONE
    else:
        from cli.review.plain_review import review_plainly

        code = review_plainly(vault, tag=tag, plan=plan, clock=now)
    from cli.review.optimize import optimize_after_review

    optimize_after_review(vault)
    return code


def _run_app(vault: Vault, loading: output.Loading, screen: str, tag: str, plan: str) -> int:
    """Run the terminal app; return the exit code."""
    from tui.app import run_app
    from tui.context import Context
    from tui.preferences import of_user

    preferences = of_user()
    loading.done()
    output.found(preferences.found)
    return run_app(Context(vault, now, tag, START_AGAIN, preferences=preferences), screen, plan, say_rendering)


def _first_run(vault_dir: str | None, loading: output.Loading, error: RetainError) -> tuple[Vault, str] | None:
    """Ask what to do where no vault can be opened; return the vault and the screen to open, None to quit.

    Raises `error` for a vault that is damaged, refused or of a newer schema, after showing it.
    """
    from tui.preferences import of_user
    from tui.screens.first_run import Start, first_run

    theme = of_user().theme
    loading.done()
    chosen = first_run(
        Start(
            here(), error, START_AGAIN, dict(os.environ), now, example(), lambda: opened_to_write(vault_dir).root, theme
        )
    )
    if chosen is not None:
        return opened_to_write(str(chosen.root)), chosen.start
    if isinstance(error, VaultNotFound):
        return None
    raise error
