"""Where an export may go: anywhere the human says, but not into the parts of a vault that have an owner."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from vault.errors import Refused
from vault.files.folder import Identity, identity_of

_SETTINGS = "retain.toml"
_CLOSED = ("raw", "insights", "wiki", "ledger", "learning", ".retain", ".git", ".obsidian")
_CLOSED_FILES = frozenset({_SETTINGS, "AGENTS.md"})


def check_export(target: Path, *, shown: str, forbidden: Iterable[Path]) -> os.stat_result | None:
    """The status of the file that an export to `target` (links resolved) would replace; None if it is new.

    Folders are known by device and inode, so another spelling or a bind mount of a closed one is refused too.
    Raises: Refused, with `shown` as the place.
    """
    if not target.parent.is_dir():
        raise Refused("no such folder", where=shown, hint=f"make {target.parent} first")
    closed = {identity for folder in forbidden if (identity := _identity(folder))}
    for vault in (folder for folder in target.parents if (folder / _SETTINGS).is_file()):
        closed |= {identity for name in _CLOSED if (identity := _identity(vault / name))}
        if target.parent == vault and (target.name in _CLOSED_FILES or target.name.startswith(".")):
            raise Refused("that file belongs to the vault", where=shown, hint="choose another name")
    if closed & {_identity(folder) for folder in target.parents}:
        raise Refused("exports may not be written to that folder of a vault", where=shown, hint="use output/")
    with suppress(FileNotFoundError):
        status = target.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise Refused("that is not a file", where=shown, hint="give a file")
        return status
    return None


def _identity(folder: Path) -> Identity | None:
    with suppress(OSError):
        return identity_of(folder.stat())
    return None
