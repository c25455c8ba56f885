"""One SQLite file of the index: opened if this program was the last to write it, else replaced by an empty one.

All that is in it can be computed from the vault's text files. So a file of another version, one that another program
changed or copied, and one that SQLite finds damaged are deleted, and an empty one takes their place. Whenever the file
has been written, its size, time of change and inode are stored beside it (`learning.sqlite3.stamp`): a change by any
other program changes these. SQLite itself checks what its write-ahead log holds, and the file is written from that log
by `Database.close` and `Database.flush` alone.
"""

from __future__ import annotations

import atexit
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakSet

from vault.errors import Damaged, RetainError
from vault.index.database_file import delete, exclusive, guard_of, is_as_left, refuse_links, size_of, store_stamp
from vault.index.place import FOLDER, index_root
from vault.vault import Vault

_WAIT_S = 5.0  # for another process that makes or writes the index
_PAUSE_S = 60.0  # after which an index that could not be written is tried again
_UNWRITABLE = frozenset(
    {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY}
)
_MANY = 4_000  # pages of the write-ahead log, from which on it is written back though the index stays open
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of one file: `name` is its stem, `tables` the SQL that makes them.

    `version` grows when the same vault would fill them with other rows.
    """

    name: str
    version: int | str
    tables: str

    @property
    def number(self) -> int:
        """Return what SQLite keeps as the file's `user_version`: it is another for other tables, too."""
        return zlib.crc32(f"{self.version} {self.tables}".encode()) & 0x7FFFFFFF


class IndexDamaged(Damaged):
    """Raised when SQLite cannot read what should be in the index; its opener makes a new one."""


class IndexUnwritable(IndexDamaged):
    """Raised when another process, or the disk, keeps the index from being written.

    The caller goes on with a copy in memory, and so does this process for the next minute.
    """


class Database:
    """An open index, for many threads; `path` is None where it is in memory or only read."""

    def __init__(self, connection: sqlite3.Connection, path: Path | None = None) -> None:
        self._connection, self._path = connection, path
        self._lock = threading.RLock()
        self._depth = 0
        self._is_open, self._is_damaged = True, False
        _OPEN.add(self)

    @property
    def is_stored(self) -> bool:
        """Return whether another connection to the vault's index would have the same rows."""
        return self._path is not None

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """Return the rows of a query. Raises: IndexDamaged."""
        with self._lock, self._translated():
            return self._connection.execute(sql, values).fetchall()

    def one(self, sql: str, values: Sequence[object] = ()) -> Row | None:
        """Return the first row of a query. Raises: IndexDamaged."""
        with self._lock, self._translated():
            found: Row | None = self._connection.execute(sql, values).fetchone()
            return found

    def run(self, sql: str, values: Sequence[object] = ()) -> None:
        """Run a statement. Raises: IndexDamaged."""
        with self.transaction(), self._translated():
            self._connection.execute(sql, values)

    def run_many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        """Run a statement for many rows. Raises: IndexDamaged."""
        with self.transaction(), self._translated():
            self._connection.executemany(sql, rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all changes of the block, or none. Nested transactions are one."""
        with self._lock:
            if self._depth:
                yield
                return
            with self._translated():
                self._connection.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield
                with self._translated():
                    self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                self._depth -= 1

    def flush(self, *, always: bool = False) -> None:
        """Write the write-ahead log back into the file, if it has become long."""
        if self._path is None or self._is_damaged:
            return
        log = size_of(Path(f"{self._path}-wal"))
        if log > (0 if always else _MANY * 4096):
            root = self._path.parent.parent
            with suppress(sqlite3.Error, OSError, RetainError), self._lock, exclusive(root, self._path.stem, _WAIT_S):
                if is_as_left(self._path):  # else another program wrote to it while it was open here
                    self._connection.execute("PRAGMA busy_timeout=0")  # what another connection holds back stays there
                    self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                    self._connection.execute(f"PRAGMA busy_timeout={_WAIT_S * 1000:.0f}")
                    store_stamp(self._path)

    def close(self) -> None:
        """Close the index, if it is open."""
        with self._lock:
            if self._is_open:
                self._is_open = False
                self.flush(always=True)
                self._connection.close()

    def __del__(self) -> None:
        """Close it: SQLite would do so, too, and leave a file that its stamp does not describe."""
        with suppress(Exception):
            self.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Raise SQLite's errors as IndexDamaged."""
        try:
            yield
        except sqlite3.ProgrammingError:  # an error of ours, not of the file
            raise
        except sqlite3.Error as error:
            where = f"{FOLDER}/{self._path.name}" if self._path is not None else ""
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF  # errors of Python's own have none
            if code in _UNWRITABLE and self._path is not None:
                _failed_at[self._path] = time.monotonic()
                raise IndexUnwritable(f"the index cannot be written: {error}", where=where) from error
            self._is_damaged = True
            if where and self._path is not None:
                with suppress(RetainError):  # so that nobody believes it
                    guard_of(self._path.parent.parent).discard(f"{where}.stamp")
            raise IndexDamaged(
                f"the index is damaged: {error}", where=where, hint="the next command rebuilds the index"
            ) from error


_OPEN: WeakSet[Database] = WeakSet()
_failed_at: dict[Path, float] = {}  # when an index could last not be written


@atexit.register
def _close_all() -> None:
    """Close what is still open when the process ends."""
    for database in list(_OPEN):
        with suppress(Exception):
            database.close()


def peek(vault: Vault, schema: Schema) -> Database | None:
    """Return the index for reading alone, without leaving a trace; None where another program changed it."""
    path = index_root(vault) / FOLDER / f"{schema.name}.sqlite3"
    if not (vault.keeps_caches and is_as_left(path)) or size_of(Path(f"{path}-wal")):
        return None
    with suppress(sqlite3.Error, OSError):
        connection = _connect_to_read(path)
        if _is_of(connection, schema):
            return Database(connection)
        connection.close()
    return None


def open_copy(vault: Vault, schema: Schema) -> Database:
    """Return a copy of the index in memory, for what is to leave no trace; an empty one where there is none."""
    path = index_root(vault) / FOLDER / f"{schema.name}.sqlite3"
    return (_copy_in_memory(path, schema) if vault.keeps_caches else None) or _in_memory(schema)


def open_database(vault: Vault, schema: Schema) -> Database:
    """Return the index `schema.name` of the vault; an empty one if there is none, or another program changed it.

    Where none can be written it is a copy in memory of the vault's own, or an empty one in memory; that, too, where the
    vault was opened with settings that are only tried.
    """
    if not vault.keeps_caches:
        return _in_memory(schema)
    root = index_root(vault)
    name = f"{FOLDER}/{schema.name}.sqlite3"
    path = root / name
    try:
        if time.monotonic() - _failed_at.get(path, -_PAUSE_S) >= _PAUSE_S:
            if is_as_left(path):
                found = _opened(path, schema)
                if found is not None:
                    return found
            return _new(root, path, schema)
    except (OSError, sqlite3.Error, RetainError):
        _failed_at[path] = time.monotonic()
    return _copy_in_memory(path, schema) or _copy_in_memory(vault.root / name, schema) or _in_memory(schema)


@cache
def has_full_text(tokenizer: str = "unicode61") -> bool:
    """Return whether this SQLite has full-text indexes (FTS5), with that tokenizer."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"CREATE VIRTUAL TABLE hit USING fts5(words, tokenize='{tokenizer}')")
    except sqlite3.OperationalError:
        return False
    finally:
        connection.close()
    return True


def has_trigrams() -> bool:
    """Return whether this SQLite can find any part of a word in a full-text index."""
    return has_full_text("trigram")


def discard(vault: Vault, name: str) -> None:
    """Delete an index: who asks for it next makes a new one."""
    delete(index_root(vault) / FOLDER / f"{name}.sqlite3")


# --- opening --------------------------------------------------------------------------------------------------------


def _opened(path: Path, schema: Schema) -> Database | None:
    """Return the index in a file that no other program changed; None if it is of another version or damaged."""
    connection = _connect(path)
    try:
        if _is_of(connection, schema):
            connection.execute("PRAGMA wal_autocheckpoint=0")
            connection.execute("PRAGMA synchronous=NORMAL")
            return Database(connection, path)
    except sqlite3.Error:
        pass
    connection.close()
    return None


def _new(root: Path, path: Path, schema: Schema) -> Database:
    """Return a new index, empty; or the one that another process made meanwhile. Raises: TimeoutError."""
    with exclusive(root, path.stem, _WAIT_S):
        if is_as_left(path) and (found := _opened(path, schema)) is not None:
            return found
        delete(path)
        connection = _connect(path)
        try:
            connection.execute("PRAGMA synchronous=OFF")
            connection.executescript(f"BEGIN; {schema.tables} PRAGMA user_version={schema.number}; COMMIT")
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA wal_autocheckpoint=0")
            connection.execute("PRAGMA synchronous=NORMAL")
        except BaseException:
            connection.close()
            raise
        store_stamp(path)
        return Database(connection, path)


def _is_of(connection: sqlite3.Connection, schema: Schema) -> bool:
    """Return whether a file has the tables of this version. Raises: sqlite3.Error."""
    return bool(connection.execute("PRAGMA user_version").fetchone() == (schema.number,))


def _in_memory(schema: Schema) -> Database:
    """Return an empty index in memory."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.executescript(schema.tables)
    return Database(connection)


def _copy_in_memory(path: Path, schema: Schema) -> Database | None:
    """Return a copy of an index that cannot be written, as in a sandbox; None if another program changed it."""
    if not is_as_left(path):
        return None
    found = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    with suppress(sqlite3.Error, OSError), closing(_connect_to_read(path)) as source:
        source.backup(found)
        if _is_of(found, schema) and is_as_left(path):  # nobody wrote to it meanwhile
            found.execute("PRAGMA trusted_schema=OFF")
            return Database(found)
    found.close()
    return None


def _connect(path: Path) -> sqlite3.Connection:
    """Return a connection to a file, of which no schema of its own may act. Raises: OSError for a link."""
    refuse_links(path)
    connection = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA trusted_schema=OFF")
    return connection


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """Return a connection to a file that nobody writes meanwhile, so that SQLite has nothing beside it."""
    refuse_links(path)
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
    connection.execute("PRAGMA trusted_schema=OFF")
    return connection
