"""The terminal driver: if the terminal goes away, the app ends.

The framework's own driver asks a terminal that is gone for keys again and again, and waits for ever to write to it.
"""

from __future__ import annotations

import asyncio
import select
import sys
from contextlib import suppress
from threading import Thread
from typing import IO, Any

from textual.drivers.linux_driver import LinuxDriver

GONE = 129  # as a shell has it for a program that a hang-up ended
_PATIENCE_MS = 1_000


class _Forgiving:
    """A text file that ignores write errors, for a terminal that is gone."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, words: str) -> int:
        with suppress(OSError, ValueError):
            return self._file.write(words)
        return len(words)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._file.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


class TerminalDriver(LinuxDriver):
    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._file = _Forgiving(self._file)  # type: ignore[assignment,arg-type]
        self._watched = False

    def start_application_mode(self) -> None:
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if not self._watched and sys.platform == "linux":  # elsewhere terminals cannot be polled
            self._watched = True
            Thread(target=self._watch, args=(asyncio.get_running_loop(),), name="hang-up", daemon=True).start()

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """End the app when the terminal hangs up, with or without a signal."""
        poll = select.poll()
        poll.register(self.fileno, 0)  # a hang-up is reported without being asked for
        while not poll.poll(_PATIENCE_MS):
            if not self._app.is_running:
                return
        self.exit_event.set()  # else the thread that reads keys would ask for them without a pause
        with suppress(RuntimeError):  # the loop has ended by itself
            loop.call_soon_threadsafe(self._app.exit, GONE)
