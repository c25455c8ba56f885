"""Restore modes that an agent changed. No bytes change, and no link is followed."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from vault.errors import Refused
from vault.files.folder import humans_folders, identity_of, open_beneath, open_root

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | _NOFOLLOW
_ITSELF = getattr(os, "O_PATH", 0)  # a handle on a name that cannot be read; Linux alone has it
_DEPTH = 40
_SPECIAL = 0o7000  # to run as somebody else, and what keeps others from deleting


def give_back(root: Path, folders: Sequence[str], known: Mapping[str, int] | None = None) -> dict[str, int]:
    """Let the owner list and change the `folders` of `root`, and read all files below; return the modes changed, by
    path.

    A mode that equals the one in `known` is not changed, nor is that of a file with several hard links. What cannot be
    changed is left.
    """
    found: dict[str, int] = {}
    with suppress(OSError):
        handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for folder in folders:
                _restore_along(handle, "", folder.split("/"), known or {}, found)
        finally:
            os.close(handle)
    return found


def _restore_along(folder: int, here: str, way: Sequence[str], known: Mapping[str, int], found: dict[str, int]) -> None:
    """Change modes along the path `way`, then in everything below its end."""
    names = way[:1]
    if not way:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries]
    for name in names:
        with suppress(OSError):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            is_folder = stat.S_ISDIR(status.st_mode)
            path, mode = f"{here}{name}", stat.S_IMODE(status.st_mode)
            ours = is_folder or (stat.S_ISREG(status.st_mode) and status.st_nlink == 1)
            if ours and known.get(path) != mode and mend(name, folder, status, 0o700 if is_folder else 0o400):
                found[path] = mode
            if is_folder and path.count("/") < _DEPTH:
                below = os.open(name, _FOLDER, dir_fd=folder)
                try:
                    _restore_along(below, f"{path}/", way[1:], known, found)
                finally:
                    os.close(below)


def mend(name: str, folder: int, status: os.stat_result, wanted: int) -> bool:
    """Add the rights `wanted` to a name in an open folder; return whether that was needed, and ours to do."""
    mode = stat.S_IMODE(status.st_mode)
    if mode & wanted == wanted or status.st_uid != os.geteuid():
        return False
    return _set(name, folder, status, mode | wanted)


def calm(mode: int, umask: int, *, is_folder: bool = False) -> int:
    """Return the mode for a new file: not executable, and not writable for those whom the umask excludes."""
    if is_folder:
        return mode & ~(_SPECIAL | 0o002 | (umask & 0o077)) | 0o700
    return mode & ~(_SPECIAL | 0o113 | (umask & 0o077)) | 0o400


def own_umask() -> int:
    """Return the umask of this process."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def set_mode(root: Path, path: str, mode: int, *, forbidden: Iterable[Path] = ()) -> bool:
    """Set the mode of the regular file or folder at `path`; return whether it changed.

    No link on the way is followed, and nothing of the user is changed.
    """
    *above, name = path.split("/")
    theirs = humans_folders(root, forbidden)
    with suppress(OSError, Refused), open_beneath(open_root(root), above, forbidden=theirs) as folder:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        plain = stat.S_ISDIR(status.st_mode) or (stat.S_ISREG(status.st_mode) and status.st_nlink == 1)
        if plain and identity_of(status) not in theirs and stat.S_IMODE(status.st_mode) != mode:
            return _set(name, folder, status, mode)
    return False


def put_mode(root: Path, path: str, mode: int) -> None:
    """Set the mode of the regular file or folder at `path` below `root` ("" is `root`). Raises OSError."""
    if not path:
        root.chmod(mode)
        return
    *above, name = path.split("/")
    with ExitStack() as stack:
        handle = os.open(root, _ITSELF | os.O_DIRECTORY | getattr(os, "O_CLOEXEC", 0))
        stack.callback(os.close, handle)
        for part in above:
            handle = os.open(part, _ITSELF | _FOLDER, dir_fd=handle)
            stack.callback(os.close, handle)
        status = os.stat(name, dir_fd=handle, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file or folder", path)
        if stat.S_IMODE(status.st_mode) != mode:
            _set(name, handle, status, mode)


def _set(name: str, folder: int, status: os.stat_result, mode: int) -> bool:
    """Set the mode of a name in an open folder if it still has that `status`; return whether it did."""
    if not _ITSELF:
        os.chmod(name, mode, dir_fd=folder, follow_symlinks=False)
        return True
    handle = os.open(name, _ITSELF | _NOFOLLOW, dir_fd=folder)
    try:
        now = os.fstat(handle)
        if (now.st_dev, now.st_ino) == (status.st_dev, status.st_ino):
            Path(f"/proc/self/fd/{handle}").chmod(mode)
            return True
    finally:
        os.close(handle)
    return False
