"""Programs that take the terminal over for a while: the human's editor, or `retain` itself in a process of its own."""

from __future__ import annotations

import subprocess

from textual.app import App, SuspendNotSupported

from tui.context import Context
from vault.errors import Refused


def run_outside(app: App[int], context: Context, *words: str) -> int:
    """Runs `retain WORDS` on this terminal, with the app out of its way; its exit code.

    What it does is done by the very command that does it elsewhere, in a process that holds no screen and no model.
    Raises: Refused where the app cannot leave the terminal.
    """
    command = [*context.program, "--vault", str(context.vault.root), *words]
    try:
        with app.suspend():
            return subprocess.run(command, env=dict(context.environment), check=False).returncode
    except SuspendNotSupported as error:
        shown = " ".join(["retain", *words])
        raise Refused("this terminal cannot be handed over", hint=f"run `{shown}` in another one") from error
