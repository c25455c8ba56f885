"""The rows of the index on append-only files: what is known of each folder with such files, and of each file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vault.index.database import Database
from vault.index.stamps import Stamp

TABLES = """
CREATE TABLE watched_file(folder TEXT NOT NULL, name TEXT NOT NULL, size INTEGER NOT NULL, changed_ns INTEGER NOT NULL,
  inode INTEGER NOT NULL, read INTEGER NOT NULL, tail INTEGER NOT NULL, PRIMARY KEY(folder, name)) WITHOUT ROWID;
CREATE TABLE watched_folder(folder TEXT PRIMARY KEY, count INTEGER NOT NULL, total INTEGER NOT NULL,
  last INTEGER NOT NULL,
  newest BLOB NOT NULL, lost INTEGER NOT NULL, more INTEGER NOT NULL, path TEXT NOT NULL, how TEXT NOT NULL)
  WITHOUT ROWID;
CREATE TABLE log_copy(failure TEXT NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the records of a folder: their number, the sum of the CRC-32 of their keys, that of the last
    record's key, and the greatest key.

    `lost` of them are gone, or at least so many if there are `more`: from the file at `path`, and `how` in words.
    """

    count: int
    total: int
    last: int
    newest: bytes
    lost: int = 0
    more: bool = False
    path: str = ""
    how: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """A file when it was read: its stamp, the end of its last whole line, and the checksum of the bytes before that."""

    stamp: Stamp
    read: int
    tail: int


def remembered(database: Database, key: str) -> tuple[Known | None, dict[str, Seen]]:
    """Return what the index knows of a folder and its files; None if it is new."""
    row = database.one(
        "SELECT count, total, last, newest, lost, more, path, how FROM watched_folder WHERE folder = ?", (key,)
    )
    files = database.rows("SELECT name, size, changed_ns, inode, read, tail FROM watched_file WHERE folder = ?", (key,))
    seen = {name: Seen((size, changed, inode), read, tail) for name, size, changed, inode, read, tail in files}
    return (None if row is None else Known(*row)), seen


def remember(database: Database, key: str, known: Known, seen: Mapping[str, Seen]) -> None:
    """Remember what is known of a folder and its files."""
    with database.transaction():
        database.run("DELETE FROM watched_file WHERE folder = ?", (key,))
        database.run_many(
            "INSERT INTO watched_file VALUES(?, ?, ?, ?, ?, ?, ?)",
            ((key, name, *each.stamp, each.read, each.tail) for name, each in seen.items()),
        )
        row = key, known.count, known.total, known.last, known.newest, known.lost, known.more, known.path, known.how
        database.run("INSERT OR REPLACE INTO watched_folder VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
