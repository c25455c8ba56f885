"""A program of ours to which the terminal is lent: what it says last comes back here.

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
_MOST = 1 << 16  # bytes that a pipe holds, and so what can be told at most


@dataclass(frozen=True, slots=True)
class Ended:
    """How the program ended: its exit code, what it said in passing, and the error that it ended with."""

    code: int
    notes: tuple[str, ...] = ()
    error: RetainError | None = None


def run_lent(command: Sequence[str], environment: Mapping[str, str]) -> Ended:
    """Runs a program of ours on this terminal. Raises: OSError where it cannot be started."""
    if os.name != "posix":  # elsewhere a process is given no pipe besides the usual three
        with lent():
            return Ended(subprocess.run(command, env=dict(environment), check=False).returncode)
    mine, theirs = os.pipe()
    try:
        os.set_blocking(theirs, False)  # who has too much to tell must not wait for us
        told = {**environment, TELL: str(theirs)}
        with lent():
            code = subprocess.run(command, env=told, pass_fds=(theirs,), check=False).returncode
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
    """What came of the program, from the lines of JSON that it told."""
    notes: list[str] = []
    error: RetainError | None = None
    for line in data.splitlines():
        with suppress(ValueError, LookupError, AttributeError):
            told = {name: str(words) for name, words in json.loads(line).items()}
            if "what" in told:
                error = RetainError(told["what"], where=told["where"], hint=told["hint"])
            else:
                notes.append(told["words"].strip())
    return Ended(code, tuple(notes), error)
