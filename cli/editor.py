"""The human's own editor on one file: the one room that starts it."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from cli import output
from vault.errors import UsageError
from vault.process.signals import lent

AT_ONCE_S = 3.0  # an editor back sooner may only have opened a window, in which the human is about to write


@dataclass(frozen=True, slots=True)
class Closed:
    """How the editor ended: its exit code, and the seconds that it was open."""

    code: int
    seconds: float

    def at_once(self, least_s: float | None = None) -> bool:
        """Whether it may have left a window behind, in which the human still writes."""
        return not self.code and self.seconds < (AT_ONCE_S if least_s is None else least_s)


def editor_named() -> str:
    """The command in $VISUAL, else in $EDITOR; "" where neither is set."""
    return os.environ.get("VISUAL", "").strip() or os.environ.get("EDITOR", "").strip()


def edit_file(editor: str, path: Path) -> Closed:
    """Opens `path` in the editor and waits; Ctrl-C is the editor's. Raises: UsageError where it cannot be started."""
    began = time.monotonic()
    try:
        with lent():
            code = subprocess.run([*shlex.split(editor), str(path)], check=False).returncode
    except (OSError, ValueError) as error:
        hint = "set VISUAL or EDITOR to a program"
        raise UsageError(f"the editor could not be started: {error}", where=editor, hint=hint) from error
    if code:
        output.say(f"the editor exited with code {code}")
    return Closed(code, time.monotonic() - began)
