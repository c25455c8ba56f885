"""The journal in `ledger/replies/`: what models and agents answered, found by what the answer rests on.

One JSON object a line, one file a run. A reply is looked up by the words that it rests on, so that neither another
model nor another machine asks again; of several the latest counts, whichever prompt it answered, so that every machine
takes the same one. Every reply passes its shape and the gates again in each build: what a stranger wrote in a journal
has no more rights than a model.
"""

from __future__ import annotations

import hashlib
import json
from bisect import insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import groupby
from typing import Any

from pydantic import ValidationError

from compiler.model.requests import REPLY_TO, Reply, Request, rests
from vault.diagnostic import Diagnostic
from vault.files.guard import Guard
from vault.log import ledger
from vault.vault import Vault

FOLDER = "ledger/replies"
PASSAGES = "passages"  # the part of an entry that lists the digests of the passages that it was given
_MOST_TOKENS = 1 << 40
_KNOWN = ("page", "file", "batch")  # how the other types of lines here begin; the rest are of later versions
_RELEVANT = (b'"type":"reply"', b'"type":"batch')  # of the lines here, those that matter to a build


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A stored reply. `digest` is of what it `rests` on and of the prompt; `parts` of what each bit rests on.

    `engine` is who said it ("claude/1 MODEL", "agent/1 NAME", "extractive/2" where a model could not); `usd` None
    where nobody knows the price. `failed` says why the embedded engine's reply stands in.
    """

    of: str
    rests: str
    digest: str
    prompt: str
    engine: str
    at: str
    reply: Mapping[str, Any]
    about: str = ""  # the id of the source or concept that it is for
    parts: Mapping[str, str] = field(default_factory=dict)
    tokens: tuple[int, int] = (0, 0)  # sent, received
    usd: float | None = 0.0
    failed: str = ""
    run: str = ""

    def value(self) -> Reply | None:
        """Return the reply if it has its shape, else None."""
        try:
            return REPLY_TO[self.of].model_validate(self.reply)
        except ValidationError:
            return None

    def event(self) -> ledger.Event:
        """Return the entry as a line of the ledger."""
        head = {"v": 1, "type": "reply", "of": self.of, "rests": self.rests, "digest": self.digest}
        said = {"prompt": self.prompt, "engine": self.engine, "run": self.run, "at": self.at, "about": self.about}
        paid = {"tokens": list(self.tokens), "usd": self.usd}
        rest = {"parts": dict(self.parts), "failed": self.failed}
        return head | said | paid | {k: v for k, v in rest.items() if v} | {"reply": self.reply}


def digest(rest: str, prompt: str) -> str:
    """Return the SHA-256 of what a request rests on and of its prompt ("extract/1 0123456789ab")."""
    return hashlib.sha256(f"{rest} {prompt}".encode()).hexdigest()


def entry_in(event: Mapping[str, Any]) -> Entry | None:
    """Return the entry in a ledger line; None for one of another type, of a later version, or damaged."""
    if event.get("type") != "reply" or event.get("v") != 1 or event.get("of") not in REPLY_TO:
        return None
    keys = ("rests", "digest", "prompt", "engine", "at", "about", "failed", "run")
    texts = {key: event.get(key, "") for key in keys}
    parts, reply, paid = event.get("parts", {}), event.get("reply"), _paid(event)
    if paid is None or not isinstance(reply, dict) or not isinstance(parts, dict):
        return None
    if not all(isinstance(text, str) for text in (*texts.values(), *parts.values())):
        return None
    if not texts["rests"] or texts["at"] >= ledger.FAR or not _encodable(event):
        return None
    tokens, usd = paid
    return Entry(of=str(event["of"]), reply=reply, parts=parts, tokens=tokens, usd=usd, **texts)


def _paid(event: Mapping[str, Any]) -> tuple[tuple[int, int], float | None] | None:
    """Return the tokens and price in a line; None if they are no counts and no sum of money."""
    tokens, usd = event.get("tokens", [0, 0]), event.get("usd", 0.0)
    if not isinstance(tokens, list) or len(tokens) != 2:
        return None
    if not all(type(n) is int and 0 <= n < _MOST_TOKENS for n in tokens):
        return None
    if usd is not None and (isinstance(usd, bool) or not isinstance(usd, int | float) or not 0 <= usd < _MOST_TOKENS):
        return None
    return (tokens[0], tokens[1]), None if usd is None else float(usd)


def _encodable(event: Mapping[str, Any]) -> bool:
    """Return whether the line can be written again: half a surrogate pair, as JSON may spell it, cannot."""
    try:
        ledger.encode(dict(event))
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


class Journal:
    """All stored replies of a vault, found by what they rest on."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._by_rests: dict[tuple[str, str], list[Entry]] = {}
        self._about: dict[tuple[str, str], list[Entry]] = {}
        self.entries: list[Entry] = []
        self.notes: list[ledger.Event] = []  # of batches that a server was given, and of those that were fetched
        self._by_source: dict[str, dict[str, list[Entry]]] = {}
        for entry in _ordered(entries):
            self._add(entry)

    @classmethod
    def of(cls, vault: Vault) -> tuple[Journal, list[Diagnostic]]:
        """Return the vault's journal, and what in it cannot be read."""
        entries: list[Entry] = []
        found: list[Diagnostic] = []
        notes: list[ledger.Event] = []
        for path in vault.paths(FOLDER, ".jsonl"):
            data = vault.read_bytes(path) or b""
            if not any(mark in data for mark in _RELEVANT):
                continue
            events, wrong = ledger.decode(data, path)
            read = {id(event): entry for event in events if (entry := entry_in(event)) is not None}
            entries += read.values()
            found += _named(path, wrong, [e for e in events if id(e) not in read])
            notes += (event for event in events if str(event.get("type", "")).startswith("batch"))
        journal = cls(entries)
        journal.notes = notes
        return journal, found

    def _add(self, entry: Entry) -> None:
        """Add an entry that comes after all others."""
        self.entries.append(entry)
        self._by_rests.setdefault((entry.of, entry.rests), []).append(entry)
        if entry.about:
            self._about.setdefault((entry.of, entry.about), []).append(entry)

    def learn(self, entry: Entry) -> None:
        """Add an entry, at the place that it will have when the journal is read again."""
        self.entries.append(entry)
        insort(self._by_rests.setdefault((entry.of, entry.rests), []), entry, key=_rank)
        if entry.about:
            insort(self._about.setdefault((entry.of, entry.about), []), entry, key=_rank)
            self._by_source.pop(entry.about, None)

    def dated(self, entry: Entry) -> Entry:
        """Return the entry dated after those that it must come after: the clock may have been set back."""
        same = self._by_rests.get((entry.of, entry.rests), [])
        kin = self._about.get((entry.of, entry.about), []) if entry.about else []
        before, others = (max((e.at for e in each if e.at < ledger.FAR), default="") for each in (same, kin))
        latest = max(before, others if others > entry.at else "")
        if latest < entry.at:
            return entry
        later = ledger.parse_instant(latest) + timedelta(milliseconds=1)
        return replace(entry, at=ledger.instant(later))

    def find(self, request: Request, prompt: str, *, exactly: bool = False) -> Entry | None:
        """Return the latest reply to the request; one of the embedded engine only if there is no other.

        With `exactly`, only what was answered to this prompt counts.
        """
        rest = rests(request)
        known = self._by_rests.get((request.type, rest), ())
        if exactly:
            wanted = digest(rest, prompt)
            known = [e for e in known if e.digest == wanted and not e.failed]
        latest_first = list(reversed(known))
        return next((e for e in sorted(latest_first, key=lambda e: bool(e.failed)) if e.value() is not None), None)

    def about(self, of: str, id_: str) -> Sequence[Entry]:
        """Return all replies for a source or concept that have their shape, the latest first."""
        return [entry for entry in reversed(self._about.get((of, id_), ())) if entry.value() is not None]

    def knows(self, entry: Entry, about: str) -> bool:
        """Return whether the journal says that this reply is for that source or concept."""
        return any(e.rests == entry.rests for e in self._about.get((entry.of, about), ()))

    def is_last(self, entry: Entry) -> bool:
        """Return whether nothing later was answered for the same source or concept."""
        return self._about.get((entry.of, entry.about), [entry])[-1].rests == entry.rests

    def replies_by_passage(self, source: str) -> Mapping[str, Sequence[Entry]]:
        """Return for each passage (by digest) the replies to segments of the source that held it, the latest first."""
        if source not in self._by_source:
            by_key: dict[str, list[Entry]] = {}
            for entry in self.about("extract", source):
                for key in entry.parts.get(PASSAGES, "").split():
                    by_key.setdefault(key, []).append(entry)
            self._by_source[source] = by_key
        return self._by_source[source]


def _rank(entry: Entry) -> tuple[str, str, str]:
    """Return the key by which entries are ordered."""
    return entry.at, entry.digest, json.dumps(entry.reply, sort_keys=True)


def _ordered(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries in the one order that all machines use, whatever the order of their lines."""
    found: list[Entry] = []
    for _, alike in groupby(sorted(entries, key=lambda e: (e.at, e.digest)), lambda e: (e.at, e.digest)):
        same = list(alike)  # spelling a reply out is slow, and only those that nothing else tells apart need it
        found += sorted(same, key=_rank) if len(same) > 1 else same
    return found


def _named(path: str, wrong: Sequence[Diagnostic], unread: Sequence[ledger.Event]) -> list[Diagnostic]:
    """Return what in one file cannot be read, each kind of fault once."""
    found: list[Diagnostic] = []
    if wrong:
        first = wrong[0]
        more = f" (and {len(wrong) - 1} more lines)" if len(wrong) > 1 else ""
        found.append(replace(first, message=f"{first.message}{more}"))
    spoilt = sum(e["type"] == "reply" and e.get("v") == 1 and e.get("of") in REPLY_TO for e in unread)
    later = sum(not e["type"].startswith(_KNOWN) for e in unread) - spoilt
    if spoilt:
        what = f"{spoilt} replies are invalid: skipped"
        found.append(Diagnostic(path, 0, "reply-line", what, "restore the file from git, or delete those lines"))
    if later:
        what = f"{later} lines are of a kind unknown to this version: kept, but not used"
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
