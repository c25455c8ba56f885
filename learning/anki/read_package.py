"""Anki packages of every generation (`.apkg`, `.colpkg`), row by row, read as untrusted input.

The collection is read in memory alone, by a connection that may read tables and do nothing else: no function of
SQL, no view, no trigger, no file. So a hostile one can be wrong, but not act. `retain` does this in a process of its
own (`learning.anki.worker`).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from learning.anki.archive import MAX_COLLECTION, Archive, open_archive
from learning.anki.columns import as_int, as_str, decoded, json_table, message, numbered
from learning.anki.note_types import Template
from learning.anki.read_presets import AnkiPreset, read_presets
from learning.anki.reviews import is_answer
from vault.text.formatting import clean_line

IMAGE_OCCLUSION = 6  # Anki's number of that stock note type
MAX_NOTES = 1_000_000
MAX_CARDS = 2_000_000
MAX_REVIEWS = 20_000_000
MAX_FIELD = 256 * 1024  # characters of a note's fields together; no card can be larger than 64 KiB anyhow
_INTEGERS = frozenset((int,))
_STEPS = 1_000_000  # of SQLite's machine between two looks at how long a question has taken
_MOST_LOOKS = 5_000


@dataclass(frozen=True, slots=True)
class NoteType:
    """A note type: its name, fields and templates."""

    id: int
    name: str
    cloze: bool
    fields: tuple[str, ...]
    templates: tuple[Template, ...]
    stock: int = 0  # Anki's number of the built-in type it was made from, 0 if unknown
    rtl: frozenset[str] = frozenset()  # the fields that are written from right to left
    style: str = ""


class AnkiNote(NamedTuple):
    """`mod` is in Unix seconds; `values` are HTML, in the order of the type's fields."""

    id: int
    guid: str
    type: int
    mod: int
    tags: tuple[str, ...]
    values: tuple[str, ...]


class AnkiCard(NamedTuple):
    """`ord` is the number of the template, or of the cloze less one; `deck` the home deck, `due` the due date in it;
    the rest as Anki has it."""

    id: int
    note: int
    deck: int
    ord: int
    mod: int
    type: int
    queue: int
    flags: int
    due: int


class AnkiRow(NamedTuple):
    """One row of Anki's review log; `id` in Unix milliseconds, `ms` the time on screen."""

    id: int
    card: int
    ease: int
    ms: int
    kind: int
    factor: int


@dataclass(slots=True)
class Collection:
    """An open package. `decks` maps ids to names with `::` between parents and children.

    `counts` are the notes, cards and reviews in it; `answered` is the Unix second of each card's last answer, -1 for
    none; `in_decks` the number of cards in each deck that has any. `created` is the Unix second from whose day due
    dates count, `minutes_west` how far it was west of UTC then, None if unknown.
    """

    archive: Archive
    connection: sqlite3.Connection
    types: Mapping[int, NoteType]
    decks: Mapping[int, str]
    counts: tuple[int, int, int] = (0, 0, 0)
    answered: dict[int, int] = field(default_factory=dict)
    in_decks: dict[int, int] = field(default_factory=dict)
    modern: bool = False
    created: int = 0
    minutes_west: int | None = None

    @property
    def media(self) -> Mapping[str, str]:
        """Return the entry in the archive of each file, by the name that the fields use: untrusted."""
        return self.archive.media

    def notes(self) -> Iterator[AnkiNote]:
        """Yield the notes in order of their ids, as everything else here."""
        rows = self.connection.execute("SELECT id, guid, mid, mod, tags, flds FROM notes ORDER BY id")
        for id_, guid, type_, mod, tags, values in _limited(rows, MAX_NOTES, "notes"):
            parts = tuple(as_str(values)[:MAX_FIELD].split("\x1f"))
            yield AnkiNote(
                as_int(id_), as_str(guid)[:200], as_int(type_), as_int(mod), tuple(as_str(tags)[:4096].split()), parts
            )

    def cards(self) -> Iterator[AnkiCard]:
        """Yield the cards in order of note and number; a card in a filtered deck counts to its home."""
        asked = "SELECT id, nid, did, odid, ord, mod, type, queue, flags, due, odue FROM cards ORDER BY nid, ord"
        for row in _limited(self.connection.execute(asked), MAX_CARDS, "cards"):
            id_, note, deck, home, ord_, mod, type_, queue, flags, due, home_due = row
            if as_int(home):  # it is in a filtered deck
                deck, due = home, home_due
            yield AnkiCard(*map(as_int, (id_, note, deck, ord_, mod, type_, queue, flags, due)))

    def cards_with_notes(self) -> Iterator[tuple[AnkiCard, AnkiNote]]:
        """Yield each card whose note is there, beside that note."""
        notes = self.notes()
        note = next(notes, None)
        for card in self.cards():
            while note is not None and note.id < card.note:
                note = next(notes, None)
            if note is not None and note.id == card.note:
                yield card, note

    def reviews(self) -> Iterator[AnkiRow]:
        """Yield the rows of the review log."""
        rows = self.connection.execute("SELECT id, cid, ease, time, type, factor FROM revlog ORDER BY id")
        for row in _limited(rows, MAX_REVIEWS, "reviews"):
            yield AnkiRow._make(row) if _INTEGERS.issuperset(map(type, row)) else AnkiRow(*map(as_int, row))

    def presets(self, decks: Iterable[int] | None) -> Iterator[AnkiPreset]:
        """Yield the presets with FSRS parameters that `decks` (None: all) use."""
        return read_presets(self.connection, self.in_decks, decks, modern=self.modern)

    def look_through(self) -> None:
        """Read every row once, so that a fault in any of them is found before the first is used.

        Raises: sqlite3.Error or ValueError, for damage and for too many rows.
        """
        notes = sum(1 for _ in self.notes())
        for card in self.cards():
            self.answered[card.id] = -1
            self.in_decks[card.deck] = self.in_decks.get(card.deck, 0) + 1
        reviews = 0
        for row in self.reviews():
            reviews += 1
            last = self.answered.get(row.card)
            if last is None:
                continue
            if row.ease > 0 and is_answer(row.kind, row.factor):
                self.answered[row.card] = max(last, row.id // 1000)
        self.counts = notes, len(self.answered), reviews

    def close(self) -> None:
        """Close the database."""
        self.connection.close()
        self.archive.zip.close()


def open_collection(path: Path) -> Collection:
    """Return the package at `path`, looked through. Raises: Unreadable, naming the file and what is wrong with it."""
    archive = open_archive(path)
    try:
        data = archive.read(archive.collection, MAX_COLLECTION)
        with faults_of(archive):
            connection = _opened(data)
        try:
            del data
            with faults_of(archive):
                collection = _read(archive, connection)
                collection.look_through()
                return collection
        except BaseException:
            connection.close()
            raise
    except BaseException:
        archive.zip.close()
        raise


@contextmanager
def faults_of(archive: Archive) -> Iterator[None]:
    """Raise the errors of reading a collection as Unreadable."""
    try:
        yield
    except (sqlite3.Error, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise archive.fault(f"its collection cannot be read: {clean_line(str(error))[:200]}") from error


def _read(archive: Archive, connection: sqlite3.Connection) -> Collection:
    """Return the collection in an open database."""
    table = _tables(connection)
    if not {"notes", "cards", "revlog", "col"} <= table.keys():
        raise ValueError("its collection lacks a required table (notes, cards, revlog or col)")
    modern = {"notetypes", "fields", "templates", "decks"} <= table.keys()
    types = _modern_types(connection) if modern else _legacy_types(connection)
    decks = _modern_decks(connection) if modern else _legacy_decks(connection)
    created = connection.execute("SELECT crt FROM col").fetchone()
    return Collection(
        archive,
        connection,
        types,
        decks,
        modern=modern,
        created=as_int(created[0]) if created else 0,
        minutes_west=_minutes_west(connection, modern="config" in table),
    )


def _minutes_west(connection: sqlite3.Connection, *, modern: bool) -> int | None:
    """Return how far the collection was west of UTC when it was created; None in those of old versions."""
    if not modern:
        west = json_table(connection, "conf").get("creationOffset")
    else:
        row = connection.execute("SELECT val FROM config WHERE key = 'creationOffset'").fetchone()
        west = json.loads(as_str(row[0])) if row else None
    return west if type(west) is int else None


def _opened(data: bytearray) -> sqlite3.Connection:
    """Return a connection to a copy in memory that can only read. The journal mode of the file (WAL) needs files, so it
    is removed from the header, as the whole content is here.
    """
    if len(data) < 100 or not data.startswith(b"SQLite format 3\0"):
        raise ValueError("not an SQLite database")
    data[18:20] = b"\x01\x01"
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(data)
        for setting in (
            "trusted_schema=OFF",
            "cell_size_check=ON",
            "query_only=ON",
            "mmap_size=0",
            "temp_store=MEMORY",
        ):
            connection.execute(f"PRAGMA {setting}").fetchall()
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 64 * 1024**2)
        connection.create_collation("unicase", _by_case)
        connection.text_factory = decoded
        connection.set_authorizer(_reading_only)
        connection.set_progress_handler(_step_limit(), _STEPS)
    except BaseException:
        connection.close()
        raise
    return connection


def _by_case(one: str, other: str) -> int:
    """Compare two texts without case, as Anki's collation does."""
    left, right = one.casefold(), other.casefold()
    return (left > right) - (left < right)


def _reading_only(action: int, one: str | None, two: str | None, where: str | None, inner: str | None) -> int:
    """Allow columns of tables, and nothing through a view or a trigger (`inner`); no function, pragma or writing."""
    allowed = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ) and inner is None
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _step_limit() -> Callable[[], bool]:
    """Return a function that ends a query after more steps than the largest honest collection needs."""
    looks = iter(range(_MOST_LOOKS))
    return lambda: next(looks, None) is None


def _tables(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the plain tables by name. Raises: ValueError where a needed name is a view or a virtual table."""
    found: dict[str, str] = {}
    for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_master"):
        if kind == "table" and str(sql or "").lstrip()[:14].casefold().split()[:2] == ["create", "table"]:
            found[str(name)] = str(sql)
    return found


def _limited(rows: Any, most: int, noun: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows. Raises: ValueError if there are more than `most`."""
    for number, row in enumerate(rows):
        if number >= most:
            raise ValueError(f"it has more than {most:,} {noun}")
        yield row


def _legacy_types(connection: sqlite3.Connection) -> dict[int, NoteType]:
    """Return the note types of the legacy format."""
    types = {}
    for number, model in numbered(connection, "models"):
        names = tuple(as_str(f.get("name")) for f in _in_order(model.get("flds")))
        made = tuple(
            Template(as_str(t.get("name")), as_str(t.get("qfmt")), as_str(t.get("afmt")))
            for t in _in_order(model.get("tmpls"))
        )
        stock = as_int(model.get("originalStockKind"))
        rtl = frozenset(as_str(f.get("name")) for f in _in_order(model.get("flds")) if f.get("rtl") is True)
        name, style = as_str(model.get("name")), as_str(model.get("css"))
        types[number] = NoteType(number, name, model.get("type") == 1, names, made, stock, rtl, style)
    return types


def _in_order(listed: object) -> list[dict[str, Any]]:
    """Return the items in order of `ord`."""
    found = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return sorted(found, key=lambda each: as_int(each.get("ord")))


def _legacy_decks(connection: sqlite3.Connection) -> dict[int, str]:
    """Return the decks of the legacy format."""
    return {number: as_str(deck.get("name")) for number, deck in numbered(connection, "decks")}


def _modern_decks(connection: sqlite3.Connection) -> dict[int, str]:
    """Return the decks of the modern format."""
    rows = connection.execute("SELECT id, name FROM decks")
    return {as_int(id_): as_str(name).replace("\x1f", "::") for id_, name in _limited(rows, 100_000, "decks")}


def _modern_types(connection: sqlite3.Connection) -> dict[int, NoteType]:
    """Return the note types of the modern format."""
    names: dict[int, list[tuple[int, str]]] = {}
    rtl: dict[int, set[str]] = {}
    for type_, ord_, name, config in connection.execute("SELECT ntid, ord, name, config FROM fields"):
        names.setdefault(as_int(type_), []).append((as_int(ord_), as_str(name)))
        if (2, 1) in message(config):
            rtl.setdefault(as_int(type_), set()).add(as_str(name))
    made: dict[int, list[tuple[int, Template]]] = {}
    for type_, ord_, name, config in connection.execute("SELECT ntid, ord, name, config FROM templates"):
        texts = {key: as_str(value) for key, value in message(config) if isinstance(value, bytes)}
        made.setdefault(as_int(type_), []).append(
            (as_int(ord_), Template(as_str(name), texts.get(1, ""), texts.get(2, "")))
        )
    types = {}
    for id_, name, config in connection.execute("SELECT id, name, config FROM notetypes"):
        kinds = {key: value for key, value in message(config) if isinstance(value, int)}
        number = as_int(id_)
        own = tuple(n for _, n in sorted(names.get(number, [])))
        templates = tuple(t for _, t in sorted(made.get(number, []), key=lambda each: each[0]))
        style = next((as_str(value) for key, value in message(config) if key == 3), "")
        flagged = frozenset(rtl.get(number, ()))
        types[number] = NoteType(
            number, as_str(name), kinds.get(1) == 1, own, templates, kinds.get(9, 0), flagged, style
        )
    return types
