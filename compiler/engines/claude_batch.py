"""Many questions handed over as one batch, for half the price: given, waited for, fetched in any order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compiler.engines.claude import Bill, Claude, Outcome, budget_fault
from compiler.engines.claude_faults import Fault, whole
from compiler.engines.claude_forms import SCHEMA, most_sent, spoken, tokens_of, value_of, words_for
from compiler.engines.messages import Ask, NotAsAsked
from compiler.engines.purse import BudgetUsedUp, Purse
from vault.clean import clean_line

if TYPE_CHECKING:
    from anthropic.types import Message

MOST = 5_000  # questions of one batch
_MOST_BYTES = 100_000_000
_FIRST_LOOK, _LONGEST_LOOK = 1.0, 60.0  # seconds between two looks
_TRIES = 5  # of what is no question: giving, looking, fetching
Tell = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Batched:
    """One question of a batch, by the name that it has there."""

    name: str
    ask: Ask[Any]
    claude: Claude  # whose model answers


class Batches:
    """Gives and fetches batches. An outcome of None says: ask this one by itself."""

    def __init__(self, claude: Claude, purse: Purse, patience: float, tell: Tell) -> None:
        self._line, self._purse, self._patience, self._tell = claude.line, purse, patience, tell

    def answers(self, batched: Sequence[Batched]) -> Iterator[tuple[str, Outcome[Any] | None]]:
        """(name, outcome) of each. Raises: Fault where no batch can be given or fetched, or the budget is used up."""
        left = list(batched)
        while left:
            held = self._set_aside(left)
            now, left = left[: len(held)], left[len(held) :]
            try:
                made = self._tried(_giving([{"custom_id": b.name, "params": _params(b)} for b in now]))
            except Fault as fault:
                self._settle(dict(held), lost=fault.billed)
                raise
            id_ = str(made.id)
            self._tell({"batch": {"id": id_, "names": [b.name for b in now]}})
            yield from self.fetched(id_, now, held)

    def fetched(
        self, id_: str, batched: Sequence[Batched], held: Mapping[str, float] | None = None
    ) -> Iterator[tuple[str, Outcome[Any] | None]]:
        """(name, outcome) of those that are in the batch of that id. Raises: Fault."""
        open_ = dict(held or {})
        by_name = {b.name: b for b in batched}
        try:
            self._wait_for(id_)
            results = self._tried(lambda client: list(client.messages.batches.results(id_)))
            for result in results:
                known = by_name.pop(str(result.custom_id), None)
                if known is None:
                    continue
                outcome, paid = _outcome(known, result.result)
                if held is None:
                    self._purse.owe(paid)
                else:
                    self._purse.settle(open_.pop(known.name), paid)
                yield known.name, outcome
            yield from ((name, None) for name in by_name)
            self._tell({"batch_end": id_})
        finally:
            self._settle(open_, lost=True)

    def _set_aside(self, batched: Sequence[Batched]) -> dict[str, float]:
        """What is held for the first of them, as many as the budget and one batch take. Raises: Fault for none."""
        held: dict[str, float] = {}
        size = 0
        for each in batched[:MOST]:
            words, price = _params(each), each.claude.terms.price
            most = most_sent(words)
            size += most
            usd = price.at_most(most + each.ask.shown, each.ask.most_tokens, batch=True) if price is not None else 0.0
            try:
                self._purse.hold(usd, wait=False)
            except BudgetUsedUp:
                break
            held[each.name] = usd
            if size > _MOST_BYTES:
                break
        if not held:
            raise budget_fault(self._purse.cap or 0.0)
        return held

    def _settle(self, held: dict[str, float], *, lost: bool) -> None:
        for usd in held.values():
            self._purse.settle(usd, None if lost else 0.0)

    def _wait_for(self, id_: str) -> None:
        pause = _FIRST_LOOK
        while True:
            found = self._tried(lambda client: client.messages.batches.retrieve(id_))
            counts = found.request_counts
            done = counts.succeeded + counts.errored + counts.canceled + counts.expired
            self._tell({"event": "batch", "done": done, "of": done + counts.processing})
            if found.processing_status == "ended":
                return
            time.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_LOOK)

    def _tried(self, use: Callable[[Any], Any]) -> Any:
        wait = 1.0
        for tries in range(_TRIES):
            try:
                return self._line.call(use, time.monotonic() + self._patience)
            except Fault as fault:
                if fault.wait is None or tries == _TRIES - 1 or fault.wait > self._patience:
                    raise
                time.sleep(max(fault.wait, wait))
                wait *= 2
        raise AssertionError("the last try gives something or raises")


def _giving(words: list[dict[str, Any]]) -> Callable[[Any], Any]:
    return lambda client: client.messages.batches.create(requests=words)


def _params(batched: Batched) -> dict[str, Any]:
    ask = batched.ask
    words = words_for(SCHEMA, ask, spoken(ask), ask.most_tokens, batched.claude.terms.skills.unknown)
    return {"model": batched.claude.model, **words}


def _outcome(batched: Batched, result: Any) -> tuple[Outcome[Any] | None, float]:
    """The outcome, None where it is to be asked by itself, and USD paid."""
    bill = Bill()
    if result.type != "succeeded":
        return None, 0.0
    message: Message = result.message
    tokens, price = tokens_of(message.usage), batched.claude.terms.price
    usd = price.of(tokens, batch=True) if price is not None else None
    bill.add(tokens, usd)
    try:
        return Outcome(value_of(whole(message), batched.ask.reply), None, bill), usd or 0.0
    except (NotAsAsked, Fault) as wrong:
        refused = isinstance(wrong, Fault) and message.stop_reason == "refusal"
        fault = wrong if isinstance(wrong, Fault) else Fault(clean_line(str(wrong)))
        return Outcome(None, fault if refused else None, bill), usd or 0.0
