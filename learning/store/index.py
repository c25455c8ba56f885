"""The index of cards and reviews, `.retain/learning.sqlite3`: which tables it has, and how it is opened.

What fills and asks them is in the modules beside this one, which loads none of these: it is asked by commands that need
no card whether the pages are current.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from vault.index import facts, files, log_rows
from vault.index.database import Database, IndexDamaged, IndexUnwritable, Schema, has_trigrams, open_copy, open_database
from vault.vault import Vault

VERSION = 12  # grows when the same vault would fill the tables with other rows

# `siblings` names a card's Anki note, where it was imported, or its block, where its deck is of no concept.
# What is NULL of a deck was not asked for yet: its tags;
# the concept that it names, its title as a table shows it (`label`), and with them the faces of its cards. Titles and
# paths are folded to be searched, as the words of cards are, which are there once a deck is `searched`. A card keeps
# its number while it is in a deck. (`decks`, `cards`, `card_text`; `learning.search`)
_DECKS = """
CREATE TABLE deck(number INTEGER PRIMARY KEY AUTOINCREMENT, name BLOB NOT NULL UNIQUE, title TEXT NOT NULL,
  names TEXT NOT NULL, place TEXT NOT NULL, paused INTEGER NOT NULL, irregular INTEGER NOT NULL,
  searched INTEGER NOT NULL DEFAULT 0, deck_tags TEXT, concept TEXT, label TEXT);
CREATE TABLE card(number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, deck INTEGER NOT NULL,
  place INTEGER NOT NULL, line INTEGER NOT NULL, kind TEXT NOT NULL, siblings TEXT);
CREATE INDEX card_id ON card(id);
CREATE INDEX card_deck ON card(deck, place);
CREATE INDEX card_siblings ON card(siblings) WHERE siblings IS NOT NULL;
CREATE TABLE face(card INTEGER PRIMARY KEY, label TEXT NOT NULL, question BLOB NOT NULL, answer BLOB NOT NULL);
CREATE TABLE text(card INTEGER PRIMARY KEY, words TEXT NOT NULL, shown TEXT NOT NULL);
"""
# Whether the front matter of a concept's article `says` that it is not to be learned, by the article's stamp: a list of
# what is due opens none that is unchanged (`due`). Articles and topics as they are searched (`learning.search`).
_ARTICLES = """
CREATE TABLE pause(deck BLOB PRIMARY KEY, size INTEGER NOT NULL, changed_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  says INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE page(number INTEGER PRIMARY KEY AUTOINCREMENT, path BLOB NOT NULL UNIQUE, folded_path TEXT NOT NULL,
  title TEXT NOT NULL, words TEXT NOT NULL);
"""
# A card in a deck that neither log nor ledger names has a state, too, which is not `known`: so that a card is found by
# when it is due, new ones included. `base` has the states before the cut of the cards that something happened to since.
# (`states`)
_STATE = """card TEXT PRIMARY KEY, known INTEGER NOT NULL DEFAULT 0, phase INTEGER NOT NULL DEFAULT 0,
  stability REAL NOT NULL DEFAULT 0, difficulty REAL NOT NULL DEFAULT 0, step INTEGER DEFAULT 0, due INTEGER,
  last_review INTEGER, last_day INTEGER NOT NULL DEFAULT 0, interval_days INTEGER NOT NULL DEFAULT 0,
  reps INTEGER NOT NULL DEFAULT 0, lapses INTEGER NOT NULL DEFAULT 0, suspended INTEGER NOT NULL DEFAULT 0,
  retracted INTEGER NOT NULL DEFAULT 0, buried_until INTEGER, flagged INTEGER NOT NULL DEFAULT 0,
  changed INTEGER NOT NULL DEFAULT 0, leech INTEGER NOT NULL DEFAULT 0, tags TEXT NOT NULL DEFAULT '',
  before_change TEXT NOT NULL DEFAULT ''"""
_STATES = f"""
CREATE TABLE state({_STATE}) WITHOUT ROWID;
CREATE INDEX state_due ON state(due, suspended, retracted);
CREATE TABLE base({_STATE}) WITHOUT ROWID;
"""
# How far log and ledger have been taken in (`learning.history.files`). Of the events before the cut only those that are
# no reviews, and count; `subject` is the card, or what an undo voids. What the ledger says of cards
# (`learning.history.update`).
_LOG = """
CREATE TABLE log_file(path BLOB PRIMARY KEY, size INTEGER NOT NULL, changed_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  settled INTEGER NOT NULL, length INTEGER NOT NULL, crc INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE event(id TEXT PRIMARY KEY, at INTEGER NOT NULL, happened INTEGER NOT NULL, type TEXT NOT NULL,
  subject TEXT NOT NULL, counts INTEGER NOT NULL, ms INTEGER NOT NULL, line BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX event_at ON event(at, id);
CREATE INDEX event_subject ON event(subject);
CREATE INDEX event_type ON event(type);
CREATE TABLE change(card TEXT NOT NULL, type TEXT NOT NULL, at INTEGER NOT NULL, was TEXT NOT NULL, now TEXT NOT NULL);
CREATE INDEX change_card ON change(card);
"""
# The reviews that count, a value for each card (`reviews`), and the sums over them (`day_sums`).
_REVIEWS = """
CREATE TABLE reviews(card TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE day_sum(name TEXT NOT NULL, key INTEGER NOT NULL, a INTEGER NOT NULL, b INTEGER NOT NULL,
  c INTEGER NOT NULL, d INTEGER NOT NULL, e INTEGER NOT NULL, PRIMARY KEY(name, key)) WITHOUT ROWID;
"""
T = TypeVar("T")


def open_index(vault: Vault, *, copy: bool = False) -> Database:
    """Return the index of cards and reviews, or a copy of it in memory; close it after use.

    An empty one is right, too: what is in the files counts as new.
    """
    pages = (_ARTICLES, full_text("page_hit"))
    tables = (facts.TABLES, files.TABLES, log_rows.TABLES, deck_tables(), *pages, _STATES, _LOG, _REVIEWS)
    return (open_copy if copy else open_database)(vault, Schema("learning", VERSION, "".join(tables)))


def with_open_index(vault: Vault, use: Callable[[Database], T]) -> T:
    """Return what `use` returns for the index, which stays open for it.

    Where that is damaged, `use` gets a new one; where it cannot be written, a copy in memory.
    """
    database = open_index(vault)
    try:
        return use(database)
    except IndexDamaged as error:
        database.close()
        is_unwritable = isinstance(error, IndexUnwritable)
    return use(open_index(vault, copy=is_unwritable))


def with_index(vault: Vault, use: Callable[[Database], T]) -> T:
    """Return the same, and close the index."""

    def closing(database: Database) -> T:
        with database:
            return use(database)

    return with_open_index(vault, closing)


def deck_tables() -> str:
    """Return the SQL that makes the tables of decks."""
    return _DECKS + full_text("card_hit")


def full_text(table: str) -> str:
    """Return the SQL that makes a full-text index, of all three letters of folded words (see `full_text`)."""
    if not has_trigrams():
        return ""
    letters = "tokenize='trigram case_sensitive 1'"
    return f"CREATE VIRTUAL TABLE {table} USING fts5(words, content='', detail=none, {letters});\n"
