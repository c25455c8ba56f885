"""The one hand that writes. Nothing else in retain opens a file for writing, makes, renames or deletes one.

What holds for every write: the path is on the scope's allow-list; no folder on the way is a link; none is, under
whatever name, a folder of the human's; the bytes arrive whole or not at all; and a file that is no longer what was
read keeps the newer bytes.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path

from vault.durable import (
    append_lines,
    copy_bytes,
    failing,
    lock_within,
    open_source,
    sync,
    sync_folder,
    sync_path,
    write_all,
)
from vault.errors import LockHeld, Refused
from vault.export_place import check_export
from vault.folder import (
    Folder,
    Identity,
    expect_bytes,
    identity_at,
    identity_of,
    open_folder_at,
    read_at,
    sha256_hex,
    still_named,
)
from vault.safe_path import HUMAN_FOLDERS, TEMP_PREFIX, Scope, is_append_only, makeable, refusal, writable

__all__ = ["Guard", "Scope", "export_file", "sha256_hex", "write_trace"]

_NEW = os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_OLD = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_STALE_S, _LOG_WAIT_S = 600.0, 10.0


class Guard(Folder):
    """A vault's root and what one scope may write in it. Reading is free below the root; links are not followed.

    `forbidden` names further folders, wherever they lie, that must never be written: the personal vault.
    """

    def __init__(self, root: Path, scope: Scope, *, forbidden: Iterable[Path] = ()) -> None:
        super().__init__(root)
        self.scope = scope
        self._forbidden = tuple(forbidden)

    def write(self, path: str, data: bytes, *, expect: str | None) -> bool:
        """Puts `data` in place of the file whose bytes have the SHA-256 `expect` (None: there is no file yet).

        Atomic and on disk when it returns True. False, and nothing is touched, if the file already holds `data`.
        Raises: EditedMeanwhile if the file is not what was expected; Refused; WriteFailed.
        """
        parts = writable(path, self.scope)
        if expect is not None and not self.scope.replaces:
            raise refusal(path, "this command only adds files, it never changes one")
        if expect is not None and is_append_only(parts):
            raise refusal(path, "a log only grows; nothing in it is replaced")
        with failing(path), self._opened(path, parts[:-1], create=expect is None) as folder:
            found = read_at(folder, parts[-1], path)
            if found is not None and found.data == data:
                return False
            expect_bytes(path, found, expect)
            with _temporary(folder, found.status if found else None) as (name, handle):
                write_all(handle, data)
                sync(handle)
                _install(folder, name, parts[-1], path, expect)
            sync_folder(folder)
        return True

    def append(self, path: str, lines: bytes) -> None:
        """Adds whole lines at the end of a log; on disk when it returns. A torn last line is ended first.

        Raises: WriteFailed, after which the log holds what it held; Refused; LockHeld if another process keeps the log.
        """
        parts = writable(path, self.scope)
        if not (lines.endswith(b"\n") and parts[-1].endswith(".jsonl") and self.scope.replaces):
            raise refusal(path, "only whole lines are appended, and only to a .jsonl file of retain's own")
        with failing(path), self._opened(path, parts[:-1], create=True) as folder:
            handle = _hold(folder, parts[-1], path, wait_s=_LOG_WAIT_S)
            if handle is None:
                raise LockHeld("another process keeps the file locked", where=path, hint="end that process")
            try:
                if os.fstat(handle).st_size == 0:  # perhaps made just now
                    sync_folder(folder)
                append_lines(handle, lines, path)
            finally:
                os.close(handle)

    def remove(self, path: str, *, expect: str) -> None:
        """Deletes the file whose bytes have the SHA-256 `expect`. Raises as `write` does."""
        parts = writable(path, self.scope)
        if not self.scope.replaces or is_append_only(parts):
            raise refusal(path, "nothing is deleted there")
        with failing(path), self._opened(path, parts[:-1], create=False) as folder:
            expect_bytes(path, read_at(folder, parts[-1], path), expect)
            aside = _temp_name()
            os.rename(parts[-1], aside, src_dir_fd=folder, dst_dir_fd=folder)
            try:  # only now can nobody reach it by its name any more
                expect_bytes(path, read_at(folder, aside, path), expect)
                os.unlink(aside, dir_fd=folder)
            except BaseException:
                _put_back(folder, aside, parts[-1])
                raise
            sync_folder(folder)

    def makedirs(self, path: str) -> None:
        """Makes the folder and those above it that are missing; on disk when it returns."""
        parts = makeable(path, self.scope)
        with failing(path), self._opened(path, parts, create=True):
            pass

    def copy_in(self, source: Path, path: str) -> str:
        """Copies the human's own file into `raw/` under a new name; gives the SHA-256 of its bytes.

        A file with equal bytes that is already there is left as it is. Raises: Refused if other bytes are there;
        EditedMeanwhile if the source changed while it was read; WriteFailed.
        """
        parts = writable(path, self.scope)
        with (
            failing(path),
            open_source(source) as reading,
            self._opened(path, parts[:-1], create=True) as folder,
            _temporary(folder, None) as (name, handle),
        ):
            digest = copy_bytes(reading, handle, source)
            found = read_at(folder, parts[-1], path)
            if found and found.sha256 == digest:
                return digest
            if found:
                raise refusal(path, "another file has that name already", hint="rename one of them")
            sync(handle)
            _install(folder, name, parts[-1], path, None)
            sync_folder(folder)
            return digest

    def sweep(self, *, older_than_s: float = _STALE_S) -> list[str]:
        """Removes the temporary files that a killed process left where this scope may write; names what went.

        Younger ones stay: another process may be about to put them in place.
        """
        removed: set[str] = set()
        for top in {grant.folder for grant in self.scope.value}:
            with suppress(Refused), failing("/".join(top)):
                self._sweep(top, time.time() - older_than_s, removed)
        return sorted(removed)

    def _sweep(self, top: tuple[str, ...], before: float, removed: set[str]) -> None:
        with self._opened("/".join(top), top, create=False) as folder, os.scandir(folder) as scan:
            below = []
            for entry in scan:
                if top and entry.is_dir(follow_symlinks=False):
                    below.append(entry.name)
                elif entry.name.startswith(TEMP_PREFIX) and entry.stat(follow_symlinks=False).st_ctime <= before:
                    os.unlink(entry.name, dir_fd=folder)
                    removed.add("/".join((*top, entry.name)))
        for name in below:
            self._sweep((*top, name), before, removed)

    def try_lock(self, name: str) -> int | None:
        """A handle that holds the lock `.retain/locks/<name>.lock` until it is closed; None if another has it.

        For `vault.locks`. Should .retain be deleted meanwhile, the lock moves to the new file.
        """
        path = f".retain/locks/{name}.lock"
        parts = writable(path, Scope.PUBLISHER)
        with failing(path), self._opened(path, parts[:-1], create=True) as folder:
            return _hold(folder, parts[-1], path, wait_s=0)

    @contextmanager
    def _opened(self, path: str, parts: tuple[str, ...], *, create: bool) -> Iterator[int]:
        """A handle on a folder to write in, proved to be none of the human's; made with `create`."""
        handle = self._open_or_make_root()
        try:
            theirs = self._human_identities(handle, parts)
            _not_theirs(handle, theirs, path)
            for index, name in enumerate(parts):
                below = _step(handle, name, "/".join(parts[: index + 1]), create=create)
                os.close(handle)
                handle = below
                _not_theirs(handle, theirs, path)
            yield handle
        finally:
            os.close(handle)

    def _open_or_make_root(self) -> int:
        if self.scope is Scope.INIT and not self.root.exists():
            self.root.mkdir(parents=True)
            sync_path(self.root.parent)
        return self._open_root()

    def _human_identities(self, root: int, parts: tuple[str, ...]) -> frozenset[Identity]:
        """Device and inode of every folder not to be written, but for the one that the allow-list grants by name."""
        found = [identity_at(name, root) for name in HUMAN_FOLDERS if parts[:1] != (name,)]
        found += [identity_at(folder) for folder in self._forbidden]
        return frozenset(identity for identity in found if identity)


@contextmanager
def export_file(path: Path, *, forbidden: Iterable[Path] = ()) -> Iterator[Path]:
    """A temporary path to write an export to; it takes the name `path` when the block ends well, and goes when not.

    Raises: Refused where `path` is a folder or lies in a part of a vault that exports don't belong in; WriteFailed.
    """
    target = Path(os.path.realpath(path))
    with failing(str(path)):
        status = check_export(target, shown=str(path), forbidden=forbidden)
        folder = os.open(target.parent, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0))
        try:
            with _temporary(folder, status) as (name, _):
                yield target.parent / name
                whole = os.open(name, os.O_RDONLY | _OLD, dir_fd=folder)
                try:
                    sync(whole)
                finally:
                    os.close(whole)
                os.rename(name, target.name, src_dir_fd=folder, dst_dir_fd=folder)
                sync_folder(folder)
        finally:
            os.close(folder)


def write_trace(text: str) -> Path:
    """A new file in the system's temporary folder, readable by its owner alone: the trace of a defect."""
    import tempfile

    handle, name = tempfile.mkstemp(prefix="retain-trace-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    return Path(name)


def _not_theirs(handle: int, theirs: frozenset[Identity], path: str) -> None:
    if identity_of(os.fstat(handle)) in theirs:
        raise refusal(path, "this folder is one of the human's under another name; nothing is written there")


def _step(handle: int, name: str, path: str, *, create: bool) -> int:
    """A handle on the folder `name` of an open folder, made if it is missing and `create`."""
    try:
        return open_folder_at(handle, name, path)
    except FileNotFoundError:
        if not create:
            raise
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=handle)
    sync_folder(handle)
    return open_folder_at(handle, name, path)


def _temp_name() -> str:
    return TEMP_PREFIX + os.urandom(8).hex()  # what `secrets` would give, less the loading of it


@contextmanager
def _temporary(folder: int, status: os.stat_result | None) -> Iterator[tuple[str, int]]:
    """Name and handle of a new file with the owner and mode in `status`; whatever has that name in the end goes."""
    name = _temp_name()
    handle = os.open(name, os.O_RDWR | _NEW, 0o666 if status is None else 0o600, dir_fd=folder)
    try:
        if status is not None:
            if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
                with suppress(PermissionError):
                    os.fchown(handle, status.st_uid, status.st_gid)
            with suppress(PermissionError):
                os.fchmod(handle, stat.S_IMODE(status.st_mode))
        yield name, handle
    finally:
        os.close(handle)
        with suppress(OSError):  # a leftover is swept later; it must not hide what happened
            os.unlink(name, dir_fd=folder)


def _install(folder: int, temp: str, name: str, path: str, expect: str | None) -> None:
    """Gives the finished file its name, unless what has that name now is not what was expected."""
    expect_bytes(path, read_at(folder, name, path), expect)
    if expect is None:
        try:
            os.link(temp, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
            return
        except FileExistsError:
            expect_bytes(path, read_at(folder, name, path), None)
        except OSError as error:
            if error.errno not in _NO_SUCH_CALL:
                raise
    elif _exchange(folder, temp, name):
        try:
            expect_bytes(path, read_at(folder, temp, path), expect)
            return
        except Refused:  # an edit landed in that very moment, and is in our hands: it goes back
            ours = identity_of(os.stat(name, dir_fd=folder, follow_symlinks=False))
            _exchange(folder, temp, name)
            if ours != identity_of(os.stat(temp, dir_fd=folder, follow_symlinks=False)):
                _exchange(folder, temp, name)  # and a newer one landed on ours
            raise
    os.rename(temp, name, src_dir_fd=folder, dst_dir_fd=folder)


def _put_back(folder: int, aside: str, name: str) -> None:
    """Undoes a rename, unless a newer file has taken the name."""
    try:
        os.link(aside, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        pass
    except OSError as error:
        if error.errno not in _NO_SUCH_CALL:
            raise
        os.rename(aside, name, src_dir_fd=folder, dst_dir_fd=folder)
        return
    os.unlink(aside, dir_fd=folder)


_NO_SUCH_CALL = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM, errno.EMLINK})
_RENAME_EXCHANGE = 2  # the same number on Linux (renameat2) and macOS (renameatx_np)


def _exchange(folder: int, one: str, other: str) -> bool:
    """Swaps two names of an open folder in one step; False where the system or its file system can't."""
    call = _exchange_call()
    if call is None:
        return False
    import ctypes

    if call(folder, os.fsencode(one), folder, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _NO_SUCH_CALL:
        return False
    raise OSError(code, os.strerror(code))


@cache
def _exchange_call() -> Callable[[int, bytes, int, bytes, int], int] | None:
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    call = getattr(library, "renameat2", None) or getattr(library, "renameatx_np", None)
    if call is not None:
        call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return call


def _open_growing(folder: int, name: str, path: str) -> int:
    """A handle on a regular file that stays itself while it is written, made if need be."""
    try:
        handle = os.open(name, os.O_RDWR | os.O_APPEND | os.O_CREAT | _OLD, 0o666, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise refusal(path, "a link or a folder has that name", hint="move it away") from error
        raise
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise refusal(path, "not a regular file")
    except BaseException:
        os.close(handle)
        raise
    return handle


def _hold(folder: int, name: str, path: str, *, wait_s: float) -> int | None:
    """A handle that holds the lock on a file of that name and no other; None if another process keeps it."""
    for _ in range(100):
        with ExitStack() as stack:
            handle = _open_growing(folder, name, path)
            stack.callback(os.close, handle)
            if not lock_within(handle, wait_s):
                return None
            if not still_named(handle, folder, name):
                continue  # replaced while we waited: by git, or by ourselves below
            if os.fstat(handle).st_nlink == 1:
                stack.pop_all()
                return handle
            _unshare(handle, folder, name)
    raise refusal(path, "it is replaced faster than it can be opened")


def _unshare(handle: int, folder: int, name: str) -> None:
    """Gives the log a file of its own: a hard link could be anything, a note of the human's too."""
    status = os.fstat(handle)
    with _temporary(folder, status) as (temp, writing):
        write_all(writing, os.pread(handle, status.st_size, 0))
        sync(writing)
        os.rename(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
    sync_folder(folder)
