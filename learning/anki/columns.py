"""Values in the columns of an Anki collection, which an untrusted one may hold as anything."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from learning.anki.archive import fields

_DIGITS = 19  # of the largest number that a column can hold


def as_int(value: object) -> int:
    """Return the value as a whole number, 0 for what is none."""
    if isinstance(value, float) and value == value and abs(value) < 2**62:
        return int(value)
    return value if isinstance(value, int) else 0


def as_str(value: object) -> str:
    """Return the value as text."""
    if isinstance(value, bytes):
        return decoded(value)
    return value if isinstance(value, str) else "" if value is None else str(value)


def decoded(data: bytes) -> str:
    """Return bytes as text, invalid ones replaced."""
    return data.decode("utf-8", "replace")


def message(config: object) -> Iterator[tuple[int, int | bytes]]:
    """Return the fields of a protobuf message in a column; none of what is no bytes. Raises: ValueError for damage."""
    return fields(config) if isinstance(config, bytes) else iter(())


def json_table(connection: sqlite3.Connection, column: str) -> dict[str, Any]:
    """Return the JSON table in a column of the legacy format; an empty one where the JSON is no table.

    Raises: sqlite3.Error, ValueError or RecursionError where the column is missing or its JSON is damaged.
    """
    row = connection.execute(f"SELECT {column} FROM col").fetchone()  # noqa: S608 (one of a few names of ours)
    found = json.loads(as_str(row[0]) if row else "{}")
    return found if isinstance(found, dict) else {}


def numbered(connection: sqlite3.Connection, column: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the entries of such a table whose keys are numbers, as those of Anki are. Raises: as `json_table`."""
    for key, entry in json_table(connection, column).items():
        if key.isdecimal() and len(key) <= _DIGITS and isinstance(entry, dict):
            yield int(key), entry
