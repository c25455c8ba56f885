"""Cards and articles by the words of their names: of a card its question, of an article or a topic its title."""

from __future__ import annotations

import os
from dataclasses import dataclass

from learning.search.records import Records
from learning.store.full_text import holding
from vault.ids import CardId
from vault.layout import TOPICS
from vault.text.formatting import folded

_LOOKED_AT = 2_000  # rows that hold the words anywhere, those of the shortest names, among which names are looked for
_SHORTEST = f"ORDER BY length(name) LIMIT {_LOOKED_AT}"


@dataclass(frozen=True, slots=True)
class Named:
    """A card by its id, or an article by its path; the other is ""."""

    title: str
    card: str = ""
    path: str = ""

    @property
    def is_topic(self) -> bool:
        return self.path.startswith(f"{TOPICS}/")


def articles_named(records: Records, words: str, most: int) -> list[Named]:
    """Return the articles and topics whose title holds all words, the shortest titles first."""
    rows = _rows(records, "SELECT title AS name, path FROM page WHERE", "page_hit", "number", words)
    return [Named(title, path=os.fsdecode(path)) for title, path in _best(rows, words, most)]


def cards_named(records: Records, words: str, most: int) -> list[Named]:
    """Return the cards whose question holds all words, the shortest questions first."""
    select = "SELECT shown AS name, id FROM card JOIN text ON text.card = card.number WHERE"
    rows = _rows(records, select, "card_hit", "card.number", words)
    return [Named(shown, card=CardId(card)) for shown, card in _best(rows, words, most)]


def _rows(records: Records, select: str, table: str, number: str, words: str) -> list[tuple[str, str]]:
    """Return (name, key) of the rows whose text holds all words, not only their names."""
    conditions, values = [], list[object]()
    for word in folded(words).split():
        condition, more = holding(table, number, "words", word)
        conditions.append(condition)
        values += more
    if not conditions:
        return []
    found = records.desk.cards.database.rows(f"{select} {' AND '.join(conditions)} {_SHORTEST}", values)
    return [(row[0], row[1]) for row in found]


def _best(rows: list[tuple[str, str]], words: str, most: int) -> list[tuple[str, str]]:
    wanted = folded(words).split()
    named = [row for row in rows if all(word in folded(row[0]) for word in wanted)]
    return sorted(named, key=lambda row: (len(row[0]), row[0]))[:most]
