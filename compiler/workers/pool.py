"""The workers of a build: child processes that read documents, bounded in time, replaced when one dies."""

from __future__ import annotations

import base64
import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil, inf
from pathlib import Path
from typing import Any

from vault.errors import WorkerFailed
from vault.files.write_scopes import is_within
from vault.sandbox.child import Child

PROGRAM = ("-m", "compiler.workers.process")  # what a worker runs
# What takes as long as the start of one more worker: to read so many bytes, or to answer so many requests.
BYTES_A_START, REQUESTS_A_START = 1 << 16, 200


class Worker(Child):
    """One child process that can read below `raw` and nowhere else in a vault. Not for two threads at once."""

    def __init__(self, engine: str, raw: Path | None = None) -> None:
        super().__init__(
            [*PROGRAM, engine, *([str(raw)] if raw else [])], hint="the other sources are still being processed"
        )


start_worker: Callable[[str, Path | None], Worker] = Worker  # called with the engine's name and the folder to read


@dataclass(slots=True)
class WorkerPool:
    """Up to `size` workers that may read below `raw`, started when first needed. Use as a context manager."""

    engine: str
    raw: Path | None = None
    size: int = field(default_factory=lambda: max(1, min(4, os.cpu_count() or 1)))
    _idle: queue.SimpleQueue[Worker] = field(default_factory=queue.SimpleQueue)
    _all: list[Worker] = field(default_factory=list)

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._all:
            worker.close()

    def start(self, size: int) -> None:
        """Start the workers for documents of so many bytes, which load meanwhile what reading needs."""
        for _ in range(min(self.size, ceil(size / BYTES_A_START))):
            worker = self._new()
            worker.post({"op": "load"})
            self._idle.put(worker)

    def _new(self) -> Worker:
        worker = start_worker(self.engine, self.raw)
        self._all.append(worker)
        return worker

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the reply of an idle worker, or of a new one. Raises WorkerFailed."""
        message = self._with_bytes(message)
        try:
            worker = self._idle.get_nowait()
        except queue.Empty:
            worker = self._new()
        reply = worker.ask(message)
        self._idle.put(worker)
        return reply

    def _with_bytes(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the message with the bytes of its document, if that is a note outside the folder that workers read."""
        path = message.get("path")
        if path is None or self.raw is None or is_within(path, self.raw):
            return message
        try:
            return message | {"base64": base64.b64encode(Path(path).read_bytes()).decode()}
        except OSError:
            return message  # the worker cannot read it either, and says so

    def ask_all(
        self, messages: Sequence[dict[str, Any]], *, starts: float = inf
    ) -> Iterator[tuple[int, dict[str, Any] | WorkerFailed]]:
        """Yield (index, reply) of every message as it comes; a failure takes the place of a reply.

        `starts` is how long the answers take in starts of a worker: few are not worth another one.
        """
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

        count = min(self.size, len(messages), max(len(self._all), starts, 1))
        threads = [threading.Thread(target=work, daemon=True) for _ in range(ceil(count))]
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
    """Return the indexes of `sizes`, largest first: a long document starts while short ones fill the other worker."""
    return [index for _, index in sorted((-size, index) for index, size in enumerate(sizes))]
