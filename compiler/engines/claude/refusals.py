"""Whether a server refuses whatever it is asked: then nothing is wrong with the questions, and none is given up."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from compiler.engines.claude.client import Outcome
from compiler.engines.claude.errors import Fault

ENOUGH = 3  # refusals of the same words, before anything was answered
# The longest questions are asked first: that those are refused says nothing of the others.
_TOO_LONG = re.compile(r"too (long|large|many tokens)|context (length|window)|maximum", re.IGNORECASE)
P = TypeVar("P")


@dataclass(slots=True)
class Refusals(Generic[P]):
    """Holds the refusals of one run back until something is answered, or enough of them say the same. For threads."""

    _answered: bool = False
    _reason: str | None = None
    _count: int = 0
    _held: list[tuple[P, Outcome[Any]]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def through(self, asked: P, outcome: Outcome[Any]) -> list[tuple[P, Outcome[Any]]]:
        """What is to be told now: this, what was held, or nothing. After too many, all of them are final."""
        with self._lock:
            fault = outcome.fault
            self._answered |= outcome.value is not None
            if self._answered or fault is None or not fault.form or _TOO_LONG.search(fault.reason):
                return [*self._taken(), (asked, outcome)] if self._answered else [(asked, outcome)]
            before = [] if fault.reason == self._reason else self._taken()
            self._count = self._count + 1 if fault.reason == self._reason else 1
            self._reason = fault.reason
            self._held.append((asked, outcome))
            if self._count < ENOUGH:
                return before
            return [(each, Outcome(None, _final(fault), held.bill)) for each, held in self._taken()]

    def rest(self) -> list[tuple[P, Outcome[Any]]]:
        """What is still held at the end of a round."""
        with self._lock:
            return self._taken()

    def _taken(self) -> list[tuple[P, Outcome[Any]]]:
        held, self._held = self._held, []
        return held


def _final(fault: Fault) -> Fault:
    hint = "look at the models, base_url and prompts of your config.toml (docs/model.md)"
    said = f"it says: {fault.reason}; " if fault.reason else ""
    return Fault(f"the server refuses every question ({fault.status or 400})", said + hint, final=True)
