"""The cards and articles of a desk as searches list them: by their numbers in the index, each read when it is shown."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property, lru_cache
from itertools import islice
from typing import NamedTuple

from learning.cards.workspace import Desk
from learning.history.states import FIELDS, state_of
from learning.memory.state import MemoryState
from learning.search import documents
from learning.store.cards import path_of
from learning.store.full_text import add_words, forget_words
from learning.store.index import open_index
from learning.store.placed import concept_of
from learning.store.topics import topics as read_topics
from vault.errors import Damaged, Refused
from vault.ids import CardId
from vault.index import stamps
from vault.index.database import Database
from vault.index.files import Changes, changes, remember
from vault.layout import CONCEPTS, TOPICS
from vault.text.formatting import folded

ARTICLES = (CONCEPTS, TOPICS)
_AT_ONCE = 200  # files that are read between two looks at whether anybody waits for them
_KEPT = 2_000  # records that stay read


class Record(NamedTuple):
    """A card as a list shows it; `question` is None while its text has not been read."""

    card: CardId
    path: str
    line: int
    title: str
    kind: str
    question: str | None
    state: MemoryState


class Records:
    """The cards and articles of a desk by number; `topics` has the stems of the concepts of each topic, by title.

    They are shown through a connection of their own, so that what shows them does not wait for searches and reading.
    """

    def __init__(self, desk: Desk, topics: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self.desk = desk
        self.topics = read_topics(desk.vault) if topics is None else topics
        self.record = lru_cache(_KEPT)(self._record)

    @cached_property
    def _shown(self) -> Database:
        own = self.desk.cards.database
        other = open_index(self.desk.vault) if own.is_stored and not self.desk.cards.shadowed else own
        return other if other.is_stored else own

    def __len__(self) -> int:
        return len(self.desk.cards)

    @property
    def articles(self) -> int:
        """Return how many articles have been read."""
        row = self._shown.one("SELECT count(*) FROM page")
        return int(row[0]) if row else 0

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """Return the titles of the decks."""
        return tuple(title for (title,) in self._shown.rows("SELECT title FROM deck ORDER BY name"))

    def _record(self, number: int) -> Record | None:
        """Return the card of that number; None if it is gone."""
        row = self._shown.one(
            f"SELECT id, name, line, title, kind, shown, {FIELDS} FROM card JOIN deck ON deck.number = card.deck"
            " JOIN state ON state.card = id LEFT JOIN text ON text.card = card.number WHERE card.number = ?",
            (number,),
        )
        if row is None:
            return None
        card, name, line, title, kind, question, *state = row
        return Record(card, path_of(name), line, title, kind, question, state_of(tuple(state)))

    def number(self, card: str) -> int | None:
        """Return the number of the card with that id; None if there is none."""
        row = self._shown.one("SELECT number FROM card WHERE id = ?", (card,))
        return None if row is None else int(row[0])

    def topic(self, path: str) -> str:
        """Return the topics of the concept of the deck at `path`, in one line."""
        return ", ".join(self._topics_of.get(concept_of(path), ()))

    @cached_property
    def _topics_of(self) -> dict[str, list[str]]:
        """Return the topics of each concept, by its stem."""
        found: dict[str, list[str]] = {}
        for topic, stems in self.topics.items():
            for stem in stems:
                found.setdefault(stem, []).append(topic)
        return found

    def article(self, number: int) -> tuple[str, str]:
        """Return the path and the title of an article; both are "" if it is gone."""
        row = self._shown.one("SELECT path, title FROM page WHERE number = ?", (number,))
        return ("", "") if row is None else (os.fsdecode(row[0]), row[1])

    # --- reading what is searched -----------------------------------------------------------------------------------

    def refresh(self) -> Iterator[tuple[int, int]]:
        """Read the texts that have changed, some files at a time; yield (files read, files there are) before and after
        each. What has been read is found at once.

        Raises: OSError where a folder cannot be listed.
        """
        database = self.desk.cards.database
        decks = [name for (name,) in database.rows("SELECT name FROM deck WHERE NOT searched ORDER BY name")]
        found = {folder: stamps.listing(self.desk.vault.root, folder).files(".md") for folder in ARTICLES}
        which = {folder: changes(database, f"search {folder}", found[folder]) for folder in ARTICLES}
        missing = len(decks) + sum(len(each.changed) for each in which.values())
        (count,) = database.one("SELECT count(*) FROM deck") or (0,)
        total = int(count) + sum(len(each.names) for each in found.values())
        done = total - missing
        yield done, total
        names = iter(decks)
        while some := list(islice(names, _AT_ONCE)):
            self._read_decks(some)
            self.record.cache_clear()
            done += len(some)
            yield done, total
        for folder in ARTICLES:
            self._read_articles(folder, which[folder])
            with database.transaction():
                remember(database, f"search {folder}", found[folder], which[folder])
            done += len(which[folder].changed)
            yield done, total

    def _read_decks(self, names: list[bytes]) -> None:
        """Read the texts of these decks."""
        cards, database = self.desk.cards, self.desk.cards.database
        texts = [(name, cards.deck(path_of(name))) for name in names]
        with database.transaction():
            for name, deck in texts:
                known = documents.of_deck(deck) if deck is not None else {}
                rows = database.rows(
                    "SELECT card.number, id FROM card JOIN deck ON deck.number = card.deck"
                    " WHERE name = ? AND NOT searched",
                    (name,),
                )
                mine = [(number, *known[card]) for number, card in rows if card in known]
                database.run_many("INSERT INTO text VALUES(?, ?, ?)", mine)
                add_words(database, "card_hit", (row[:2] for row in mine))
                database.run("UPDATE deck SET searched = 1 WHERE name = ?", (name,))

    def _read_articles(self, folder: str, which: Changes) -> None:
        """Read the texts of changed articles, and forget those that are gone."""
        database, vault = self.desk.cards.database, self.desk.vault
        texts: dict[str, documents.Text | None] = dict.fromkeys(f"{folder}/{name}" for name in which.gone)
        for name in which.changed:
            path = f"{folder}/{name}"
            with suppress(Damaged, Refused):
                text = vault.read_text(path)
                texts[path] = None if text is None else documents.of_article(path, text)
        with database.transaction():
            for path, read in texts.items():
                key = os.fsencode(path)
                old = database.one("SELECT number, words FROM page WHERE path = ?", (key,))
                if old is not None:
                    forget_words(database, "page_hit", [(old[0], old[1])])
                    database.run("DELETE FROM page WHERE number = ?", (old[0],))
                if read is not None:
                    values = (None if old is None else old[0], key, folded(path), read.shown, read.words)
                    database.run("INSERT INTO page VALUES(?, ?, ?, ?, ?)", values)
                    row = database.one("SELECT number, words FROM page WHERE path = ?", (key,))
                    add_words(database, "page_hit", [(row[0], row[1])] if row else [])
