"""Empty a folder in an agent's folders, however deep it is nested.

One folder is open at a time, and the way back is by `..`, which must be the same folder as before: neither the longest
path nor the limit of open files stops it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vault.errors import Refused
from vault.files.durable import sync_folder
from vault.files.folder import Identity, humans_folders, identity_of, open_beneath, open_root
from vault.files.paths import AGENT_FOLDERS, refusal
from vault.files.permissions import mend

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_TOPS = tuple(tuple(folder.split("/")) for folder in AGENT_FOLDERS)


@dataclass(slots=True)
class Emptied:
    """How many folders and files were deleted, and how many could not be."""

    folders: int = 0
    files: int = 0
    left: int = 0


def empty(
    root: Path,
    path: str,
    *,
    identity: Identity | None = None,
    forbidden: Iterable[Path] = (),
) -> Emptied:
    """Delete everything in the folder `path`, but not the folder itself.

    With `identity`, only if it still is that folder. Folders of the user and other disks are not entered. Raises
    Refused outside the agents' folders, or if a folder on the way is a link or the user's.
    """
    parts = tuple(path.split("/"))
    inside = any(parts[: len(top)] == top for top in _TOPS)
    if not inside or any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise refusal(path, "only files in the agents' folders are removed")
    theirs = humans_folders(root, forbidden)
    found = Emptied()
    with suppress(OSError), open_beneath(open_root(root), parts, forbidden=theirs, before=_give_rights) as folder:
        if identity in (None, identity_of(os.fstat(folder))):
            _empty(os.dup(folder), theirs, found)
    return found


def _give_rights(folder: int, name: str) -> None:
    """Give the owner his rights on a folder that is about to be entered, if an agent took them."""
    with suppress(OSError):
        mend(name, folder, os.stat(name, dir_fd=folder, follow_symlinks=False), 0o700)


def _empty(handle: int, theirs: frozenset[Identity], found: Emptied) -> None:
    """Empty the open folder and close it."""
    way: list[tuple[str, Identity, list[str]]] = [("", identity_of(os.fstat(handle)), _delete_files(handle, found))]
    disk = way[0][1][0]
    try:
        while way:
            name, _, left = way[-1]
            if left:
                called = left.pop()
                below = _enter(handle, called, disk, theirs, found)
                if below is not None:
                    os.close(handle)
                    handle = below
                    way.append((called, identity_of(os.fstat(handle)), _delete_files(handle, found)))
                continue
            way.pop()
            if way:
                handle = _go_up(handle, name, way[-1][1])
                _remove_folder(handle, name, found)
        sync_folder(handle)
    finally:
        os.close(handle)


def _go_up(handle: int, name: str, expected: Identity) -> int:
    """Return a handle on the folder above an open one, which is closed."""
    above = os.open("..", _FOLDER, dir_fd=handle)
    if identity_of(os.fstat(above)) != expected:
        os.close(above)
        raise Refused("a folder was moved while it was emptied", where=name, hint="run it again")
    os.close(handle)
    return above


def _remove_folder(handle: int, name: str, found: Emptied) -> None:
    try:
        os.rmdir(name, dir_fd=handle)
        found.folders += 1
    except OSError:
        found.left += 1


def _enter(handle: int, name: str, disk: int, theirs: frozenset[Identity], found: Emptied) -> int | None:
    try:
        status = os.stat(name, dir_fd=handle, follow_symlinks=False)
        if status.st_dev == disk and identity_of(status) not in theirs:
            mend(name, handle, status, 0o700)
            return os.open(name, _FOLDER, dir_fd=handle)
    except OSError:
        pass
    found.left += 1
    return None


def _delete_files(handle: int, found: Emptied) -> list[str]:
    """Delete everything but folders; return the names of the folders."""
    with os.scandir(handle) as entries:
        names = [entry.name for entry in entries]
    folders = []
    for name in names:
        try:
            status = os.stat(name, dir_fd=handle, follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                folders.append(name)
            else:
                os.unlink(name, dir_fd=handle)
                found.files += 1
        except FileNotFoundError:
            continue
        except OSError:
            found.left += 1
    return folders
