"""The daily copies of the review log in the user's data folder: compressed, at most 30 for each place of a vault.

A vault's place is its path on this machine: the copies of one clone say nothing of another.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from vault.config.user import data_folder, data_guard
from vault.errors import Damaged, RetainError
from vault.files.folder import FileKind, Folder, is_folder, sha256_hex

MOST = 30
_NAME = re.compile(r"(\d{4}-\d\d-\d\d)\.([1-9]\d{0,3})\.(\d{1,12})\.jsonl\.gz")
_LEVEL = 1  # the next one takes half as long again, and saves a tenth


@dataclass(frozen=True, slots=True, order=True)
class Copy:
    """A copy made on `day`, the `number`-th of that day, with so many `events`."""

    day: date
    number: int
    events: int

    @property
    def name(self) -> str:
        return f"{self.day}.{self.number}.{self.events}.jsonl.gz"


class Copies:
    """The copies of the review log of the vault that has this id and is at `root`."""

    def __init__(self, root: Path, vault_id: str) -> None:
        self._vault_id = vault_id
        self._place = f"review-log/{sha256_hex(os.fsencode(root))[:16]}"

    @property
    def folder(self) -> Path:
        """Return the folder of the copies; it may not exist."""
        return data_folder(self._vault_id) / self._place

    def listed(self) -> list[Copy]:
        """Return all copies, the oldest first; none if their folder cannot be read."""
        top = data_folder(self._vault_id)
        try:
            entries = Folder(top).listing(self._place) if is_folder(top) else []
        except RetainError:
            return []
        names = [entry.path.rpartition("/")[2] for entry in entries if entry.kind is FileKind.FILE]
        return sorted(copy for name in names if (copy := _named(name)) is not None)

    def read(self, copy: Copy) -> bytes:
        """Return the lines of a copy. Raises: Damaged, Refused."""
        where = str(self.folder / copy.name)
        try:
            lines = gzip.decompress(Folder(data_folder(self._vault_id)).read(f"{self._place}/{copy.name}") or b"")
            if copy.events and not lines:
                raise EOFError
            return lines
        except (OSError, EOFError, zlib.error) as error:
            raise Damaged("this copy of the review log is damaged", where=where, hint="use an older one") from error

    def newest(self) -> bytes:
        """Return the lines of the newest copy that can be read; nothing if there is none."""
        for copy in reversed(self.listed()):
            try:
                return self.read(copy)
            except RetainError:
                continue
        return b""

    def write(self, day: date, lines: bytes, events: int) -> None:
        """Write a copy, and delete the oldest ones beyond `MOST`. Raises: WriteFailed, Refused."""
        old = self.listed()
        number = max((copy.number for copy in old if copy.day == day), default=0) + 1
        guard = data_guard(self._vault_id)
        guard.write(f"{self._place}/{Copy(day, number, events).name}", gzip.compress(lines, _LEVEL), expect=None)
        for copy in old[: max(0, len(old) + 1 - MOST)]:
            path = f"{self._place}/{copy.name}"
            guard.remove(path, expect=sha256_hex(guard.read(path) or b""))


def _named(name: str) -> Copy | None:
    """Return the copy that has a file name; None for the name of something else."""
    found = _NAME.fullmatch(name)
    try:
        return Copy(date.fromisoformat(found[1]), int(found[2]), int(found[3])) if found else None
    except ValueError:
        return None
