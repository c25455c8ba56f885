"""Whose a path is: the agent's part of a vault, the human's, or none of the vault's. Reads the disk, opens nothing.

Paths are compared by what they lead to (device and inode), so another spelling, link or mount is the same place.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from vault.files.folder import Identity, identity_at
from vault.files.paths import AGENT_FOLDERS, HUMAN_FOLDERS, skeleton
from vault.vault import Vault

_OURS = (*HUMAN_FOLDERS, "ledger")
# What stands at the top of a vault and is not the agent's: a command that names one of them means the vault's.
_NAMES = (*_OURS, "learning", "retain.toml", "AGENTS.md", "CLAUDE.md", ".gitignore", ".gitattributes", ".mcp.json")
_FOLDERS = (".git", ".claude", ".codex", ".agents", ".obsidian", ".retain", ".cursor", ".vscode", ".github")
_LONGEST = 4_096
_SKELETONS = frozenset(skeleton(name) for name in (*_NAMES, *_FOLDERS))
_CLOSED = frozenset(
    skeleton(name) for name in (*_OURS, "retain.toml", "reviews.jsonl", ".git", ".claude", ".codex", ".retain")
)


@dataclass(frozen=True, slots=True)
class Territory:
    """A vault as an agent may use it. `secret` folders are not to be read; `settings` not to be written."""

    root: str
    secret: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    _met: dict[str, Identity | None] = field(
        default_factory=dict, compare=False, repr=False
    )  # for one call's many words

    def write_fault(self, path: str) -> str | None:
        """Why an agent must not write at that absolute path; None if it may, or the path is not the vault's."""
        real = os.path.realpath(path)
        above = self._above(real)
        for folder in (*self.secret, *self.settings):
            if self._in(real, above, folder):
                return "that is the human's own, outside this vault"
        if not self._in(real, above, self.root):
            return None
        human = {self._identity(f"{self.root}/{name}") for name in _OURS}
        if any(identity in human for _, identity in above):
            return "the human's folders and the ledgers are not an agent's to write"
        if not any(self._in(real, above, f"{self.root}/{folder}", inside=True) for folder in AGENT_FOLDERS):
            return "an agent writes wiki/, output/ and learning/flashcards/ of this vault, and nothing else in it"
        return "the file has a second name elsewhere (a hard link)" if _has_two_names(real) else None

    def read_fault(self, path: str, *, below: bool = False) -> str | None:
        """Why an agent must not read at that absolute path, or with `below` search it; None if it may."""
        real = os.path.realpath(path)
        above = self._above(real)
        for folder in self.secret:
            if self._in(real, above, folder) or (below and self._in(folder, self._above(folder), real)):
                return "the human's personal vault is not for agents"
        return None

    def names(self, path: str) -> bool:
        """Whether the absolute path means something that is there, or a well-known place at the top of the vault."""
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
        """The path and all above it that exist, each with what it is."""
        found: list[tuple[str, Identity]] = []
        if len(real) > _LONGEST:
            return found  # no system opens it: a whole text that was taken for a path
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
        """Whether `real`, with `above` it, is the folder (unless `inside`) or lies in it, by identity or by name."""
        identity = self._identity(folder)
        if identity is None:
            return real.startswith(folder.rstrip("/") + "/") or (real == folder and not inside)
        return any(found == identity and not (inside and path == real) for path, found in above)


def is_closed(name: str) -> bool:
    """Return whether the name is that of a folder or file of a vault that no shell command of an agent may name."""
    return skeleton(name) in _CLOSED


def territory_of(vault: Vault) -> Territory:
    """The vault's, with the places of the human's that lie outside it."""
    from vault.config.user import config_folder, personal_vaults, state_folder

    secret = [state_folder(vault.settings.vault_id), *personal_vaults().values()]
    return Territory(str(vault.root), tuple(map(os.path.realpath, secret)), (os.path.realpath(config_folder()),))


def _has_two_names(real: str) -> bool:
    try:
        status = os.lstat(real)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_nlink > 1
