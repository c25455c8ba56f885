"""One look at all that is the human's: insights/, raw/ and the personal vault, every byte of it, no link followed.

Left out is what programs keep there for themselves and change all the time; `LEFT_OUT` and `_OBSIDIANS` are the whole
list. A note that is moved into one of those is still missed where it was.
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
from vault.files.paths import HUMAN_FOLDERS, TEMP_PREFIX
from vault.vault import Vault

VAULT, PERSONAL = "vault", "personal"
LEFT_OUT = frozenset({".git", ".trash", ".DS_Store", "Thumbs.db", "desktop.ini", ".stfolder", ".stversions"})
_OBSIDIANS = frozenset({".obsidian/workspace.json", ".obsidian/workspace-mobile.json", ".obsidian/cache"})
NOT_THERE = "it is not there"
DEEPEST = 64  # folders below the root
_RACE_NS = 2_000_000_000  # a file that changed so shortly before it was read could change again unseen
_WHOLE = 8 << 20  # bytes that are read at once
_BLOCK = 1 << 20
_SIGNED = (1 << 63) - 1  # of a stamp, as much as a database has room for

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW
_FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _NOFOLLOW


class Key(NamedTuple):
    """Which file: `place` is VAULT or PERSONAL, `path` is relative to it; bytes that are no text as Python has them."""

    place: str
    path: str


class Seen(NamedTuple):
    """How a file was found. A tuple, as there are tens of thousands. For a link the digest and size are its target's,
    for a folder and anything else there is none."""

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
    """A folder of the human's: where it is in its place, and on this machine."""

    key: Key
    folder: Path


@dataclass(slots=True)
class Look:
    """What was found. `folders` are all below the roots; `roots` those of the roots that could be looked into, with
    device and inode; `modes` those of all folders; `unreachable` the other roots, and why; `unread` the files and
    folders below that could not be read, and why; `notes` what is odd."""

    files: dict[Key, Seen] = field(default_factory=dict)
    folders: set[Key] = field(default_factory=set)
    modes: dict[Key, int] = field(default_factory=dict)
    roots: dict[Key, tuple[int, int]] = field(default_factory=dict)
    unreachable: dict[Key, str] = field(default_factory=dict)
    unread: dict[Key, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def hides(self, key: Key) -> bool:
        """Whether nothing can be said of a file, as it, or a folder above it, could not be looked at."""
        for one in (*self.unreachable, *self.unread):
            if one.place == key.place and (one.path in ("", key.path) or key.path.startswith(f"{one.path}/")):
                return True
        return False


def roots_of(vault: Vault) -> list[Root]:
    """The folders of the human's that belong to a vault, there or not."""
    found = [Root(Key(VAULT, name), vault.root / name) for name in HUMAN_FOLDERS]
    if vault.personal is not None:
        found.append(Root(Key(PERSONAL, ""), vault.personal))
    return found


Sink = Callable[[bytes], str]


class Looker:
    """Looks once. `sink` gets the bytes of every file (and the target of every link) of a size that is kept, and gives
    their SHA-256.

    With `trusted`, files whose inode, size, mode and times are those that were taken down are not read again: times of
    change cannot be set back but by root or by setting the clock. `now_ns` is the clock's word on when this began.
    """

    def __init__(self, *, now_ns: int, sink: Sink | None = None, trusted: Mapping[Key, Seen] | None = None) -> None:
        self._before_ns = now_ns - _RACE_NS
        self._sink = sink
        self._trusted = trusted or {}
        self.look = Look()

    def take(self, roots: list[Root]) -> Look:
        """All files of these folders."""
        for root in roots:
            try:
                status = root.folder.lstat()
                if stat.S_ISDIR(status.st_mode):
                    self.look.modes[root.key] = stat.S_IMODE(status.st_mode)
                handle = os.open(root.folder, _FOLDER)
            except OSError as error:
                self.look.unreachable[root.key] = _why_not(root.folder, error)
                continue
            try:
                self.look.roots[root.key] = _seen(FileKind.FOLDER, "", os.fstat(handle))[4:6]
                self._walk(handle, root.key, 0)
            finally:
                os.close(handle)
        return self.look

    def one(self, root: Root, key: Key) -> Seen | None:
        """How one file below `root` stands; None if there is none that could be read. No link is followed."""
        *above, name = key.path[len(root.key.path) :].strip("/").split("/")
        with suppress(OSError, Refused), open_beneath(os.open(root.folder, _FOLDER), above) as folder:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                self._file(folder, name, key)
            elif stat.S_ISDIR(status.st_mode):
                self.look.files[key] = _seen(FileKind.FOLDER, "", status)
            else:
                self._odd(folder, name, key)
        return self.look.files.get(key)

    def _walk(self, folder: int, key: Key, depth: int) -> None:
        start = f"{key.path}/" if key.path else ""
        try:
            with os.scandir(folder) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            self.look.unread[key] = _words(error)
            return
        for entry in entries:
            name = entry.name
            below = Key(key.place, start + name)
            if name in LEFT_OUT or name.startswith(TEMP_PREFIX) or _is_obsidians(key, name):
                continue
            try:
                if entry.is_file(follow_symlinks=False):
                    self._file(folder, name, below)
                elif entry.is_dir(follow_symlinks=False):
                    self._folder(folder, name, below, depth + 1)
                else:
                    self._odd(folder, name, below)
            except FileNotFoundError:
                continue  # gone since it was listed
            except OSError as error:
                self.look.unread[below] = _words(error)

    def _folder(self, above: int, name: str, key: Key, depth: int) -> None:
        self.look.folders.add(key)
        self.look.modes[key] = stat.S_IMODE(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode)
        if depth > DEEPEST:
            self.look.unread[key] = f"more than {DEEPEST} folders deep"
            return
        handle = os.open(name, _FOLDER, dir_fd=above)
        try:
            if os.fstat(handle).st_dev != os.fstat(above).st_dev:
                self.look.notes.append(f"{shown(key)}: another disk is mounted there")
            self._walk(handle, key, depth)
        finally:
            os.close(handle)

    def _file(self, folder: int, name: str, key: Key) -> None:
        known = self._trusted.get(key)
        if known is not None and known.kind is FileKind.FILE:
            found = _seen(FileKind.FILE, known.sha256, os.stat(name, dir_fd=folder, follow_symlinks=False))
            if found == known:
                self.look.files[key] = known
                return
        handle = os.open(name, _FILE, dir_fd=folder)
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):  # it changed since it was listed
                self.look.files[key] = _seen(_kind(status.st_mode), "", status)
                return
            digest = self._digest(handle, status.st_size)
        finally:
            os.close(handle)
        seen = _seen(FileKind.FILE, digest, status)
        self.look.files[key] = seen if status.st_ctime_ns < self._before_ns else seen._replace(ctime_ns=0)

    def _digest(self, handle: int, size: int) -> str:
        if size <= (LARGEST if self._sink else _WHOLE):
            data = _read_all(handle, size)
            if self._sink and len(data) <= LARGEST:
                return self._sink(data)
            return hashlib.sha256(data).hexdigest()
        digest = hashlib.sha256()
        while block := os.read(handle, _BLOCK):
            digest.update(block)
        return digest.hexdigest()

    def _odd(self, folder: int, name: str, key: Key) -> None:
        """A link, as what it says and not as what it leads to; a pipe, a socket, a device."""
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        kind = _kind(status.st_mode)
        if kind is not FileKind.LINK:
            self.look.files[key] = _seen(kind, "", status)
            return
        target = os.fsencode(os.readlink(name, dir_fd=folder))
        digest = self._sink(target) if self._sink else hashlib.sha256(target).hexdigest()
        self.look.files[key] = _seen(kind, digest, status)


def shown(key: Key, personal: Path | None = None) -> str:
    """The path for a person: relative in the vault, whole in the personal vault; bytes that are no text as escapes."""
    path = key.path or "."
    if key.place == PERSONAL:
        path = str(personal / path) if personal is not None else f"personal vault: {path}"
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _is_obsidians(above: Key, name: str) -> bool:
    return above.path.endswith(".obsidian") and f".obsidian/{name}" in _OBSIDIANS


def _read_all(handle: int, size: int) -> bytes:
    data = os.read(handle, size + 1)
    if len(data) == size:
        return data
    blocks = [data]
    while blocks[-1]:
        blocks.append(os.read(handle, _BLOCK))
    return b"".join(blocks)


def _seen(kind: FileKind, digest: str, status: os.stat_result) -> Seen:
    """Stamps are cut to what a database has room for."""
    return Seen(
        kind,
        digest,
        status.st_size,
        status.st_mode & 0o7777,
        status.st_dev & _SIGNED,
        status.st_ino & _SIGNED,
        status.st_mtime_ns & _SIGNED,
        status.st_ctime_ns & _SIGNED,
    )


def _kind(mode: int) -> FileKind:
    kinds = {stat.S_IFREG: FileKind.FILE, stat.S_IFDIR: FileKind.FOLDER, stat.S_IFLNK: FileKind.LINK}
    return kinds.get(stat.S_IFMT(mode), FileKind.OTHER)


def _why_not(folder: Path, error: OSError) -> str:
    """Why a folder of the human's cannot be looked into."""
    if error.errno == errno.ENOENT:
        return NOT_THERE
    if folder.is_symlink():
        return "a link stands in its place"
    if error.errno == errno.ENOTDIR:
        return "it is no folder any more"
    return _words(error)


def _words(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
