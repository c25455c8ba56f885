"""The only module that writes in a vault: it creates, replaces, renames and deletes files.

For every write: the path is on the allow-list of the scope; no folder on the way is a link, or is one of the user's
folders under any name; the bytes are written completely or not at all; and a file that has changed since it was read
keeps its newer bytes. `vault.files.replace` does the renaming, for this module alone.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import date
from functools import partial
from pathlib import Path

from vault.errors import EditedMeanwhile, LockHeld, Refused
from vault.files import replace
from vault.files.durable import (
    AppendedLines,
    copy_bytes,
    failing,
    lock_within,
    open_source,
    sync,
    sync_folder,
    sync_path,
    write_all,
)
from vault.files.folder import (
    Current,
    Folder,
    Identity,
    expect_bytes,
    identity_at,
    open_beneath,
    read_at,
    sha256_hex,
    still_named,
)
from vault.files.leftovers import marked_name, temporary_name
from vault.files.temporary import temporary_file
from vault.files.write_scopes import (
    DEPTH,
    HUMAN_FOLDERS,
    TEMP_PREFIX,
    Scope,
    beside,
    is_append_only,
    makeable,
    refusal,
    writable,
)

__all__ = ["Guard", "Scope", "sha256_hex"]

_OLD = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_AWAY = {errno.ENOTCONN, errno.ESTALE, errno.EIO, errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ETIMEDOUT, errno.ELOOP}
_STALE_S, _LOG_WAIT_S, _VERSIONS = 600.0, 10.0, 99


class Guard(Folder):
    """A writer for the vault at `root`, limited to one scope. All of the root can be read; links are not followed.

    `forbidden` are further folders that must never be written, such as the personal vault.
    """

    def __init__(self, root: Path, scope: Scope, *, forbidden: Iterable[Path] = ()) -> None:
        super().__init__(root)
        self.scope = scope
        self._forbidden = tuple(forbidden)
        self.made: dict[str, str] = {}  # path -> SHA-256 of new files that this object wrote, or is about to
        self.rescued: list[str] = []  # the new paths of edits that `sweep` found in temporary files

    def write(self, path: str, data: bytes, *, expect: str | None) -> bool:
        """Replace the file whose bytes have the SHA-256 `expect`, or create it (None), with `data`.

        Return True when it is on disk; False if the file already holds `data`. Atomic. Raises EditedMeanwhile if the
        file is not as expected; Refused; WriteFailed.
        """
        parts = writable(path, self.scope)
        if expect is not None and not self.scope.replaces:
            raise refusal(path, "this command cannot change existing files")
        if expect is not None and self._is_append_only(parts):
            raise refusal(path, "logs are append-only")
        with failing(self._shown_path(path)), self._open_folder(parts[:-1], create=expect is None) as folder:
            found = read_at(folder, parts[-1], path, attributes=True)
            if found is not None and found.data == data:
                return False
            expect_bytes(path, found, expect)
            name = marked_name(parts[-1], ours=data, expect=expect)
            mode = 0o600 if self.scope is Scope.STATE else 0o666
            with temporary_file(folder, name, found, mode) as temp:
                write_all(temp.handle, data)
                sync(temp.handle)
                replace.install(folder, temp, parts[-1], path, expect)
            sync_folder(folder)
        if expect is None:
            self.made[path] = sha256_hex(data)
        return True

    def update(self, path: str, make: Callable[[bytes | None], bytes | None], *, tries: int = 1) -> bool:
        """Replace the file by what `make` returns for its bytes (None: no file); leave it where that is None.

        If it is edited meanwhile it is read again, `tries` times in all. Return and raise as `write`.
        """
        while True:
            tries -= 1
            old = self.read(path)
            data = make(old)
            if data is None:
                return False
            try:
                return self.write(path, data, expect=None if old is None else sha256_hex(old))
            except EditedMeanwhile:
                if not tries:
                    raise

    def lay_beside(self, path: str, data: bytes, on: date) -> str:
        """Write `data` to a new file beside `path`, which the user edited meanwhile; return its vault path.

        The name is that of `path` with `.conflict-DATE`, numbered if other bytes have it. Raises as `write` does.
        """
        folder, slash, name = path.rpartition("/")
        for number in range(1, _VERSIONS + 1):
            free = folder + slash + beside(name, on, number)
            try:
                self.write(free, data, expect=None)
            except EditedMeanwhile:
                continue
            return free
        raise refusal(path, f"there are already {_VERSIONS} versions of this file", hint="keep one and delete the rest")

    def append(self, path: str, lines: bytes) -> None:
        """Append whole lines to a log; on disk when it returns. A torn last line is ended first.

        Raises WriteFailed, after which the log is unchanged; Refused; LockHeld if another process locks the log.
        """
        self.begin_append(path, lines).sync()

    def begin_append(self, path: str, lines: bytes) -> AppendedLines:
        """Append whole lines to a log, which the caller must `sync` in any case. Raises as `append`."""
        parts = writable(path, self.scope)
        ours = self.scope.replaces and not self.scope.owns
        if not (lines.endswith(b"\n") and parts[-1].endswith(".jsonl") and ours):
            raise refusal(path, "only whole lines can be appended, and only to retain's .jsonl files")
        with (
            failing(self._shown_path(path)),
            self._open_folder(parts[:-1], create=True) as folder,
            _locked_log(folder, parts[-1], path) as log,
        ):
            if os.fstat(log).st_size == 0:  # perhaps made just now
                sync_folder(folder)
            return AppendedLines(log, lines, self._shown_path(path))

    def keep(self, path: str, data: bytes) -> None:
        """Write a file of `.retain/`, completely or not at all, without waiting for the disk.

        Raises as `write` does.
        """
        parts = writable(path, self.scope)
        if parts[0] != ".retain":
            raise refusal(path, "only files that can be regenerated may be written without syncing")
        with (
            failing(self._shown_path(path)),
            self._open_folder(parts[:-1], create=True) as folder,
            temporary_file(folder, temporary_name(), None, 0o600) as temp,
        ):
            write_all(temp.handle, data)
            os.rename(temp.name, parts[-1], src_dir_fd=folder, dst_dir_fd=folder)

    def remove(self, path: str, *, expect: str) -> None:
        """Delete the file whose bytes have the SHA-256 `expect`. Raises as `write` does.

        A scope that only adds files may delete only what this object has just written.
        """
        parts = writable(path, self.scope)
        if not (self.scope.replaces or self.made.get(path) == expect) or self._is_append_only(parts):
            raise refusal(path, "this command cannot delete this file")
        with failing(self._shown_path(path)), self._open_folder(parts[:-1], create=False) as folder:
            expect_bytes(path, read_at(folder, parts[-1], path), expect)
            replace.take_away(folder, parts[-1], path, expect)
            sync_folder(folder)

    def discard(self, path: str) -> None:
        """Delete a file of `.retain/`, whatever it holds, if it is there. Raises: Refused, WriteFailed."""
        parts = writable(path, self.scope)
        if parts[0] != ".retain":
            raise refusal(path, "only files that can be regenerated may be deleted without being read")
        with (
            failing(self._shown_path(path)),
            suppress(FileNotFoundError),
            self._open_folder(parts[:-1], create=False) as folder,
        ):
            os.unlink(parts[-1], dir_fd=folder)

    def makedirs(self, path: str) -> None:
        """Create the folder and missing ones above it; on disk when it returns."""
        parts = makeable(path, self.scope)
        with failing(self._shown_path(path)), self._open_folder(parts, create=True):
            pass

    def remove_empty_folder(self, path: str) -> None:
        """Delete a folder if nothing is in it. Raises: Refused, WriteFailed."""
        parts = makeable(path, self.scope)
        with failing(self._shown_path(path)), self._open_folder(parts[:-1], create=False) as folder:
            try:
                os.rmdir(parts[-1], dir_fd=folder)
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST):
                    raise

    def copy_in(self, source: Path, path: str) -> str:
        """Copy a file of the user into `raw/` under a new name; return the SHA-256 of its bytes.

        An equal file that exists is left as it is. Raises Refused if other bytes are there; EditedMeanwhile if the
        source changed while it was read; WriteFailed.
        """
        parts = writable(path, self.scope)
        with (
            failing(self._shown_path(path)),
            open_source(source) as reading,
            self._open_folder(parts[:-1], create=True) as folder,
            temporary_file(folder, temporary_name(), None) as temp,
        ):
            digest = copy_bytes(reading, temp.handle, source)
            found = read_at(folder, parts[-1], path)
            if found and found.sha256 == digest:
                return digest
            if found:
                hint = "if yours is its newer version, copy it over that file yourself; otherwise rename one of them"
                raise refusal(path, "another file has that name", hint=hint)
            sync(temp.handle)
            self.made[path] = digest
            replace.install(folder, temp, parts[-1], path, None)
            sync_folder(folder)
            return digest

    def sweep(self, *, older_than_s: float = _STALE_S) -> list[str]:
        """Delete temporary files of killed processes where this scope may write; return their paths.

        Files in use stay, and so do recent ones on a disk without locks. One that holds an edit of the user is renamed
        and added to `rescued`.
        """
        removed: set[str] = set()
        for top in {grant.folder for grant in self.scope.value}:
            waiting = [top]
            with suppress(Refused), failing("/".join(top)):
                while waiting:
                    with suppress(FileNotFoundError):
                        waiting += self._sweep(waiting.pop(), time.time() - older_than_s, removed)
        return sorted(removed)

    def _sweep(self, top: tuple[str, ...], before: float, removed: set[str]) -> list[tuple[str, ...]]:
        with self._open_folder(top, create=False) as folder, os.scandir(folder) as scan:
            below = []
            for entry in scan:
                if top and entry.is_dir(follow_symlinks=False):
                    below.append((*top, entry.name))
                    continue
                with suppress(Refused, FileNotFoundError):  # never made by us: it stays; or gone since it was listed
                    if not entry.name.startswith(TEMP_PREFIX):
                        continue
                    old = entry.stat(follow_symlinks=False).st_ctime <= before
                    if old or replace.is_abandoned(folder, entry.name):
                        free = replace.clear(folder, entry.name, partial(self._may_name, top))
                        (self.rescued.append if free else removed.add)("/".join((*top, free or entry.name)))
        return below if len(top) + 1 < DEPTH else []  # no file of ours is deeper, whatever an agent stacked up

    def _may_name(self, top: tuple[str, ...], name: str) -> None:
        writable("/".join((*top, name)), self.scope)

    def try_lock(self, name: str) -> int | None:
        """Return a handle that holds the lock `.retain/locks/<name>.lock` until it is closed; None if it is held.

        If .retain is deleted meanwhile, the lock moves to the new file.
        """
        path = f".retain/locks/{name}.lock"
        parts = writable(path, Scope.PUBLISHER)
        with failing(self._shown_path(path)), self._open_folder(parts[:-1], create=True) as folder:
            return _open_locked(folder, parts[-1], path, wait_s=0)

    def _shown_path(self, path: str) -> str:
        return path if self.scope.in_vault else str(self.root / path)

    @contextmanager
    def _open_folder(self, parts: tuple[str, ...], *, create: bool) -> Iterator[int]:
        """Open a folder to write in, after checking that it is not the user's; with `create`, create it."""
        root = self._open_or_make_root()
        try:
            theirs = self._forbidden_identities(root, parts)
        except BaseException:
            os.close(root)
            raise
        with open_beneath(root, parts, forbidden=theirs, before=_make if create else _make_nothing) as folder:
            yield folder

    def _open_or_make_root(self) -> int:
        if self.scope.makes_root and not self.root.exists():
            mode = 0o700 if self.scope is not Scope.INIT else 0o777
            self.root.mkdir(mode, parents=True, exist_ok=True)  # another process may make it in this very moment
            sync_path(self.root.parent)
        return self._open_root()

    def _forbidden_identities(self, root: int, parts: tuple[str, ...]) -> frozenset[Identity]:
        """Return device and inode of the folders that must not be written, except those the scope grants."""
        found = [identity_at(name, root) for name in self._user_folders(parts)]
        found += [self._identity_forbidden(folder) for folder in self._forbidden]
        return frozenset(identity for identity in found if identity)

    def _identity_forbidden(self, folder: Path) -> Identity | None:
        """Return the identity of a forbidden folder; None if its disk outside this folder is unreachable."""
        try:
            return identity_at(folder)
        except OSError as error:
            if error.errno in _AWAY and self.root not in folder.parents:
                return None
            raise

    def _user_folders(self, parts: tuple[str, ...]) -> list[str]:
        if self.scope.everywhere:
            return []
        return [name for name in HUMAN_FOLDERS if parts[:1] != (name,) or name not in self.scope.owns]

    def _is_append_only(self, parts: tuple[str, ...]) -> bool:
        return is_append_only(parts) and not self.scope.owns  # in the personal vault, a .jsonl file is the user's own


def _make(folder: int, name: str) -> None:
    """Make the folder `name` in an open folder if nothing has that name; on disk when it returns."""
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
        sync_folder(folder)


def _make_nothing(folder: int, name: str) -> None:
    """Make nothing."""


@contextmanager
def _locked_log(folder: int, name: str, path: str) -> Iterator[int]:
    """Open a log that no other process may append to until it is closed: here on an error. Raises LockHeld."""
    handle = _open_locked(folder, name, path, wait_s=_LOG_WAIT_S)
    if handle is None:
        raise LockHeld("locked by another process", where=path, hint="end that process")
    try:
        yield handle
    except BaseException:
        os.close(handle)
        raise


def _open_log(folder: int, name: str, path: str) -> int:
    """Open a regular file for appending, created if missing. Raises Refused for anything else."""
    try:
        handle = os.open(name, os.O_RDWR | os.O_APPEND | os.O_CREAT | _OLD, 0o666, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise refusal(path, "a link or a folder has that name", hint="move it elsewhere") from error
        raise
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise refusal(path, "not a regular file")
    except BaseException:
        os.close(handle)
        raise
    return handle


def _open_locked(folder: int, name: str, path: str, *, wait_s: float) -> int | None:
    """Return a handle that holds the lock on the file of that name; None if another process holds it."""
    for _ in range(100):
        handle, is_ours = _open_log(folder, name, path), False
        try:
            if not lock_within(handle, wait_s):
                return None
            if not still_named(handle, folder, name):
                continue  # replaced while we waited: by git, or by ourselves below
            if os.fstat(handle).st_nlink == 1:
                is_ours = True
                return handle
            _unshare(handle, folder, name)
        finally:
            if not is_ours:
                os.close(handle)
    raise refusal(path, "the file keeps being replaced")


def _unshare(handle: int, folder: int, name: str) -> None:
    """Replace a log that has hard links with a copy, as another link could be a note of the user."""
    status = os.fstat(handle)
    with temporary_file(folder, temporary_name(), Current(b"", status)) as temp:
        write_all(temp.handle, os.pread(handle, status.st_size, 0))
        sync(temp.handle)
        os.rename(temp.name, name, src_dir_fd=folder, dst_dir_fd=folder)
    sync_folder(folder)
