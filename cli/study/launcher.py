"""The terminal app, or lines of text where there is no terminal to draw on."""

from __future__ import annotations

import sys
from typing import Literal

from cli import output
from cli.environment import now
from cli.options import is_dumb
from vault.errors import UsageError

START_AGAIN = (sys.executable, "-I", "-c", "from cli.main import main; main()")  # whatever the working folder holds


def open_app(
    vault_dir: str | None, *, start: Literal["home", "review"], tag: str = "", plan: str = "", plain: bool = False
) -> int:
    """Open the terminal app, or the plain review where there is no terminal to draw on; `plan` as its text."""
    from cli.study.startup import vault_or_first_run

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
            from cli.study.plain_home import show_home

            show_home(vault, now(), tag)
            return output.DONE
        from cli.study.plain_review import review_plainly

        code = review_plainly(vault, tag=tag, plan=plan, clock=now)
    else:
        from cli.review_pages import tell_rendering
        from tui.app import run_app
        from tui.context import Context
        from tui.preferences import of_user

        liked = of_user()
        output.found(liked.found)
        context = Context(vault, now, tag, START_AGAIN, preferences=liked)
        code = run_app(context, asked_for or start, plan, tell_rendering)
    from cli.study.optimize import optimize_after_review

    optimize_after_review(vault)
    return code
