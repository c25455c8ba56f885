"""The results of a build's steps, by the digests of their inputs, as a build system keeps them.

A step is a pure function of its inputs, so that its result under the same digest is the same: it runs when an input
changed. What a build did not use is forgotten at its end.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import msgspec

from compiler.index import embeddings, entries
from compiler.model.engine_names import EXTRACTIVE, FAMILY
from vault.index import files
from vault.index.database import Database, Schema, open_copy, open_database, peek
from vault.vault import Vault

READING = "reading"  # the step whose results are the texts of sources
_VERSION = 8  # grows when a step's result for the same inputs changes
_TABLES = f"""{files.TABLES}{entries.tables()}{embeddings.TABLES}
CREATE TABLE raw(path TEXT PRIMARY KEY, size INTEGER NOT NULL, changed_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  sha256 TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE note(sha256 TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE source(path TEXT PRIMARY KEY, reading BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE step(name TEXT NOT NULL, input BLOB NOT NULL, output BLOB NOT NULL, PRIMARY KEY(name, input));
CREATE TABLE page(path TEXT PRIMARY KEY, inputs BLOB NOT NULL, stamp TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE state(name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
"""


def digest_of(*parts: str | bytes) -> bytes:
    """Return 16 bytes that stand for these parts in this order."""
    return hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


@lru_cache(maxsize=1 << 18)
def digest_of_words(words: str) -> bytes:
    """Return the same for one text that several steps ask for."""
    return digest_of(words)


class Steps:
    """The steps of one build. With `fresh`, nothing of earlier builds is used."""

    def __init__(self, database: Database, *, fresh: bool = False, keeps: bool = True) -> None:
        """`keeps` is false for a build that leaves no trace."""
        self.database, self._fresh, self._keeps = database, fresh, keeps
        self._known: dict[str, dict[bytes, bytes]] = {}  # of steps whose results are small, all of them
        self._used: dict[str, set[bytes]] = {}
        self._new: dict[str, dict[bytes, bytes]] = {}  # those of `put`
        self._put_large: set[tuple[str, bytes]] = set()
        self._left: dict[str, bytes] = {}

    @classmethod
    def of(cls, vault: Vault, readers: str, *, fresh: bool = False, keeps: bool = True) -> Steps:
        """Return the steps of a vault, for these versions of the readers; close them after use."""
        database = (open_database if keeps else open_copy)(vault, _schema(readers))
        return cls(database, fresh=fresh, keeps=keeps)  # an empty one is right: everything counts as new

    @classmethod
    def last(cls, vault: Vault, readers: str) -> Steps | None:
        """Return the steps of the last build, for reading alone; None where nothing is known of it."""
        database = peek(vault, _schema(readers))
        return None if database is None else cls(database, keeps=False)

    def close(self) -> None:
        """Close the index."""
        self.database.close()

    # --- results ----------------------------------------------------------------------------------------------------

    def get(self, name: str, input_: bytes) -> bytes | None:
        """Return the result of a step for inputs with that digest; None where it has to run. For many small results."""
        found = self._all(name).get(input_)
        if found is not None:
            self._used.setdefault(name, set()).add(input_)
        return found

    def put(self, name: str, input_: bytes, output: bytes) -> bytes:
        """Remember and return the result of a step, until `save` for good."""
        self._all(name)[input_] = output
        self._used.setdefault(name, set()).add(input_)
        self._new.setdefault(name, {})[input_] = output
        return output

    def _all(self, name: str) -> dict[bytes, bytes]:
        if name not in self._known:
            rows = () if self._fresh else self.database.rows("SELECT input, output FROM step WHERE name = ?", (name,))
            self._known[name] = dict(rows)
        return self._known[name]

    def get_large(self, name: str, input_: bytes) -> bytes | None:
        """Return a result that is large, and read by itself."""
        if self._fresh and (name, input_) not in self._put_large:
            return None
        found = self.database.one("SELECT output FROM step WHERE name = ? AND input = ?", (name, input_))
        if found is None:
            return None
        self._used.setdefault(name, set()).add(input_)
        return bytes(found[0])

    def put_large(self, name: str, input_: bytes, output: bytes) -> None:
        """Remember a large result for good at once: it took long, and a build may be killed."""
        self._used.setdefault(name, set()).add(input_)
        self._put_large.add((name, input_))
        self.database.run("INSERT OR REPLACE INTO step VALUES(?, ?, ?)", (name, input_, output))

    def use(self, name: str, input_: bytes) -> None:
        """Keep a result that is there, though it was not read."""
        self._used.setdefault(name, set()).add(input_)

    def has(self, name: str, input_: bytes) -> bool:
        """Return whether there is a result for inputs with that digest."""
        return self.database.one("SELECT 1 FROM step WHERE name = ? AND input = ?", (name, input_)) is not None

    def save(self, *, forget: Iterable[str] = ()) -> None:
        """Remember the results of this build for good, and forget those of its steps that it did not use.

        The steps named in `forget` are among those whose results are large.
        """
        if not self._keeps:
            return
        with self.database.transaction():
            self.set_state(**self._left)
            for name, rows in self._new.items():
                new = ((name, input_, output) for input_, output in rows.items())
                self.database.run_many("INSERT OR REPLACE INTO step VALUES(?, ?, ?)", new)
            for name in {*self._known, *(name for name, _ in self._put_large), *forget}:
                used = self._used.get(name, set())
                rows_now = self.database.rows("SELECT input FROM step WHERE name = ?", (name,))
                gone = [(name, input_) for (input_,) in rows_now if input_ not in used]
                self.database.run_many("DELETE FROM step WHERE name = ? AND input = ?", gone)

    # --- single values ----------------------------------------------------------------------------------------------

    def state(self, name: str) -> bytes | None:
        """Return a value that the last build left."""
        if self._fresh:
            return None
        found = self.database.one("SELECT value FROM state WHERE name = ?", (name,))
        return None if found is None else bytes(found[0])

    def leave(self, name: str, value: bytes) -> None:
        """Leave a value to the next build, together with the results of this one."""
        self._left[name] = value

    def set_state(self, **values: bytes) -> None:
        """Leave values to the next build."""
        self.database.run_many("INSERT OR REPLACE INTO state VALUES(?, ?)", values.items())


def encoded(value: object) -> bytes:
    """Return a value as JSON, for a result."""
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, TypeError, ValueError):  # half characters, as documents may hold
        pass
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def decoded(data: bytes | None) -> Any:
    """Return the value of a result; None for none."""
    if data is None:
        return None
    try:
        return msgspec.json.decode(data)
    except (UnicodeDecodeError, ValueError):
        return json.loads(data.decode("utf-8", "surrogatepass"))


def _schema(readers: str) -> Schema:
    """Return the schema of the index: what an earlier engine or reader found is of no use."""
    return Schema("wiki", f"{_VERSION} {EXTRACTIVE} {FAMILY} {readers}", _TABLES)
