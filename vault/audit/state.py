"""What is known of the human's files since the last look: kept beside the copies, outside the vault."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vault.audit.database import Database
from vault.audit.scanner import Key, Seen
from vault.files.folder import FileKind

_STAMPS = "kind, sha256, size, mode, dev, ino, mtime_ns, ctime_ns"
_LEARN = f"INSERT OR REPLACE INTO known(place, path, {_STAMPS}, since, good) VALUES(?,?,?,?,?,?,?,?,?,?,?,NULL)"
_KINDS = {str(kind): kind for kind in FileKind}


@dataclass(frozen=True, slots=True)
class LastLook:
    """When it was, over how many files, and how many changes it found that nobody has confirmed."""

    at: str
    files: int
    changes: int


class KnownFiles:
    """The state that the human has confirmed, file by file. Errors are those of the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def last_look(self) -> LastLook | None:
        """None if nobody ever looked."""
        rows = self._database.rows("SELECT at, files, changes FROM look ORDER BY id DESC LIMIT 1")
        return LastLook(*rows[0]) if rows else None

    def looked(self, at: str, files: int, changes: int) -> None:
        """Take down that a look was taken."""
        with self._database.transaction():
            self._database.run("DELETE FROM look WHERE id <= (SELECT max(id) FROM look) - 100")
            self._database.run("INSERT INTO look(at, files, changes) VALUES(?, ?, ?)", (at, files, changes))

    def files(self) -> dict[Key, Seen]:
        rows = self._database.rows(f"SELECT place, path, {_STAMPS} FROM known")  # noqa: S608 (our own words)
        make, kinds = Seen._make, _KINDS
        return {Key(row[0], os.fsdecode(row[1])): make((kinds[row[2]], *row[3:])) for row in rows}

    def learn(self, files: Mapping[Key, Seen], at: str) -> None:
        """From now on this is how these files are known."""
        self._database.run_many(_LEARN, ((*_named(key), *_stamps(seen), at) for key, seen in files.items()))

    def forget(self, keys: Iterable[Key]) -> None:
        self._database.run_many("DELETE FROM known WHERE place = ? AND path = ?", map(_named, keys))

    def restamp(self, files: Mapping[Key, Seen]) -> None:
        """The same bytes under other times or another inode: saved again, or restored."""
        sets = "dev = ?, ino = ?, mtime_ns = ?, ctime_ns = ? WHERE place = ? AND path = ?"
        rows = ((*seen[4:], *_named(key)) for key, seen in files.items())
        self._database.run_many(f"UPDATE known SET {sets}", rows)  # noqa: S608

    def good_until(self) -> dict[Key, str]:
        """For each file that is not as it is known: the instant of the last look at which it was."""
        rows = self._database.rows("SELECT place, path, good FROM known WHERE good IS NOT NULL")
        return {Key(row[0], os.fsdecode(row[1])): row[2] for row in rows}

    def mark(self, bad: Iterable[Key], good: str) -> None:
        """These files, and no others, are not as they are known, and were at `good`; an earlier word on one stands."""
        keys = set(bad)
        before = self.good_until()
        clear = [_named(key) for key in before if key not in keys]
        self._database.run_many("UPDATE known SET good = NULL WHERE place = ? AND path = ?", clear)
        rows = [(good, *_named(key)) for key in keys if key not in before]
        self._database.run_many("UPDATE known SET good = ? WHERE place = ? AND path = ?", rows)

    def roots(self) -> dict[Key, tuple[int, int]]:
        """Device and inode of each folder of the human's, as it was when it was last looked into."""
        rows = self._database.rows("SELECT place, path, dev, ino FROM root")
        return {Key(row[0], os.fsdecode(row[1])): (row[2], row[3]) for row in rows}

    def learn_roots(self, roots: Mapping[Key, tuple[int, int]]) -> None:
        rows = [(*_named(key), *identity) for key, identity in roots.items()]
        self._database.run_many("INSERT OR REPLACE INTO root(place, path, dev, ino) VALUES(?, ?, ?, ?)", rows)

    def forget_roots(self, keys: Iterable[Key]) -> None:
        self._database.run_many("DELETE FROM root WHERE place = ? AND path = ?", map(_named, keys))

    def folders(self) -> dict[Key, int]:
        """The mode of each folder of the human's, and of the vault's root."""
        rows = self._database.rows("SELECT place, path, mode FROM folder")
        return {Key(row[0], os.fsdecode(row[1])): row[2] for row in rows}

    def learn_folders(self, modes: Mapping[Key, int]) -> None:
        rows = [(*_named(key), mode) for key, mode in modes.items()]
        self._database.run_many("INSERT OR REPLACE INTO folder(place, path, mode) VALUES(?, ?, ?)", rows)

    def forget_folders(self, keys: Iterable[Key]) -> None:
        self._database.run_many("DELETE FROM folder WHERE place = ? AND path = ?", map(_named, keys))

    def take_down_undo(self, before: Mapping[Key, Seen | None], at: str) -> None:
        """How the files stood that are about to be changed; the last ten such words are kept."""
        told = [[*key, list(seen) if seen else None] for key, seen in before.items()]
        with self._database.transaction():
            self._database.run("INSERT INTO undo(at, before) VALUES(?, ?)", (at, json.dumps(told)))
            self._database.run("DELETE FROM undo WHERE id <= (SELECT max(id) FROM undo) - 10")

    def last_undo(self) -> dict[Key, Seen | None] | None:
        """How the files stood before the last restore; None if there was none."""
        rows = self._database.rows("SELECT before FROM undo ORDER BY id DESC LIMIT 1")
        if not rows:
            return None
        told = json.loads(rows[0][0])
        return {Key(place, path): Seen(FileKind(was[0]), *was[1:]) if was else None for place, path, was in told}


def _named(key: Key) -> tuple[str, bytes]:
    return key.place, os.fsencode(key.path)


def _stamps(seen: Seen) -> tuple[object, ...]:
    return (str(seen.kind), *seen[1:])
