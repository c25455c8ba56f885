"""Locks with the name of their holder: one compile, one review session at a time.

The lock is the operating system's, on an open file, so it ends with its process and is never stale. The JSON in the
file says who holds it, and means nothing without the lock, with one exception: in a folder that machines share by
copying (Syncthing, Dropbox) or by a disk without remote locks (sshfs), the entry of another machine is respected for
ten minutes. On a disk without locks nothing is written (see `durable.lock_within`).
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
from vault.text.formatting import clean_line

_NAME = re.compile(r"[a-z][a-z0-9-]{0,40}")
_POLL_S = 0.05
_TRUSTED_FOR = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Holder:
    """The holder of a lock. `purpose` is a verb in its -ing form ("compiling"); `since` is ISO 8601, UTC."""

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
        """Return the holder as JSON."""
        return {"pid": self.pid, "host": self.host, "since": self.since, "purpose": self.purpose}

    def description(self, at: datetime) -> str:
        """Return the holder as text, with how long the lock has been held at the instant `at`."""
        age = self.age(at)
        return str(self) if age is None else f"{self}, for {_duration(age)}"

    def age(self, at: datetime) -> timedelta | None:
        """Return how long the lock has been held; None if the clocks differ or `since` is invalid."""
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
    """Hold the lock `name` of the vault at `root` during the block.

    `waiting` is called once, with a text that names the holder. Raises LockHeld if the lock is not free within
    `timeout_s`.
    """
    if not _NAME.fullmatch(name):
        raise Refused(f"{name!r} is not a lock name")
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
    """Return who holds the lock now; None if nobody does, or the process is dead."""
    data = Guard(root, Scope.PUBLISHER).read(_path(name))
    holder = _parse(data) if data else None
    return holder if holder and _may_be_alive(holder) else None


def _acquire(guard: Guard, name: str, timeout_s: float, waiting: Callable[[str], None] | None) -> int:
    end = time.monotonic() + timeout_s
    while True:
        handle = guard.try_lock(name)
        if handle is not None and not _is_held_elsewhere(handle):
            return handle
        if handle is not None:
            os.close(handle)
        if waiting is not None and timeout_s > 0:
            waiting(f"waiting for {_holder_text(guard, name) or 'another process'}")
            waiting = None
        if time.monotonic() >= end:
            raise _lock_held(guard, name, elsewhere=handle is not None)
        time.sleep(_POLL_S if handle is None else 20 * _POLL_S)


def _is_held_elsewhere(handle: int) -> bool:
    """Return whether a lock file that we have locked has a recent entry of another machine."""
    try:
        holder = _parse(os.pread(handle, 4096, 0))
    except OSError:  # the lock is ours; what words there were is not worth a failure
        return False
    if holder is None or holder.process.is_here:
        return False
    age = holder.age(datetime.now(UTC))
    return age is not None and age < _TRUSTED_FOR


def _holder_text(guard: Guard, name: str) -> str:
    data = guard.read(_path(name))
    holder = _parse(data) if data else None
    return holder.description(datetime.now(UTC)) if holder else ""


def _lock_held(guard: Guard, name: str, *, elsewhere: bool) -> LockHeld:
    """Return the error that names the holder."""
    who, hint = _holder_text(guard, name), "wait until it has finished, or end that process"
    if not who:
        return LockHeld("locked by another process", where=_path(name), hint="wait until it has finished")
    if elsewhere:
        hint = f"locked by another machine; expires after {_duration(_TRUSTED_FOR)}"
    return LockHeld(f"locked by {who}", where=_path(name), hint=hint)


def _duration(age: timedelta) -> str:
    """Return a length of time as text: "a moment", "3 minutes", "2 days"."""
    seconds = int(age.total_seconds())
    for length, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= length:
            number = seconds // length
            return f"{number} {unit}" + ("s" if number > 1 else "")
    return "a moment"


def _parse(data: bytes) -> Holder | None:
    """Return the holder that a lock file names; None for an invalid entry."""
    try:
        found = json.loads(data)
        words = [str(found[key]) for key in ("host", "since", "purpose")]
        words += [str(found.get(key, "")) for key in ("machine", "started")]
        return Holder(int(found["pid"]), *map(clean_line, words))
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None


def _may_be_alive(holder: Holder) -> bool:
    """Return False for a dead process of this machine, and for another machine after ten minutes."""
    lives = holder.process.is_alive if holder.pid > 0 else None
    if lives is not None:
        return lives
    age = holder.age(datetime.now(UTC))
    return age is None or age < _TRUSTED_FOR


def _path(name: str) -> str:
    return f".retain/locks/{name}.lock"
