"""How long a program takes from its start until certain words stand on its terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

LINES, COLUMNS = 40, 120
_CONTROL = re.compile(
    rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[P_^].*?\x1b\\|\x1b\[[0-9;:?<>=$ ]*[@-~]|\x1b.", re.DOTALL
)
_WORD = re.compile(r"[^\W_]+")


def seconds_to_paint(command: Sequence[str], words: str, environment: Mapping[str, str], within: float = 60.0) -> float:
    """Seconds from starting `command` until `words` are painted, whatever stands between their letters.

    Raises: RuntimeError if they don't come, with the end of what did.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    start = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=dict(environment), start_new_session=True
    )
    os.close(theirs)
    try:
        return _wait_for(ours, _letters(words), start, start + within)
    finally:
        process.terminate()
        _drain(ours, process)
        os.close(ours)


def _wait_for(terminal: int, wanted: str, start: float, end: float) -> float:
    raw = b""
    while (now := time.perf_counter()) < end:
        ready, _, _ = select.select([terminal], [], [], end - now)
        if not ready:
            break
        try:
            raw += os.read(terminal, 1 << 16)
        except OSError:  # the program has gone
            break
        if wanted in painted(raw):
            return time.perf_counter() - start
    raise RuntimeError(f"never painted: {wanted[:40]!r}; the screen ends with {painted(raw)[-200:]!r}")


def _drain(terminal: int, process: subprocess.Popen[bytes]) -> None:
    """Lets the program leave: one that cannot write its farewell would hang."""
    end = time.perf_counter() + 10
    while process.poll() is None:
        if time.perf_counter() > end:
            process.kill()
        with suppress(OSError):
            if select.select([terminal], [], [], 0.05)[0]:
                os.read(terminal, 1 << 16)


def painted(raw: bytes) -> str:
    """The letters and digits on the terminal in the order they came, without what moves the cursor or colours."""
    return _letters(_CONTROL.sub(b"", raw).decode("utf-8", "replace"))


def _letters(text: str) -> str:
    return "".join(_WORD.findall(text)).casefold()
