"""The files of log and ledger: how far the index has taken them in, and what they have grown by since."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass

from vault.index import stamps
from vault.index.database import Database
from vault.log import ledger
from vault.log.review_log import log_paths, shown_path
from vault.vault import Vault


@dataclass(frozen=True, slots=True)
class FileLines:
    """A file of log or ledger as it is now: its stamp from before it was read, its length and checksum.

    `settled` says whether a later change would show in the stamp; `more` are the bytes that the index does not know.
    """

    path: str
    stamp: stamps.Stamp
    settled: bool
    length: int
    crc: int
    more: bytes = b""

    @property
    def shown(self) -> str:
        """Return the path as it may be shown."""
        return shown_path(self.path)


def read_all(vault: Vault) -> list[FileLines]:
    """Return the files of the log, then the ledger, whole. Raises: Refused or Damaged where one cannot be read."""
    paths = _paths(vault)
    found = [stamps.stamp(vault.root, path) for path in paths]
    data = [vault.read_bytes(path) for path in paths]
    if _paths(vault) != paths:  # a file was renamed meanwhile, and its events may be missing here
        return read_all(vault)
    return [
        FileLines(path, stamp, is_settled(stamp), len(text or b""), zlib.crc32(text or b""), text or b"")
        for path, stamp, text in zip(paths, found, data, strict=True)
    ]


def grown(vault: Vault, database: Database) -> list[FileLines] | None:
    """Return the files with what they have grown by; None if one came, went, or changed otherwise."""
    known = {os.fsdecode(row[0]): row[1:] for row in database.rows("SELECT * FROM log_file")}
    paths = _paths(vault)
    if known.keys() != set(paths):
        return None
    out = []
    for path in paths:
        *before, settled, length, crc = known[path]
        stamp = stamps.stamp(vault.root, path)
        if settled and stamp == tuple(before):
            out.append(FileLines(path, stamp, True, length, crc))
            continue
        if stamp[2] != before[2]:
            return None
        data = vault.read_bytes(path) or b""
        if len(data) < length or zlib.crc32(memoryview(data)[:length]) != crc:
            return None
        more = data[length:]
        if more and length and data[length - 1 : length] != b"\n":
            return None
        out.append(FileLines(path, stamp, is_settled(stamp), len(data), zlib.crc32(more, crc), more))
    return out


def save_files(database: Database, files: list[FileLines]) -> None:
    """Remember that the files have been taken in, where that is not known."""
    rows = [(os.fsencode(f.path), *f.stamp, f.settled, f.length, f.crc) for f in files]
    known = set(database.rows("SELECT * FROM log_file"))
    if known != set(rows):
        with database.transaction():
            database.run("DELETE FROM log_file")
            database.run_many("INSERT INTO log_file VALUES(?, ?, ?, ?, ?, ?, ?)", rows)


def _paths(vault: Vault) -> list[str]:
    """Return the paths of the log's files, then that of the ledger."""
    return [*log_paths(vault.root), ledger.IDS]


def is_settled(found: stamps.Stamp) -> bool:
    """Return whether the stamp is old enough that a later change would show in it."""
    return stamps.cacheable_stamp(found) == found


def vault_place(vault: Vault) -> str:
    """Return what distinguishes this vault on this machine from a copy of it."""
    status = vault.root.lstat()
    return f"{os.fsencode(vault.root).hex()} {status.st_dev} {status.st_ino}"
