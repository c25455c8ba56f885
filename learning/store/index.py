"""The index of cards and reviews, `.retain/learning.sqlite3`: which tables it has, and how it is opened."""

from __future__ import annotations

from vault.index import files, log_rows
from vault.index.database import Database, Schema, open_database
from vault.vault import Vault

VERSION = 1  # grows when the same vault would fill the tables with other rows


def open_index(vault: Vault) -> Database:
    """Return the index of cards and reviews; close it after use."""
    database = open_database(vault, Schema("learning", VERSION, files.TABLES + log_rows.TABLES))
    database.filled()  # an empty one is right: what is in the files counts as new
    return database
