"""The workers of one build: child processes that read and answer, each bounded in time, replaced when one dies."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from vault.errors import TooCostly, WorkerFailed

# For one document or one request, by the clock. A busy machine may take long over little: what a document may cost is
# bounded by the work that it makes (`compiler.worker.SECONDS`), and this ends what only waits.
SECONDS = 600.0
_TOO_MUCH_WORK = -int(getattr(signal, "SIGXCPU", 0))
# How a process ends that breaks a limit, or whose parser does. What ends it from outside, as an interrupt, is not here.
_TOO_COSTLY = {-int(getattr(signal, name, 0)) for name in ("SIGXCPU", "SIGKILL", "SIGSEGV", "SIGABRT", "SIGBUS")} - {0}
_DYING_S = 2.0
PROGRAM = ("-m", "compiler.worker")  # what a worker runs
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT")


class Worker:
    """One child process, that can read below `raw` and nowhere else in a vault. Not for two threads at once."""

    def __init__(self, engine: str, raw: Path | None = None) -> None:
        environment = {k: os.environ[k] for k in _PASSED_ON if k in os.environ}
        # -I: neither the environment nor the working directory may name code; "/" is outside every vault.
        self.process = subprocess.Popen(
            [sys.executable, "-I", *PROGRAM, engine, *([str(raw)] if raw else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=os.path.abspath(os.sep),  # noqa: PTH100 (a name, not a file)
            env=environment,
            close_fds=True,
            text=True,
            encoding="utf-8",
        )

    def ask(self, message: dict[str, Any], seconds: float = SECONDS) -> dict[str, Any]:
        """The reply. Raises WorkerFailed when the process dies or answers nonsense; it is gone then.

        Raises: TooCostly when it takes too long, or dies as a process does that needs too much.
        """
        assert self.process.stdin is not None and self.process.stdout is not None
        overdue = threading.Event()

        def end() -> None:
            overdue.set()  # before the kill: who hears of its end must know the reason
            self.process.kill()

        late = threading.Timer(seconds, end)
        late.start()
        try:
            self.process.stdin.write(json.dumps(message, ensure_ascii=False, separators=(",", ":")) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
            reply = json.loads(line) if line.endswith("\n") else None
        except (OSError, ValueError):
            reply = None
        finally:
            late.cancel()
        if not isinstance(reply, dict):
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(_DYING_S)  # so that its own end is seen, and not that which `close` puts to it
            costly = overdue.is_set() or self.process.returncode in _TOO_COSTLY
            self.close()
            failure = TooCostly if costly else WorkerFailed
            raise failure(self._fate(seconds, timely=not overdue.is_set()), hint="the other sources go on")
        return reply

    def _fate(self, seconds: float, *, timely: bool) -> str:
        """What ended the process, in words."""
        if not timely:
            return f"reading it took more than {seconds:.0f} s"
        if _TOO_MUCH_WORK and self.process.returncode == _TOO_MUCH_WORK:
            return "reading it took more of the processor's time than a document may take"
        return "reading it killed the reader (too much memory, or a defect)"

    def close(self) -> None:
        with suppress(OSError):
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(OSError, ValueError):  # ValueError: another thread is writing to it, or closed it
                    stream.close()


@dataclass(slots=True)
class Crew:
    """Up to `size` workers that may read below `raw`, started when first needed. Use as a context manager."""

    engine: str
    raw: Path | None = None
    size: int = field(default_factory=lambda: max(1, min(4, os.cpu_count() or 1)))
    _idle: queue.SimpleQueue[Worker] = field(default_factory=queue.SimpleQueue)
    _all: list[Worker] = field(default_factory=list)

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._all:
            worker.close()

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """One reply, from an idle worker or a new one. Raises WorkerFailed."""
        try:
            worker = self._idle.get_nowait()
        except queue.Empty:
            worker = Worker(self.engine, self.raw)
            self._all.append(worker)
        reply = worker.ask(message)
        self._idle.put(worker)
        return reply

    def ask_all(self, messages: Sequence[dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any] | WorkerFailed]]:
        """(index, reply) of every message as it comes; a failure takes the place of a reply."""
        if not messages:
            return
        done: queue.SimpleQueue[tuple[int, dict[str, Any] | WorkerFailed | BaseException]] = queue.SimpleQueue()
        todo: queue.SimpleQueue[int] = queue.SimpleQueue()
        for index in range(len(messages)):
            todo.put(index)
        stop = threading.Event()

        def work() -> None:
            while not stop.is_set():
                try:
                    index = todo.get_nowait()
                except queue.Empty:
                    return
                try:
                    done.put((index, self.ask(messages[index])))
                except WorkerFailed as failure:
                    done.put((index, failure))
                except BaseException as error:  # noqa: BLE001 (handed to the thread that waits)
                    done.put((index, error))
                    return

        threads = [threading.Thread(target=work, daemon=True) for _ in range(min(self.size, len(messages)))]
        for thread in threads:
            thread.start()
        try:
            for _ in messages:
                index, reply = done.get()
                if isinstance(reply, BaseException) and not isinstance(reply, WorkerFailed):
                    raise reply
                yield index, reply
        finally:
            stop.set()


def largest_first(sizes: Iterable[int]) -> list[int]:
    """The indexes of `sizes`, largest first: the long document starts while the short ones fill the other worker."""
    return [index for _, index in sorted((-size, index) for index, size in enumerate(sizes))]
