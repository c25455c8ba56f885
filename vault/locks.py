"""Locks that name their holder: one publisher, one review session.

The lock is the operating system's, on an open file reached by directory handles, so it ends with its process however
that ends and is never stale. The words in the file tell who it is; without the lock they mean nothing, with one
exception. On a folder that machines share by copying it (Syncthing, Dropbox) or by a disk whose locks stay at home
(sshfs), the words of another machine are all there is to see of it: they are believed for ten minutes, and no longer.
Where a disk has no locks at all, nothing is written (see `durable.lock_within`).
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from vault.errors import LockHeld, Refused
from vault.files.durable import overwrite
from vault.files.guard import Guard, Scope
from vault.process.identity import Process, this_process
from vault.text.sanitize import clean_line

_NAME = re.compile(r"[a-z][a-z0-9-]{0,40}")
_POLL_S = 0.05
_BELIEVED = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock. `purpose` is a verb in its -ing form: "compiling", "reviewing"; `since` is ISO 8601, UTC."""

    pid: int
    host: str
    since: str
    purpose: str
    machine: str = field(default="", compare=False)
    started: str = field(default="", compare=False)

    @property
    def process(self) -> Process:
        return Process(self.pid, self.host, self.machine, self.started)

    def __str__(self) -> str:
        return f"{self.process}, {self.purpose} since {self.since}"

    def facts(self) -> dict[str, object]:
        """Who it is, for programs."""
        return {"pid": self.pid, "host": self.host, "since": self.since, "purpose": self.purpose}

    def told(self, at: datetime) -> str:
        """Who it is, and for how long at the instant `at`."""
        age = self.age(at)
        return str(self) if age is None else f"{self}, for {_in_words(age)}"

    def age(self, at: datetime) -> timedelta | None:
        """How long it has been held; None where that cannot be told, as clocks differ or the words are not ours."""
        try:
            age = at - datetime.fromisoformat(self.since)
        except (ValueError, TypeError, OverflowError):
            return None
        return age if age >= timedelta(0) else None


@contextmanager
def lock(
    root: Path,
    name: str,
    *,
    purpose: str,
    timeout_s: float = 0.0,
    now: datetime | None = None,
    waiting: Callable[[str], None] | None = None,
) -> Iterator[Holder]:
    """Holds the lock `name` of the vault at `root` while the block runs.

    `waiting` is told once, in words, whom it is waiting for. Raises: LockHeld, naming the holder, if the lock isn't
    free within `timeout_s`.
    """
    if not _NAME.fullmatch(name):
        raise Refused(f"{name!r} is no name for a lock")
    handle = _acquire(Guard(root, Scope.PUBLISHER), name, timeout_s, waiting)
    since = (now or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    own = this_process()
    holder = Holder(own.pid, own.host, since, purpose, own.machine, own.started)
    try:
        with suppress(OSError):  # a full disk takes the name from the lock, not its force
            overwrite(handle, json.dumps(asdict(holder)).encode())
        yield holder
    finally:
        with suppress(OSError):
            overwrite(handle, b"")
        os.close(handle)


def holder_of(root: Path, name: str) -> Holder | None:
    """Who holds the lock now, for `status`; None if nobody does, nobody can be named, or the one named is dead."""
    data = Guard(root, Scope.PUBLISHER).read(_path(name))
    holder = _parse(data) if data else None
    return holder if holder and _may_live(holder) else None


def _acquire(guard: Guard, name: str, timeout_s: float, waiting: Callable[[str], None] | None) -> int:
    end = time.monotonic() + timeout_s
    while True:
        handle = guard.try_lock(name)
        if handle is not None and not _at_work_elsewhere(handle):
            return handle
        if handle is not None:
            os.close(handle)
        if waiting is not None and timeout_s > 0:
            waiting(f"waiting for {_who(guard, name) or 'another process'}")
            waiting = None
        if time.monotonic() >= end:
            raise _held(guard, name, elsewhere=handle is not None)
        time.sleep(_POLL_S if handle is None else 20 * _POLL_S)


def _at_work_elsewhere(handle: int) -> bool:
    """Whether the words in a lock file that is now ours are those of another machine, and fresh: it sees no lock."""
    try:
        holder = _parse(os.pread(handle, 4096, 0))
    except OSError:  # the lock is ours; what words there were is not worth a failure
        return False
    if holder is None or holder.process.is_here:
        return False
    age = holder.age(datetime.now(UTC))
    return age is not None and age < _BELIEVED


def _who(guard: Guard, name: str) -> str:
    data = guard.read(_path(name))
    holder = _parse(data) if data else None
    return holder.told(datetime.now(UTC)) if holder else ""


def _held(guard: Guard, name: str, *, elsewhere: bool) -> LockHeld:
    who, hint = _who(guard, name), "wait until it is done, or end that process"
    if not who:
        return LockHeld("another process is at work here", where=_path(name), hint="wait until it is done")
    if elsewhere:
        hint = f"that is another machine; its word counts for {_in_words(_BELIEVED)}, then the lock is free"
    return LockHeld(f"held by {who}", where=_path(name), hint=hint)


def _in_words(age: timedelta) -> str:
    """A length of time as one says it: "a moment", "3 minutes", "2 days"."""
    seconds = int(age.total_seconds())
    for length, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= length:
            number = seconds // length
            return f"{number} {unit}" + ("s" if number > 1 else "")
    return "a moment"


def _parse(data: bytes) -> Holder | None:
    """The holder that a lock file names; None if the words are not ours."""
    try:
        found = json.loads(data)
        words = [str(found[key]) for key in ("host", "since", "purpose")]
        words += [str(found.get(key, "")) for key in ("machine", "started")]
        return Holder(int(found["pid"]), *map(clean_line, words))
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None


def _may_live(holder: Holder) -> bool:
    """False for a process of this machine that is gone, as it was killed; and for another machine after a while."""
    lives = holder.process.is_alive if holder.pid > 0 else None
    if lives is not None:
        return lives
    age = holder.age(datetime.now(UTC))
    return age is None or age < _BELIEVED


def _path(name: str) -> str:
    return f".retain/locks/{name}.lock"
