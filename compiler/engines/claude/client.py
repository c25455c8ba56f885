"""Sends prompts to one model behind the Messages API, at Anthropic or at the server that the user names.

A question takes no longer than its time limit, whatever the server does. An invalid JSON reply may be corrected once.
What a call may cost is reserved in the budget before it is made.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from compiler.engines.claude import output_formats
from compiler.engines.claude.budget import Budget, BudgetUsedUp
from compiler.engines.claude.errors import CUT_OFF, Fault
from compiler.engines.claude.messages import Answer, InvalidReply, JsonPrompt, Prompt, R, parse_reply
from compiler.engines.claude.prices import Price, Tokens
from compiler.engines.claude.transport import Transport
from vault.config.engine import EngineSettings
from vault.errors import ModelUnavailable
from vault.log.grading import Cancelled, Cost
from vault.text.formatting import clean_line
from vault.text.redaction import redact, redact_all

if TYPE_CHECKING:
    from anthropic.types import Message, Usage

VERSION = "claude/1"
_RESTARTS = 2  # of an answer that broke off after it had begun
T = TypeVar("T")


@dataclass(slots=True)
class ModelTerms:
    """What holds for all calls to one model: its price (None: unknown) and the budget that pays.

    `plain` becomes True once the server is known to support only the plain output format.
    """

    price: Price | None = None
    budget: Budget = field(default_factory=Budget)
    plain: bool = False


@dataclass(slots=True)
class Bill:
    """The tokens that the calls for one question took, and their USD (None: price unknown)."""

    cost: Cost = field(default_factory=Cost)
    usd: float | None = 0.0

    def add(self, tokens: Tokens, usd: float | None) -> None:
        """Add one call."""
        self.cost += Cost(tokens.sent, tokens.output)
        self.usd = None if usd is None or self.usd is None else self.usd + usd


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer's text, or the fault in its place, and what was paid; `cut_off` where a longer answer may succeed."""

    text: str | None
    fault: Fault | None
    bill: Bill
    cut_off: bool = False


@dataclass(slots=True)
class _Question:
    """One prompt on its way: when its time is over (monotonic), who may cancel it, what it has cost so far."""

    prompt: Prompt
    until: float
    cancelled: Cancelled
    bill: Bill


class Claude:
    """A client for one model of one server. `time_limit` is the most seconds that a question takes with all retries."""

    def __init__(
        self,
        settings: EngineSettings,
        model: str,
        key: str,
        *,
        time_limit: float = 90.0,
        terms: ModelTerms | None = None,
    ) -> None:
        self._settings, self.model, self._time_limit = settings, model, time_limit
        self.terms = terms or ModelTerms()
        self.transport = Transport(settings, key)

    @property
    def name(self) -> str:
        """The engine's version and the model, as journals name them."""
        return f"{VERSION} {clean_line(self.model)}"

    def ask(self, prompt: JsonPrompt[R], cancelled: Cancelled) -> Answer[R]:
        """Return the model's answer as a value. Raises: ModelUnavailable, whatever the reason that there is none."""
        bill = Bill()
        try:
            question = self._opened(prompt, cancelled, bill)
            found = self._in_format(lambda plain: self._value(question, prompt.reply, plain=plain))
        except Fault as fault:
            raise self._unavailable(fault, bill.cost) from None
        value = json.dumps(redact_all(found.model_dump(mode="json")))
        return Answer(prompt.reply.model_validate_json(value), bill.cost)

    def _unavailable(self, fault: Fault, cost: Cost) -> ModelUnavailable:
        spent = f"{cost.input_tokens} tokens were sent and {cost.output_tokens} received, without a usable answer"
        hints = "; ".join(filter(None, (fault.hint, spent if cost != Cost() else "")))
        what, where, hint = map(redact, (fault.what, self._settings.place or self.model, hints))
        return ModelUnavailable(what, where=where, hint=hint)

    def answer(self, prompt: Prompt) -> Outcome:
        """Return the answer's text, or the fault that prevented it, with what was paid."""
        bill = Bill()
        messages = output_formats.api_messages(prompt)
        try:
            question = self._opened(prompt, lambda: False, bill)
            message = self._in_format(lambda plain: self._full_length(question, messages, plain=plain))
            return Outcome(output_formats.text_of(message), None, bill)
        except Fault as fault:
            begun = fault.text.rpartition("\n")[0]  # its whole lines may be good
            return Outcome(begun, None, bill) if begun.strip() else Outcome(None, fault, bill)

    def _opened(self, prompt: Prompt, cancelled: Cancelled, bill: Bill) -> _Question:
        """Return the question whose time begins once the client is there. Raises: Fault."""
        self.transport.open()
        return _Question(prompt, time.monotonic() + self._time_limit, cancelled, bill)

    def _in_format(self, ask: Callable[[bool], T]) -> T:
        """Return what `ask(plain)` does, in the plain format where the server does not support the other one.

        Raises: Fault.
        """
        if not self.terms.plain:
            try:
                return ask(False)
            except InvalidReply:  # no object at all: the server ignores the schema
                pass
            except Fault as fault:
                if not fault.refused:
                    raise
        found = ask(True)
        self.terms.plain = True
        return found

    def _value(self, question: _Question, shape: type[R], *, plain: bool) -> R:
        """Return the value in one output format. Raises: Fault; InvalidReply where no object came, if not `plain`."""
        messages = output_formats.api_messages(question.prompt)
        message = self._full_length(question, messages, plain=plain)
        try:
            return parse_reply(output_formats.text_of(message), shape)
        except InvalidReply as invalid:
            if not plain and not invalid.is_object:
                raise
            corrected = [*messages, *output_formats.correction_messages(message, str(invalid))]
        try:
            message = self._full_length(question, corrected, plain=plain)
            return parse_reply(output_formats.text_of(message), shape)
        except InvalidReply as invalid:
            what = "the model's answers are not in the requested format"
            raise Fault(what, "try a larger model") from invalid

    def _full_length(self, question: _Question, messages: list[dict[str, Any]], *, plain: bool) -> Message:
        """Return a complete message; where it was cut off for its length, a longer one. Raises: Fault."""
        prompt = question.prompt
        try:
            return self._send(question, output_formats.api_fields(prompt, messages, prompt.max_tokens, plain=plain))
        except Fault as fault:
            if fault.what != CUT_OFF or prompt.longer_max_tokens <= prompt.max_tokens:
                raise
        return self._send(question, output_formats.api_fields(prompt, messages, prompt.longer_max_tokens, plain=plain))

    def _send(self, question: _Question, fields: dict[str, Any]) -> Message:
        """Return a complete message, asked for again where a stream broke off. Raises: Fault."""
        fields = {"model": self.model, **fields}
        for _ in range(_RESTARTS):
            try:
                return self._paid(question, fields)
            except Fault as fault:
                if not fault.restart:
                    raise
        return self._paid(question, fields)

    def _paid(self, question: _Question, fields: dict[str, Any]) -> Message:
        """Make one call: the most that it can cost is reserved before, and replaced by its cost after."""
        budget = self.terms.budget
        started = time.monotonic()
        reserved = self._reserve(fields, question)
        question.until += time.monotonic() - started  # waiting for other calls to give money back does not count
        paid: float | None = 0.0

        def before_retry() -> None:
            try:
                budget.reserve_retry(reserved)
            except BudgetUsedUp:
                raise budget_fault(budget.cap, billed=True) from None

        try:
            message = self.transport.message(fields, question.until, question.cancelled, before_retry)
            paid = self._add_to_bill(message.usage, question.bill)
        except Fault as fault:
            paid = None if fault.billed else 0.0
            if fault.usage is not None:
                paid = self._add_to_bill(fault.usage, question.bill)
            raise
        finally:
            budget.finish(reserved, paid)
        return message

    def _add_to_bill(self, usage: Usage | None, bill: Bill) -> float | None:
        """Return the USD of a message; None where the server does not state what it took."""
        tokens = output_formats.tokens_of(usage)
        usd = self.terms.price.of(tokens) if self.terms.price is not None else None
        bill.add(tokens, usd)
        return usd if output_formats.is_valid_usage(usage) else None

    def _reserve(self, fields: dict[str, Any], question: _Question) -> float:
        """Return the USD reserved for a call. Raises: Fault where the budget has too little left."""
        price, budget = self.terms.price, self.terms.budget
        if price is None or budget.cap is None:
            budget.reserve(0.0)
            return 0.0
        bounds: tuple[Callable[[], int | None], ...] = (
            lambda: output_formats.max_input_tokens(fields),
            lambda: self._counted(fields, question.until),
        )
        for bound in bounds:
            if (input_tokens := bound()) is not None:
                usd = price.at_most(input_tokens, int(fields["max_tokens"]))
                try:
                    budget.reserve(usd)
                except BudgetUsedUp:
                    continue
                return usd
        raise budget_fault(budget.cap)

    def _counted(self, fields: dict[str, Any], until: float) -> int | None:
        """Return the server's token count with a margin, as the server calls it an estimate; None without one."""
        count = self.transport.count(fields, until)
        return None if count is None else int(count * 1.05) + 100


def budget_fault(cap: float | None, *, billed: bool = False) -> Fault:
    """Return the fault of a budget that does not pay for the next call."""
    what = f"the budget of ${cap or 0.0:g} is used up"
    return Fault(what, "run again with a larger `--budget` to continue", final=True, billed=billed)
