"""Many questions handed over as one batch, for half the price: given, waited for, fetched in any order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from compiler.engines.claude.budget import BudgetUsedUp, Purse
from compiler.engines.claude.client import Bill, Claude, Outcome, budget_fault
from compiler.engines.claude.errors import CUT, Fault, whole
from compiler.engines.claude.messages import Ask, NotAsAsked
from compiler.engines.claude.output_formats import SCHEMA, most_sent, spoken, tokens_of, value_of, words_for
from vault.text.sanitize import clean_line

if TYPE_CHECKING:
    from anthropic.types import Message

MOST = 5_000  # questions of one batch
_MOST_BYTES = 100_000_000
_FIRST_LOOK, _LONGEST_LOOK = 1.0, 60.0  # seconds between two looks
_TRIES = 5  # of what is no question: giving, looking, fetching
_UNSURE = (408, 500, 502, 504)  # what a server may say although it has made the batch
_SKEW = timedelta(minutes=10)  # that our clock may be before the server's
Tell = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Batched:
    """One question of a batch, by the name that it has there."""

    name: str
    ask: Ask[Any]
    claude: Claude  # whose model answers


class Batches:
    """Gives and fetches batches. An outcome of None says: ask this one by itself."""

    def __init__(
        self, claude: Claude, purse: Purse, patience: float, tell: Tell, known: set[str] | None = None
    ) -> None:
        """`known` are ids of batches that are not taken for one whose giving broke off; those that are made join."""
        self._line, self._purse, self._patience, self._tell = claude.line, purse, patience, tell
        self._known = set[str]() if known is None else known

    def answers(self, batched: Sequence[Batched]) -> Iterator[tuple[str, Outcome[Any] | None]]:
        """(name, outcome) of each. Raises: Fault where no batch can be given or fetched, or the budget is used up."""
        left = list(batched)
        while left:
            held = self._set_aside(left)
            now, left = left[: len(held)], left[len(held) :]
            try:
                id_ = self._given(now)
            except Fault as fault:
                self._settle(dict(held), lost=fault.billed)
                raise
            self._known.add(id_)
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
            for name, result in self._tried(lambda client: _results(client, id_)):
                known = by_name.pop(name, None)
                if known is None:
                    continue
                outcome, paid = _outcome(known, result)
                if held is None:
                    self._purse.owe(paid or 0.0)
                else:
                    self._purse.settle(open_.pop(known.name), paid)
                yield known.name, outcome
            yield from ((name, None) for name in by_name)
            self._tell({"batch_end": id_})
        finally:
            self._settle(open_, lost=True)

    def sought(self, count: int, since: datetime) -> str:
        """The id of the latest batch of `count` questions that the server has made since then; "" where it has none.

        What it was asked cannot be seen before it is fetched; those that are known are passed over. Raises: Fault.
        """
        try:
            listed: list[tuple[datetime, str]] = self._tried(lambda client: _listed(client, count))
            made = [(at, id_) for at, id_ in listed if at >= since - _SKEW and id_ not in self._known]
        except Fault as fault:
            if fault.status in (404, 405, 501):
                return ""
            raise
        return max(made, default=(since, ""))[1]

    def _given(self, now: Sequence[Batched]) -> str:
        """The id of a new batch. Raises: Fault, `billed` where nobody knows whether the server made it."""
        since, wait = datetime.now(UTC), 1.0
        words: list[Any] = [{"custom_id": b.name, "params": _params(b)} for b in now]
        for tries in range(1, _TRIES + 1):
            try:
                return self._line.call(
                    lambda client: str(client.messages.batches.create(requests=words).id),
                    time.monotonic() + self._patience,
                )
            except Fault as fault:
                if fault.billed or fault.status in _UNSURE:
                    if there := self._made(len(now), since, fault):
                        return there
                    if fault.billed:  # given again, it could be paid twice
                        self._tell({"batch_lost": {"names": [b.name for b in now], "since": since.isoformat()}})
                        raise
                if fault.wait is None or tries == _TRIES or fault.wait > self._patience:
                    raise
                time.sleep(max(fault.wait, wait))
                wait *= 2
        raise AssertionError("the last try gives something or raises")

    def _made(self, count: int, since: datetime, fault: Fault) -> str:
        """The id of the batch that the server made though it did not say so; "" for none, or where nobody knows."""
        try:
            there = self.sought(count, since)
        except Fault:
            there, fault.billed = "", True
        return there

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
            ended, done, count = self._tried(lambda client: _look(client, id_))
            self._tell({"event": "batch", "done": done, "of": count})
            if ended:
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


# What is read off the wire is read where the line translates what goes wrong: a server may answer anything.


def _look(client: Any, id_: str) -> tuple[bool, int, int]:
    """Whether the batch is over, how many of its questions are, and how many it has."""
    found = client.messages.batches.retrieve(id_)
    of = _count(found)
    return found.processing_status == "ended", of - int(found.request_counts.processing), of


def _listed(client: Any, count: int) -> list[tuple[datetime, str]]:
    """When each of the latest batches of that many questions was made, and its id."""
    now = datetime.now(UTC)
    found = client.messages.batches.list(limit=100).data
    return [(b.created_at, str(b.id)) for b in found if _count(b) == count and b.created_at <= now + 6 * _SKEW]


def _count(batch: Any) -> int:
    counts = batch.request_counts
    return int(counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired)


def _results(client: Any, id_: str) -> list[tuple[str, Any]]:
    """The name of each question, and what became of it."""
    found = client.messages.batches.results(id_)
    return [(str(each.custom_id), each.result) for each in found if isinstance(each.result.type, str)]


def _params(batched: Batched) -> dict[str, Any]:
    ask = batched.ask
    words = words_for(SCHEMA, ask, spoken(ask), ask.most_tokens, batched.claude.terms.skills.unknown)
    return {"model": batched.claude.model, **words}


def _outcome(batched: Batched, result: Any) -> tuple[Outcome[Any] | None, float | None]:
    """The outcome, None where it is to be asked by itself, and USD paid; None where nobody knows."""
    bill = Bill()
    if result.type != "succeeded":
        return None, 0.0
    try:
        message: Message = result.message
        tokens, price = tokens_of(message.usage), batched.claude.terms.price
        usd = price.of(tokens, batch=True) if price is not None else None
    except (AttributeError, TypeError):  # a result without a message
        return None, None
    bill.add(tokens, usd)
    try:
        return Outcome(value_of(whole(message), batched.ask.reply), None, bill), usd or 0.0
    except (NotAsAsked, Fault) as wrong:
        refused = isinstance(wrong, Fault) and message.stop_reason == "refusal"
        fault = wrong if isinstance(wrong, Fault) else Fault(clean_line(str(wrong)))
        cut = isinstance(wrong, Fault) and wrong.what == CUT
        return Outcome(None, fault if refused else None, bill, cut), usd or 0.0
