"""A child process that reads untrusted data: without the user's environment, one JSON line a request, bounded in time.

It runs `vault.sandbox.child_main.serve`, which restricts it. Its replies are untrusted: the caller passes the decoder
that checks them.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, TypeVar

from vault.errors import TooCostly, WorkerFailed

# For one request, by the clock. Work is bounded by processor time (`child_main.serve`); this ends a child that waits.
SECONDS = 600.0
MAX_REPLY = 512 * 1024**2  # bytes of one reply
_TOO_MUCH_WORK = -int(getattr(signal, "SIGXCPU", 0))
# How a process ends that exceeds a limit or whose parser crashes; not by an interrupt.
_TOO_COSTLY = {-int(getattr(signal, name, 0)) for name in ("SIGXCPU", "SIGKILL", "SIGSEGV", "SIGABRT", "SIGBUS")} - {0}
_DYING_S = 2.0
# A library's own threads would stand in the way of the sandbox, which holds for one thread; each reserves memory too.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
_INHERITED = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT")

T = TypeVar("T")


class Child:
    """One child process. Not for two threads at once.

    `program` is what Python runs, `reading` names its work in messages ("reading the document"), `hint` says what to
    do.
    """

    def __init__(
        self,
        program: Sequence[str],
        *,
        reading: str = "reading the document",
        hint: str = "",
        max_reply: int = MAX_REPLY,
    ) -> None:
        self._reading, self._hint, self._max_reply = reading, hint, max_reply
        self._unread = 0  # replies that nobody waits for
        environment = {k: os.environ[k] for k in _INHERITED if k in os.environ} | _ONE_THREAD
        # -I: neither the environment nor the working directory may name code; "/" is outside every vault.
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-X", "utf8", *program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=os.path.abspath(os.sep),
            env=environment,
            close_fds=True,
        )

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def post(self, message: dict[str, Any]) -> None:
        """Send a message and do not wait for its reply; a process that has died is left to the next `ask`."""
        with suppress(OSError):
            self._write(message)
            self._unread += 1

    def _write(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, message: dict[str, Any], seconds: float = SECONDS) -> dict[str, Any]:
        """Return the reply, a JSON object. Raises as `exchange`."""
        return self.exchange(message, _json_object, seconds)

    def exchange(self, message: dict[str, Any], decode: Callable[[bytes], T], seconds: float = SECONDS) -> T:
        """Return the reply, decoded from its line by `decode`, which raises ValueError for an invalid one.

        Raises: TooCostly when the process takes too long or exceeds a limit; WorkerFailed when it dies otherwise or
        its reply is invalid. The process is closed then.
        """
        assert self.process.stdout is not None
        overdue = threading.Event()

        def end() -> None:
            overdue.set()  # before the kill, so that its end has a reason
            self.process.kill()

        late = threading.Timer(seconds, end)
        late.start()
        try:
            self._write(message)
            for _ in range(self._unread):
                self.process.stdout.readline(self._max_reply)
            self._unread = 0
            line = self.process.stdout.readline(self._max_reply)
            if not line.endswith(b"\n"):
                raise ValueError("the answer is cut off, or too large")
            return decode(line)
        except (OSError, ValueError) as error:
            late.cancel()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(_DYING_S)  # to see its own exit code, not that of `close`
            costly = overdue.is_set() or self.process.returncode in _TOO_COSTLY
            self.close()
            failure = TooCostly if costly else WorkerFailed
            raise failure(self._fate(seconds, timely=not overdue.is_set()), hint=self._hint) from error
        finally:
            late.cancel()

    def _fate(self, seconds: float, *, timely: bool) -> str:
        """Return a message about what ended the process."""
        if not timely:
            return f"{self._reading} took more than {seconds:.0f} s"
        if _TOO_MUCH_WORK and self.process.returncode == _TOO_MUCH_WORK:
            return f"{self._reading} took more processor time than allowed"
        return f"{self._reading} crashed the reader (out of memory, or a bug)"

    def close(self) -> None:
        with suppress(OSError):
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(OSError, ValueError):  # ValueError: another thread is writing to it, or closed it
                    stream.close()


def _json_object(line: bytes) -> dict[str, Any]:
    value = json.loads(line)
    if not isinstance(value, dict):
        raise ValueError("the answer is not a JSON object")
    return value
