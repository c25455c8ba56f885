"""The owner's rights on what is his, given back where an agent took them: no bytes change, and no link is followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | _NOFOLLOW
_ITSELF = getattr(os, "O_PATH", 0)  # a handle on a name that cannot be read; Linux alone has it
_DEPTH = 40


def give_back(root: Path, folders: Sequence[str]) -> None:
    """Let the owner list and change `folders` of `root` and all below, and read each file there, as far as we own it.

    Of a file with another name elsewhere nobody knows whose it is: it stays as it is. What cannot be helped is left
    for whoever looks next to name.
    """
    with suppress(OSError):
        handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for folder in folders:
                _along(handle, folder.split("/"), 0)
        finally:
            os.close(handle)


def _along(folder: int, way: Sequence[str], depth: int) -> None:
    """Mend the next folder on the way and go on from there; at its end, all that it holds."""
    names = way[:1]
    if not way:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries]
    for name in names:
        with suppress(OSError):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            is_folder = stat.S_ISDIR(status.st_mode)
            if is_folder or (stat.S_ISREG(status.st_mode) and status.st_nlink == 1):
                _mend(name, folder, status, 0o700 if is_folder else 0o400)
            if is_folder and depth < _DEPTH:
                below = os.open(name, _FOLDER, dir_fd=folder)
                try:
                    _along(below, way[1:], depth + 1)
                finally:
                    os.close(below)


def _mend(name: str, folder: int, status: os.stat_result, wanted: int) -> None:
    mode = stat.S_IMODE(status.st_mode)
    if mode & wanted == wanted or status.st_uid != os.geteuid():
        return
    if not _ITSELF:
        os.chmod(name, mode | wanted, dir_fd=folder, follow_symlinks=False)
        return
    handle = os.open(name, _ITSELF | _NOFOLLOW, dir_fd=folder)
    try:
        now = os.fstat(handle)
        if (now.st_dev, now.st_ino) == (status.st_dev, status.st_ino):
            Path(f"/proc/self/fd/{handle}").chmod(mode | wanted)
    finally:
        os.close(handle)
