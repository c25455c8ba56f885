"""The SQLite database of copies and known states, outside the vault.

It is created for its owner alone, and every change is durable. SQLite's errors become RetainErrors. A damaged database
is left as it is, and one with the next number is created.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from vault.config.user import state_folder, state_guard
from vault.errors import Damaged, EditedMeanwhile, LockHeld, RetainError, SchemaTooNew, WriteFailed

FIRST = "copies.sqlite3"
VERSION = 2
WAIT_S = 30.0
_NUMBERED = re.compile(r"copies(?:-([0-9]{1,4}))?\.sqlite3")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS blob(sha256 TEXT PRIMARY KEY, size INTEGER NOT NULL, packed INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS known(place TEXT NOT NULL, path BLOB NOT NULL, kind TEXT NOT NULL, sha256 TEXT NOT NULL,
  size INTEGER NOT NULL, mode INTEGER NOT NULL, dev INTEGER NOT NULL, ino INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
  ctime_ns INTEGER NOT NULL, since TEXT NOT NULL, good TEXT, PRIMARY KEY(place, path));
CREATE TABLE IF NOT EXISTS root(place TEXT NOT NULL, path BLOB NOT NULL, dev INTEGER NOT NULL, ino INTEGER NOT NULL,
  PRIMARY KEY(place, path));
CREATE TABLE IF NOT EXISTS folder(place TEXT NOT NULL, path BLOB NOT NULL, mode INTEGER NOT NULL, PRIMARY KEY(place, path));
CREATE TABLE IF NOT EXISTS look(id INTEGER PRIMARY KEY, at TEXT NOT NULL, files INTEGER NOT NULL, changes INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS undo(id INTEGER PRIMARY KEY, at TEXT NOT NULL, before TEXT NOT NULL);
"""  # noqa: E501 (tables read best as lines)
TABLES = ("blob", "known", "root", "folder", "look", "undo")

Row = tuple[Any, ...]


class Database:
    """The database of one vault's copies. It is created, with its folder, by the first write."""

    def __init__(self, vault_id: str) -> None:
        self._vault_id = vault_id
        self.path = newest(vault_id)
        self._open: sqlite3.Connection | None = None
        self._depth = 0

    def close(self) -> None:
        """Close the connection."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def is_there(self) -> bool:
        """Return whether the database exists."""
        return self.path.exists()

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """Return the rows of a query; none if there is no database yet. Raises: Damaged; LockHeld."""
        if self._open is None and not self.is_there():
            return []
        with self._translated():
            return self._connection().execute(sql, values).fetchall()

    def run(self, sql: str, values: Sequence[object] = ()) -> int:
        """Run a statement and return the number of changed rows. Raises: WriteFailed; Damaged; LockHeld."""
        with self._translated(), self.transaction():
            return self._connection().execute(sql, values).rowcount

    def run_many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        """Run a statement for many rows in one transaction. Raises: as `run`."""
        with self._translated(), self.transaction():
            self._connection().executemany(sql, rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all changes of the block durably, or none. Nested transactions are one."""
        if self._depth:
            yield
            return
        with self._translated():
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
            finally:
                self._depth -= 1

    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            if not self.is_there():
                _make(self._vault_id, self.path)
            self._open = _connect(self.path)
        return self._open

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Raise SQLite's errors as RetainErrors."""
        try:
            yield
        except sqlite3.Error as error:
            raise _as_retain_error(error, self.path) from error


def newest(vault_id: str) -> Path:
    """Return the path of the database in use: the one with the highest number."""
    folder = state_folder(vault_id)
    try:
        names = [path.name for path in folder.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return folder / FIRST
    except OSError as error:
        raise Damaged(f"cannot be read: {error.strerror}", where=str(folder), hint="check its owner") from error
    numbers = [int(found[1] or 1) for name in names if (found := _NUMBERED.fullmatch(name))]
    return folder / _name(max(numbers, default=1))


def replace_damaged(vault_id: str) -> tuple[Path, Path]:
    """Create an empty database beside a damaged one; return the old path and the new one."""
    old = newest(vault_id)
    found = _NUMBERED.fullmatch(old.name)
    new = old.with_name(_name(int((found and found[1]) or 1) + 1))
    _make(vault_id, new)
    return old, new


def _name(number: int) -> str:
    return FIRST if number < 2 else f"copies-{number}.sqlite3"


def _make(vault_id: str, path: Path) -> None:
    """Create an empty file in its folder, both for the owner alone."""
    guard = state_guard(vault_id)
    mask = os.umask(0o077)
    try:
        guard.makedirs("")
        with suppress(EditedMeanwhile):  # another process just created it
            guard.write(path.name, b"", expect=None)
    finally:
        os.umask(mask)


def _connect(path: Path) -> sqlite3.Connection:
    """Return a connection without implicit transactions. Raises: SchemaTooNew."""
    connection = sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=WAIT_S, isolation_level=None)
    try:
        for pragma in ("journal_mode=DELETE", "synchronous=FULL", "fullfsync=1", "trusted_schema=0"):
            connection.execute(f"PRAGMA {pragma}")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise SchemaTooNew(
                f"the copies were written by a newer version of retain (format {version})",
                where=str(path),
                hint="update retain; nothing was changed",
            )
        if version < VERSION:
            connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version={VERSION}; COMMIT;")
    except BaseException:
        connection.close()
        raise
    return connection


_NO_WRITE = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_NOMEM")


def _as_retain_error(error: sqlite3.Error, path: Path) -> RetainError:
    name = str(getattr(error, "sqlite_errorname", ""))
    where = str(path)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return LockHeld("another process is storing copies of your files", where=where, hint="wait until it is done")
    if name.startswith("SQLITE_FULL"):
        return WriteFailed("not written: the disk is full", where=where, hint="free some disk space, then try again")
    if name.startswith(_NO_WRITE):
        return WriteFailed(f"not written: {error}", where=where, hint="check the disk and the owner of the file")
    return Damaged(
        f"the copies of your files cannot be read: {error}",
        where=where,
        hint="run `retain guard audit`, which creates a new file for the copies and keeps this one",
    )
