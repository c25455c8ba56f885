"""A child process that reads untrusted data: started without the user's environment, asked by lines, bounded in time.

What runs in it is `vault.sandbox.child_main.serve`, which confines it. Its replies count as untrusted: whoever asks
gives the decoder that checks them.
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

# For one request, by the clock. A busy machine may take long over little: the work itself is bounded by processor
# time (`child_main.serve`), and this ends a child that only waits.
SECONDS = 600.0
MAX_REPLY = 512 * 1024**2  # bytes of one reply
_TOO_MUCH_WORK = -int(getattr(signal, "SIGXCPU", 0))
# How a process ends that breaks a limit, or whose parser does. An end from outside, such as an interrupt, is not here.
_TOO_COSTLY = {-int(getattr(signal, name, 0)) for name in ("SIGXCPU", "SIGKILL", "SIGSEGV", "SIGABRT", "SIGBUS")} - {0}
_DYING_S = 2.0
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT")

T = TypeVar("T")


class Child:
    """One child process. Not for two threads at once.

    `program` is what Python runs, `reading` names its work in messages ("reading it"), `hint` says how to go on.
    """

    def __init__(
        self, program: Sequence[str], *, reading: str = "reading it", hint: str = "", max_reply: int = MAX_REPLY
    ) -> None:
        self._reading, self._hint, self._max_reply = reading, hint, max_reply
        environment = {k: os.environ[k] for k in _PASSED_ON if k in os.environ}
        # -I: neither the environment nor the working directory may name code; "/" is outside every vault.
        self.process = subprocess.Popen(
            [sys.executable, "-I", *program],
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

    def ask(self, message: dict[str, Any], seconds: float = SECONDS) -> dict[str, Any]:
        """The reply, a JSON object. Raises as `exchange`."""
        return self.exchange(message, _json_object, seconds)

    def exchange(self, message: dict[str, Any], decode: Callable[[bytes], T], seconds: float = SECONDS) -> T:
        """The reply, as `decode` makes it of the line; `decode` raises ValueError for one that is not valid.

        Raises: TooCostly when the process takes too long, or dies as one does that needs too much; WorkerFailed when
        it dies otherwise or its reply is not valid. It is gone then.
        """
        assert self.process.stdin is not None and self.process.stdout is not None
        overdue = threading.Event()

        def end() -> None:
            overdue.set()  # before the kill: whoever sees its end must know the reason
            self.process.kill()

        late = threading.Timer(seconds, end)
        late.start()
        try:
            self.process.stdin.write(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline(self._max_reply)
            if not line.endswith(b"\n"):
                raise ValueError("the reply is cut off, or too large")
            return decode(line)
        except (OSError, ValueError) as error:
            late.cancel()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(_DYING_S)  # its own end must be seen, not the one that `close` gives it
            costly = overdue.is_set() or self.process.returncode in _TOO_COSTLY
            self.close()
            failure = TooCostly if costly else WorkerFailed
            raise failure(self._fate(seconds, timely=not overdue.is_set()), hint=self._hint) from error
        finally:
            late.cancel()

    def _fate(self, seconds: float, *, timely: bool) -> str:
        """What ended the process, in words."""
        if not timely:
            return f"{self._reading} took more than {seconds:.0f} s"
        if _TOO_MUCH_WORK and self.process.returncode == _TOO_MUCH_WORK:
            return f"{self._reading} took more of the processor's time than is allowed"
        return f"{self._reading} killed the reader (too much memory, or a defect)"

    def close(self) -> None:
        with suppress(OSError):
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(OSError, ValueError):  # ValueError: another thread is writing to it, or closed it
                    stream.close()


def _json_object(line: bytes) -> dict[str, Any]:
    found = json.loads(line)
    if not isinstance(found, dict):
        raise ValueError("the reply is no JSON object")
    return found
