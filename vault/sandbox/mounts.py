"""What is mounted where, and under which further names one folder can be reached: pure functions over mountinfo."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

_OCTAL = re.compile(r"\\([0-7]{3})")
_TABLE = "/proc/self/mountinfo"


@dataclass(frozen=True, slots=True)
class Mount:
    """The folder `root` of the file system `device` ("major:minor") stands at `point`."""

    device: str
    root: str
    point: str


def mounts(table: str | None = None) -> tuple[Mount, ...]:
    """All mounts that this process sees, in the order they were made; none where the system doesn't tell."""
    if table is None:
        try:
            with open(_TABLE, encoding="utf-8", errors="surrogateescape") as file:
                table = file.read()
        except OSError:
            return ()
    rows = (line.split(" ") for line in table.splitlines())
    return tuple(Mount(row[2], _plain(row[3]), _plain(row[4])) for row in rows if len(row) > 4)


def _plain(text: str) -> str:
    """A path of the table: white space and backslashes are written there as octal numbers, in bytes."""
    raw = _OCTAL.sub(lambda found: chr(int(found[1], 8)), text)
    if raw == text:
        return text
    return os.fsdecode(b"".join(c.encode("latin-1") if ord(c) < 256 else os.fsencode(c) for c in raw))


def within(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or lies in it; both absolute, without links."""
    return path == folder or folder == "/" or path.startswith(folder + "/")


def related(path: str, other: str) -> bool:
    """Whether one is the other or lies in it."""
    return within(path, other) or within(other, path)


def names_of(path: str, table: Iterable[Mount]) -> tuple[str, ...]:
    """`path` (absolute, without links) first, then every further place where it, or a part of it, is mounted too.

    A mount that shows only a folder below `path` is named by its point. Copies that a file system in user space makes
    of a folder (bindfs, a share of the network) can't be told from others and are not found.
    """
    table = tuple(table)
    # Of those that stand at one point, the last lies on top.
    home = max((m for m in reversed(table) if within(path, m.point)), key=lambda m: len(m.point), default=None)
    found = [path]
    if home is not None:
        inner = _joined(home.root, os.path.relpath(path, home.point))
        for mount in table:
            if mount.device != home.device:
                continue
            if within(inner, mount.root):
                found.append(_joined(mount.point, os.path.relpath(inner, mount.root)))
            elif within(mount.root, inner):
                found.append(mount.point)
    return tuple(dict.fromkeys(found))


def points_below(folder: str, table: Iterable[Mount]) -> list[str]:
    """The places below `folder` (absolute, without links) at which something else is mounted."""
    return sorted({m.point for m in table if m.point != folder and within(m.point, folder)})


def _joined(folder: str, below: str) -> str:
    return os.path.normpath(os.path.join(folder, below))
