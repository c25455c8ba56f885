"""The index of cards and reviews, `.retain/learning.sqlite3`: which tables it has, and how it is opened."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from learning.store import day_sums, decks, due, full_text, log_files, log_index, reviews, states
from vault.index import facts, files, log_rows
from vault.index.database import Database, IndexDamaged, Schema, open_database
from vault.vault import Vault

VERSION = 4  # grows when the same vault would fill the tables with other rows
# What searches find besides cards: articles, by their folded words.
_ARTICLES = """
CREATE TABLE page(number INTEGER PRIMARY KEY AUTOINCREMENT, path BLOB NOT NULL UNIQUE, folded_path TEXT NOT NULL,
  title TEXT NOT NULL, words TEXT NOT NULL);
"""
_PARTS = (facts, files, log_rows, decks, due, day_sums, log_files, log_index, reviews, states)
_TABLES = "".join((_ARTICLES, full_text.full_text("page_hit"), *(part.TABLES for part in _PARTS)))

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
