"""What stands for the reading and the asking process in tests: the same answers, without an interpreter to start.

The messages cross as JSON, as they do over a pipe. Limits, sandbox and death are the processes' own: tests of those
are marked `real_workers`.
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from compiler.engines.extractive import cards, reading, selection
from compiler.model.requests import Engine
from compiler.workers import model_process
from compiler.workers.process import answer, engine_named
from vault.errors import WorkerFailed

_ONE_AT_A_TIME = threading.Lock()  # a process reads one document at a time, and pypdfium2 can do no other


@contextmanager
def every_candidate() -> Iterator[None]:
    """Meanwhile the embedded engine in this process takes every candidate that grammar finds, whatever its score.

    For tests of what becomes of concepts and cards: the trained weights change, and what they choose with them.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module in (reading, cards):
            patch.setattr(module, "model", lambda name: replace(selection.model(name), thresholds={"default": 0.0}))
        yield


@contextmanager
def only_suggestions() -> Iterator[None]:
    """Meanwhile the embedded engine in this process takes every title and definition, and suggests every card."""
    chosen = {"card": {"default": 2.0, "suggest": 0.0}}
    with pytest.MonkeyPatch.context() as patch:
        for module in (reading, cards):
            patch.setattr(
                module,
                "model",
                lambda name: replace(selection.model(name), thresholds=chosen.get(name, {"default": 0.0})),
            )
        yield


@cache
def _engine(name: str) -> Engine | None:
    return engine_named(name) if name else None


class DirectWorker:
    """Answers as a `compiler.workers.pool.Worker` does."""

    def __init__(self, engine: str, raw: Path | None = None) -> None:
        self._name = engine

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        with _ONE_AT_A_TIME:
            reply: dict[str, Any] = json.loads(json.dumps(answer(json.loads(json.dumps(message)), _engine(self._name))))
        return reply

    def post(self, message: dict[str, Any]) -> None:
        pass

    def close(self) -> None:
        pass


class DirectSpeaker:
    """Answers as a `compiler.workers.model_backend.SpeakerProcess` does. What comes after its end is not heard."""

    def __init__(self, begin: Mapping[str, Any]) -> None:
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._put = model_process.rounds(json.loads(json.dumps(begin)), lambda line: self._lines.put(json.dumps(line)))

    def say(self, message: Mapping[str, Any]) -> None:
        self._put(json.loads(json.dumps(message)))

    def lines(self) -> Iterator[dict[str, Any]]:
        while True:
            try:
                yield json.loads(self._lines.get(timeout=600))
            except queue.Empty as error:
                raise WorkerFailed("nothing was answered for ten minutes") from error

    def close(self) -> None:
        pass
