"""A scan of all of the user's files: insights/, raw/ and the personal vault, every byte, no link followed.

Files that programs change all the time are left out, by name (`LEFT_OUT`, `_OBSIDIAN_STATE`). A note that is moved into
one of those is still reported as missing.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from vault.audit.blobs import LARGEST
from vault.errors import Refused
from vault.files.folder import FileKind, open_beneath
from vault.files.write_scopes import HUMAN_FOLDERS, TEMP_PREFIX
from vault.vault import Vault

VAULT, PERSONAL = "vault", "personal"
LEFT_OUT = frozenset({".git", ".trash", ".DS_Store", "Thumbs.db", "desktop.ini", ".stfolder", ".stversions"})
_OBSIDIAN_STATE = frozenset({".obsidian/workspace.json", ".obsidian/workspace-mobile.json", ".obsidian/cache"})
NOT_THERE = "it does not exist"
MAX_DEPTH = 64  # folders below the root
_RACE_NS = 2_000_000_000  # a file that changed so shortly before it was read could change again unseen
_READ_WHOLE = 8 << 20  # bytes of the largest file that is read at once
_BLOCK = 1 << 20
_MAX_INTEGER = (1 << 63) - 1  # of SQLite

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW
_FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _NOFOLLOW


class Key(NamedTuple):
    """A file's identity: `place` is VAULT or PERSONAL, `path` is relative to it (surrogate escapes for other bytes)."""

    place: str
    path: str


class FileState(NamedTuple):
    """The state of a file. A tuple, as there are tens of thousands. A link's digest and size are those of its target's
    path; a folder has none."""

    kind: FileKind
    sha256: str
    size: int
    mode: int
    dev: int
    ino: int
    mtime_ns: int
    ctime_ns: int


@dataclass(frozen=True, slots=True)
class Root:
    """A folder of the user's files: its key, and its path on this machine."""

    key: Key
    folder: Path


@dataclass(slots=True)
class Scan:
    """What a scan found. `folders` are all below the roots; `roots` the readable roots, with device and inode; `modes`
    those of all folders; `unreachable` the other roots, and why; `unread` the files and folders below that could not be
    read, and why; `notes` are remarks for the user."""

    files: dict[Key, FileState] = field(default_factory=dict)
    folders: set[Key] = field(default_factory=set)
    modes: dict[Key, int] = field(default_factory=dict)
    roots: dict[Key, tuple[int, int]] = field(default_factory=dict)
    unreachable: dict[Key, str] = field(default_factory=dict)
    unread: dict[Key, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def hides(self, key: Key) -> bool:
        """Return whether the state of a file is unknown, as it, or a folder above it, could not be read."""
        for one in (*self.unreachable, *self.unread):
            if one.place == key.place and (one.path in ("", key.path) or key.path.startswith(f"{one.path}/")):
                return True
        return False


def roots_of(vault: Vault) -> list[Root]:
    """Return the folders of the user's files of a vault, whether they exist or not."""
    found = [Root(Key(VAULT, name), vault.root / name) for name in HUMAN_FOLDERS]
    if vault.personal is not None:
        found.append(Root(Key(PERSONAL, ""), vault.personal))
    return found


Sink = Callable[[bytes], str]


class Scanner:
    """Scans once. `sink` gets the bytes of every file (and the target of every link) that is small enough to be stored,
    and returns their SHA-256.

    With `trusted`, files with the recorded inode, size, mode and times are not read again: only root or a changed clock
    can set the time of change back. `now_ns` is when the scan began.
    """

    def __init__(
        self, *, now_ns: int, sink: Sink | None = None, trusted: Mapping[Key, FileState] | None = None
    ) -> None:
        self._before_ns = now_ns - _RACE_NS
        self._sink = sink
        self._trusted = trusted or {}
        self.result = Scan()

    def scan(self, roots: list[Root]) -> Scan:
        """Scan all files of these folders."""
        for root in roots:
            try:
                status = root.folder.lstat()
                if stat.S_ISDIR(status.st_mode):
                    self.result.modes[root.key] = stat.S_IMODE(status.st_mode)
                handle = os.open(root.folder, _FOLDER)
            except OSError as error:
                self.result.unreachable[root.key] = _why_not(root.folder, error)
                continue
            try:
                self.result.roots[root.key] = _state(FileKind.FOLDER, "", os.fstat(handle))[4:6]
                self._walk(handle, root.key, 0)
            finally:
                os.close(handle)
        return self.result

    def one(self, root: Root, key: Key) -> FileState | None:
        """Return the state of one file below `root`; None if it can't be read. No link is followed."""
        *above, name = key.path[len(root.key.path) :].strip("/").split("/")
        with suppress(OSError, Refused), open_beneath(os.open(root.folder, _FOLDER), above) as folder:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                self._file(folder, name, key)
            elif stat.S_ISDIR(status.st_mode):
                self.result.files[key] = _state(FileKind.FOLDER, "", status)
            else:
                self._other(folder, name, key)
        return self.result.files.get(key)

    def _walk(self, folder: int, key: Key, depth: int) -> None:
        start = f"{key.path}/" if key.path else ""
        try:
            with os.scandir(folder) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            self.result.unread[key] = _words(error)
            return
        for entry in entries:
            name = entry.name
            below = Key(key.place, start + name)
            if name in LEFT_OUT or name.startswith(TEMP_PREFIX) or _is_obsidian_state(key, name):
                continue
            try:
                if entry.is_file(follow_symlinks=False):
                    self._file(folder, name, below)
                elif entry.is_dir(follow_symlinks=False):
                    self._folder(folder, name, below, depth + 1)
                else:
                    self._other(folder, name, below)
            except FileNotFoundError:
                continue  # gone since it was listed
            except OSError as error:
                self.result.unread[below] = _words(error)

    def _folder(self, above: int, name: str, key: Key, depth: int) -> None:
        self.result.folders.add(key)
        self.result.modes[key] = stat.S_IMODE(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode)
        if depth > MAX_DEPTH:
            self.result.unread[key] = f"more than {MAX_DEPTH} folders deep"
            return
        handle = os.open(name, _FOLDER, dir_fd=above)
        try:
            if os.fstat(handle).st_dev != os.fstat(above).st_dev:
                self.result.notes.append(f"{shown(key)}: another disk is mounted there")
            self._walk(handle, key, depth)
        finally:
            os.close(handle)

    def _file(self, folder: int, name: str, key: Key) -> None:
        known = self._trusted.get(key)
        if known is not None and known.kind is FileKind.FILE:
            found = _state(FileKind.FILE, known.sha256, os.stat(name, dir_fd=folder, follow_symlinks=False))
            if found == known:
                self.result.files[key] = known
                return
        handle = os.open(name, _FILE, dir_fd=folder)
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):  # it changed since it was listed
                self.result.files[key] = _state(_kind(status.st_mode), "", status)
                return
            digest = self._digest(handle, status.st_size)
        finally:
            os.close(handle)
        seen = _state(FileKind.FILE, digest, status)
        self.result.files[key] = seen if status.st_ctime_ns < self._before_ns else seen._replace(ctime_ns=0)

    def _digest(self, handle: int, size: int) -> str:
        if size <= (LARGEST if self._sink else _READ_WHOLE):
            data = _read_all(handle, size)
            if self._sink and len(data) <= LARGEST:
                return self._sink(data)
            return hashlib.sha256(data).hexdigest()
        digest = hashlib.sha256()
        while block := os.read(handle, _BLOCK):
            digest.update(block)
        return digest.hexdigest()

    def _other(self, folder: int, name: str, key: Key) -> None:
        """Record a link, by its target's path, or a pipe, socket or device."""
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        kind = _kind(status.st_mode)
        if kind is not FileKind.LINK:
            self.result.files[key] = _state(kind, "", status)
            return
        target = os.fsencode(os.readlink(name, dir_fd=folder))
        digest = self._sink(target) if self._sink else hashlib.sha256(target).hexdigest()
        self.result.files[key] = _state(kind, digest, status)


def shown(key: Key, personal: Path | None = None) -> str:
    """Return the path to show: relative in the vault, absolute in the personal vault; other bytes as escapes."""
    path = key.path or "."
    if key.place == PERSONAL:
        path = str(personal / path) if personal is not None else f"personal vault: {path}"
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _is_obsidian_state(above: Key, name: str) -> bool:
    return above.path.endswith(".obsidian") and f".obsidian/{name}" in _OBSIDIAN_STATE


def _read_all(handle: int, size: int) -> bytes:
    data = os.read(handle, size + 1)
    if len(data) == size:
        return data
    blocks = [data]
    while blocks[-1]:
        blocks.append(os.read(handle, _BLOCK))
    return b"".join(blocks)


def _state(kind: FileKind, digest: str, status: os.stat_result) -> FileState:
    """Return the state of a file; numbers are cut to what SQLite can store."""
    return FileState(
        kind,
        digest,
        status.st_size,
        status.st_mode & 0o7777,
        status.st_dev & _MAX_INTEGER,
        status.st_ino & _MAX_INTEGER,
        status.st_mtime_ns & _MAX_INTEGER,
        status.st_ctime_ns & _MAX_INTEGER,
    )


def _kind(mode: int) -> FileKind:
    kinds = {stat.S_IFREG: FileKind.FILE, stat.S_IFDIR: FileKind.FOLDER, stat.S_IFLNK: FileKind.LINK}
    return kinds.get(stat.S_IFMT(mode), FileKind.OTHER)


def _why_not(folder: Path, error: OSError) -> str:
    """Return why a folder of the user's can't be read."""
    if error.errno == errno.ENOENT:
        return NOT_THERE
    if folder.is_symlink():
        return "it was replaced by a link"
    if error.errno == errno.ENOTDIR:
        return "it is no longer a folder"
    return _words(error)


def _words(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
