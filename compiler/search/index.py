"""Brings the entries by which the wiki is searched up to date: those of changed files alone.

Sources are found as the last compile read them; articles, topics, summaries and cards as they are in their files now.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from compiler.index.entries import forget_entries, put_entries
from compiler.index.steps import READING, Steps, decoded
from vault.errors import Damaged, Refused
from vault.index import stamps
from vault.index.database import Database
from vault.index.files import changes, remember
from vault.layout import ANSWERS, CONCEPTS, FLASHCARDS, SUMMARIES, TOPICS
from vault.vault import Vault

PAGES = (CONCEPTS, TOPICS, SUMMARIES, ANSWERS, FLASHCARDS)
Progress = Callable[[dict[str, Any]], None]


def bring_up_to_date(vault: Vault, steps: Steps, progress: Progress = lambda event: None) -> None:
    """Read what has changed since the index was last brought up to date. Raises: IndexDamaged, OSError."""
    database = steps.database
    sources = database.rows(
        "SELECT source.path, reading FROM source LEFT JOIN searched ON searched.path = source.path"
        " WHERE searched.input IS NOT reading ORDER BY source.path"
    )
    listings = {folder: stamps.listing(vault.root, folder).files(".md") for folder in PAGES}
    which = {folder: changes(database, f"search {folder}", listings[folder]) for folder in PAGES}
    total, done = len(sources) + sum(len(each.changed) for each in which.values()), 0
    gone = [f"{folder}/{name}" for folder, each in which.items() for name in each.gone]
    forget_entries(database, [*gone, *_forgotten_sources(database)])
    for path, key in sources:
        progress({"event": "indexing", "done": done, "of": total})
        _read_source(steps, path, bytes(key))
        done += 1
    for folder, each in which.items():
        with database.transaction():
            for name in each.changed:
                progress({"event": "indexing", "done": done, "of": total})
                _read_page(vault, database, f"{folder}/{name}")
                done += 1
            remember(database, f"search {folder}", listings[folder], each)
    progress({"event": "indexing", "done": total, "of": total})


def _forgotten_sources(database: Database) -> list[str]:
    """Return the sources with entries that the last compile did not find."""
    rows = database.rows("SELECT path FROM searched WHERE path NOT IN (SELECT path FROM source)")
    pages = tuple(f"{folder}/" for folder in PAGES)
    return [path for (path,) in rows if not path.startswith(pages)]


def _read_source(steps: Steps, path: str, key: bytes) -> None:
    """Take the passages of a source in; none where it could not be read, or is a copy of another file."""
    from compiler.search.rows import source_rows  # loads the gates, which no search without changes needs
    from vault.model.source import SourceText

    read = decoded(steps.get_large(READING, key))
    rows, language = [], ""
    with suppress(KeyError, TypeError, ValueError):
        source = SourceText.from_json(read["source"])
        rows, language = list(source_rows(path, source)), source.language
    put_entries(steps.database, path, key, language, rows)


def _read_page(vault: Vault, database: Database, path: str) -> None:
    """Take a page in; `retain verify` names one that cannot be read."""
    from compiler.search.rows import linked_pages, page_rows

    text = None
    with suppress(Damaged, Refused):
        text = vault.read_text(path)
    rows = list(page_rows(path, text)) if text is not None else []
    put_entries(database, path, b"", rows[0][0].language if rows else "", rows, linked_pages(path, text or ""))
