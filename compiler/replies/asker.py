"""Put a build's questions to a backend, but none that the journal answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

from compiler.model.requests import Reply, Request, rests
from compiler.replies.journal import Entry, Journal, JournalWriter, digest
from compiler.replies.prompts import prompt_id
from compiler.replies.reuse import merged, parts, prepared, stand_in
from vault.errors import ModelUnavailable
from vault.log.ledger import Event
from vault.text.formatting import clean_line

KEPT = "kept"  # the engine of a reply that earlier ones gave already


@dataclass(frozen=True, slots=True)
class Answered:
    """A reply with who gave it; `tokens` sent and received; `usd` None if the price is unknown."""

    reply: Reply
    engine: str
    tokens: tuple[int, int] = (0, 0)
    usd: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Failed:
    """No answer to one request, and what was paid for that; with `final`, none will come to the others either."""

    what: str
    hint: str = ""
    final: bool = False
    tokens: tuple[int, int] = (0, 0)
    usd: float | None = 0.0


class Backend(Protocol):
    """Who answers requests: a model, or in tests rules. `name` is shown to users."""

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


@runtime_checkable
class ShowsPages(Backend, Protocol):
    """A backend that shows pages and pictures with a request: `shown` returns blocks, and their most tokens."""

    shown: Callable[[Request], tuple[list[dict[str, Any]], int]]


class Waiting(ModelUnavailable):
    """Raised where questions have no answer yet. All that came is stored; nothing was published."""

    def __init__(self, requests: Sequence[Request], what: str, hint: str) -> None:
        super().__init__(what, hint=hint)
        self.requests = tuple(requests)


@dataclass(slots=True)
class Spent:
    """What the questions of one build cost: tokens sent and received, and money as far as it is known."""

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
    """Puts the questions of one build to the backend, but none that the journal answers.

    With `dry`, nothing is asked: what would be is in `open`, and earlier replies stand in as far as they hold.
    `fallback` answers where the backend could not: the embedded engine. `renew` uses no reply to an older prompt. With
    `mend`, what the embedded engine answered in place of a model is asked again, once in a run.
    """

    journal: Journal
    writer: JournalWriter | None
    backend: Backend | None
    at: str
    progress: Callable[[dict[str, Any]], None]
    fallback: Callable[[Request], Reply | None] = lambda _: None
    dry: bool = False
    renew: bool = False
    mend: bool = False
    hint: str = "`retain compile --engine claude` or `--engine agent` answers them"
    open: list[Request] = field(default_factory=list)
    failed: list[tuple[Request, str]] = field(default_factory=list)  # those in whose place the embedded engine answered
    spent: Spent = field(default_factory=Spent)
    engines: dict[str, str] = field(default_factory=dict)  # what a reply that was used rests on -> who said it
    dates: dict[str, str] = field(default_factory=dict)  # likewise -> when
    _mended: dict[str, Entry] = field(default_factory=dict)  # what rests on -> the reply that stood in until now

    def said(self, request: Request) -> tuple[str, str]:
        """Return who gave the reply to a request that was used, and when; ("", "") if there was none."""
        key = rests(request)
        return self.engines.get(key, ""), self.dates.get(key, "")

    def ask(self, requests: Sequence[Request], stage: str) -> list[Reply | None]:
        """Return the reply to each request in order; None where there is none.

        Raises: Waiting where questions stay open, after all that came is kept; WriteFailed.
        """
        found: dict[str, Reply | None] = {}
        todo: dict[str, Request] = {}
        again: list[Request] = []
        for request in requests:
            key = rests(request)
            if key in found or key in todo:
                again.append(request)
                continue
            prompt = prompt_id(request.type)
            entry = self.journal.find(request, prompt, exactly=self.renew)
            mend = entry is not None and self._to_mend(key, entry)
            if entry is not None and not mend:
                found[key] = self._from_journal(key, request, entry)
                continue
            now, ask = prepared(request, self.journal, prompt if self.renew or mend else "")
            if ask:
                todo[key] = now
            else:
                found[key] = self._reused(key, now)
        found |= self._ask_backend(todo, stage)
        for request in again:
            entry = self.journal.find(request, prompt_id(request.type)) if request.about else None
            if entry is not None:
                self._record_use(entry, request)
        return [found[rests(request)] for request in requests]

    def _from_journal(self, key: str, request: Request, entry: Entry) -> Reply | None:
        """Return the journal's reply; note where it stands in for a model's."""
        self.engines[key], self.dates[key] = entry.engine, entry.at
        if entry.failed and all(r.type != request.type or rests(r) != key for r, _ in self.failed):
            self.failed.append((request, clean_line(entry.failed)[:200]))
        self._record_use(entry, request)
        return entry.value()

    def _to_mend(self, key: str, entry: Entry) -> bool:
        """Return whether a reply that stands in for a model's is to be asked for again now."""
        now = bool(entry.failed) and self.mend and key not in self._mended
        if now:
            self._mended[key] = entry
        return now

    def _record_use(self, entry: Entry, request: Request) -> None:
        """Record that a reply is used for this source or concept: the next edit of it starts from the last one used."""
        if self.writer is None or not request.about:
            return
        known = self.journal.knows(entry, request.about)
        if not known or (request.type != "extract" and not self.journal.is_last(entry)):
            now = replace(entry, about=request.about, at=self.at, run=self.writer.run)
            self._journal(replace(now, tokens=(0, 0), usd=0.0))

    def _reused(self, key: str, request: Request) -> Reply | None:
        """Return the reply if earlier ones said all of it, and store it as one."""
        reply = stand_in(request)
        if reply is not None and not self.dry:
            self._store(key, request, Answered(reply, self._last_engine(request)))
        return reply

    def _last_engine(self, request: Request) -> str:
        """Return the engine of the last reply for the same source or concept."""
        older = self.journal.about(request.type, request.about)
        return older[0].engine if older else KEPT

    def _ask_backend(self, todo: dict[str, Request], stage: str) -> dict[str, Reply | None]:
        """Return the backend's replies by what they rest on. Raises: Waiting if some are missing."""
        if not todo:
            return {}
        if self.dry:
            self.open += todo.values()
            return {key: stand_in(request) for key, request in todo.items()}
        if self.backend is None:
            raise self._waiting(
                list(todo.values()), f"{len(todo)} questions of this vault have no answer yet ({stage})"
            )
        keys, out = list(todo), dict[str, Reply | None]()
        stopped: Failed | None = None
        for done, (n, answer) in enumerate(self.backend.answers(list(todo.values())), 1):
            request = todo[keys[n]]
            self.spent.add(answer.tokens, answer.usd)
            if isinstance(answer, Failed) and answer.final:
                stopped = answer
                continue
            out[keys[n]] = self._reply_in(keys[n], request, answer)
            self.progress({"event": stage, "done": done, "of": len(todo), **self._cost_so_far()})
        left = [request for key, request in todo.items() if key not in out]
        if left:
            what = stopped.what if stopped else "not every question was answered"
            raise self._waiting(left, what, stopped.hint if stopped else "")
        return out

    def _cost_so_far(self) -> dict[str, Any]:
        """Return tokens and price so far, for the progress."""
        spent = self.spent
        return {"tokens": spent.sent + spent.received, "usd": round(spent.usd, 6)}

    def _waiting(self, requests: Sequence[Request], what: str, hint: str = "") -> Waiting:
        """Return the error that says which questions are open, and what to do."""
        kept = f"what was answered is kept, {len(requests)} questions are open; nothing was published"
        return Waiting(requests, what, "; ".join(filter(None, (hint or self.hint, kept))))

    def _reply_in(self, key: str, request: Request, answer: Answered | Failed) -> Reply | None:
        """Return the reply in an answer, stored in the journal; for a failure the embedded engine's."""
        if isinstance(answer, Answered):
            whole = Answered(merged(request, answer.reply), answer.engine, answer.tokens, answer.usd)
            self._store(key, request, whole)
            return whole.reply
        why = clean_line(answer.what)[:200]
        self.failed.append((request, why))
        if (entry := self._mended.get(key)) is not None and not (any(answer.tokens) or answer.usd):
            self.engines[key], self.dates[key] = entry.engine, entry.at
            return entry.value()  # as before, and nothing to record
        reply = self.fallback(request)
        if reply is not None:
            whole = Answered(merged(request, reply), "extractive", answer.tokens, answer.usd)
            self._store(key, request, whole, failed=why)
            return whole.reply
        return None

    def _store(self, key: str, request: Request, answer: Answered, failed: str = "") -> None:
        """Store an answer in the journal."""
        self.engines[key], self.dates[key] = answer.engine, self.at
        if self.writer is None:
            return
        self._journal(entry_of(request, answer, self.at, self.writer.run, failed))

    def _journal(self, entry: Entry) -> None:
        """Append an entry to the file of this run, and to the journal in memory."""
        assert self.writer is not None, "asked before"
        dated = self.journal.dated(entry)
        self.writer.keep(dated)
        self.journal.learn(dated)


def entry_of(request: Request, answer: Answered, at: str, run: str, failed: str = "") -> Entry:
    """Return the answer as the journal stores it."""
    key, prompt_version = rests(request), prompt_id(request.type)
    return Entry(
        of=request.type,
        rests=key,
        digest=digest(key, prompt_version),
        prompt=prompt_version,
        engine=clean_line(answer.engine)[:120],
        at=at,
        reply=answer.reply.model_dump(mode="json", exclude_defaults=True),
        about=request.about,
        parts=parts(request),
        tokens=answer.tokens,
        usd=answer.usd,
        failed=failed,
        run=run,
    )
