"""Stamps of files (size, time, inode), by which an index is checked before it is used.

A stamp is size, instant of the last change (ctime, which nobody can set) and inode. A file that changed a moment ago
may change again without its stamp showing it, so the stamp of a young file counts for nothing.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from array import array
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from vault.files.write_scopes import is_conflict_copy

RACY_NS = 2_000_000_000  # clocks of file systems tick in up to two seconds
FIELDS = 3
INODE = (1 << 63) - 1  # a mask: some disks count higher than the numbers that are stored
Stamp = tuple[int, int, int]  # bytes, nanoseconds since 1970, inode
NONE: Stamp = (-1, 0, 0)  # of a file that is not there, or too young for a stamp: equal to that of no file


@dataclass(frozen=True, slots=True)
class Stamps:
    """The files of a folder by name, three numbers each."""

    names: tuple[str, ...]
    numbers: array[int]


@dataclass(frozen=True)
class Listing:
    """Everything in a folder, hidden files too: `names` in the folder's own order, three `numbers` each.

    `plain` says of each whether it is a file. It is taken once, for all who want to know.
    """

    names: tuple[str, ...]
    numbers: array[int]
    plain: tuple[bool, ...]

    def files(self, ending: str) -> Stamps:
        """Return the stamps of the files that `Vault.paths` names, in its order."""
        found = self._files(ending)
        found = [n for n in found if not is_conflict_copy(self.names[n])]
        return Stamps(tuple([self.names[n] for n in found]), self._numbers(found))

    def digest(self, ending: str) -> str:
        """Return a digest that changes with the name or stamp of a plain, not hidden file that ends in `ending`."""
        found = self._files(ending)
        return stamps_digest([self.names[n] for n in found], self._numbers(found))

    @cached_property
    def _order(self) -> list[int]:
        return sorted(range(len(self.names)), key=self.names.__getitem__)

    def _files(self, ending: str) -> list[int]:
        names, plain = self.names, self.plain
        return [n for n in self._order if plain[n] and names[n].endswith(ending) and names[n][0] != "."]

    def _numbers(self, rows: list[int]) -> array[int]:
        out = array("q", bytes(len(rows) * FIELDS * self.numbers.itemsize))
        for place in range(FIELDS):
            column = self.numbers[place::FIELDS]
            out[place::FIELDS] = array("q", [column[n] for n in rows])
        return out


def stamps_digest(names: Iterable[str], numbers: array[int]) -> str:
    """Return a digest of the names of files, sorted, and their stamps."""
    found = hashlib.sha256(joined_names(names))
    found.update(numbers.tobytes())
    return found.hexdigest()


def listing(root: Path, folder: str) -> Listing:
    """Return what is in a folder now; empty if it is missing. Raises: OSError if it can't be listed."""
    names: list[str] = []
    numbers: list[int] = []
    plain: list[bool] = []
    with suppress(FileNotFoundError), os.scandir(root / folder) as entries:
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:  # gone since it was listed
                continue
            names.append(entry.name)
            numbers += (status.st_size, status.st_ctime_ns, status.st_ino & INODE)
            plain.append(stat.S_ISREG(status.st_mode))
    return Listing(tuple(names), array("q", numbers), tuple(plain))


def stamp(root: Path, path: str) -> Stamp:
    """Return the stamp of a plain file; NONE if there is none."""
    try:
        status = os.lstat(f"{root}/{path}")
    except OSError:
        return NONE
    return status.st_size, status.st_ctime_ns, status.st_ino & INODE


def cacheable_stamp(found: Stamp) -> Stamp:
    """Return a stamp taken before the file was read as it may be cached: NONE if the file is too young."""
    return found if found[1] < time.time_ns() - RACY_NS else NONE


def joined_names(names: Iterable[str]) -> bytes:
    """Return names as one byte string separated by NUL, which no file name contains."""
    return "\0".join(names).encode("utf-8", "surrogateescape")
