"""Put the requests of a build to a backend, and store what it answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

from compiler.protocol.forms import nothing
from compiler.protocol.replies import Reply
from compiler.protocol.requests import Request
from compiler.replies.journal import Entry, Journal, JournalWriter, entry_of
from compiler.replies.knowledge import Knowledge
from compiler.replies.prompts import prompt_id
from vault.errors import ModelUnavailable
from vault.log.ledger import Event
from vault.text.formatting import clean_line, plural


@dataclass(frozen=True, slots=True)
class Answered:
    """A reply with who gave it; `tokens` sent and received; `usd` None if the price is unknown.

    `refused` says what of the answer was left out; `size` are the bytes of request and answer.
    """

    reply: Reply
    engine: str
    tokens: tuple[int, int] = (0, 0)
    usd: float | None = 0.0
    refused: tuple[str, ...] = ()
    size: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Failed:
    """No answer to one request, and what was paid for that; with `final`, none will come to the others either."""

    what: str
    hint: str = ""
    final: bool = False
    tokens: tuple[int, int] = (0, 0)
    usd: float | None = 0.0


class Backend(Protocol):
    """Who answers requests: a model, a program, or in tests rules. `name` is shown to users."""

    @property
    def name(self) -> str: ...

    def answers(self, requests: Sequence[Request]) -> Iterator[tuple[int, Answered | Failed]]:
        """Yield (index, answer) as they come, in any order; after a final failure the others may be missing."""
        ...


@runtime_checkable
class KeepsNotes(Backend, Protocol):
    """A backend that notes in the journal what it must know again if it is killed."""

    def opened(self, notes: Sequence[Event], note: Callable[[Event], None]) -> None:
        """Take the notes of earlier runs, and the function that adds one."""
        ...


class Waiting(ModelUnavailable):
    """Raised where requests have no answer yet. All that came is stored; nothing was published."""

    def __init__(self, requests: Sequence[Request], what: str, hint: str) -> None:
        super().__init__(what, hint=hint)
        self.requests = tuple(requests)


@dataclass(slots=True)
class Spent:
    """What the requests of one build cost: tokens sent and received, and money as far as it is known."""

    sent: int = 0
    received: int = 0
    usd: float = 0.0
    unpriced: bool = False  # whether some of it has no known price
    asked: int = 0

    def add(self, tokens: tuple[int, int], usd: float | None) -> None:
        """Add the price of one answer."""
        self.asked += 1
        self.sent += tokens[0]
        self.received += tokens[1]
        self.usd += usd or 0.0
        self.unpriced |= usd is None


@dataclass(slots=True)
class Asker:
    """Puts the requests of one build to the backend. With `dry`, nothing is asked: what would be is in `open`."""

    journal: Journal
    writer: JournalWriter | None
    backend: Backend | None
    at: str
    progress: Callable[[dict[str, Any]], None]
    dry: bool = False
    retries: bool = True  # whether what nobody answered in an earlier run is asked again
    renew: bool = False  # whether answers to other prompts than today's count as none
    hint: str = "to get answers, run `retain compile --engine claude` (or `command` or `agent`)"
    open: list[Request] = field(default_factory=list)
    failed: list[tuple[Request, str]] = field(default_factory=list)  # those that nobody answered, and why
    refused: list[tuple[Request, str]] = field(default_factory=list)  # what was left out of answers
    spent: Spent = field(default_factory=Spent)

    def knowledge(self) -> Knowledge:
        """Return what the answers in the journal say together."""
        entries = self.journal.entries
        if self.renew:
            entries = [e for e in entries if e.prompt == prompt_id(e.of)]
        run = self.writer.run if self.writer is not None else ""
        return Knowledge.of(entries, retries=self.retries, run=run)

    def ask(self, requests: Sequence[Request], stage: str) -> None:
        """Have requests answered; the journal has the answers then.

        Raises: Waiting where some stay open, after all that came is stored; WriteFailed.
        """
        if not self.retries:  # what nobody answered stays so, in requests of another size too
            requests = [r for r in requests if not self.journal.gave_up(r)]
        if not requests:
            return
        if self.dry:
            self.open += requests
            return
        if self.backend is None:
            asked = plural(len(requests), "request in this vault has", "requests in this vault have")
            raise self._waiting(requests, f"{asked} no answer ({stage})")
        left = dict(enumerate(requests))
        stopped: Failed | None = None
        started = time.monotonic()
        self._report(stage, 0, len(requests), started)
        for n, answer in self.backend.answers(requests):
            self.spent.add(answer.tokens, answer.usd)
            if isinstance(answer, Failed) and answer.final:
                stopped = answer
                continue
            self._store(left.pop(n), answer)
            self._report(stage, len(requests) - len(left), len(requests), started)
        if left:
            what = stopped.what if stopped else "not every request was answered"
            raise self._waiting(list(left.values()), what, stopped.hint if stopped else "")

    def _report(self, stage: str, done: int, count: int, started: float) -> None:
        """Report how far a stage is: what it cost so far, and about how many seconds are left."""
        spent = self.spent
        cost = {"tokens": spent.sent + spent.received, "usd": round(spent.usd, 6)}
        left = (time.monotonic() - started) / done * (count - done) if done else None
        rest = {"seconds_left": round(left)} if left is not None else {}
        self.progress({"event": stage, "done": done, "of": count, **cost, **rest})

    def _waiting(self, requests: Sequence[Request], what: str, hint: str = "") -> Waiting:
        """Return the error that says which requests are open, and what to do."""
        count = f"{plural(len(requests), 'request')} {'is' if len(requests) == 1 else 'are'} open"
        kept = f"the answers so far are stored; {count}; the wiki was not changed"
        return Waiting(requests, what, "; ".join(filter(None, (hint or self.hint, kept))))

    def _store(self, request: Request, answer: Answered | Failed) -> None:
        """Store an answer, or that there is none, in the journal."""
        prompt = prompt_id(request.type)
        run = self.writer.run if self.writer is not None else ""
        if isinstance(answer, Answered):
            self.refused += [(request, words) for words in answer.refused]
            entry = entry_of(
                request,
                answer.reply,
                answer.engine,
                prompt,
                self.at,
                run=run,
                tokens=answer.tokens,
                usd=answer.usd,
                size=answer.size,
            )
        else:
            why = clean_line(answer.what)[:200] or "no answer"
            self.failed.append((request, why))
            who = self.backend.name if self.backend is not None else ""
            entry = entry_of(
                request,
                nothing(request),
                who,
                prompt,
                self.at,
                run=run,
                tokens=answer.tokens,
                usd=answer.usd,
                failed=why,
            )
        self.keep(entry)

    def keep(self, entry: Entry) -> None:
        """Append an entry to the file of this run, and to the journal in memory.

        That nothing came once more, for the same reason and for nothing, is no news: the file need not say so again.
        """
        run = self.writer.run if self.writer is not None else ""
        dated = self.journal.dated(replace(entry, run=run))
        known = entry.failed and not any(entry.tokens) and self.journal.failure(entry.request) == entry.failed
        if self.writer is not None and not known:
            self.writer.keep(dated)
        self.journal.learn(dated)
