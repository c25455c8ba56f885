"""The file of an index on disk: its stamp, by which a change by another program is noticed, its lock, its deletion."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from vault.errors import RetainError
from vault.files.guard import Guard, Scope
from vault.index.place import FOLDER

_POLL_S = 0.05


def refuse_links(path: Path) -> None:
    """Raise OSError where a file of the index, or its folder, is a link or no plain file."""
    if not stat.S_ISDIR(path.parent.lstat().st_mode):
        raise OSError(f"{path.parent} is not a regular folder")
    for name in (path, *(Path(f"{path}{end}") for end in ("-wal", "-shm", "-journal"))):
        with suppress(FileNotFoundError):
            status = name.lstat()
            if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
                raise OSError(f"{name} is not a regular file")


def delete(path: Path) -> None:
    """Delete a file of the index and what SQLite has beside it; its stamp first, so that it never describes another."""
    guard = guard_of(path.parent.parent)
    for end in (".stamp", "", "-wal", "-shm", "-journal"):
        guard.discard(f"{FOLDER}/{path.name}{end}")


def _stamp_of(path: Path) -> bytes:
    """Return size, time of change and inode of a file. Raises: OSError."""
    status = path.lstat()
    return f"{status.st_size} {status.st_ctime_ns} {status.st_ino}".encode()


def store_stamp(path: Path) -> None:
    """Store the stamp of a file of the index beside it."""
    with suppress(RetainError, OSError):
        guard_of(path.parent.parent).keep(f"{FOLDER}/{path.name}.stamp", _stamp_of(path))


def is_as_left(path: Path) -> bool:
    """Return whether a file has the stamp that this program stored when it wrote it last."""
    stamp = Path(f"{path}.stamp")
    try:
        return stat.S_ISREG(stamp.lstat().st_mode) and stamp.read_bytes() == _stamp_of(path)
    except OSError:
        return False


def size_of(path: Path) -> int:
    """Return the bytes of a file; 0 if it is not there."""
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def guard_of(root: Path) -> Guard:
    """Return what writes the index below `root`."""
    return Guard(root, Scope.INDEX)


@contextmanager
def exclusive(root: Path, name: str, wait_s: float) -> Iterator[None]:
    """Hold the lock of an index while its file is made or written. Raises: TimeoutError after `wait_s` seconds."""
    end = time.monotonic() + wait_s
    guard = guard_of(root)
    while (handle := guard.try_lock(f"index-{name}")) is None:
        if time.monotonic() > end:
            raise TimeoutError(f"another process is writing the index {name}")
        time.sleep(_POLL_S)
    try:
        yield
    finally:
        os.close(handle)
