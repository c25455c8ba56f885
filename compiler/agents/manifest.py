"""What is in the folders that an agent may write: listed without following links, with the digest of every file."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from compiler.agents.watched import watched
from vault.audit.blobs import LARGEST, Copies
from vault.config.user import state_guard
from vault.errors import Refused
from vault.files.folder import Identity
from vault.files.guard import sha256_hex
from vault.files.permissions import give_back
from vault.files.write_scopes import AGENT_FOLDERS
from vault.vault import Vault

# Bytes of what an agent left that are looked into and quarantined; of what was there before, all are kept.
KEPT = 8 << 20
WORK = ".retain/work"
TOPS = tuple(folder for folder in AGENT_FOLDERS if folder != WORK)
TOO_DEEP = "folders nested too deeply to be read"
_DEPTH = 40  # folders, which is more than any path has that an agent may write
_BATCH = 64 << 20  # bytes of copies that wait to be stored in one step
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FILE = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)  # a pipe must not hang us
_FOLDER = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)

Stamp = tuple[int, int, int, int]  # size, mtime ns, ctime ns, inode


class Mark(NamedTuple):
    """A plain file; a list in JSON. `sha256` is "" for one that can't be read, `mode` -1 where it is not known."""

    sha256: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    links: int = 1
    mode: int = -1
    device: int = 0

    @property
    def stamp(self) -> Stamp:
        return self.size, self.mtime_ns, self.ctime_ns, self.inode

    @property
    def identity(self) -> Identity:
        return self.device, self.inode


class Special(NamedTuple):
    """A name that is neither a plain file nor a folder, or too deep; `words` say what it is. A list in JSON."""

    words: str
    device: int
    inode: int

    @property
    def identity(self) -> Identity:
        return self.device, self.inode


@dataclass(slots=True)
class Manifest:
    """Vault paths to what is there: plain files, special things, folders; and the few files that are only watched."""

    files: dict[str, Mark] = field(default_factory=dict)
    special: dict[str, Special] = field(default_factory=dict)
    folders: dict[str, Identity] = field(default_factory=dict)
    watched: dict[str, tuple[int, str]] = field(default_factory=dict)  # size, SHA-256
    modes: dict[str, int] = field(default_factory=dict)  # of the folders

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("files", "special", "folders", "watched", "modes")}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Manifest:
        """Raises ValueError, TypeError, AttributeError or LookupError for what is none."""
        return cls(
            {path: Mark(str(mark[0]), *(int(n) for n in mark[1:])) for path, mark in data["files"].items()},
            {path: Special(str(words), int(one), int(two)) for path, (words, one, two) in data["special"].items()},
            {path: (int(one), int(two)) for path, (one, two) in data["folders"].items()},
            {path: (int(size), str(digest)) for path, (size, digest) in data["watched"].items()},
            {path: int(mode) for path, mode in data["modes"].items()},
        )


def take_manifest(vault: Vault, copies: Copies) -> Manifest:
    """Return everything in the agent's folders, with a copy of each file in `copies`.

    Raises: WriteFailed; Refused where a file cannot be read, as nobody could put it back.
    """
    stored = copies.digests()
    found = Manifest(watched=watched(vault))
    blocks: dict[str, bytes] = {}
    for file in _walk(vault.root, found, LARGEST):
        data, digest = file.read()
        if not digest and file.is_shut():
            hint = f"run `chmod u+r {file.path}`, or move the file out of the vault; then run this command again"
            raise Refused("cannot be read, so no copy of it can be kept", where=file.path, hint=hint)
        if data is not None and digest not in stored:
            blocks[digest] = data
        if sum(map(len, blocks.values())) > _BATCH:
            copies.put_all(blocks.values())
            blocks.clear()
        found.files[file.path] = file.mark(digest)
    if blocks:
        copies.put_all(blocks.values())
    return found


def look(vault: Vault, before: Manifest) -> tuple[Manifest, dict[str, bytes]]:
    """Return how the folders are now, and the bytes of every file that is new or holds others than `before`.

    Of a file larger than `KEPT` there are no bytes.
    """
    known = before.modes | {path: mark.mode for path, mark in before.files.items()}
    taken = give_back(vault.root, TOPS, known)  # an agent can take the owner's rights from what it may write
    found = Manifest(watched=watched(vault))
    bytes_of: dict[str, bytes] = {}
    for file in _walk(vault.root, found, KEPT):
        old, now = before.files.get(file.path), file.mark("")
        if old is not None and (old.stamp, old.links) == (now.stamp, now.links):
            found.files[file.path] = old
            continue
        data, digest = file.read()
        found.files[file.path] = now._replace(sha256=digest, mode=taken.get(file.path, now.mode))
        if data is not None and (old is None or old.sha256 != digest):
            bytes_of[file.path] = data
    found.modes |= {path: mode for path, mode in taken.items() if path in found.modes}
    return found, bytes_of


@dataclass(frozen=True, slots=True)
class _File:
    """A plain file that the walk has reached; it can be read until the walk goes on."""

    path: str
    name: str
    folder: int
    status: os.stat_result
    most: int

    def mark(self, sha256: str) -> Mark:
        s = self.status
        return Mark(
            sha256, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino, s.st_nlink, stat.S_IMODE(s.st_mode), s.st_dev
        )

    def is_shut(self) -> bool:
        """Return whether it is there, and we may not read it."""
        with suppress(OSError):
            os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
            return not os.access(self.name, os.R_OK, dir_fd=self.folder)
        return False

    def read(self) -> tuple[bytes | None, str]:
        """Return the bytes (None for more than `most`) and their SHA-256; (None, "") where they cannot be read."""
        try:
            with os.fdopen(os.open(self.name, _FILE, dir_fd=self.folder), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    return None, ""
                if self.status.st_size > self.most:
                    return None, hashlib.file_digest(file, "sha256").hexdigest()
                data = file.read(self.status.st_size + 1)
                return (data, sha256_hex(data)) if len(data) <= self.most else (None, "")
        except OSError:
            return None, ""


def _walk(root: Path, found: Manifest, most: int) -> Iterator[_File]:
    """Yield the plain files below the agent's folders; what is no file goes to `found`. No link is followed.

    Raises: Refused where a folder cannot be listed: nobody could say what it holds.
    """
    with _opened(root, None, "") as vault:
        with suppress(OSError):
            found.modes[WORK] = stat.S_IMODE((root / WORK).lstat().st_mode)
        for top in TOPS:
            try:
                status = (root / top).lstat()
            except (FileNotFoundError, NotADirectoryError):
                continue
            found.modes[top] = stat.S_IMODE(status.st_mode)
            if not stat.S_ISDIR(status.st_mode):
                raise Refused("no longer a folder", where=top, hint="restore the folder, then run the command again")
            with ExitStack() as stack:
                handle = vault
                for part in top.split("/"):
                    handle = stack.enter_context(_opened(part, handle, top))
                yield from _below(handle, top, found, top.count("/") + 1, most)


@contextmanager
def _opened(name: str | Path, folder: int | None, path: str) -> Iterator[int]:
    try:
        handle = os.open(name, _FOLDER if folder is not None else _FOLDER & ~_NOFOLLOW, dir_fd=folder)
    except OSError as error:
        what = f"cannot be read: {os.strerror(error.errno or 0).lower()}"
        hint = f"run `chmod u+rwx {path or name}`, or check who owns it; then run this command again"
        raise Refused(what, where=path, hint=hint) from error
    try:
        yield handle
    finally:
        os.close(handle)


def _below(handle: int, here: str, found: Manifest, depth: int, most: int) -> Iterator[_File]:
    with os.scandir(handle) as entries:
        names = [entry.name for entry in entries]
    for name in sorted(names):
        path = f"{here}/{name}"
        try:
            status = os.stat(name, dir_fd=handle, follow_symlinks=False)
        except FileNotFoundError:
            continue  # gone since it was listed
        identity = (status.st_dev, status.st_ino)
        if stat.S_ISREG(status.st_mode):
            yield _File(path, name, handle, status, most)
        elif not stat.S_ISDIR(status.st_mode):
            found.special[path] = Special(_words(name, handle, status.st_mode), *identity)
        elif depth >= _DEPTH:
            found.special[path] = Special(TOO_DEEP, *identity)
        else:
            found.folders[path] = identity
            found.modes[path] = stat.S_IMODE(status.st_mode)
            with _opened(name, handle, path) as below:
                yield from _below(below, path, found, depth + 1, most)


def _words(name: str, folder: int, mode: int) -> str:
    if stat.S_ISLNK(mode):
        with suppress(OSError):
            return f"a symbolic link to {os.readlink(name, dir_fd=folder)}"
    kinds = {stat.S_IFLNK: "a symbolic link", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")


def write_state(vault: Vault, path: str, value: object) -> None:
    """Put `value` as JSON at `path` of the state folder, whatever was there. Raises: WriteFailed."""
    guard = state_guard(vault.settings.vault_id)
    old = guard.read(path) if guard.root.is_dir() else None
    data = json.dumps(value, separators=(",", ":")).encode()
    guard.write(path, data, expect=sha256_hex(old) if old is not None else None)
