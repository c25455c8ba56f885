"""Whether an agent may read or write a path: its own part of a vault, the user's, or outside. Opens no file.

Paths are compared by device and inode, so another spelling, link or mount counts as the same file.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from vault.config.user import config_folder, personal_vaults, state_folder
from vault.files.folder import Identity, identity_at
from vault.files.write_scopes import AGENT_FOLDERS, HUMAN_FOLDERS, skeleton
from vault.vault import Vault

_USER_FOLDERS = (*HUMAN_FOLDERS, "ledger")
# Names at the top of a vault that are not the agent's.
_NAMES = (
    *_USER_FOLDERS,
    "learning",
    "retain.toml",
    "AGENTS.md",
    "CLAUDE.md",
    ".gitignore",
    ".gitattributes",
    ".mcp.json",
)
_FOLDERS = (".git", ".claude", ".codex", ".agents", ".obsidian", ".retain", ".cursor", ".vscode", ".github")
_MAX_PATH = 4_096
_SKELETONS = frozenset(skeleton(name) for name in (*_NAMES, *_FOLDERS))
_LOGS = ("reviews.jsonl", "notes.jsonl")
_CLOSED = frozenset(
    skeleton(name) for name in (*_USER_FOLDERS, *_LOGS, "retain.toml", ".git", ".claude", ".codex", ".retain")
)


@dataclass(frozen=True, slots=True)
class Territory:
    """What an agent may access. `secret` folders must not be read; `settings` not written."""

    root: str
    secret: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    _met: dict[str, Identity | None] = field(
        default_factory=dict, compare=False, repr=False
    )  # for one call's many words

    def write_fault(self, path: str) -> str | None:
        """Return why an agent must not write at an absolute path; None if it may, or the path is not in the vault."""
        real = os.path.realpath(path)
        above = self._above(real)
        for folder in (*self.secret, *self.settings):
            if self._in(real, above, folder):
                return "that path is outside this vault and belongs to the user"
        if not self._in(real, above, self.root):
            return None
        human = {self._identity(f"{self.root}/{name}") for name in _USER_FOLDERS}
        if any(identity in human for _, identity in above):
            return "an agent must not write to the user's folders or to ledger/"
        if not any(self._in(real, above, f"{self.root}/{folder}", inside=True) for folder in AGENT_FOLDERS):
            return "an agent may write only to wiki/, output/ and learning/flashcards/ of this vault"
        return "the file has a second name elsewhere (a hard link)" if _has_two_names(real) else None

    def read_fault(self, path: str, *, below: bool = False) -> str | None:
        """Return why an agent must not read at an absolute path, or with `below` search it; None if it may."""
        real = os.path.realpath(path)
        above = self._above(real)
        for folder in self.secret:
            if self._in(real, above, folder) or (below and self._in(folder, self._above(folder), real)):
                return "agents must not read the user's personal vault"
        return None

    def names(self, path: str) -> bool:
        """Return whether an absolute path exists or is a well-known name at the top of the vault."""
        if os.path.lexists(path):
            return True
        first = Path(os.path.relpath(os.path.realpath(path), self.root)).parts[:1]
        return bool(first) and skeleton(first[0]) in _SKELETONS

    def closed_place(self, path: str) -> str | None:
        """Return the closed folder or file of the vault that the absolute path leads into, by name; None if none."""
        parts = Path(os.path.relpath(os.path.realpath(path), self.root)).parts
        named = parts[1:2] if parts[:1] == ("learning",) else parts[:1]
        return next(filter(is_closed, named), None)

    def _above(self, real: str) -> list[tuple[str, Identity]]:
        """Return the path and its parent folders that exist, each with device and inode."""
        found: list[tuple[str, Identity]] = []
        if len(real) > _MAX_PATH:
            return found  # longer than any path
        each = real
        while True:
            identity = self._identity(each)
            if identity is not None:
                found.append((each, identity))
            above = os.path.dirname(each)  # noqa: PTH120 (a thousand words a line, and pathlib takes its time)
            if above == each:
                return found
            each = above

    def _identity(self, path: str) -> Identity | None:
        if path not in self._met:
            self._met[path] = None
            with suppress(OSError):  # a name too long to be one, a loop of links: nothing is there
                self._met[path] = identity_at(path)
        return self._met[path]

    def _in(self, real: str, above: list[tuple[str, Identity]], folder: str, *, inside: bool = False) -> bool:
        """Return whether `real`, with parents `above`, is in the folder or (unless `inside`) is it."""
        identity = self._identity(folder)
        if identity is None:
            return real.startswith(folder.rstrip("/") + "/") or (real == folder and not inside)
        return any(found == identity and not (inside and path == real) for path, found in above)


def is_closed(name: str) -> bool:
    """Return whether `name` is a folder or file of a vault that no shell command of an agent may name."""
    return skeleton(name) in _CLOSED


def territory_of(vault: Vault) -> Territory:
    """Return the territory of a vault, with the user's folders outside it."""
    secret = [state_folder(vault.settings.vault_id), *personal_vaults().values()]
    return Territory(str(vault.root), tuple(map(os.path.realpath, secret)), (os.path.realpath(config_folder()),))


def _has_two_names(real: str) -> bool:
    try:
        status = os.lstat(real)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_nlink > 1
