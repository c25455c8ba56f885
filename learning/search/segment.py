"""A part of the search index: the words of some files in an SQLite database that is written once.

The database is made in memory, and the guard lays its bytes in the cache; whoever searches opens the file to read only,
as one that nobody changes, so that SQLite writes nothing, takes no lock and believes no journal that lies beside it.

Words are folded here (see `folded`) and then cut into all their three letters (FTS5's trigram), so that a part of a
word is found, in any script. Only which text has which three letters is kept (`detail=none`), and of a longer word the
text itself says whether it is there: for a hundred thousand cards that is 43 MB and 1.2 s to make, where full detail
takes 87 MB and 2.0 s, and finds no faster. Whole words (unicode61) would take 34 MB, and find neither a part of a word
nor Chinese. One or two letters are looked for in the text itself, in some 25 ms.
"""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from vault.errors import Damaged

_LETTERS = 3  # that the index is made of
_SCHEMA = "CREATE TABLE doc(id INTEGER PRIMARY KEY, words TEXT NOT NULL)"
_INDEX = "CREATE VIRTUAL TABLE hit USING fts5(words, content='', detail=none, tokenize='trigram case_sensitive 1')"
_ALL = "SELECT id FROM doc WHERE instr(words, ?)"
_THREE = "SELECT rowid FROM hit WHERE hit MATCH ?"
_INDEXED = "SELECT id FROM doc WHERE id IN (SELECT rowid FROM hit WHERE hit MATCH ?) AND instr(words, ?)"


def folded(text: str) -> str:
    """Return `text` as it is searched: without capitals and accents, wide letters as narrow ones, blanks as one."""
    if not text.isascii():
        apart = unicodedata.normalize("NFKD", text)
        # Marks of Latin, Greek and Cyrillic are left out; those of Indic scripts and kana change the letter.
        bare = "".join(c for c in apart if not "\u0300" <= c <= "\u036f" and not "\ud800" <= c <= "\udfff")
        text = unicodedata.normalize("NFC", bare)
    return " ".join(text.replace("\0", " ").casefold().split())


def database_of(texts: Sequence[str]) -> bytes:
    """Return the database of these texts, already folded; the first one is row 0."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(_SCHEMA)
        database.executemany("INSERT INTO doc VALUES(?, ?)", enumerate(texts))
        try:
            database.execute(_INDEX)
        except sqlite3.OperationalError:  # an SQLite without FTS5 or its trigrams: all texts are looked through
            pass
        else:
            database.executemany("INSERT INTO hit(rowid, words) VALUES(?, ?)", enumerate(texts))
        database.commit()
        return database.serialize()


class Segment:
    """An open database; used by one thread at a time."""

    def __init__(self, database: sqlite3.Connection, where: str) -> None:
        self._database, self._where = database, where
        self._indexed = bool(self._rows("SELECT 1 FROM sqlite_master WHERE name = 'hit'", ()))

    @classmethod
    def at(cls, path: Path, where: str) -> Segment:
        """Return the database in the file at `path`; `where` names it in errors. Raises: Damaged."""
        try:
            uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
            return cls(sqlite3.connect(uri, uri=True, check_same_thread=False), where)
        except sqlite3.Error as error:
            raise _damaged(where, error) from error

    @classmethod
    def of(cls, data: bytes) -> Segment:
        """Return the database in these bytes, in memory."""
        database = sqlite3.connect(":memory:", check_same_thread=False)
        database.deserialize(data)
        return cls(database, "memory")

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def rows(self, word: str) -> list[int]:
        """Return the numbers of the texts that hold `word`, which is folded and not empty. Raises: Damaged."""
        if self._indexed and len(word) >= _LETTERS:
            if len(word) == _LETTERS:
                return self._rows(_THREE, (_match(word),))
            return self._rows(_INDEXED, (_match(word), word))
        return self._rows(_ALL, (word,))

    def text(self, row: int) -> str:
        """Return the folded words of a text."""
        return next((str(words) for words in self._rows("SELECT words FROM doc WHERE id = ?", (row,))), "")

    def _rows(self, sql: str, values: Iterable[object]) -> list[Any]:
        """Return the rows of a query. Raises: Damaged."""
        try:
            return [value for (value,) in self._database.execute(sql, tuple(values)).fetchall()]
        except sqlite3.Error as error:
            raise _damaged(self._where, error) from error


def _match(word: str) -> str:
    """Return the full-text query for `word`: every three letters of it, each a string, so that none acts as syntax."""
    threes = dict.fromkeys(word[n : n + _LETTERS] for n in range(len(word) - _LETTERS + 1))
    return " AND ".join('"' + three.replace('"', '""') + '"' for three in threes)


def _damaged(where: str, error: sqlite3.Error) -> Damaged:
    """Return the error of a damaged database."""
    return Damaged(f"the search index cannot be read: {error}", where=where, hint="it is made anew")
