"""The daily copies of the review log in the user's data folder: compressed, at most 30 for each place of a vault.

A vault's place is its path on this machine. The copies of one clone do not say what another has lost, but a vault that
has been moved can be restored from those of its old place.
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
_FOLDER = "review-log"
_NAME = re.compile(r"(\d{4}-\d\d-\d\d)\.([1-9]\d{0,3})\.(\d{1,12})\.jsonl\.gz")
_LEVEL = 1  # the next one takes half as long again, and saves a tenth


@dataclass(frozen=True, slots=True, order=True)
class Copy:
    """A copy made on `day`, the `number`-th of that day at its `place`, with so many `events`."""

    day: date
    number: int
    events: int
    place: str = ""

    @property
    def name(self) -> str:
        return f"{self.day}.{self.number}.{self.events}.jsonl.gz"

    @property
    def path(self) -> str:
        """Return its path in the folder for the user's data of the vault."""
        return f"{self.place}/{self.name}"


class Copies:
    """The copies of the review log of the vault that has this id and is at `root`."""

    def __init__(self, root: Path, vault_id: str) -> None:
        self._vault_id = vault_id
        self._place = f"{_FOLDER}/{sha256_hex(os.fsencode(root))[:16]}"

    @property
    def folder(self) -> Path:
        """Return the folder of the copies; it may not exist."""
        return data_folder(self._vault_id) / self._place

    def listed(self, *, elsewhere: bool = False) -> list[Copy]:
        """Return the copies of this place, or of all others, the oldest first; none where they cannot be read."""
        top = data_folder(self._vault_id)
        try:
            if not is_folder(top):
                return []
            places = [self._place]
            if elsewhere:
                entries = Folder(top).listing(_FOLDER)
                places = [e.path for e in entries if e.kind is FileKind.FOLDER and e.path != self._place]
            files = [e.path for place in places for e in Folder(top).listing(place) if e.kind is FileKind.FILE]
        except RetainError:
            return []
        return sorted(copy for path in files if (copy := _named(path)) is not None)

    def read(self, copy: Copy) -> bytes:
        """Return the lines of a copy. Raises: Damaged, Refused."""
        top = data_folder(self._vault_id)
        where = str(top / copy.path)
        try:
            lines = gzip.decompress(Folder(top).read(copy.path) or b"")
            if copy.events and not lines:
                raise EOFError
            return lines
        except (OSError, EOFError, zlib.error) as error:
            raise Damaged("this copy of the review log is damaged", where=where, hint="use an older copy") from error

    def newest(self) -> bytes:
        """Return the lines of the newest copy that can be read; nothing if there is none."""
        for copy in reversed(self.listed()):
            try:
                return self.read(copy)
            except RetainError:
                continue
        return b""

    def write(self, day: date, lines: bytes, events: int) -> None:
        """Write a copy, and delete the oldest ones of this place beyond `MOST`. Raises: WriteFailed, Refused."""
        old = self.listed()
        number = max((copy.number for copy in old if copy.day == day), default=0) + 1
        guard = data_guard(self._vault_id)
        new = Copy(day, number, events, self._place)
        guard.write(new.path, gzip.compress(lines, _LEVEL), expect=None)
        for copy in old[: max(0, len(old) + 1 - MOST)]:
            guard.remove(copy.path, expect=sha256_hex(guard.read(copy.path) or b""))


def _named(path: str) -> Copy | None:
    """Return the copy at a path; None for that of something else."""
    place, _, name = path.rpartition("/")
    found = _NAME.fullmatch(name)
    try:
        return Copy(date.fromisoformat(found[1]), int(found[2]), int(found[3]), place) if found else None
    except ValueError:
        return None
