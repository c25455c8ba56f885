"""Searches of a vault: the index is brought up to date first, and sources that it does not know are read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from compiler.index.steps import Steps
from compiler.search.search import with_index
from compiler.sources.inventory import scan_sources
from vault.index.database import Database
from vault.vault import Vault

T = TypeVar("T")


def with_search_index(
    vault: Vault, use: Callable[[Database], T], at: datetime, progress: Callable[[dict[str, Any]], None]
) -> T:
    """Return what `use` returns for the search index of a vault.

    Where the index knows no source, as after `.retain/` was deleted, all are read first. Raises: Refused where SQLite
    has no full-text search; what `read_sources` raises.
    """

    def fill(steps: Steps) -> None:
        if not _knows_sources(vault, steps.database):
            from compiler.build.pipeline import read_sources

            read_sources(vault, at, progress, steps)

    return with_index(vault, use, progress, fill)


def _knows_sources(vault: Vault, index: Database) -> bool:
    """Return whether the index has a source, or there is none."""
    return index.one("SELECT 1 FROM source") is not None or not has_sources(vault)


def has_sources(vault: Vault) -> bool:
    """Return whether there is a file that is a source."""
    return bool(scan_sources(vault.root, vault.notes).files)
