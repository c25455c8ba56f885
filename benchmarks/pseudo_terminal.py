"""How long a program takes, from its start or from a key, until certain words stand on its terminal."""

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


class Terminal:
    """A program on a terminal of its own, from its start on."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self._raw = b""
        self._began = time.perf_counter()
        self._process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=dict(environment), start_new_session=True
        )
        os.close(theirs)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self.left()
        os.close(self._ours)

    def until(self, words: str, within: float = 60.0) -> float:
        """Seconds from the start, or the last key, until `words` are painted, whatever stands between their letters.

        Raises: RuntimeError if they don't come, with the end of what did.
        """
        wanted, end = _letters(words), self._began + within
        while wanted not in painted(self._raw):
            ready, _, _ = select.select([self._ours], [], [], max(0.0, end - time.perf_counter()))
            try:
                more = os.read(self._ours, 1 << 16) if ready else b""
            except OSError:  # the program has gone
                more = b""
            if not more:
                raise RuntimeError(f"never painted: {words[:40]!r}; the screen ends with {painted(self._raw)[-200:]!r}")
            self._raw += more
        return time.perf_counter() - self._began

    def press(self, keys: str) -> None:
        self._began = time.perf_counter()
        os.write(self._ours, keys.encode())

    def timed(self, keys: str, words: str) -> float:
        """Seconds from pressing `keys` until `words` are painted."""
        self.press(keys)
        return self.until(words)

    def forget(self) -> int:
        """Reads what has come; what is painted from now on is looked at alone. Gives how many bytes it was."""
        while select.select([self._ours], [], [], 0)[0]:
            self._raw += os.read(self._ours, 1 << 16)
        count, self._raw = len(self._raw), b""
        return count

    def left(self) -> None:
        """Lets the program leave: one that cannot write its farewell would hang."""
        end = time.perf_counter() + 30
        while self._process.poll() is None:
            if time.perf_counter() > end:
                self._process.kill()
            with suppress(OSError):
                if select.select([self._ours], [], [], 0.05)[0]:
                    os.read(self._ours, 1 << 16)


def seconds_to_paint(command: Sequence[str], words: str, environment: Mapping[str, str], within: float = 60.0) -> float:
    """Seconds from starting `command` until `words` are painted. Raises: as `Terminal.until`."""
    with Terminal(command, environment) as program:
        return program.until(words, within)


def painted(raw: bytes) -> str:
    """The letters and digits on the terminal in the order they came, without what moves the cursor or colours."""
    return _letters(_CONTROL.sub(b"", raw).decode("utf-8", "replace"))


def _letters(text: str) -> str:
    return "".join(_WORD.findall(text)).casefold()
