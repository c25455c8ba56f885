"""The workers of a build: child processes that read documents, bounded in time, replaced when one dies."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vault.errors import WorkerFailed
from vault.sandbox.child import Child

PROGRAM = ("-m", "compiler.workers.process")  # what a worker runs


class Worker(Child):
    """One child process that can read below `raw` and nowhere else in a vault. Not for two threads at once."""

    def __init__(self, engine: str, raw: Path | None = None) -> None:
        super().__init__([*PROGRAM, engine, *([str(raw)] if raw else [])], hint="the other sources go on")


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

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the reply of an idle worker, or of a new one. Raises WorkerFailed."""
        try:
            worker = self._idle.get_nowait()
        except queue.Empty:
            worker = start_worker(self.engine, self.raw)
            self._all.append(worker)
        reply = worker.ask(message)
        self._idle.put(worker)
        return reply

    def ask_all(self, messages: Sequence[dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any] | WorkerFailed]]:
        """Yield (index, reply) of every message as it comes; a failure takes the place of a reply."""
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
    """Return the indexes of `sizes`, largest first: a long document starts while short ones fill the other worker."""
    return [index for _, index in sorted((-size, index) for index, size in enumerate(sizes))]
