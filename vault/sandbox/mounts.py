"""What is mounted where, and the other paths of one folder: pure functions over mountinfo."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

from vault.files.write_scopes import is_within

_OCTAL = re.compile(r"\\([0-7]{3})")
_TABLE = "/proc/self/mountinfo"


@dataclass(frozen=True, slots=True)
class Mount:
    """The folder `root` of the file system `device` ("major:minor"), mounted at `point`."""

    device: str
    root: str
    point: str


def mounts(table: str | None = None) -> tuple[Mount, ...]:
    """Return all mounts that this process sees, in order; none if the system has no such list."""
    if table is None:
        try:
            with open(_TABLE, encoding="utf-8", errors="surrogateescape") as file:
                table = file.read()
        except OSError:
            return ()
    rows = (line.split(" ") for line in table.splitlines())
    return tuple(Mount(row[2], _plain(row[3]), _plain(row[4])) for row in rows if len(row) > 4)


def _plain(text: str) -> str:
    """Return a path of the table with its octal escapes decoded."""
    raw = _OCTAL.sub(lambda found: chr(int(found[1], 8)), text)
    if raw == text:
        return text
    return os.fsdecode(b"".join(c.encode("latin-1") if ord(c) < 256 else os.fsencode(c) for c in raw))


def related(path: str, other: str) -> bool:
    """Return whether one is the other or inside it."""
    return is_within(path, other) or is_within(other, path)


def names_of(path: str, table: Iterable[Mount]) -> tuple[str, ...]:
    """Return `path` (absolute, without links), then every other path where it, or a part of it, is mounted.

    For a mount of a folder below `path`, that is the mount point. Copies by a file system in user space (bindfs, a
    network share) can't be recognized.
    """
    table = tuple(table)
    # Of those that stand at one point, the last lies on top.
    home = max((m for m in reversed(table) if is_within(path, m.point)), key=lambda m: len(m.point), default=None)
    found = [path]
    if home is not None:
        inner = _joined(home.root, os.path.relpath(path, home.point))
        for mount in table:
            if mount.device != home.device:
                continue
            if is_within(inner, mount.root):
                found.append(_joined(mount.point, os.path.relpath(inner, mount.root)))
            elif is_within(mount.root, inner):
                found.append(mount.point)
    return tuple(dict.fromkeys(found))


def points_below(folder: str, table: Iterable[Mount]) -> list[str]:
    """Return the mount points below `folder` (absolute, without links)."""
    return sorted({m.point for m in table if m.point != folder and is_within(m.point, folder)})


def _joined(folder: str, below: str) -> str:
    return os.path.normpath(os.path.join(folder, below))
