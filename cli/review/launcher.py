"""The terminal app, or lines of text where there is no terminal to draw on."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Literal

from cli import output
from cli.environment import here, is_dumb, now
from cli.options import opened, settle_left_over
from cli.review.optimize import optimize_after_review
from cli.review.plain_home import show_home
from cli.review.plain_review import review_plainly
from cli.review_pages import tell_rendering
from templates import example
from vault.errors import Damaged, Refused, RetainError, SchemaTooNew, UsageError, VaultNotFound
from vault.vault import Vault

START_AGAIN = (sys.executable, "-I", "-c", "from cli.main import main; main()")  # whatever the working folder holds


def open_app(
    vault_dir: str | None, *, start: Literal["home", "review"], tag: str = "", plan: str = "", plain: bool = False
) -> int:
    """Open the terminal app, or the plain review where there is no terminal to draw on; `plan` as its text."""
    if is_dumb() and not plain:
        output.say("plain text, as this terminal cannot show the app (TERM=dumb)")
        plain = True
    terminal = not plain and sys.stdin.isatty() and sys.stdout.isatty()
    begun = vault_or_first_run(vault_dir, START_AGAIN, terminal=terminal)
    if isinstance(begun, int):
        return begun
    vault, asked_for = begun
    if not terminal:
        if start == "home" and not plain:
            raise UsageError(
                "the app needs a terminal",
                hint="`retain --plain` shows home, `retain review --plain` reviews without one",
            )
        if start == "home":
            show_home(vault, now(), tag)
            return output.DONE

        code = review_plainly(vault, tag=tag, plan=plan, clock=now)
    else:
        from tui.app import run_app
        from tui.context import Context
        from tui.preferences import of_user

        liked = of_user()
        output.found(liked.found)
        context = Context(vault, now, tag, START_AGAIN, preferences=liked)
        code = run_app(context, asked_for or start, plan, tell_rendering)

    optimize_after_review(vault)
    return code


def vault_or_first_run(vault_dir: str | None, program: Sequence[str], *, terminal: bool) -> tuple[Vault, str] | int:
    """The vault to open and the screen that the first run asked for ("" if it was not needed); else the exit code.

    Without a terminal, raises what `opened` raises. A vault that is damaged, refused or of a newer schema is said on
    a screen first, and keeps its exit code.
    """
    try:
        return _settled(vault_dir), ""
    except (VaultNotFound, Damaged, SchemaTooNew, Refused) as error:
        if not terminal:
            raise
        return _begun(vault_dir, tuple(program), error)


def _settled(vault_dir: str | None) -> Vault:
    vault = opened(vault_dir)
    settle_left_over(vault)
    return vault


def _begun(vault_dir: str | None, program: tuple[str, ...], error: RetainError) -> tuple[Vault, str] | int:
    from tui.preferences import of_user
    from tui.screens.first_run import Start, first_run

    def opens() -> Vault:
        return _settled(vault_dir)

    chosen = first_run(
        Start(here(), error, program, dict(os.environ), now, example(), lambda: opens().root, of_user().theme)
    )
    if chosen is not None:
        return _settled(str(chosen.root)), chosen.start
    if isinstance(error, VaultNotFound):
        return output.DONE
    raise error
