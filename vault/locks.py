"""Locks that name their holder: one publisher, one review session.

The lock is the operating system's, on an open file reached by directory handles, so it ends with its process however
that ends and is never stale. The words in the file only tell who it is; without the lock they mean nothing.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from vault.clean import clean_line
from vault.durable import overwrite
from vault.errors import LockHeld, Refused
from vault.guard import Guard, Scope

_NAME = re.compile(r"[a-z][a-z0-9-]{0,40}")
_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock. `purpose` is a verb in its -ing form: "compiling", "reviewing"; `since` is ISO 8601, UTC."""

    pid: int
    host: str
    since: str
    purpose: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, {self.purpose} since {self.since}"


@contextmanager
def lock(
    root: Path, name: str, *, purpose: str, timeout_s: float = 0.0, now: datetime | None = None
) -> Iterator[Holder]:
    """Holds the lock `name` of the vault at `root` while the block runs.

    Raises: LockHeld, naming the holder, if it isn't free within `timeout_s`.
    """
    if not _NAME.fullmatch(name):
        raise Refused(f"{name!r} is no name for a lock")
    since = (now or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    handle = _acquire(Guard(root, Scope.PUBLISHER), name, timeout_s)
    holder = Holder(os.getpid(), os.uname().nodename, since, purpose)
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


def _acquire(guard: Guard, name: str, timeout_s: float) -> int:
    end = time.monotonic() + timeout_s
    while (handle := guard.try_lock(name)) is None:
        if time.monotonic() >= end:
            raise _held(guard, name)
        time.sleep(_POLL_S)
    return handle


def _held(guard: Guard, name: str) -> LockHeld:
    data = guard.read(_path(name))
    holder = _parse(data) if data else None
    if holder is None:
        return LockHeld("another process is at work here", where=_path(name), hint="wait until it is done")
    return LockHeld(f"held by {holder}", where=_path(name), hint="wait until it is done, or end that process")


def _parse(data: bytes) -> Holder | None:
    """The holder that a lock file names; None if the words are not ours."""
    try:
        found = json.loads(data)
        return Holder(int(found["pid"]), *(clean_line(str(found[key])) for key in ("host", "since", "purpose")))
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None


def _may_live(holder: Holder) -> bool:
    """False only for a process of this machine that is gone: it was killed, and its lock went with it."""
    if holder.host != os.uname().nodename or holder.pid <= 0:
        return True
    try:
        os.kill(holder.pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _path(name: str) -> str:
    return f".retain/locks/{name}.lock"
