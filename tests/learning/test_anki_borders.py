"""The table of what comes in from Anki and what goes out covers Anki's own columns, and is in docs/anki.md."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from learning.anki.borders import BORDERS
from tests.learning.test_anki_import import collection

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_every_column_of_a_collection_is_in_the_table_once(tmp_path: Path) -> None:
    with collection(tmp_path / "anki") as col:
        tables = ("notes", "cards", "revlog")
        columns = [f"{table}.{row[1]}" for table in tables for row in col.db.all(f"pragma table_info({table})")]
    assert sorted(column for border in BORDERS for column in border.columns) == sorted(columns)


def test_the_page_has_the_table_of_the_code() -> None:
    found = importlib.util.spec_from_file_location("docs_anki", DOCS / "anki.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    page = (DOCS / "anki.md").read_text(encoding="utf-8")
    assert module.put_in(page) == page, "`make docs` writes it"
