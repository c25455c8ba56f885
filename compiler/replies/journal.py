"""The journal in `ledger/replies/`: what models and agents answered.

One JSON object a line, one file a run. Which answers count is found by folding all of them in one order
(`compiler.replies.knowledge`), so that every machine takes the same ones. Every reply passes its shape and the gates
again in each build: a line has no more rights than a model, no matter who wrote it.
"""

from __future__ import annotations

import json
from bisect import insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from typing import Any

from compiler.protocol.replies import REPLY_TO, Reply
from compiler.protocol.requests import Request
from vault.diagnostic import Diagnostic
from vault.files.guard import Guard
from vault.log import ledger
from vault.text.formatting import clean_line, plural
from vault.vault import Vault

FOLDER = "ledger/replies"
_MOST_TOKENS = 1 << 40
_KNOWN = ("page", "file", "batch")  # how the other types of lines here begin; the rest are of later versions
_RELEVANT = (b'"type":"reply"', b'"type":"batch')  # of the lines here, those that matter to a build
_FORMER = frozenset({"extract", "compose", "cards", "match", "check", "reconcile", "answer"})  # types of version 1
VERSION = 2
SMALL = ", small"  # behind the name of an engine that is a small model


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A stored reply to the request of that id.

    `engine` is who said it ("claude/2 MODEL", "agent/2 NAME"); `usd` None where nobody knows the price. `failed` says
    why there is no answer; then the embedded engine stands in until somebody answers.
    """

    of: str
    request: str
    prompt: str
    engine: str
    at: str
    reply: Mapping[str, Any]
    tokens: tuple[int, int] = (0, 0)  # sent, received
    usd: float | None = 0.0
    failed: str = ""
    run: str = ""
    bytes: tuple[int, int] = (0, 0)  # of the request and of the answer as text

    def value(self) -> Reply | None:
        """Return the reply if it has its shape, else None."""
        return _parsed(self.of, json.dumps(self.reply, sort_keys=True))

    def event(self) -> ledger.Event:
        """Return the entry as a line of the ledger."""
        head = {"v": VERSION, "type": "reply", "of": self.of, "request": self.request, "prompt": self.prompt}
        said = {"engine": self.engine, "run": self.run, "at": self.at}
        paid = {"tokens": list(self.tokens), "usd": self.usd, "bytes": list(self.bytes)}
        return head | said | paid | ({"failed": self.failed} if self.failed else {}) | {"reply": self.reply}


@lru_cache(maxsize=4_096)
def _parsed(of: str, text: str) -> Reply | None:
    try:
        return REPLY_TO[of].from_text(text)
    except (ValueError, KeyError):
        return None


def entry_of(
    request: Request,
    reply: Reply,
    engine: str,
    prompt: str,
    at: str,
    *,
    run: str = "",
    tokens: tuple[int, int] = (0, 0),
    usd: float | None = 0.0,
    failed: str = "",
    size: tuple[int, int] = (0, 0),
) -> Entry:
    """Return a reply as the journal stores it."""
    return Entry(
        of=request.type,
        request=request.id,
        prompt=prompt,
        engine=clean_line(engine)[:120],
        at=at,
        reply=reply.as_brief_json(),
        tokens=tokens,
        usd=usd,
        failed=failed,
        run=run,
        bytes=size,
    )


def entry_in(event: Mapping[str, Any]) -> Entry | None:
    """Return the entry in a ledger line; None for one of another type or version, or damaged."""
    if event.get("type") != "reply" or event.get("v") != VERSION or event.get("of") not in REPLY_TO:
        return None
    texts = {key: event.get(key, "") for key in ("request", "prompt", "engine", "at", "failed", "run")}
    reply, paid, size = event.get("reply"), _paid(event), _pair(event.get("bytes", [0, 0]))
    if paid is None or size is None or not isinstance(reply, dict):
        return None
    if not all(isinstance(text, str) for text in texts.values()):
        return None
    if not texts["request"] or texts["at"] >= ledger.FAR or not _encodable(event):
        return None
    tokens, usd = paid
    return Entry(of=str(event["of"]), reply=reply, tokens=tokens, usd=usd, bytes=size, **texts)


def _pair(value: object) -> tuple[int, int] | None:
    """Return two counts; None if the value is something else."""
    if not isinstance(value, list) or len(value) != 2:
        return None
    if not all(type(n) is int and 0 <= n < _MOST_TOKENS for n in value):
        return None
    return value[0], value[1]


def _paid(event: Mapping[str, Any]) -> tuple[tuple[int, int], float | None] | None:
    """Return the tokens and price in a line; None if they are no counts and no sum of money."""
    tokens, usd = _pair(event.get("tokens", [0, 0])), event.get("usd", 0.0)
    if tokens is None:
        return None
    if usd is not None and (isinstance(usd, bool) or not isinstance(usd, int | float) or not 0 <= usd < _MOST_TOKENS):
        return None
    return tokens, None if usd is None else float(usd)


def _encodable(event: Mapping[str, Any]) -> bool:
    """Return whether the line can be written again: half a surrogate pair, as JSON may spell it, cannot."""
    try:
        ledger.encode(dict(event))
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


class Journal:
    """All stored replies of a vault, in the one order that all machines use. `former` are lines of version 1."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries: list[Entry] = sorted(entries, key=_rank)
        self.notes: list[ledger.Event] = []  # of batches that a server was given, and of those that were fetched
        self.former: list[ledger.Event] = []

    @classmethod
    def of(cls, vault: Vault) -> tuple[Journal, list[Diagnostic]]:
        """Return the vault's journal, and what in it cannot be read."""
        entries: list[Entry] = []
        found: list[Diagnostic] = []
        notes: list[ledger.Event] = []
        former: list[ledger.Event] = []
        for path in vault.paths(FOLDER, ".jsonl"):
            data = vault.read_bytes(path) or b""
            if not any(mark in data for mark in _RELEVANT):
                continue
            events, wrong = ledger.decode(data, path)
            read = {id(event): entry for event in events if (entry := entry_in(event)) is not None}
            entries += read.values()
            old = [e for e in events if _is_former(e)]
            former += old
            known = {id(e) for e in old} | read.keys()
            found += _named(path, wrong, [e for e in events if id(e) not in known])
            notes += (event for event in events if str(event.get("type", "")).startswith("batch"))
        journal = cls(entries)
        journal.notes, journal.former = notes, former
        return journal, found

    def learn(self, entry: Entry) -> None:
        """Add an entry, at the place that it will have when the journal is read again."""
        insort(self.entries, entry, key=_rank)

    def dated(self, entry: Entry) -> Entry:
        """Return the entry dated after all others: the clock may have been set back."""
        latest = self.entries[-1].at if self.entries else ""
        if latest < entry.at:
            return entry
        return replace(entry, at=ledger.instant(ledger.parse_instant(latest) + timedelta(milliseconds=1)))

    def find(self, request: Request) -> Entry | None:
        """Return the latest answer to a request; None if there is none."""
        return next(
            (
                e
                for e in reversed(self.entries)
                if e.of == request.type and e.request == request.id and not e.failed and e.value() is not None
            ),
            None,
        )

    def gave_up(self, request: Request) -> bool:
        """Return whether nobody answered a request when it was asked last.

        Checks are cut otherwise where requests have another size: then whether the last run got no answer to one.
        """
        if request.type not in ("check", "reconcile"):
            return bool(self.failure(request.id))
        last = next((e.run for e in reversed(self.entries) if e.of == request.type), "")
        return any(e.failed for e in self.entries if last and e.of == request.type and e.run == last)

    def failure(self, request: str) -> str:
        """Return why the latest attempt at a request failed; "" if it did not, or if there was none."""
        return next((e.failed for e in reversed(self.entries) if e.request == request), "")


def _is_former(event: ledger.Event) -> bool:
    return event.get("type") == "reply" and event.get("v") == 1 and event.get("of") in _FORMER


def _rank(entry: Entry) -> tuple[str, str, str]:
    """Return the key by which entries are ordered."""
    return entry.at, entry.request, json.dumps(entry.reply, sort_keys=True)


def _named(path: str, wrong: Sequence[Diagnostic], unread: Sequence[ledger.Event]) -> list[Diagnostic]:
    """Return what in one file cannot be read, each kind of fault once."""
    found: list[Diagnostic] = []
    if wrong:
        first = wrong[0]
        more = f" (and {plural(len(wrong) - 1, 'more line')})" if len(wrong) > 1 else ""
        found.append(replace(first, message=f"{first.message}{more}"))
    spoilt = sum(e["type"] == "reply" and e.get("v") == VERSION and e.get("of") in REPLY_TO for e in unread)
    later = sum(not e["type"].startswith(_KNOWN) for e in unread) - spoilt
    if spoilt:
        what = f"skipped {plural(spoilt, 'invalid reply', 'invalid replies')}"
        found.append(Diagnostic(path, 0, "reply-line", what, "restore the file from git, or delete those lines"))
    if later:
        what = f"{plural(later, 'line')} of a type unknown to this version: kept, but not used"
        found.append(Diagnostic(path, 0, "reply-unknown", what))
    return found


@dataclass(slots=True)
class JournalWriter:
    """Appends entries to the file of this run, each on disk before it counts."""

    guard: Guard
    run: str  # a ULID
    written: int = 0  # bytes

    @property
    def path(self) -> str:
        """Return the vault path of the file of this run."""
        return f"{FOLDER}/{self.run}.jsonl"

    def keep(self, entry: Entry) -> None:
        """Append an entry. Raises: WriteFailed."""
        self.note(entry.event())

    def note(self, event: ledger.Event) -> None:
        """Append a line. Raises: WriteFailed."""
        line = ledger.encode(event)
        self.guard.append(self.path, line)
        self.written += len(line)
