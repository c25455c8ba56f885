"""Files in a vault that speak to coding agents, editors and git: found, hashed, and accepted once a hash by the human.

A vault may come from a stranger, and such a file acts on whoever opens the folder. Nothing here runs or obeys one.
What was accepted lies outside the vault, in the user's state (`agent-files.json`).
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from cli.agent_file_names import GIT_CONFIG, TELLING, could_hold, git_runs, in_settings, is_settings_folder, why
from vault.errors import Refused
from vault.folder import is_folder
from vault.store import Vault

STATE = "agent-files.json"
_DEPTH, _NAMES = 12, 300_000  # how far a full look goes
_QUICK_DEPTH, _QUICK_NAMES = 4, 4_000  # and one that every run of an agent begins with
_CONFIG_BYTES = 1 << 20
_BARE = frozenset({"HEAD", "config", "objects", "refs"})  # a folder with these is a repository, whatever its name
_IN_BARE = frozenset({"HEAD", "config", "config.worktree"})


@dataclass(frozen=True, slots=True)
class AgentFile:
    """One such file; `path` is relative to the vault. `why` says in a few words what makes it matter."""

    path: str
    sha256: str
    size: int
    why: str
    accepted: bool

    def as_json(self) -> dict[str, object]:
        return {
            "path": self.path,
            "sha256": self.sha256,
            "size": self.size,
            "reason": self.why,
            "accepted": self.accepted,
        }


@dataclass(frozen=True, slots=True)
class _Candidate:
    path: str
    status: os.stat_result
    why: str

    @property
    def seen(self) -> list[int]:
        """What changes with the file, as far as the disk tells without reading it."""
        return [self.status.st_size, self.status.st_mtime_ns, self.status.st_ctime_ns, self.status.st_ino]


def found(vault: Vault) -> list[AgentFile]:
    """Every such file of the vault that retain did not write itself, by path, each with its hash."""
    accepted = _accepted(vault)
    files = []
    for each in _candidates(vault.root, _DEPTH, _NAMES):
        digest = _digest(vault.root, each)
        if digest is not None and digest != _ours(each.path):
            known = digest in accepted.get(each.path, {}).get("sha256", ())
            files.append(AgentFile(each.path, digest, each.status.st_size, each.why, known))
    return sorted(files, key=lambda file: file.path)


def unaccepted(vault: Vault) -> int:
    """How many such files the human has not accepted, by a quick look: four folders deep, and reading what is new."""
    accepted = _accepted(vault)
    count = 0
    for each in _candidates(vault.root, _QUICK_DEPTH, _QUICK_NAMES):
        entry = accepted.get(each.path, {})
        if entry.get("seen") != each.seen:
            digest = _digest(vault.root, each)
            count += digest is not None and digest not in entry.get("sha256", ()) and digest != _ours(each.path)
    return count


def accept(vault: Vault, files: Iterable[AgentFile]) -> None:
    """Takes down that the human knows these files as they are; a changed one is asked about again.

    Raises: Refused where the vault has no id; WriteFailed.
    """
    _take_down(vault, files, by_us=False)


def _take_down(vault: Vault, files: Iterable[AgentFile], *, by_us: bool) -> None:
    from vault.user import state_guard

    guard = state_guard(vault.settings.vault_id)
    old = guard.read(STATE) if is_folder(guard.root) else None
    entries = _entries(old)
    for file in files:
        known = [digest for digest in entries.get(file.path, {}).get("sha256", ()) if digest != file.sha256]
        written = file.sha256 if by_us else entries.get(file.path, {}).get("written")
        entry = {"sha256": [*known, file.sha256], "seen": _seen_now(vault.root, file), "written": written}
        entries[file.path] = entry
    new = json.dumps({"v": 1, "files": entries}, ensure_ascii=True, indent=1, sort_keys=True) + "\n"
    guard.write(STATE, new.encode(), expect=hashlib.sha256(old).hexdigest() if old is not None else None)


def own(vault: Vault, paths: Iterable[str]) -> None:
    """Takes down files that retain itself has just written on the human's command: accepted, and ours to replace."""
    files = []
    for path in paths:
        status = os.lstat(vault.root / path)
        digest = _digest(vault.root, _Candidate(path, status, ""))
        assert digest is not None  # just written
        files.append(AgentFile(path, digest, status.st_size, "", accepted=True))
    _take_down(vault, files, by_us=True)


def written_by_us(vault: Vault, path: str) -> str | None:
    """The SHA-256 of what retain last wrote at that path; None if it never did."""
    written = _accepted(vault).get(path, {}).get("written")
    return written if isinstance(written, str) else None


def _seen_now(root: Path, file: AgentFile) -> list[int]:
    """What tells without reading that the file is still the accepted one; nothing if it no longer is."""
    try:
        each = _Candidate(file.path, os.lstat(root / file.path), file.why)
    except OSError:
        return []
    return each.seen if _digest(root, each) == file.sha256 else []


@cache
def _ours(path: str) -> str | None:
    """The hash of the text that retain itself lays at that path in every vault."""
    texts = {"AGENTS.md": "AGENTS.md", ".codex/config.toml": "codex.toml"}
    if path not in texts:
        return None
    from templates import read

    return hashlib.sha256(read(texts[path]).encode()).hexdigest()


def _accepted(vault: Vault) -> dict[str, Any]:
    from vault.user import state_folder

    try:
        return _entries((state_folder(vault.settings.vault_id) / STATE).read_bytes())
    except (OSError, Refused):
        return {}


def _entries(data: bytes | None) -> dict[str, Any]:
    """What the state holds; a damaged file holds nothing, so that everything is asked about again."""
    try:
        files = json.loads(data or b"{}").get("files", {})
        return {path: entry for path, entry in files.items() if isinstance(entry, dict)}
    except (ValueError, AttributeError, RecursionError):
        return {}


def _digest(root: Path, each: _Candidate) -> str | None:
    """SHA-256 of the file, or of where a link leads; None if it is gone or cannot be read."""
    path = root / each.path
    try:
        if stat.S_ISLNK(each.status.st_mode):
            return hashlib.sha256(b"link:" + os.fsencode(path.readlink())).hexdigest()
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None
    except OSError:
        return "0" * 64  # it is there and cannot be read: nobody can have accepted it


def _candidates(root: Path, depth: int, names: int) -> Iterator[_Candidate]:
    """The files that matter, nearest to the root first; links are not followed. Ends after so many names."""
    waiting: deque[tuple[str, int]] = deque([("", 0)])
    while waiting and names > 0:
        folder, level = waiting.popleft()
        folders, files, seen = _listed(root, folder)
        names -= seen
        bare = {entry.name for entry in (*folders, *files)} >= _BARE
        for entry in files:
            path = f"{folder}/{entry.name}" if folder else entry.name
            words = _matters(root, path, entry, bare=bare)
            if words is not None:
                yield from _candidate(path, entry, words)
        below = (f"{folder}/{entry.name}" if folder else entry.name for entry in folders)
        waiting.extend((path, level + 1) for path in below if level < depth and could_hold(path))


def _candidate(path: str, entry: os.DirEntry[str], words: str) -> Iterator[_Candidate]:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return  # gone since it was listed
    if stat.S_ISLNK(status.st_mode):
        words += " (a link)"
    elif not stat.S_ISREG(status.st_mode):
        return
    if path.startswith("raw/"):
        words += "; here only for one who works in that folder of raw/"
    yield _Candidate(path, status, words)


def _matters(root: Path, path: str, entry: os.DirEntry[str], *, bare: bool) -> str | None:
    """Why this file matters, or the link in place of a folder that would; else None."""
    if entry.name in _IN_BARE and bare:
        return GIT_CONFIG if entry.name != "HEAD" and git_runs(_text(root / path)) else None
    if is_settings_folder(entry.name):
        return "a folder of settings that lies elsewhere" if entry.is_symlink() else why(path)
    return why(path)


def _listed(root: Path, folder: str) -> tuple[list[os.DirEntry[str]], list[os.DirEntry[str]], int]:
    """The folders in a folder, those of its files that could matter, each by name, and how many names there are."""
    folders, files, seen = [], [], 1
    every = in_settings(folder)
    try:
        with os.scandir(root / folder) as scan:
            for entry in scan:  # a big vault has many: what is done here for each is counted in microseconds
                seen += 1
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry)
                elif every or entry.name.casefold() in TELLING or entry.name in _IN_BARE:
                    files.append(entry)
    except OSError:
        pass
    return sorted(folders, key=_name), sorted(files, key=_name), seen


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _text(path: Path) -> str:
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            return file.read(_CONFIG_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
