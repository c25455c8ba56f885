"""The journal of replies in `ledger/replies/`: what models and agents answered, kept by what the answer rests on.

One JSON object a line, one file a run. A reply is looked up by the words that it rests on, so that neither another
model nor another machine asks again; of several the latest counts, those to the prompt of today first. Every reply
passes its shape and the gates again in each build: what a stranger wrote in a journal has no more rights than a model.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from compiler.engines.port import REPLY_TO, Reply, Request, rests
from vault import ledger
from vault.clean import clean_line
from vault.diagnostic import Diagnostic
from vault.guard import Guard
from vault.store import Vault

FOLDER = "ledger/replies"
_REPLY = b'"type":"reply"'


@dataclass(frozen=True, slots=True)
class Entry:
    """A reply that was kept. `digest` is of what it `rests` on and of the prompt; `parts` of what each bit rests on.

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
        """The reply, if it has its shape."""
        try:
            return REPLY_TO[self.of].model_validate(self.reply)
        except ValidationError:
            return None

    def event(self) -> ledger.Event:
        head = {"v": 1, "type": "reply", "of": self.of, "rests": self.rests, "digest": self.digest}
        said = {"prompt": self.prompt, "engine": self.engine, "run": self.run, "at": self.at, "about": self.about}
        paid = {"tokens": list(self.tokens), "usd": self.usd}
        rest = {"parts": dict(self.parts), "failed": self.failed}
        return head | said | paid | {k: v for k, v in rest.items() if v} | {"reply": self.reply}


def digest(rest: str, prompt: str) -> str:
    """SHA-256 of a request with its prompt ("extract/1 0123456789ab")."""
    return hashlib.sha256(f"{rest} {prompt}".encode()).hexdigest()


def entry_in(event: Mapping[str, Any]) -> Entry | None:
    """The entry that a ledger line holds; None for one of another type, of a later version, or spoilt."""
    if event.get("type") != "reply" or event.get("v") != 1 or event.get("of") not in REPLY_TO:
        return None
    try:
        sent, received = event.get("tokens", (0, 0))
        usd = event.get("usd", 0.0)
        texts = {k: event.get(k, "") for k in ("rests", "digest", "prompt", "engine", "at", "about", "failed", "run")}
        parts, reply = event.get("parts", {}), event["reply"]
        if not all(isinstance(t, str) for t in texts.values()) or not isinstance(reply, dict):
            return None
        if not isinstance(parts, dict) or not all(isinstance(p, str) for p in parts.values()):
            return None
        paid = None if usd is None else float(usd)
        return Entry(
            of=str(event["of"]), reply=reply, parts=parts, tokens=(int(sent), int(received)), usd=paid, **texts
        )
    except (KeyError, TypeError, ValueError):
        return None


class Journal:
    """All replies of a vault. Find them by what they rest on; `keep` appends new ones to the file of this run."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._by_rests: dict[tuple[str, str], list[Entry]] = {}
        self._about: dict[tuple[str, str], list[Entry]] = {}
        self.entries: list[Entry] = []
        for entry in sorted(entries, key=_rank):
            self.learn(entry)

    @classmethod
    def of(cls, vault: Vault) -> tuple[Journal, list[Diagnostic]]:
        """The vault's journal, and what in it cannot be read."""
        entries: list[Entry] = []
        found: list[Diagnostic] = []
        for path in vault.paths(FOLDER, ".jsonl"):
            data = vault.read_bytes(path) or b""
            if _REPLY not in data:
                continue
            events, wrong = ledger.decode(data, path)
            found += wrong
            entries += (entry for event in events if (entry := entry_in(event)) is not None)
        return cls(entries), found

    def learn(self, entry: Entry) -> None:
        """Take an entry in that is later than all so far."""
        self.entries.append(entry)
        self._by_rests.setdefault((entry.of, entry.rests), []).append(entry)
        if entry.about:
            self._about.setdefault((entry.of, entry.about), []).append(entry)

    def find(self, request: Request, prompt: str, *, exactly: bool = False) -> Entry | None:
        """The reply to the request: the latest to this prompt, else (but for `exactly`) the latest to another."""
        rest = rests(request)
        known = [e for e in self._by_rests.get((request.type, rest), ()) if e.value() is not None]
        wanted = digest(rest, prompt)
        mine = [e for e in known if e.digest == wanted]
        if mine or exactly:
            return mine[-1] if mine else None
        return known[-1] if known else None

    def about(self, of: str, id_: str) -> Sequence[Entry]:
        """What was ever answered for that source or concept, the latest first."""
        return self._about.get((of, id_), [])[::-1]


def _rank(entry: Entry) -> tuple[str, str, str]:
    return entry.at, entry.digest, json.dumps(entry.reply, sort_keys=True)


@dataclass(slots=True)
class JournalWriter:
    """Appends entries to the file of this run, each on disk before it counts."""

    guard: Guard
    run: str  # a ULID
    written: int = 0  # bytes

    @property
    def path(self) -> str:
        return f"{FOLDER}/{self.run}.jsonl"

    def keep(self, entry: Entry) -> None:
        """Raises: WriteFailed."""
        line = ledger.encode(entry.event())
        self.guard.append(self.path, line)
        self.written += len(line)


def told(entry: Entry) -> str:
    """Who said it, for a human."""
    return clean_line(entry.engine)
