"""The confirmed state of the user's files, stored with the copies, outside the vault."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vault.audit.database import Database
from vault.audit.scanner import FileState, Key
from vault.files.folder import FileKind

_STAMPS = "kind, sha256, size, mode, dev, ino, mtime_ns, ctime_ns"
_LEARN = f"INSERT OR REPLACE INTO known(place, path, {_STAMPS}, since, good) VALUES(?,?,?,?,?,?,?,?,?,?,?,NULL)"
_KINDS = {str(kind): kind for kind in FileKind}


@dataclass(frozen=True, slots=True)
class LastScan:
    """When the last scan was, its number of files, and of changes that are not confirmed."""

    at: str
    files: int
    changes: int


class KnownFiles:
    """The state that the user has confirmed, file by file. Errors are those of the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def last_scan(self) -> LastScan | None:
        """Return the last scan; None before the first."""
        rows = self._database.rows("SELECT at, files, changes FROM look ORDER BY id DESC LIMIT 1")
        return LastScan(*rows[0]) if rows else None

    def record_scan(self, at: str, files: int, changes: int) -> None:
        """Record a scan."""
        with self._database.transaction():
            self._database.run("DELETE FROM look WHERE id <= (SELECT max(id) FROM look) - 100")
            self._database.run("INSERT INTO look(at, files, changes) VALUES(?, ?, ?)", (at, files, changes))

    def files(self) -> dict[Key, FileState]:
        """Return the known state of each file."""
        rows = self._database.rows(f"SELECT place, path, {_STAMPS} FROM known")  # noqa: S608 (our own words)
        make, kinds = FileState._make, _KINDS
        return {Key(row[0], os.fsdecode(row[1])): make((kinds[row[2]], *row[3:])) for row in rows}

    def learn(self, files: Mapping[Key, FileState], at: str) -> None:
        """Store these states as the known ones."""
        self._database.run_many(_LEARN, ((*_named(key), *_stamps(seen), at) for key, seen in files.items()))

    def forget(self, keys: Iterable[Key]) -> None:
        """Delete the known states of these files."""
        self._database.run_many("DELETE FROM known WHERE place = ? AND path = ?", map(_named, keys))

    def restamp(self, files: Mapping[Key, FileState]) -> None:
        """Store new times and inodes of files with the same bytes."""
        sets = "dev = ?, ino = ?, mtime_ns = ?, ctime_ns = ? WHERE place = ? AND path = ?"
        rows = ((*seen[4:], *_named(key)) for key, seen in files.items())
        self._database.run_many(f"UPDATE known SET {sets}", rows)  # noqa: S608

    def good_until(self) -> dict[Key, str]:
        """Return, for each changed file, the instant of the last scan at which it was unchanged."""
        rows = self._database.rows("SELECT place, path, good FROM known WHERE good IS NOT NULL")
        return {Key(row[0], os.fsdecode(row[1])): row[2] for row in rows}

    def mark(self, bad: Iterable[Key], good: str) -> None:
        """Mark these files, and no others, as changed since `good`; an earlier mark stays."""
        keys = set(bad)
        before = self.good_until()
        clear = [_named(key) for key in before if key not in keys]
        self._database.run_many("UPDATE known SET good = NULL WHERE place = ? AND path = ?", clear)
        rows = [(good, *_named(key)) for key in keys if key not in before]
        self._database.run_many("UPDATE known SET good = ? WHERE place = ? AND path = ?", rows)

    def roots(self) -> dict[Key, tuple[int, int]]:
        """Return device and inode of each root at its last scan."""
        rows = self._database.rows("SELECT place, path, dev, ino FROM root")
        return {Key(row[0], os.fsdecode(row[1])): (row[2], row[3]) for row in rows}

    def learn_roots(self, roots: Mapping[Key, tuple[int, int]]) -> None:
        """Store device and inode of each root."""
        rows = [(*_named(key), *identity) for key, identity in roots.items()]
        self._database.run_many("INSERT OR REPLACE INTO root(place, path, dev, ino) VALUES(?, ?, ?, ?)", rows)

    def forget_roots(self, keys: Iterable[Key]) -> None:
        """Delete these roots."""
        self._database.run_many("DELETE FROM root WHERE place = ? AND path = ?", map(_named, keys))

    def folders(self) -> dict[Key, int]:
        """Return the known mode of each folder of the user's, and of the vault's root."""
        rows = self._database.rows("SELECT place, path, mode FROM folder")
        return {Key(row[0], os.fsdecode(row[1])): row[2] for row in rows}

    def learn_folders(self, modes: Mapping[Key, int]) -> None:
        """Store the modes of these folders."""
        rows = [(*_named(key), mode) for key, mode in modes.items()]
        self._database.run_many("INSERT OR REPLACE INTO folder(place, path, mode) VALUES(?, ?, ?)", rows)

    def forget_folders(self, keys: Iterable[Key]) -> None:
        """Delete the modes of these folders."""
        self._database.run_many("DELETE FROM folder WHERE place = ? AND path = ?", map(_named, keys))

    def record_undo(self, before: Mapping[Key, FileState | None], at: str) -> None:
        """Record the states of files before a restore; the last ten such records are stored."""
        rows = [[*key, list(seen) if seen else None] for key, seen in before.items()]
        with self._database.transaction():
            self._database.run("INSERT INTO undo(at, before) VALUES(?, ?)", (at, json.dumps(rows)))
            self._database.run("DELETE FROM undo WHERE id <= (SELECT max(id) FROM undo) - 10")

    def last_undo(self) -> dict[Key, FileState | None] | None:
        """Return the states of files before the last restore; None if there was none."""
        rows = self._database.rows("SELECT before FROM undo ORDER BY id DESC LIMIT 1")
        if not rows:
            return None
        states = json.loads(rows[0][0])
        return {Key(place, path): FileState(FileKind(was[0]), *was[1:]) if was else None for place, path, was in states}


def _named(key: Key) -> tuple[str, bytes]:
    return key.place, os.fsencode(key.path)


def _stamps(seen: FileState) -> tuple[object, ...]:
    return (str(seen.kind), *seen[1:])
