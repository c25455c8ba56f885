"""Empty a folder in an agent's folders, however deep it is nested.

Folders inside folders are moved up before they are deleted: neither the longest path nor the limit of open files stops
it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from vault.files.durable import sync_folder
from vault.files.folder import Identity, humans_folders, identity_of, open_beneath, open_root
from vault.files.leftovers import temporary_name
from vault.files.permissions import mend
from vault.files.write_scopes import AGENT_FOLDERS, refusal

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
        raise refusal(path, "only files in the agents' folders can be removed")
    theirs = humans_folders(root, forbidden)
    result = Emptied()
    with suppress(OSError), open_beneath(open_root(root), parts, forbidden=theirs, before=_give_rights) as folder:
        if identity in (None, identity_of(os.fstat(folder))):
            _empty(folder, theirs, result)
    return result


def _give_rights(folder: int, name: str) -> None:
    """Give the owner his rights on a folder that is about to be entered, if an agent took them."""
    with suppress(OSError):
        mend(name, folder, os.stat(name, dir_fd=folder, follow_symlinks=False), 0o700)


def _empty(top: int, theirs: frozenset[Identity], result: Emptied) -> None:
    """Empty the open folder: what its folders hold is moved up into it first, so that no path is ever deep."""
    disk = os.fstat(top).st_dev
    left: set[str] = set()
    while names := set(os.listdir(top)) - left:
        left |= {name for name in names if not _delete(top, name, top, disk, theirs, result)}
    sync_folder(top)


def _delete(folder: int, name: str, top: int, disk: int, theirs: frozenset[Identity], result: Emptied) -> bool:
    """Delete a file, or move it up and delete it if it is a folder; return whether it is gone from the open folder."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode):
            os.unlink(name, dir_fd=folder)
            result.files += 1
            return True
        if status.st_dev == disk and identity_of(status) not in theirs:
            mend(name, folder, status, 0o700)
            if folder != top:
                os.rename(name, temporary_name(), src_dir_fd=folder, dst_dir_fd=top)
                return True
            with _opened(name, top) as below:
                for each in os.listdir(below):  # noqa: PTH208 (pathlib takes no handle)
                    _delete(below, each, top, disk, theirs, result)
            os.rmdir(name, dir_fd=top)
            result.folders += 1
            return True
    except FileNotFoundError:
        return True
    except OSError:
        pass
    result.left += 1
    return False


@contextmanager
def _opened(name: str, folder: int) -> Iterator[int]:
    handle = os.open(name, _FOLDER, dir_fd=folder)
    try:
        yield handle
    finally:
        os.close(handle)
