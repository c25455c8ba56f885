"""Answers the questions of one compile: several at once or as a batch, all paid from one budget."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from compiler.engines.claude.batch import BatchClient, BatchQuestion
from compiler.engines.claude.budget import Budget
from compiler.engines.claude.client import Bill, Claude, ModelTerms, Outcome
from compiler.engines.claude.errors import Fault
from compiler.engines.claude.messages import ChatMessage, Prompt
from compiler.engines.claude.prices import price_of
from vault.config.engine import USUAL, EngineSettings
from vault.log.grading import Cost

_MAX_REFUSALS = 3  # before anything was answered: then the server would refuse every question
_NO_BATCHES = (404, 405, 501)
MAX_TOKENS = {  # of an answer, a model's thoughts included
    "read": 16_000,
    "settle": 8_000,
    "write": 24_000,
    "check": 8_000,
    "reconcile": 4_000,
    "answer": 4_000,
}
BYTES_A_TOKEN = 4
LARGER = 2  # times as many where an answer was cut off for its length
# How much a model may think; the other types only need close reading.
_EFFORT: Mapping[str, Any] = {"read": "medium", "write": "medium", "answer": "medium"}


@dataclass(frozen=True, slots=True)
class Task:
    """A question as it comes over the pipe. `name` is the same in every run; `turns` are the user's and the model's,
    alternately.
    """

    n: int
    name: str
    type: str
    model: str
    turns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What a compile's questions have in common; `systems` are the system prompts by type, `cap` the budget in USD."""

    settings: EngineSettings
    key: str
    systems: Mapping[str, str]
    cap: float | None = None


class Scheduler:
    """Answers tasks, some at once; `report` gets a line for each of them as it comes, and for batches and notes."""

    def __init__(self, run: RunSettings, report: Callable[[dict[str, Any]], None]) -> None:
        self._run, self._report = run, report
        self.budget = Budget(run.cap)
        self._terms: dict[str, ModelTerms] = {}
        self._thread = threading.local()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(run.settings.concurrency, "model")
        self._waiting = deque[Task]()
        self._cut_off = set[str]()  # names of tasks whose answer was cut off for its length
        self._final: Fault | None = None  # after it nothing more is asked
        self._answered = self._refused = 0

    def answer(
        self, tasks: Sequence[Task], *, batch: bool = False, open_batches: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        """Report every answer as it comes; a final fault is that of all tasks after it. May be called by many threads.

        `batch` gives them as one batch, where the server has such. `open_batches` are the names of the tasks in
        batches of earlier runs that were not fetched, by batch id.
        """
        left = {task.name: task for task in tasks}
        for id_, names in (open_batches or {}).items():
            self._batch(left, [left[name] for name in names if name in left], id_)
        if batch:
            self._batch(left, [*left.values()], "")
        for task in left.values():
            # A conversation that has begun goes on first: what was paid for it would be lost if the run were killed.
            add = self._waiting.appendleft if len(task.turns) > 1 else self._waiting.append
            add(task)
        for done in [self._pool.submit(self._answer_next) for _ in left]:
            done.result()

    def _answer_next(self) -> None:
        task = self._waiting.popleft()
        if self._final is not None:
            self._report_outcome(task, Outcome(None, self._final, Bill()))
            return
        answered_before = self._answered
        try:
            outcome = self._client(task.model).answer(self._prompt(task))
        except Exception as error:  # noqa: BLE001 (a defect must not leave its question without an answer)
            outcome = Outcome(None, Fault(f"internal error in retain: {type(error).__name__}: {error}"), Bill())
        fault = outcome.fault
        if fault is not None and (fault.passing or fault.billed) and self._answered == answered_before:
            fault.final = True  # nothing was answered meanwhile: the others would wait as long for nothing
        self._report_outcome(task, outcome)

    def _report_outcome(self, task: Task, outcome: Outcome) -> None:
        """Report an answer or a fault, made final if the server refuses all questions so far."""
        fault, cost = outcome.fault, outcome.bill.cost
        with self._lock:
            self._answered += outcome.text is not None or cost != Cost()
            self._refused += fault is not None and fault.refused
            if fault is not None and fault.refused and not self._answered and self._refused >= _MAX_REFUSALS:
                fault = _refuses_all(fault)
            if fault is not None and fault.final:
                self._final = fault
        line: dict[str, Any] = {"n": task.n, **_paid(outcome.bill), "lost": self.budget.lost}
        if outcome.text is not None:
            line["text"] = outcome.text
        elif fault is not None:
            line["fault"] = {"what": fault.what, "hint": fault.hint, "final": fault.final}
        self._report(line)

    def _batch(self, left: dict[str, Task], tasks: Sequence[Task], id_: str) -> None:
        """Answer tasks as a new batch, or from the earlier batch `id_`, and remove those answered from `left`."""
        if self._final is not None or not tasks:
            return
        batches = BatchClient(self._client(tasks[0].model), self.budget, self._run.settings.patience, self._report)
        asked = [BatchQuestion(t.name, self._prompt(t, cached="1h"), self._client(t.model)) for t in tasks]
        try:
            for name, outcome in batches.fetched(id_, asked) if id_ else batches.answers(asked):
                if outcome is None:
                    continue
                if outcome.text is None and outcome.fault is None:  # paid, and not complete: asked again by itself
                    self._report({"n": left[name].n, "again": True, **_paid(outcome.bill)})
                    if outcome.cut_off:
                        self._cut_off.add(name)
                    continue
                self._report_outcome(left.pop(name), outcome)
        except Fault as fault:
            if fault.status in _NO_BATCHES or fault.refused:
                what = "the batch no longer exists on the server" if id_ else "the server does not support batches"
                self._report({"note": f"{what}: requests are sent one at a time"})
                return
            fault.final = True
            self._final = fault

    def _prompt(self, task: Task, *, cached: Any = "5m") -> Prompt:
        settings = self._run.settings
        usual, longer = MAX_TOKENS[task.type], MAX_TOKENS[task.type] * LARGER
        if settings.size == "small":  # such a model repeats itself without end, and its window is small
            usual = longer = min(usual, settings.part_bytes // BYTES_A_TOKEN)
        return Prompt(
            system=self._run.systems[task.type],
            messages=tuple(ChatMessage("assistant" if n % 2 else "user", text) for n, text in enumerate(task.turns)),
            max_tokens=longer if task.name in self._cut_off else usual,
            longer_max_tokens=longer,
            cached=cached,
            effort=_EFFORT.get(task.type, "low") if settings.base_url == USUAL else "",
        )

    def _client(self, model: str) -> Claude:
        """Return this thread's client for the model; all threads share its terms."""
        clients: dict[str, Claude] = self._thread.__dict__.setdefault("clients", {})
        if model not in clients:
            settings = self._run.settings
            with self._lock:
                price = price_of(model, settings.prices, usual=settings.base_url == USUAL)
                terms = self._terms.setdefault(model, ModelTerms(price, self.budget))
            clients[model] = Claude(settings, model, self._run.key, time_limit=settings.patience, terms=terms)
        return clients[model]


def _refuses_all(fault: Fault) -> Fault:
    reason = f"it says: {fault.reason}; " if fault.reason else ""
    hint = f"{reason}check the models, base_url and prompts in your config.toml (docs/model.md)"
    return Fault(f"the server rejects every request ({fault.status})", hint, final=True)


def _paid(bill: Bill) -> dict[str, Any]:
    return {"tokens": [bill.cost.input_tokens, bill.cost.output_tokens], "usd": bill.usd}
