"""One model behind the Messages API, at Anthropic or wherever the user says: what goes in is asked, a value comes out.

A call takes no longer than its budget, whatever the server does. What a server cannot do is found out once: an answer
by schema, else by a forced tool, else as JSON in the text; a shape that is wrong may be mended once. Whatever a call
may cost is set aside in a purse before it is made.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic

from compiler.engines.claude.budget import BudgetUsedUp, Purse
from compiler.engines.claude.errors import CUT, Fault
from compiler.engines.claude.messages import Answer, Ask, NotAsAsked, R
from compiler.engines.claude.output_formats import (
    FORMS,
    OPTIONAL,
    TEXT,
    credible,
    holds,
    mending,
    most_sent,
    spoken,
    tokens_of,
    value_in,
    words_for,
)
from compiler.engines.claude.prices import Price, Tokens
from compiler.engines.claude.rate_limit import Pace
from compiler.engines.claude.transport import Line
from vault.config.engine import EngineSettings
from vault.errors import ModelUnavailable
from vault.log.grading import Cancelled, Cost
from vault.text.redaction import redact, redact_all
from vault.text.sanitize import clean_line

if TYPE_CHECKING:
    from anthropic.types import Message, Usage

VERSION = "claude/1"
_LOOK = 0.05  # seconds between two looks at whether somebody still waits
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 20.0  # seconds between two tries, twice as long each time


@dataclass(slots=True)
class Skills:
    """What a model of a server was found to do: the first form that it answers, and what fields it does not know."""

    form: int = 0
    unknown: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for all calls to one model: its price (None: nobody knows), whose money it is, how many go at once."""

    price: Price | None = None
    purse: Purse = field(default_factory=Purse)
    pace: Pace = field(default_factory=lambda: Pace(1))
    skills: Skills = field(default_factory=Skills)
    tries: int = 3  # of one call, where trying again may help


@dataclass(slots=True)
class Bill:
    """What the calls for one question took: tokens, and USD as far as anybody knows (None: no price)."""

    cost: Cost = field(default_factory=Cost)
    usd: float | None = 0.0

    def add(self, tokens: Tokens, usd: float | None) -> None:
        self.cost += Cost(tokens.sent, tokens.output)
        self.usd = None if usd is None or self.usd is None else self.usd + usd


@dataclass(frozen=True, slots=True)
class Outcome(Generic[R]):
    """The value, or the fault in its place, and what was paid for either; `cut` where a longer answer may do."""

    value: R | None
    fault: Fault | None
    bill: Bill
    cut: bool = False


@dataclass(slots=True)
class _Clock:
    """When a question's time is over; waiting for our own turn does not count."""

    until: float

    def later(self, seconds: float) -> None:
        self.until += seconds


class Claude:
    """Speaks to one model of one server. `budget` is the most seconds that one question takes, all tries together."""

    def __init__(
        self, settings: EngineSettings, model: str, key: str, *, budget: float = 90.0, terms: Terms | None = None
    ) -> None:
        self._settings, self.model, self._budget = settings, model, budget
        self.terms = terms or Terms()
        self.line = Line(settings, key)

    @property
    def name(self) -> str:
        return f"{VERSION} {clean_line(self.model)}"

    def ask(self, asked: Ask[R], cancelled: Cancelled) -> Answer[R]:
        """Raises: ModelUnavailable, for whatever reason the model gives no answer of that shape."""
        found = self.answer(asked, cancelled)
        if found.value is not None:
            return Answer(_redacted(found.value), found.bill.cost)
        assert found.fault is not None
        cost = found.bill.cost
        spent = f"{cost.input_tokens} tokens were sent and {cost.output_tokens} came back, for nothing"
        told = "; ".join(filter(None, (found.fault.hint, spent if cost != Cost() else "")))
        what, where, hint = map(redact, (found.fault.what, self._settings.place or self.model, told))
        raise ModelUnavailable(what, where=where, hint=hint)

    def answer(self, asked: Ask[R], cancelled: Cancelled = lambda: False) -> Outcome[R]:
        """The answer or what kept it from coming, with what was paid."""
        bill = Bill()
        try:
            self.line.open()
            clock = _Clock(time.monotonic() + self._budget)
            return Outcome(self._by_any_form(asked, clock, cancelled, bill), None, bill)
        except Fault as fault:
            return Outcome(None, fault, bill)

    def sees(self) -> frozenset[str]:
        """Which blocks the model says it can see: "document", "image"; none where it says nothing."""
        try:
            found = self.line.call(lambda client: client.models.retrieve(self.model), time.monotonic() + self._budget)
            able = found.capabilities
        except (Fault, AttributeError):
            return frozenset()
        kinds = {"document": getattr(able, "pdf_input", None), "image": getattr(able, "image_input", None)}
        return frozenset(kind for kind, ability in kinds.items() if getattr(ability, "supported", None) is True)

    # --- one question -------------------------------------------------------------------------------------------------

    def _by_any_form(self, asked: Ask[R], clock: _Clock, cancelled: Cancelled, bill: Bill) -> R:
        skills = self.terms.skills
        for n in range(skills.form, len(FORMS)):
            try:
                value = self._in_form(FORMS[n], asked, clock, cancelled, bill)
            except NotAsAsked:
                continue
            except Fault as fault:
                if fault.form and FORMS[n] != TEXT:
                    continue
                raise
            skills.form = n
            return value
        raise _babble()

    def _in_form(self, form: str, asked: Ask[R], clock: _Clock, cancelled: Cancelled, bill: Bill) -> R:
        """Raises: NotAsAsked where no object came at all, as from a server that does not know the form; Fault."""

        def call(said: list[dict[str, Any]]) -> Message:
            return self._long_enough(form, asked, said, clock, cancelled, bill)

        said = spoken(asked)
        message = call(said)
        try:
            return value_in(form, message, asked.reply)
        except NotAsAsked as wrong:
            if form != TEXT and not wrong.value:
                raise
            try:
                return value_in(form, call([*said, *mending(message, str(wrong))]), asked.reply)
            except NotAsAsked as still:
                raise _babble() from still

    def _long_enough(
        self, form: str, asked: Ask[R], said: list[dict[str, Any]], clock: _Clock, cancelled: Cancelled, bill: Bill
    ) -> Message:
        """A whole message; where it was cut off for its length, a longer one once."""
        try:
            return self._call(form, asked, said, asked.most_tokens, clock, cancelled, bill)
        except Fault as fault:
            if fault.what != CUT or asked.longer <= asked.most_tokens:
                raise
            return self._call(form, asked, said, asked.longer, clock, cancelled, bill)

    # --- one call, and its tries --------------------------------------------------------------------------------------

    def _call(
        self,
        form: str,
        asked: Ask[R],
        said: list[dict[str, Any]],
        length: int,
        clock: _Clock,
        cancelled: Cancelled,
        bill: Bill,
    ) -> Message:
        """A whole message; tries again where that may help and there is time. Raises: Fault."""
        tries, wait = 1, _FIRST_WAIT
        while True:
            words = {"model": self.model}
            words |= words_for(form, asked, said, length, self.terms.skills.unknown)
            try:
                return self._paid(words, asked, clock, cancelled, bill)
            except Fault as fault:
                if self._unlearns(words, fault):
                    continue
                pause = None if fault.wait is None else max(fault.wait, wait * _jitter())
                if tries >= self.terms.tries or pause is None or time.monotonic() + pause >= clock.until:
                    raise
                if fault.busy:
                    self.terms.pace.busy(pause)
                _rest(pause, cancelled)
            tries, wait = tries + 1, min(2 * wait, _LONGEST_WAIT)

    def _unlearns(self, words: dict[str, Any], fault: Fault) -> bool:
        """Whether the server refused a field that it can do without: then it is not sent again."""
        unknown = self.terms.skills.unknown
        for name, told in OPTIONAL.items():
            if fault.form and name not in unknown and holds(words, name) and any(w in fault.reason for w in told):
                unknown.add(name)
                return True
        return False

    def _paid(self, words: dict[str, Any], asked: Ask[Any], clock: _Clock, cancelled: Cancelled, bill: Bill) -> Message:
        """One call: its price is set aside before, and settled after, whatever becomes of it."""
        terms = self.terms
        before = time.monotonic()
        held = self._set_aside(words, asked.shown, clock)
        paid: float | None = 0.0
        try:
            with terms.pace.turn():
                clock.later(time.monotonic() - before)
                try:
                    message = self.line.message(words, clock.until, cancelled)
                except Fault as fault:
                    paid = None if fault.billed else 0.0
                    if fault.usage is not None:
                        paid = self._spent(fault.usage, bill)
                    raise
                paid = self._spent(message.usage, bill)
                terms.pace.well()
                return message
        finally:
            terms.purse.settle(held, paid)

    def _spent(self, usage: Usage | None, bill: Bill) -> float | None:
        """USD for what a message took, taken down in the bill; None where it does not say what it took."""
        tokens = tokens_of(usage)
        usd = self.terms.price.of(tokens) if self.terms.price is not None else None
        bill.add(tokens, usd)
        return usd if credible(usage) else None

    def _set_aside(self, words: dict[str, Any], shown: int, clock: _Clock) -> float:
        """USD held for a call. Raises: Fault where the budget does not hold so much any more."""
        price, purse = self.terms.price, self.terms.purse
        if price is None or purse.cap is None:
            purse.hold(0.0)
            return 0.0
        longest = int(words["max_tokens"])
        bounds: tuple[Callable[[], int | None], ...] = (
            lambda: most_sent(words) + shown,
            lambda: self._counted(words, clock),
        )
        for bound in bounds:
            if (sent := bound()) is not None:
                held = price.at_most(sent, longest)
                try:
                    purse.hold(held)
                    return held
                except BudgetUsedUp:
                    continue
        raise budget_fault(purse.cap)

    def _counted(self, words: dict[str, Any], clock: _Clock) -> int | None:
        """What the server counts, and some more, as it says itself that it may be out by a little."""
        found = self.line.count(words, clock.until)
        return None if found is None else int(found * 1.05) + 100


def budget_fault(cap: float) -> Fault:
    """What is told when the budget does not pay for the next call."""
    return Fault(
        f"the budget of ${cap:g} is used up", "`--budget` with more goes on where this one stopped", final=True
    )


def _redacted(value: R) -> R:
    words = json.dumps(redact_all(value.model_dump(mode="json")))
    return type(value).model_validate_json(words)


def _babble() -> Fault:
    return Fault("the model's answers have another shape than was asked for", "try a larger model")


def _jitter() -> float:
    return secrets.SystemRandom().uniform(0.75, 1.0)


def _rest(seconds: float, cancelled: Cancelled) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if cancelled():
            raise Fault("nobody waits any more")
        time.sleep(min(left, _LOOK))
