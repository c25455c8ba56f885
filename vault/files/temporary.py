"""New files with a temporary name, which get their own name once they are complete."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from vault.files.durable import hold
from vault.files.folder import Current, still_named

_NEW = os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@dataclass(slots=True)
class Temporary:
    """A file with a temporary name, open for writing; not `may_go` while that name may hold the user's edit."""

    name: str
    handle: int
    may_go: bool = True


@contextmanager
def temporary_file(folder: int, name: str, keep: Current | None, mode: int = 0o666) -> Iterator[Temporary]:
    """Create a file with owner, mode and attributes of `keep`, or with `mode`; delete it at the end if `may_go`."""
    handle = _new_file(folder, name, mode if keep is None else 0o600)
    temp = Temporary(name, handle)
    try:
        if keep is not None:
            _resemble(handle, keep)
        yield temp
    finally:
        if temp.may_go:
            with suppress(OSError):  # a sweep deletes it later; the error of the block is more important
                os.unlink(name, dir_fd=folder)
        os.close(handle)


def _new_file(folder: int, name: str, mode: int) -> int:
    """Return a handle on a new file, locked so that a sweep sees that it is in use."""
    while True:
        handle = os.open(name, os.O_RDWR | _NEW, mode, dir_fd=folder)
        try:
            held = hold(handle)
            if not held or still_named(handle, folder, name):
                return handle
        except BaseException:
            os.close(handle)
            with suppress(OSError):
                os.unlink(name, dir_fd=folder)
            raise
        os.close(handle)


def _resemble(handle: int, keep: Current) -> None:
    """Give an open file the owner, mode and attributes of another, as far as the system permits."""
    status = keep.status
    if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
        with suppress(PermissionError):
            os.fchown(handle, status.st_uid, status.st_gid)
    with suppress(PermissionError):
        os.fchmod(handle, stat.S_IMODE(status.st_mode))
    for name, value in keep.attributes:
        with suppress(OSError):
            os.setxattr(handle, name, value)
