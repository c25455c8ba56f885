"""Remove what an agent left that is not a regular file with a valid name: links, pipes, invalid names, empty folders.

For names that the guard refuses. It works in the agents' folders alone and follows no link.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from vault.files.durable import failing, sync_folder
from vault.files.folder import Identity, humans_folders, identity_of, open_beneath, open_root
from vault.files.write_scopes import AGENT_FOLDERS, refusal

_TOPS = tuple(tuple(folder.split("/")) for folder in AGENT_FOLDERS)
_FULL = (errno.ENOTEMPTY, errno.EEXIST)


def take_away(root: Path, path: str, identity: Identity, *, forbidden: Iterable[Path] = ()) -> bool:
    """Delete the name `path` if it still has that `identity`, also an empty folder; return whether it did.

    Raises Refused outside the agents' folders, or if a folder on the way is a link or the user's; WriteFailed.
    """
    parts = tuple(path.split("/"))
    inside = any(parts[: len(top)] == top and len(parts) > len(top) for top in _TOPS)
    if not inside or any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise refusal(path, "only files in the agents' folders can be removed")
    with failing(path):
        return _remove(root, parts, identity, forbidden)


def _remove(root: Path, parts: tuple[str, ...], identity: Identity, forbidden: Iterable[Path]) -> bool:
    theirs = humans_folders(root, forbidden)
    try:
        with open_beneath(open_root(root), parts[:-1], forbidden=theirs) as folder:
            return _unlink(folder, parts[-1], identity, theirs)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _unlink(folder: int, name: str, identity: Identity, theirs: frozenset[Identity]) -> bool:
    with suppress(FileNotFoundError):
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if identity_of(status) != identity or identity in theirs:
            return False
        if stat.S_ISDIR(status.st_mode):
            try:
                os.rmdir(name, dir_fd=folder)
            except OSError as error:
                if error.errno in _FULL:
                    return False
                raise
        else:
            os.unlink(name, dir_fd=folder)
        sync_folder(folder)
        return True
    return False
