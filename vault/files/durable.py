"""Write bytes to open files so that they are on disk, and turn errors of the system into messages."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from vault.errors import EditedMeanwhile, Refused, Unreadable, WriteFailed

if sys.platform != "win32":
    import fcntl

_MOMENT_S = 1.0  # in which a sweep that looks at a file is done with it
_BLOCK = 1 << 20
_SPACE = "free some disk space, then try again"
_OWNER = "check the owner and permissions of the folder"
_WORDS = {
    errno.ENOSPC: ("the disk is full", _SPACE),
    errno.EDQUOT: ("disk quota exceeded", _SPACE),
    errno.EFBIG: ("file size limit of this process exceeded", "raise it with `ulimit -f`"),
    errno.EROFS: ("the file system is read-only", "mount it as writable"),
    errno.EACCES: ("no write permission", _OWNER),
    errno.EPERM: ("no write permission", _OWNER),
    errno.EIO: ("the disk reported an error", "copy the vault to a healthy disk"),
    errno.EMFILE: ("too many files are open", "raise the limit with `ulimit -n`"),
    errno.ENFILE: ("too many files are open on this machine", "close some programs"),
    errno.ENOLCK: ("this file system does not support locks", "keep the vault on a local disk"),
}
_NO_LOCKS = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)


class failing:  # a class and no generator: it is entered at every rating
    """A context that turns OSError for the file `path` into WriteFailed, EditedMeanwhile or Refused."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, OSError):
            return
        if isinstance(error, FileNotFoundError):
            what = "the file or folder no longer exists"
            raise EditedMeanwhile(what, where=self._path, hint="try again") from error
        if isinstance(error, NotADirectoryError):
            raise Refused(
                "a file exists where a folder is needed", where=self._path, hint="move it elsewhere"
            ) from error
        words, hint = words_for(error)
        raise WriteFailed(f"not written: {words}", where=self._path, hint=hint) from error


def words_for(error: OSError) -> tuple[str, str]:
    """Return the message and the hint for an error of the system."""
    code = error.errno or 0
    return _WORDS.get(code, (os.strerror(code).lower(), ""))


def write_all(handle: int, data: bytes) -> None:
    """Write all of `data`. Raises OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def sync(handle: int) -> None:
    """Flush a file to disk; on macOS also from the drive's cache."""
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        with suppress(OSError):
            fcntl.fcntl(handle, full)
            return
    os.fsync(handle)


def sync_folder(handle: int) -> None:
    """Flush the names in an open folder to disk."""
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems have nothing to sync in a folder
            raise


def sync_path(folder: Path) -> None:
    """Flush the names in the folder at a path to disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        sync_folder(handle)
    finally:
        os.close(handle)


class AppendedLines:
    """Lines at the end of a log that are not on disk yet. The log stays locked until `sync` is called, once.

    `start` and `end` are the sizes of the log before and after, `inode` is the log's.
    """

    def __init__(self, handle: int, lines: bytes, path: str) -> None:
        """Append `lines` to an open, locked log, after ending a torn last line. Raises: OSError, WriteFailed."""
        self._handle, self._path = handle, path
        status = os.fstat(handle)
        self.start, self.inode = status.st_size, status.st_ino
        if self.start and os.pread(handle, 1, self.start - 1) != b"\n":
            lines = b"\n" + lines
        self.end = self.start + len(lines)
        with self._removed_on_error():
            write_all(handle, lines)

    def sync(self) -> None:
        """Flush the lines to disk and unlock the log. Raises: WriteFailed; then the log is as it was.

        After a failed sync nothing is retried: the user gets a message and rates the card again.
        """
        try:
            with failing(self._path), self._removed_on_error():
                sync(self._handle)
        finally:
            os.close(self._handle)

    @contextmanager
    def _removed_on_error(self) -> Iterator[None]:
        """Remove the lines again on an error. Raises: WriteFailed if that fails, too."""
        try:
            yield
        except BaseException as error:
            if not _truncated(self._handle, self.start, self.end):
                reason = words_for(error)[0] if isinstance(error, OSError) else "interrupted"
                raise WriteFailed(
                    f"{reason}; the last line may or may not have been saved",
                    where=self._path,
                    hint="check the end of the file before trying again",
                ) from error
            raise


def _truncated(handle: int, size: int, end: int) -> bool:
    """Truncate the log to `size` bytes, if it has at most `end`; return whether it has that size now."""
    with suppress(OSError):
        if size < os.fstat(handle).st_size <= end:
            os.ftruncate(handle, size)
            with suppress(OSError):
                os.fsync(handle)
        return os.fstat(handle).st_size == size
    return False


def lock_within(handle: int, seconds: float) -> bool:
    """Return whether the lock on an open file was taken in time; it ends with the handle or the process.

    Raises OSError on a disk without locks, as two writers would mix their lines.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(0.0005)
        except OSError as error:
            if error.errno in _NO_LOCKS:
                raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK)) from error
            raise
        else:
            return True


def hold(handle: int) -> bool:
    """Return whether the lock on an open file of ours was taken within a moment; False where a disk has no locks."""
    try:
        return lock_within(handle, _MOMENT_S)
    except OSError:
        return False


def is_held(handle: int) -> bool:
    """Return whether another process has the lock on an open file, or may have it where a disk has no locks."""
    try:
        return not lock_within(handle, 0)
    except OSError:
        return True


def overwrite(handle: int, data: bytes) -> None:
    """Replace the content of an open file in place; for lock files, which need not be whole."""
    os.ftruncate(handle, 0)
    done = 0
    while done < len(data):
        done += os.pwrite(handle, data[done:], done)


@contextmanager
def open_source(source: Path) -> Iterator[int]:
    """Open a file of the user for reading, also through a link. Raises Unreadable."""
    try:
        handle = os.open(source, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        raise _unreadable(source, error) from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Unreadable("not a regular file", where=str(source))
        yield handle
    finally:
        os.close(handle)


def copy_bytes(reading: int, writing: int, source: Path) -> str:
    """Copy an open file to another and return the SHA-256. Raises EditedMeanwhile if it changes meanwhile."""
    before = os.fstat(reading)
    digest = hashlib.sha256()
    copied = 0
    while copied <= before.st_size and (block := _read_block(reading, source)):
        digest.update(block)
        write_all(writing, block)
        copied += len(block)
    after = os.fstat(reading)
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns) or copied != after.st_size:
        raise EditedMeanwhile("the file changed while it was being read", where=str(source), hint="add it again")
    return digest.hexdigest()


def _read_block(reading: int, source: Path) -> bytes:
    try:
        return os.read(reading, _BLOCK)
    except OSError as error:
        raise _unreadable(source, error) from error


def _unreadable(source: Path, error: OSError) -> Unreadable:
    """Return the error for a source that cannot be read."""
    return Unreadable(f"cannot be read: {os.strerror(error.errno or 0).lower()}", where=str(source))
