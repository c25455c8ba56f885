"""What lies in the folders that an agent may write: looked at without following anything, and with every digest."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vault.copies import LARGEST, Copies
from vault.errors import Refused, RetainError
from vault.folder import Identity
from vault.guard import sha256_hex
from vault.modes import give_back
from vault.safe_path import AGENT_FOLDERS
from vault.store import Vault
from vault.user import state_guard

# Logs and settings that no agent may write: looked at before and after, in case that a weak cage let one through.
WATCHED = ("retain.toml", "AGENTS.md", ".gitattributes", ".gitignore")
WATCHED_FOLDERS = ("learning", "ledger", "ledger/replies")
KEPT = (
    8 << 20
)  # bytes of what an agent left that are looked into and laid aside; of what was there before, all are kept
WORK = ".retain/work"
TOPS = tuple(folder for folder in AGENT_FOLDERS if folder != WORK)
TOO_DEEP = "folders nested too deeply to be looked into"
CACHE = "manifest.json"  # digests of the last manifest, below the state folder
_YOUNG_NS = 2_000_000_000  # a file this young may change again without its stamp showing it
_DEPTH = 40  # folders, which is more than any path has that an agent may write
_BATCH = 64 << 20  # bytes of copies that wait to be stored in one step
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FILE = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)  # a pipe must not hang us
_FOLDER = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)

Stamp = tuple[int, int, int, int]  # size, mtime ns, ctime ns, inode
_NO_STAMP: Stamp = (-1, -1, -1, -1)


@dataclass(frozen=True, slots=True)
class Mark:
    """A plain file as it stood. `sha256` is "" for one that cannot be read, `mode` -1 where nobody took it down."""

    sha256: str
    stamp: Stamp
    links: int = 1
    mode: int = -1
    identity: Identity = (0, 0)  # of a file that was looked at now; unknown of one that was taken down

    def as_json(self) -> list[Any]:
        return [self.sha256, *self.stamp, self.links, self.mode]

    @classmethod
    def from_json(cls, found: Any) -> Mark:
        mode = int(found[6]) if len(found) > 6 else -1
        return cls(str(found[0]), (int(found[1]), int(found[2]), int(found[3]), int(found[4])), int(found[5]), mode)


@dataclass(frozen=True, slots=True)
class Odd:
    """A name that is no plain file and no folder, or that cannot be looked into; `words` say what it is."""

    words: str
    identity: Identity

    def as_json(self) -> list[Any]:
        return [self.words, *self.identity]

    @classmethod
    def from_json(cls, found: Any) -> Odd:
        return cls(str(found[0]), (int(found[1]), int(found[2])))


@dataclass(slots=True)
class Manifest:
    """Vault paths to what stands there: plain files, odd things, folders; and the few files that are only watched."""

    files: dict[str, Mark] = field(default_factory=dict)
    odd: dict[str, Odd] = field(default_factory=dict)
    folders: dict[str, Identity] = field(default_factory=dict)
    watched: dict[str, tuple[int, str]] = field(default_factory=dict)  # size, SHA-256
    modes: dict[str, int] = field(default_factory=dict)  # of the folders

    def as_json(self) -> dict[str, Any]:
        return {
            "files": {path: mark.as_json() for path, mark in self.files.items()},
            "odd": {path: odd.as_json() for path, odd in self.odd.items()},
            "folders": {path: list(identity) for path, identity in self.folders.items()},
            "watched": {path: list(known) for path, known in self.watched.items()},
            "modes": self.modes,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Manifest:
        """Raises ValueError, TypeError or LookupError for what is none."""
        return cls(
            {path: Mark.from_json(mark) for path, mark in data["files"].items()},
            {path: Odd.from_json(odd) for path, odd in data["odd"].items()},
            {path: (int(one), int(two)) for path, (one, two) in data["folders"].items()},
            {path: (int(size), str(digest)) for path, (size, digest) in data["watched"].items()},
            {path: int(mode) for path, mode in data.get("modes", {}).items()},
        )


def take_manifest(vault: Vault, copies: Copies) -> Manifest:
    """Everything in the agent's folders, and a copy of each file in `copies`.

    A file whose stamp is that of the last manifest is not read again if its copy is there. Raises: WriteFailed; Refused
    where a file cannot be read, as nobody could put it back.
    """
    taken_ns = time.time_ns()
    known, kept = _known(vault), copies.kept()
    found = Manifest(watched=watched(vault))
    blocks: dict[str, bytes] = {}
    fresh = False
    for file in _walk(vault.root, found, LARGEST):
        digest, stamp = known.get(file.path, ("", _NO_STAMP))
        settled = max(file.stamp[1], file.stamp[2]) + _YOUNG_NS < taken_ns
        if not (stamp == file.stamp and settled and (digest in kept or stamp[0] > LARGEST)):
            fresh = True
            data, digest = file.read()
            if not digest and file.is_shut():
                hint = f"`chmod u+r {file.path}`, or move it out of the vault, then run it again"
                raise Refused("cannot be read, so no copy of it can be kept", where=file.path, hint=hint)
            if data is not None and digest not in kept:
                blocks[digest] = data
            if sum(map(len, blocks.values())) > _BATCH:
                copies.put_all(blocks.values())
                blocks.clear()
        found.files[file.path] = Mark(digest, file.stamp, file.links, file.mode)
    if blocks:
        copies.put_all(blocks.values())
    if fresh:
        write_state(vault, CACHE, {path: mark.as_json() for path, mark in found.files.items()})
    return found


def look(vault: Vault, before: Manifest) -> tuple[Manifest, dict[str, bytes]]:
    """How the folders stand now, and the bytes of every file that is new or holds others than `before`.

    Of a file larger than `KEPT` there are no bytes.
    """
    known = before.modes | {path: mark.mode for path, mark in before.files.items()}
    taken = give_back(vault.root, TOPS, known)  # an agent can take the owner's rights from what it may write
    found = Manifest(watched=watched(vault))
    bytes_of: dict[str, bytes] = {}
    for file in _walk(vault.root, found, KEPT):
        mark = before.files.get(file.path)
        if mark is not None and mark.stamp == file.stamp and mark.links == file.links:
            found.files[file.path] = mark
            continue
        data, digest = file.read()
        found.files[file.path] = Mark(digest, file.stamp, file.links, taken.get(file.path, file.mode), file.identity)
        if data is not None and (mark is None or mark.sha256 != digest):
            bytes_of[file.path] = data
    found.modes |= {path: mode for path, mode in taken.items() if path in found.modes}
    return found, bytes_of


def watched(vault: Vault) -> dict[str, tuple[int, str]]:
    """Size and SHA-256 of the settings, the review log and the ledgers."""
    out = {}
    for path in (*WATCHED, *_logs(vault)):
        with suppress(RetainError):
            data = vault.read_bytes(path)
            if data is not None:
                out[path] = (len(data), sha256_hex(data))
    return out


def _logs(vault: Vault) -> Iterator[str]:
    for folder in WATCHED_FOLDERS:
        yield from vault.paths(folder, ".jsonl")


@dataclass(frozen=True, slots=True)
class _File:
    """A plain file that the walk stands at; it can be read until the walk goes on."""

    path: str
    name: str
    folder: int
    status: os.stat_result
    stamp: Stamp
    most: int

    @property
    def links(self) -> int:
        return self.status.st_nlink

    @property
    def identity(self) -> Identity:
        return self.status.st_dev, self.status.st_ino

    @property
    def mode(self) -> int:
        return stat.S_IMODE(self.status.st_mode)

    def is_shut(self) -> bool:
        """Whether it is there, and we may not read it."""
        return not os.access(self.name, os.R_OK, dir_fd=self.folder) and _is_there(self.name, self.folder)

    def read(self) -> tuple[bytes | None, str]:
        """The bytes (None for more than `most`) and their SHA-256; (None, "") where they cannot be read."""
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


def _is_there(name: str, folder: int) -> bool:
    with suppress(OSError):
        os.stat(name, dir_fd=folder, follow_symlinks=False)
        return True
    return False


def _walk(root: Path, found: Manifest, most: int) -> Iterator[_File]:
    """The plain files below the agent's folders; what is no file goes to `found`. No link is followed.

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
                raise Refused("not a folder any more", where=top, hint="put the folder back, then run it again")
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
        what = f"cannot be looked into: {os.strerror(error.errno or 0).lower()}"
        hint = f"`chmod u+rwx {path or name}`, or look whose it is, then run it again"
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
            stamp = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
            yield _File(path, name, handle, status, stamp, most)
        elif not stat.S_ISDIR(status.st_mode):
            found.odd[path] = Odd(_words(name, handle, status.st_mode), identity)
        elif depth >= _DEPTH:
            found.odd[path] = Odd(TOO_DEEP, identity)
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


def _known(vault: Vault) -> dict[str, tuple[str, Stamp]]:
    """Digests of the last manifest by path, with the stamp each was read at."""
    try:
        data = json.loads(state_guard(vault.settings.vault_id).read(CACHE) or b"{}")
        return {path: (str(f[0]), (int(f[1]), int(f[2]), int(f[3]), int(f[4]))) for path, f in data.items()}
    except (ValueError, TypeError, LookupError, AttributeError, RetainError, OSError, RecursionError):
        return {}


def write_state(vault: Vault, path: str, value: object) -> None:
    """Put `value` as JSON at `path` of the state folder, whatever was there. Raises: WriteFailed."""
    guard = state_guard(vault.settings.vault_id)
    old = guard.read(path) if guard.root.is_dir() else None
    data = json.dumps(value, separators=(",", ":")).encode()
    guard.write(path, data, expect=sha256_hex(old) if old is not None else None)
