"""The entries of the wiki's log in `ledger/builds.jsonl`: builds, questions filed, checks and promotions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from vault.files.guard import Guard
from vault.log.ledger import BUILDS, Event, after, decode, encode, ordered
from vault.text.formatting import clean_line, truncate

Kind = Literal["question", "lint", "promotion"]
_BUILD = "build"
_KINDS = ("question", "lint", "promotion")
_TITLE = 200  # characters


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: `kind` is the command of a build (compile, rebuild), else question, lint or promotion."""

    at: str  # instant
    kind: str
    title: str


def record_event(guard: Guard, kind: Kind, title: str, at: datetime) -> None:
    """Append an entry to the log, which the next compile shows in `wiki/_log.md`.

    `guard` is the vault's for Scope.LOG or PUBLISHER. A question is filed under its words, a check under what it did, a
    promotion under the concept of the note. Raises: WriteFailed, Refused, LockHeld.
    """
    known, _ = decode(guard.read(BUILDS) or b"", BUILDS)
    event = {"v": 1, "type": kind, "at": after(known, at), "words": log_title(title)}
    guard.append(BUILDS, encode(event))


def log_title(title: str) -> str:
    """Return a title as the log has it: on one line, and not too long."""
    return truncate(clean_line(title), _TITLE)


def entries_in(events: Iterable[Event]) -> list[Entry]:
    """Return the entries among the events of the ledger, the oldest first; unknown ones are left out."""
    found = []
    for event in ordered(events):
        type_ = str(event["type"])
        kind = str(event.get("command", "")) if type_ == _BUILD else type_
        if type_ == _BUILD or type_ in _KINDS:
            found.append(Entry(str(event["at"]), clean_line(kind), clean_line(str(event.get("words", "")))))
    return found


def builds_in(events: Iterable[Event]) -> list[Event]:
    """Return the builds among the events of the ledger, the oldest first."""
    return [event for event in ordered(events) if event["type"] == _BUILD]
