"""The index of cards and reviews, `.retain/learning.sqlite3`: which tables it has, and how it is opened."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from learning.store import day_sums, decks, due, log_files, log_index, reviews, states
from vault.index import facts, files
from vault.index.database import Database, IndexDamaged, Schema, open_database
from vault.vault import Vault

VERSION = 3  # grows when the same vault would fill the tables with other rows
_TABLES = "".join(part.TABLES for part in (facts, files, decks, due, day_sums, log_files, log_index, reviews, states))

T = TypeVar("T")


def open_index(vault: Vault) -> Database:
    """Return the index of cards and reviews; close it after use."""
    database = open_database(vault, Schema("learning", VERSION, _TABLES))
    database.filled()  # an empty one is right: what is in the files counts as new
    return database


def with_open_index(vault: Vault, use: Callable[[Database], T]) -> T:
    """Return what `use` returns for the index, which stays open for it; where that is damaged, for a new one."""
    database = open_index(vault)
    try:
        return use(database)
    except IndexDamaged:
        database.close()
    return use(open_index(vault))
