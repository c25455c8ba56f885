"""The files that an index was made of: which of them came, changed or went since.

A file's stamp is size, time of its last change and inode. One that changed within the last two seconds may change again
without its stamp showing it, so that it counts as changed the next time, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vault.index.database import Database
from vault.index.stamps import FIELDS, NONE, Stamp, Stamps, cacheable_stamp, stamps_digest

TABLES = """
CREATE TABLE file(folder TEXT NOT NULL, name BLOB NOT NULL, size INTEGER NOT NULL, changed_ns INTEGER NOT NULL,
  inode INTEGER NOT NULL, PRIMARY KEY(folder, name)) WITHOUT ROWID;
CREATE TABLE folder(path TEXT PRIMARY KEY, digest TEXT NOT NULL) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Changes:
    """Files of a folder, by name. `changed` are those that are new, too, with their stamps."""

    changed: Mapping[str, Stamp]
    gone: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.changed or self.gone)


def changes(database: Database, folder: str, found: Stamps) -> Changes:
    """Return how the files of a folder, as `found`, differ from those that were remembered."""
    digest = database.one("SELECT digest FROM folder WHERE path = ?", (folder,))
    if digest == (stamps_digest(found.names, found.numbers),):
        return Changes({}, ())
    known = {
        os.fsdecode(name): (size, changed, inode)
        for name, size, changed, inode in database.rows(
            "SELECT name, size, changed_ns, inode FROM file WHERE folder = ?", (folder,)
        )
    }
    now = {name: _stamp(found, n) for n, name in enumerate(found.names)}
    changed = {name: stamp for name, stamp in now.items() if known.get(name) != stamp}
    return Changes(changed, tuple(name for name in known if name not in now))


def remember(database: Database, folder: str, found: Stamps, which: Changes) -> None:
    """Remember the files of a folder, of which `which` have been taken into the index since."""
    young = any(cacheable_stamp(stamp) == NONE for stamp in which.changed.values())
    with database.transaction():
        forget(database, folder, which.gone)
        database.run_many(
            "INSERT OR REPLACE INTO file VALUES(?, ?, ?, ?, ?)",
            ((folder, os.fsencode(name), *cacheable_stamp(stamp)) for name, stamp in which.changed.items()),
        )
        digest = "" if young else stamps_digest(found.names, found.numbers)
        database.run("INSERT OR REPLACE INTO folder VALUES(?, ?)", (folder, digest))


def forget(database: Database, folder: str, names: Iterable[str]) -> None:
    """Forget files of a folder, so that they count as changed."""
    with database.transaction():
        rows = [(folder, os.fsencode(name)) for name in names]
        database.run_many("DELETE FROM file WHERE folder = ? AND name = ?", rows)
        database.run("DELETE FROM folder WHERE path = ?", (folder,))


def _stamp(found: Stamps, n: int) -> Stamp:
    size, changed, inode = found.numbers[n * FIELDS : n * FIELDS + FIELDS]
    return size, changed, inode
