"""What commands read from the user's environment: working directory, clock, sandbox, editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cli import output
from vault.errors import UsageError
from vault.process.signals import lent

AT_ONCE_S = 3.0  # an editor that returns sooner may only have opened a window, in which the user still writes


def here() -> Path:
    """Return the working directory; the root of the file system if it no longer exists, as no vault is found there."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path("/")


def now() -> datetime:
    """Return the time; commands read the clock here and pass it on."""
    return datetime.now(UTC)


def is_sandboxed() -> bool:
    """Return whether this process runs inside the sandbox of an agent."""
    return "RETAIN_CAGED" in os.environ


@dataclass(frozen=True, slots=True)
class Closed:
    """How an editor ended: its exit code, and how long it was open in seconds."""

    code: int
    seconds: float

    def at_once(self, least_s: float | None = None) -> bool:
        """Return whether it may have left a window open in which the user still writes."""
        return not self.code and self.seconds < (AT_ONCE_S if least_s is None else least_s)


def editor_named() -> str:
    """Return the command in $VISUAL, else in $EDITOR; "" if neither is set."""
    return os.environ.get("VISUAL", "").strip() or os.environ.get("EDITOR", "").strip()


def edit_file(editor: str, path: Path) -> Closed:
    """Open `path` in the editor and wait; Ctrl-C goes to the editor. Raises UsageError if it cannot be started."""
    start = time.monotonic()
    try:
        with lent():
            code = subprocess.run([*shlex.split(editor), str(path)], check=False).returncode
    except (OSError, ValueError) as error:
        hint = "set VISUAL or EDITOR to an editor"
        raise UsageError(f"the editor could not be started: {error}", where=editor, hint=hint) from error
    if code:
        output.say(f"the editor exited with code {code}")
    return Closed(code, time.monotonic() - start)
