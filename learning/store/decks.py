"""The decks and their cards in the index: decks that have not changed are not read again.

Decks with anything to report are read each time. While the decks of the vault are not those to be used, as an agent is
at work or an id is in two of them, tables of the connection's own hide these (`shadow`).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from learning.store.full_text import forget_words
from learning.store.index import deck_tables
from learning.store.placed import front_pauses
from learning.store.siblings import block_name, group_name, is_imported, is_own, note_numbers, own_number
from vault.ids import CardId
from vault.index.database import Database, Row
from vault.index.facts import fact, set_fact
from vault.index.files import changes, remember
from vault.index.stamps import Stamps
from vault.layout import FLASHCARDS
from vault.model.card import Deck
from vault.model.markdown import unescape
from vault.text.formatting import clean_line, folded
from vault.vault import Vault

_TEMPORARY = ("card_hit", "text", "face", "card", "deck")
_NO_STATE = "INSERT OR IGNORE INTO state(card) SELECT id FROM {}card"
_REPEATS = "the same id is in two decks"
ORDER = "deck.name, card.place"  # of the decks, and of the cards in them


def update_decks(vault: Vault, database: Database, found: Stamps) -> tuple[dict[str, Deck], bool]:
    """Take changed decks into the index; return those that have something to report, by path, and whether an id is in
    two decks.
    """
    which = changes(database, FLASHCARDS, found)
    irregular = {os.fsdecode(name) for (name,) in database.rows("SELECT name FROM deck WHERE irregular")}
    read = {name: _read(vault, name) for name in [*which.changed, *(irregular - which.changed.keys())]}
    read = {name: deck for name, deck in read.items() if name not in which.gone}
    written = {name: deck for name, deck in read.items() if name in which.changed or is_imported(deck)}
    if which or written:
        with database.transaction():
            _write(vault, database, {**dict.fromkeys(which.gone), **written})
            database.run(_NO_STATE.format(""))
            remember(database, FLASHCARDS, found, which)
            repeats = database.one("SELECT 1 FROM card GROUP BY id HAVING count(*) > 1 LIMIT 1")
            set_fact(database, _REPEATS, "yes" if repeats else "")
    irregular = {os.fsdecode(name) for (name,) in database.rows("SELECT name FROM deck WHERE irregular")}
    return {deck.path: deck for name, deck in read.items() if name in irregular}, bool(fact(database, _REPEATS))


def shadow(vault: Vault, database: Database, decks: Iterable[Deck]) -> None:
    """Have the index show these decks, as far as this connection asks; of an id that is in two of them, the first."""
    unshadow(database)
    with database.transaction():
        for statement in deck_tables().split(";\n"):
            database.run(re.sub("(INDEX|TABLE) ", r"\1 temp.", statement, count=1))
        _write(vault, database, {deck.path.removeprefix(f"{FLASHCARDS}/"): deck for deck in decks})
        database.run("DELETE FROM card WHERE number NOT IN (SELECT min(number) FROM card GROUP BY id)")
        add_unmet(database)


def unshadow(database: Database) -> None:
    """Have the index show the decks that are in it."""
    for table in _TEMPORARY:
        database.run(f"DROP TABLE IF EXISTS temp.{table}")


def add_unmet(database: Database) -> None:
    """Give each card in a deck that has none a row among the states."""
    for schema in ("main.", ""):
        database.run(_NO_STATE.format(schema))


def _read(vault: Vault, name: str) -> Deck:
    """Return a deck; an empty one if it is gone since it was listed."""
    path = f"{FLASHCARDS}/{name}"
    return vault.deck(path) or Deck(path, "", ())


def _write(vault: Vault, database: Database, decks: Mapping[str, Deck | None]) -> None:
    """Replace the rows of these decks, by file name; None for one that is gone."""
    numbers = _forget(database, [os.fsencode(name) for name in decks])
    present = {name: deck for name, deck in decks.items() if deck is not None}
    imported = [deck for deck in present.values() if is_imported(deck)]
    ours = {card.id for deck in imported for card in deck.cards if card.id is not None}
    notes = note_numbers(vault, ours) if ours else {}
    rows: list[Row] = []
    cards: list[Row] = []
    for name, deck in sorted(present.items()):
        mine = [card for card in deck.cards if card.id is not None]
        irregular = bool(deck.diagnostics) or len(mine) < len(deck.cards)
        imports, is_users = is_imported(deck), is_own(deck)
        # Where the ledger lacks a note, as an import was interrupted, the deck is read again: it may know it later.
        irregular = irregular or (imports and any(card.id not in notes for card in mine))
        title = clean_line(unescape(deck.title))
        key = os.fsencode(name)
        names = f"{folded(title)}\n{folded(name.removesuffix('.md'))}"
        rows.append((key, title, names, folded(deck.path), front_pauses(deck.text.encode()), irregular))
        for n, card in enumerate(mine):
            kind = card.kind.value if card.kind else ""
            siblings = block_name(card) if is_users else _siblings(card.id, imports, notes)
            cards.append((numbers.pop(str(card.id), None), card.id, key, n, card.line, kind, siblings))
    database.run_many("INSERT INTO deck(name, title, names, place, paused, irregular) VALUES(?, ?, ?, ?, ?, ?)", rows)
    database.run_many("INSERT INTO card VALUES(?, ?, (SELECT number FROM deck WHERE name = ?), ?, ?, ?, ?)", cards)


def _forget(database: Database, names: Sequence[bytes]) -> dict[str, int]:
    """Delete the rows of these decks; return the numbers that their cards had."""
    numbers: dict[str, int] = {}
    for name in names:
        cards = database.rows(
            "SELECT card.number, card.id, words FROM deck JOIN card ON card.deck = deck.number"
            " LEFT JOIN text ON text.card = card.number WHERE name = ?",
            (name,),
        )
        numbers |= {id_: number for number, id_, _ in cards}
        forget_words(database, "card_hit", [(number, words) for number, _, words in cards if words is not None])
        for table in ("text", "face"):
            database.run_many(f"DELETE FROM {table} WHERE card = ?", ((number,) for number, _, _ in cards))
        database.run_many("DELETE FROM card WHERE number = ?", ((number,) for number, _, _ in cards))
        database.run("DELETE FROM deck WHERE name = ?", (name,))
    return numbers


def _siblings(card: CardId | None, imports: bool, notes: Mapping[CardId, int]) -> str | None:
    """Return the name of the siblings of a card that was imported; None for another."""
    if card is None or not imports:
        return None
    return group_name(notes.get(card) or own_number(card))


def read_tags(database: Database, deck_at: Callable[[str], Deck | None]) -> None:
    """Read the tags of the decks whose tags have not been asked for yet: they are YAML, which is slow to parse."""
    rows = []
    for (name,) in database.rows("SELECT name FROM deck WHERE deck_tags IS NULL"):
        deck = deck_at(f"{FLASHCARDS}/{os.fsdecode(name)}")
        rows.append((json.dumps(deck.properties.texts("tags") if deck else ()), name))
    if rows:
        database.run_many("UPDATE deck SET deck_tags = ? WHERE name = ?", rows)
