"""Puts the questions of one compile to their models: several at once, at a pace the server bears, from one purse."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import BaseModel

from compiler.engines.claude.batch import Batched, Batches
from compiler.engines.claude.budget import Purse
from compiler.engines.claude.client import Bill, Claude, Outcome, Terms
from compiler.engines.claude.errors import Fault
from compiler.engines.claude.messages import Ask, Said
from compiler.engines.claude.prices import Price, price_of
from compiler.engines.claude.prompts_to_messages import LARGER, MOST_TOKENS, SHAPES, schema
from compiler.engines.claude.rate_limit import Pace
from compiler.engines.claude.refusals import Refusals
from vault.config.engine import USUAL, EngineSettings

_TRIES = 6  # of one call, while its time lasts
# How much a model may think over each: most of it is reading closely what is there.
_EFFORT: Mapping[str, Any] = {"compose": "medium", "cards": "medium", "answer": "medium"}


@dataclass(frozen=True, slots=True)
class Put:
    """A question as it comes over the pipe. `name` is the same in every run; `blocks` are pages and pictures."""

    n: int
    name: str
    of: str
    model: str
    words: str
    blocks: tuple[dict[str, Any], ...] = ()
    shown: int = 0


@dataclass(frozen=True, slots=True)
class Setting:
    """What a compile's questions have in common; `cap` is the budget in USD, None for none."""

    settings: EngineSettings
    key: str
    systems: Mapping[str, str]
    cap: float | None = None


class Desk:
    """`tell` gets a line for each answer as it comes, and what else is worth saying."""

    def __init__(self, setting: Setting, tell: Callable[[dict[str, Any]], None]) -> None:
        self._setting, self._tell = setting, tell
        self.purse = Purse(setting.cap)
        self._pace = Pace(setting.settings.concurrency)
        self._terms: dict[str, Terms] = {}
        self._here = threading.local()
        self._lock = threading.Lock()
        self._sees: dict[str, frozenset[str]] = {}
        self._sees_lock = threading.Lock()
        self._known = set[str]()  # ids of batches
        self._long = set[str]()  # names of questions whose answer was cut off
        self._refusals = Refusals[Put]()

    def answer(
        self,
        puts: Sequence[Put],
        *,
        batch: bool = False,
        given: Mapping[str, Sequence[str]] | None = None,
        lost: Sequence[tuple[str, Sequence[str]]] = (),
        known: Sequence[str] = (),
    ) -> None:
        """Every answer is told as it comes; after a final fault, no more are asked for.

        With `batch` they are given as one, where the server takes such; `given` are batches of earlier runs that were
        not fetched, with the names of their questions; `lost` those that a server may have made without saying so, with
        the instant from which on; `known` are the ids of all that it said it made.
        """
        self._known.update(known)
        left = {put.name: put for put in puts}
        for id_, names in (given or {}).items():
            mine = [left[name] for name in names if name in left]
            if mine and not self._batched(left, mine, id_):
                return
        for since, names in lost:
            mine = [left[name] for name in names if name in left]
            if mine and not self._found_again(left, mine, names, since):
                return
        if batch and left and not self._batched(left, [*left.values()], ""):
            return
        self._singly([*left.values()])

    # --- one by one ---------------------------------------------------------------------------------------------------

    def _singly(self, puts: Sequence[Put]) -> None:
        todo: queue.SimpleQueue[Put] = queue.SimpleQueue()
        for put in puts:
            todo.put(put)
        over = threading.Event()
        count = min(self._setting.settings.concurrency, len(puts))
        threads = [threading.Thread(target=self._work, args=(todo, over), daemon=True) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for put, outcome in self._refusals.rest():
            self._told(put, outcome)

    def _work(self, todo: queue.SimpleQueue[Put], over: threading.Event) -> None:
        while not over.is_set():
            try:
                put = todo.get_nowait()
            except queue.Empty:
                return
            before = self._pace.answered
            try:
                outcome = self._claude(put.model).answer(self._ask(put))
            except Exception as error:  # noqa: BLE001 (a defect must not leave its question without an answer)
                outcome = Outcome[Any](None, Fault(f"retain itself failed: {type(error).__name__}: {error}"), Bill())
            fault = outcome.fault
            if fault is not None and (fault.wait is not None or fault.billed) and self._pace.answered == before:
                fault.final = True  # nobody was answered meanwhile: the others would wait as long for nothing
            if fault is not None and fault.final:
                over.set()
            if self._out(put, outcome):
                over.set()

    def _out(self, put: Put, outcome: Outcome[Any]) -> bool:
        """Tells what came, unless it is to be seen first whether others fare better; whether all is over."""
        through = self._refusals.through(put, outcome)
        for each, told in through:
            self._told(each, told)
        return any(told.fault is not None and told.fault.final for _, told in through)

    def _told(self, put: Put, outcome: Outcome[Any]) -> None:
        value: BaseModel | None = outcome.value
        line: dict[str, Any] = {"n": put.n, "tokens": [outcome.bill.cost.input_tokens, outcome.bill.cost.output_tokens]}
        line |= {"usd": outcome.bill.usd, "lost": self.purse.lost}
        if value is not None:
            line["value"] = value.model_dump(mode="json", exclude_defaults=True)
        elif outcome.fault is not None:
            line["fault"] = {k: getattr(outcome.fault, k) for k in ("what", "hint", "final")}
        self._tell(line)

    # --- as a batch ---------------------------------------------------------------------------------------------------

    def _batched(self, left: dict[str, Put], mine: Sequence[Put], id_: str) -> bool:
        """Takes those that were answered out of `left`; False where all is over."""
        batches = self._batches(mine[0])
        asked = [Batched(put.name, self._ask(put, cached="1h"), self._claude(put.model)) for put in mine]
        try:
            for name, outcome in batches.fetched(id_, asked) if id_ else batches.answers(asked):
                if outcome is None:
                    continue
                if outcome.value is None and outcome.fault is None:  # paid, and of no use: by itself it may be mended
                    self._tell({"n": left[name].n, "again": True, **_paid(outcome.bill)})
                    if outcome.cut:
                        self._long.add(name)
                    continue
                self._out(left.pop(name), outcome)
        except Fault as fault:
            if "(404)" in fault.what or fault.form or "(405)" in fault.what or "(501)" in fault.what:
                words = "the batch is gone" if id_ else "the server takes no batches"
                self._tell({"note": f"{words}: the questions are asked one by one"})
                return True
            fault.final = True
            self._told(mine[0] if mine[0].name in left else next(iter(left.values())), Outcome(None, fault, Bill()))
            return False
        return True

    def _found_again(self, left: dict[str, Put], mine: Sequence[Put], names: Sequence[str], since: str) -> bool:
        """Fetches the batch of all `names` whose giving broke off, where the server has it; False where all is over."""
        try:
            id_ = self._batches(mine[0]).sought(len(names), datetime.fromisoformat(since))
        except Fault as fault:
            fault.final = True
            self._told(mine[0], Outcome(None, fault, Bill()))
            return False
        if not id_:
            return True
        self._known.add(id_)
        self._tell({"batch": {"id": id_, "names": list(names)}})
        return self._batched(left, mine, id_)

    def _batches(self, put: Put) -> Batches:
        patience = self._setting.settings.patience
        return Batches(self._claude(put.model), self.purse, patience, self._tell, self._known)

    # --- what they need -----------------------------------------------------------------------------------------------

    def _ask(self, put: Put, *, cached: Any = "5m") -> Ask[Any]:
        longest = MOST_TOKENS[put.of] * LARGER
        own = self._setting.settings.base_url == USUAL
        return Ask(
            system=self._setting.systems[put.of],
            said=(Said("user", put.words, self._seen(put)),),
            reply=SHAPES[put.of],
            most_tokens=longest if put.name in self._long else MOST_TOKENS[put.of],
            longer=longest,
            cached=cached,
            schema=schema(put.of),
            shown=put.shown,
            effort=_EFFORT.get(put.of, "low") if own else "",
        )

    def _seen(self, put: Put) -> tuple[dict[str, Any], ...]:
        """The pages and pictures that the model says it can see: one that cannot would make something up."""
        if not put.blocks:
            return ()
        with self._sees_lock:
            if put.model not in self._sees:
                self._sees[put.model] = self._claude(put.model).sees()
        return tuple(block for block in put.blocks if block["type"] in self._sees[put.model])

    def _claude(self, model: str) -> Claude:
        """The model as this thread speaks to it: on a line of its own, on terms that all share."""
        mine: dict[str, Claude] = self._here.__dict__.setdefault("mine", {})
        if model not in mine:
            setting = self._setting
            terms = self._terms_for(model)
            mine[model] = Claude(setting.settings, model, setting.key, budget=setting.settings.patience, terms=terms)
        return mine[model]

    def _terms_for(self, model: str) -> Terms:
        with self._lock:
            if model not in self._terms:
                settings = self._setting.settings
                price: Price | None = price_of(model, settings.prices, usual=settings.base_url == USUAL)
                self._terms[model] = Terms(price, self.purse, self._pace, tries=_TRIES)
            return self._terms[model]


def _paid(bill: Bill) -> dict[str, Any]:
    return {"tokens": [bill.cost.input_tokens, bill.cost.output_tokens], "usd": bill.usd}
