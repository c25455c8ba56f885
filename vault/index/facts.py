"""Single values in an index, by name."""

from __future__ import annotations

from vault.index.database import Database

TABLES = "CREATE TABLE fact(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;\n"


def fact(database: Database, name: str) -> str | None:
    """Return the value of that name; None if there is none."""
    row = database.one("SELECT value FROM fact WHERE name = ?", (name,))
    return None if row is None else str(row[0])


def set_fact(database: Database, name: str, value: str) -> None:
    """Store a value under that name."""
    database.run("INSERT OR REPLACE INTO fact VALUES(?, ?)", (name, value))
