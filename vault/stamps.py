"""How files stood when they were read: what a cache is held against before it is believed.

A stamp is size, instant of the last change (ctime, which nobody can set) and inode. A file that changed a moment ago
may change again without its stamp showing it, so the stamp of a young file counts for nothing.
"""

from __future__ import annotations

import os
import time
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from vault.conflict import is_beside

RACY_NS = 2_000_000_000  # clocks of file systems tick in up to two seconds
FIELDS = 3
Stamp = tuple[int, int, int]  # bytes, nanoseconds since 1970, inode
NONE: Stamp = (-1, 0, 0)  # of a file that is not there, or too young for a stamp: equal to that of no file


@dataclass(frozen=True, slots=True)
class Stamps:
    """The files of a folder by name, three numbers each; `settled` as they may be kept, those of young files NONE."""

    names: tuple[str, ...]
    numbers: array[int]
    settled: array[int]


def stamp(root: Path, path: str) -> Stamp:
    """The stamp of a plain file; NONE if there is none."""
    try:
        status = (root / path).lstat()
    except OSError:
        return NONE
    return status.st_size, status.st_ctime_ns, status.st_ino


def settled(found: Stamp) -> Stamp:
    """`found` as it may be kept: NONE where the file is too young. `found` was taken before the file was read."""
    return found if found[1] < time.time_ns() - RACY_NS else NONE


def folder_stamps(root: Path, folder: str, ending: str) -> Stamps:
    """The stamps of the files that `Vault.paths` names, in its order. Raises: OSError if it cannot be listed."""
    found: list[tuple[str, int, int, int]] = []
    add = found.append
    try:
        with os.scandir(root / folder) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(ending) and name[0] != "." and entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    add((name, status.st_size, status.st_ctime_ns, status.st_ino))
    except FileNotFoundError:
        found.clear()  # the folder, or a file that went since it was listed: then nothing here is believed
    found.sort()
    if any(".conflict-" in each[0] for each in found):
        found = [each for each in found if not is_beside(each[0])]
    numbers = array("q", [number for each in found for number in each[1:]])
    return Stamps(tuple(each[0] for each in found), numbers, _settled(numbers))


def _settled(numbers: array[int]) -> array[int]:
    """`numbers`, with those of young files made those of none."""
    young = time.time_ns() - RACY_NS
    if not numbers or max(numbers[1::FIELDS]) < young:
        return numbers
    kept = array("q", numbers)
    for n in range(0, len(kept), FIELDS):
        if kept[n + 1] >= young:
            kept[n : n + FIELDS] = array("q", NONE)
    return kept


def joined(names: Iterable[str]) -> bytes:
    """Names as one text: no name of a file holds a NUL."""
    return "\0".join(names).encode("utf-8", "surrogateescape")
