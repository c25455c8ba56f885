"""The embeddings of the windows of sources, in the index: a row a source, with all its vectors by one model.

A window is a stretch of a passage. What computes and compares the vectors is `compiler.search.semantic`.
"""

from __future__ import annotations

from typing import NamedTuple

from vault.index.database import Database

TABLES = """
CREATE TABLE embedding(path TEXT PRIMARY KEY, model BLOB NOT NULL, input BLOB NOT NULL, digests BLOB NOT NULL,
  passages BLOB NOT NULL, vectors BLOB NOT NULL);
"""


class Embedded(NamedTuple):
    """The windows of a source, each with the same place in all three.

    `digests` are of their texts, 16 bytes each; `passages` the passages in which they are, counted from the first of
    the source, as 32-bit integers; `vectors` are half-precision floats.
    """

    digests: bytes
    passages: bytes
    vectors: bytes


def not_embedded(database: Database, model: bytes) -> list[str]:
    """Return the paths of the sources that have no embeddings by a model, or those of an earlier text."""
    rows = database.rows(
        "SELECT searched.path FROM searched LEFT JOIN embedding ON embedding.path = searched.path AND model = ?"
        " WHERE embedding.input IS NOT searched.input AND searched.path IN (SELECT path FROM source)"
        " ORDER BY searched.path",
        (model,),
    )
    return [path for (path,) in rows]


def embedded(database: Database, path: str, model: bytes) -> Embedded | None:
    """Return the embeddings of a source by a model, which may be of an earlier text; None if there are none."""
    query = "SELECT digests, passages, vectors FROM embedding WHERE path = ? AND model = ?"
    row = database.one(query, (path, model))
    return Embedded(*map(bytes, row)) if row is not None else None


def put_embedded(database: Database, path: str, model: bytes, windows: Embedded) -> None:
    """Store the embeddings of a source as it is in the index now."""
    database.run(
        "INSERT OR REPLACE INTO embedding SELECT path, ?, input, ?, ?, ? FROM searched WHERE path = ?",
        (model, *windows, path),
    )


def forget_embedded(database: Database) -> None:
    """Remove the embeddings of sources that are gone."""
    if database.one("SELECT 1 FROM embedding WHERE path NOT IN (SELECT path FROM searched) LIMIT 1"):
        database.run("DELETE FROM embedding WHERE path NOT IN (SELECT path FROM searched)")


def all_embedded(database: Database, model: bytes) -> list[tuple[int, bytes, bytes]]:
    """Return for each source the number of its first passage, and `passages` and `vectors` of its windows."""
    return database.rows(
        "SELECT (SELECT min(number) FROM entry WHERE entry.path = embedding.path), passages, vectors FROM embedding"
        " WHERE model = ? AND length(passages) ORDER BY path",
        (model,),
    )
