"""Full-text indexes: which rows hold a word, or any part of it, in any script.

Words are folded (`vault.text.formatting.folded`) and then cut into all their three letters (FTS5's trigram). Only which
text has which three letters is kept (`detail=none`), and the text itself says whether a longer word is there: for a
hundred thousand cards that is 43 MB and 1.2 s to make, where full detail takes 87 MB and 2.0 s, and finds no faster.
Whole words (unicode61) would take 34 MB, and find neither a part of a word nor Chinese. One or two letters are looked
for in the text itself, in some 25 ms; and so is everything where SQLite has no trigrams.
"""

from __future__ import annotations

from collections.abc import Iterable

from vault.index.database import Database, has_trigrams

_LETTERS = 3  # that the index is made of


def add_words(database: Database, table: str, rows: Iterable[tuple[int, str]]) -> None:
    """Add the folded words of rows."""
    if has_trigrams():
        database.run_many(f"INSERT INTO {table}(rowid, words) VALUES(?, ?)", rows)


def forget_words(database: Database, table: str, rows: Iterable[tuple[int, str]]) -> None:
    """Remove rows, with the words that were added."""
    if has_trigrams():
        database.run_many(f"INSERT INTO {table}({table}, rowid, words) VALUES('delete', ?, ?)", rows)


def holding(table: str, row: str, words: str, word: str) -> tuple[str, list[str]]:
    """Return the SQL condition, with its values, that the text of a row holds `word`, which is folded and not empty.

    `row` and `words` are the columns with its number and its text.
    """
    if len(word) < _LETTERS or not has_trigrams():
        return f"instr({words}, ?)", [word]
    threes = dict.fromkeys(word[n : n + _LETTERS] for n in range(len(word) - _LETTERS + 1))
    match = " AND ".join('"' + three.replace('"', '""') + '"' for three in threes)  # a string each: no syntax
    return f"({row} IN (SELECT rowid FROM {table} WHERE {table} MATCH ?) AND instr({words}, ?))", [match, word]
