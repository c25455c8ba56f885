"""A program that runs while the app is suspended; its last message is shown by the app.

It tells on stderr what it refuses, but the app paints over that at once: `Ended` has it for the screen.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from vault.errors import RetainError
from vault.process.signals import lent

TELL = "RETAIN_TELL"  # in the environment: the number of the pipe's end, for `cli.output`
_MOST = 1 << 16  # bytes that a pipe holds, and so the most that can be reported


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended: its exit code, its notes, and its error."""

    code: int
    notes: tuple[str, ...] = ()
    error: RetainError | None = None


def run_program(command: Sequence[str], environment: Mapping[str, str]) -> Ended:
    """Run a program of ours on this terminal. Raises: OSError if it cannot be started."""
    if os.name != "posix":  # elsewhere a process is given no pipe besides the usual three
        with lent():
            return Ended(subprocess.run(command, env=dict(environment), check=False).returncode)
    mine, theirs = os.pipe()
    try:
        os.set_blocking(theirs, False)  # who has too much to tell must not wait for us
        child_environment = {**environment, TELL: str(theirs)}
        with lent():
            code = subprocess.run(command, env=child_environment, pass_fds=(theirs,), check=False).returncode
        os.set_blocking(mine, False)  # something that it left running may hold the other end
        return _ended(code, _read(mine))
    finally:
        os.close(mine)
        os.close(theirs)


def _read(pipe: int) -> bytes:
    with suppress(BlockingIOError):
        return os.read(pipe, _MOST)
    return b""


def _ended(code: int, data: bytes) -> Ended:
    """Return how the program ended, from the JSON lines that it sent."""
    notes: list[str] = []
    error: RetainError | None = None
    for line in data.splitlines():
        with suppress(ValueError, LookupError, AttributeError):
            report = {name: str(words) for name, words in json.loads(line).items()}
            if "what" in report:
                error = RetainError(report["what"], where=report["where"], hint=report["hint"])
            else:
                notes.append(report["words"].strip())
    return Ended(code, tuple(notes), error)
