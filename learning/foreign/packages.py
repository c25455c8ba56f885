"""Zip files of other programs, read as untrusted input."""

from __future__ import annotations

import zipfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from learning.anki.archive import BROKEN
from learning.foreign.tree import MAX_PICTURE
from vault.errors import Unreadable
from vault.text.formatting import clean_line

MAX_ENTRIES = 50_000
_BROKEN = (*BROKEN, KeyError)  # KeyError: there is no such entry


@dataclass(slots=True)
class Zip:
    """An open zip file; `names` are those of its entries."""

    shown: str
    file: zipfile.ZipFile
    names: frozenset[str] = frozenset()
    _short: dict[str, str] = field(default_factory=dict)  # entries by their last part

    def read(self, name: str, limit: int) -> bytes:
        """Return the bytes of an entry. Raises: Unreadable for one that is damaged, or larger than `limit` bytes."""
        try:
            with self.file.open(name) as entry:
                data = entry.read(limit + 1)
        except _BROKEN as error:
            raise Unreadable(
                f"{clean_line(name)} is missing or damaged", where=self.shown, hint="export it again"
            ) from error
        if len(data) > limit:
            raise Unreadable(f"{clean_line(name)} unpacks to more than {limit // 1024**2} MiB", where=self.shown)
        return data

    def picture(self, name: str) -> bytes | None:
        """Return the bytes of the file that a card names; None where there is none."""
        wanted = unquote(name).strip().removeprefix("@media/")
        entry = wanted if wanted in self.names else self._short.get(wanted.rsplit("/", 1)[-1], "")
        if not entry:
            return None
        with suppress(Unreadable):
            return self.read(entry, MAX_PICTURE)
        return None


def open_zip(path: Path) -> Zip | None:
    """Return the zip file at `path`; None for a file that is none. Raises: Unreadable for one with too many entries."""
    shown = clean_line(str(path))
    try:
        if not zipfile.is_zipfile(path):
            return None
        file = zipfile.ZipFile(path)
    except _BROKEN:
        return None
    names = frozenset(file.namelist())
    if len(names) > MAX_ENTRIES:
        raise Unreadable("more than 50,000 entries", where=shown)
    return Zip(shown, file, names, {name.rsplit("/", 1)[-1]: name for name in names})
