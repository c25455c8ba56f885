"""Many questions as one batch, for half the price: created, waited for, fetched in any order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from compiler.engines.claude.budget import Budget, BudgetUsedUp
from compiler.engines.claude.client import Bill, Claude, Outcome, budget_fault
from compiler.engines.claude.errors import CUT_OFF, Fault, complete_message, invalid_response
from compiler.engines.claude.messages import Prompt
from compiler.engines.claude.output_formats import api_fields, api_messages, max_input_tokens, text_of, tokens_of

if TYPE_CHECKING:
    from anthropic.types import Message

_MAX_QUESTIONS = 5_000  # of one batch
_MAX_BYTES = 100_000_000
_FIRST_POLL_S, _LONGEST_POLL_S = 1.0, 60.0
Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class BatchQuestion:
    """One question of a batch, by the name that it has there, and the client of the model that answers."""

    name: str
    prompt: Prompt
    client: Claude


class BatchClient:
    """Creates and fetches batches. An outcome of None means: ask this question by itself."""

    def __init__(self, client: Claude, budget: Budget, time_limit: float, report: Report) -> None:
        self._transport, self._budget, self._time_limit, self._report = client.transport, budget, time_limit, report

    def answers(self, questions: Sequence[BatchQuestion]) -> Iterator[tuple[str, Outcome | None]]:
        """Yield (name, outcome) of each. Raises: Fault where a batch cannot be made or fetched, or the budget is used.

        A batch of which it is unknown whether the server made it is not created again: it could be paid twice.
        """
        left = list(questions)
        while left:
            reserved = self._reserve(left)
            now, left = left[: len(reserved)], left[len(reserved) :]
            requests: list[Any] = [{"custom_id": q.name, "params": _fields(q)} for q in now]
            try:
                id_ = self._call(partial(_create, requests), once=True)
            except Fault as fault:
                self._finish(reserved, lost=fault.billed or fault.passing)
                raise
            self._report({"batch": {"id": id_, "names": [q.name for q in now]}})
            yield from self.fetched(id_, now, reserved)

    def fetched(
        self, id_: str, questions: Sequence[BatchQuestion], reserved: Mapping[str, float] | None = None
    ) -> Iterator[tuple[str, Outcome | None]]:
        """Yield (name, outcome) of those that are in the batch of that id. Raises: Fault."""
        open_ = dict(reserved or {})
        by_name = {q.name: q for q in questions}
        try:
            self._wait_for(id_)
            for name, result in self._call(lambda client: _results(client, id_)):
                question = by_name.pop(name, None)
                if question is None:
                    continue
                outcome, paid = _outcome(question, result)
                if reserved is None:
                    self._budget.add_spent(paid or 0.0)
                else:
                    self._budget.finish(open_.pop(name), paid)
                yield name, outcome
            yield from ((name, None) for name in by_name)
            self._report({"batch_end": id_})
        finally:
            self._finish(open_, lost=True)

    def _reserve(self, questions: Sequence[BatchQuestion]) -> dict[str, float]:
        """Return the USD reserved for the first of them, as many as budget and batch take. Raises: Fault for none."""
        reserved: dict[str, float] = {}
        size = 0
        for question in questions[:_MAX_QUESTIONS]:
            prompt, price = question.prompt, question.client.terms.price
            tokens = max_input_tokens(_fields(question))
            size += tokens  # a token is a byte or more
            usd = price.at_most(tokens, prompt.max_tokens, batch=True) if price else 0.0
            try:
                self._budget.reserve(usd, wait=False)
            except BudgetUsedUp:
                break
            reserved[question.name] = usd
            if size > _MAX_BYTES:
                break
        if not reserved:
            raise budget_fault(self._budget.cap)
        return reserved

    def _finish(self, reserved: Mapping[str, float], *, lost: bool) -> None:
        for usd in reserved.values():
            self._budget.finish(usd, None if lost else 0.0)

    def _wait_for(self, id_: str) -> None:
        pause = _FIRST_POLL_S
        while True:
            ended, done, count = self._call(lambda client: _progress(client, id_))
            self._report({"event": "batch", "done": done, "of": count})
            if ended:
                return
            time.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_POLL_S)

    def _call(self, use: Callable[[Any], Any], *, once: bool = False) -> Any:
        return self._transport.call(use, time.monotonic() + self._time_limit, once=once)


# Responses are read inside the transport's call, which translates what an invalid one raises.


def _create(requests: list[Any], client: Any) -> str:
    """Return the id of a new batch. Raises: Fault for a response without one."""
    id_ = client.messages.batches.create(requests=requests).id
    if not isinstance(id_, str):
        raise invalid_response()
    return id_


def _progress(client: Any, id_: str) -> tuple[bool, int, int]:
    """Return whether the batch has ended, how many of its questions are done, and how many it has."""
    batch = client.messages.batches.retrieve(id_)
    counts = batch.request_counts
    done = int(counts.succeeded + counts.errored + counts.canceled + counts.expired)
    return batch.processing_status == "ended", done, done + int(counts.processing)


def _results(client: Any, id_: str) -> list[tuple[str, Any]]:
    """Return the name of each question, and its result."""
    results = client.messages.batches.results(id_)
    return [(str(each.custom_id), each.result) for each in results if isinstance(each.result.type, str)]


def _fields(question: BatchQuestion) -> dict[str, Any]:
    prompt, client = question.prompt, question.client
    fields = api_fields(prompt, api_messages(prompt), prompt.max_tokens, plain=client.terms.plain)
    return {"model": client.model, **fields}


def _outcome(question: BatchQuestion, result: Any) -> tuple[Outcome | None, float | None]:
    """Return the outcome, None if it is to be asked by itself, and the USD paid, None if unknown."""
    bill = Bill()
    if result.type != "succeeded":
        return None, 0.0
    try:
        message: Message = result.message
        tokens, price = tokens_of(message.usage), question.client.terms.price
    except (AttributeError, TypeError):  # a result without a message
        return None, None
    usd = price.of(tokens, batch=True) if price is not None else None
    bill.add(tokens, usd)
    try:
        return Outcome(text_of(complete_message(message)), None, bill), usd or 0.0
    except Fault as fault:
        declined = fault if message.stop_reason == "refusal" else None
        return Outcome(None, declined, bill, fault.what == CUT_OFF), usd or 0.0
