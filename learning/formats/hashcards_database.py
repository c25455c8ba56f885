"""The database of hashcards, `hashcards.db`, in which it keeps what it knows of each card by the BLAKE3 of its words.

Written as hashcards 0.4 does (`src/schema.sql`); its FSRS has the same stability and difficulty. Single reviews are
left out, as it wants the memory after each of them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from datetime import date, datetime, tzinfo

from blake3 import blake3

from learning.cards.workspace import Desk
from learning.memory.state import MemoryState, Phase
from vault.ids import CardId

NAME = "hashcards.db"
_SCHEMA = """
pragma foreign_keys = on;

create table cards (
    card_hash text primary key,
    added_at text not null,
    last_reviewed_at text,
    stability real,
    difficulty real,
    interval_raw real,
    interval_days integer,
    due_date text,
    review_count integer not null
) strict;

create table sessions (
    session_id integer primary key,
    started_at text not null,
    ended_at text not null
) strict;

create table reviews (
    review_id integer primary key,
    session_id integer not null
        references sessions (session_id)
        on update cascade
        on delete cascade,
    card_hash text not null
        references cards (card_hash)
        on update cascade
        on delete cascade,
    reviewed_at text not null,
    grade text not null,
    stability real not null,
    difficulty real not null,
    interval_raw real not null,
    interval_days integer not null,
    due_date text not null
) strict;
"""
_INSERT = "insert or ignore into cards values (?, ?, ?, ?, ?, ?, ?, ?, ?)"


def database(desk: Desk, texts: Mapping[CardId, str]) -> bytes:
    """Return the database of the cards that were reviewed; `texts` are the cards as they are in the decks."""
    rows = [row for id_, text in texts.items() if (row := _row(desk, desk.state(id_), text)) is not None]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_SCHEMA)
        connection.executemany(_INSERT, rows)
        connection.commit()
        return connection.serialize()


def _row(desk: Desk, state: MemoryState, text: str) -> tuple[object, ...] | None:
    """Return the row of a card; None for one that is new."""
    if state.phase is Phase.NEW or state.due is None or state.last_review is None:
        return None
    calendar = desk.scheduler.calendar
    due = calendar.day(state.due)
    last = _local(state.last_review, calendar.zone)
    interval = max(0, due - state.last_day)
    memory = state.stability, state.difficulty, state.stability, interval
    return digest_of(text), last, last, *memory, date.fromordinal(due).isoformat(), state.reps


def _local(at: datetime, zone: tzinfo) -> str:
    """Return an instant as hashcards has it: by the clock of its machine, without a zone."""
    return at.astimezone(zone).replace(tzinfo=None).isoformat(timespec="milliseconds")


def digest_of(text: str) -> str:
    """Return the digest of a card as it is in a deck: `Q: ...` with `A: ...`, or `C: ...` with one deletion."""
    if text.startswith("C:"):
        before, _, rest = text[2:].strip().partition("[")
        hidden, _, after = rest.partition("]")
        start = len(before.encode())
        place = start.to_bytes(8, "little") + (start + len(hidden.encode()) - 1).to_bytes(8, "little")
        return blake3(f"Cloze{before}{hidden}{after}".encode() + place).hexdigest()
    question, _, answer = text[2:].partition("\nA:")
    return blake3(f"Basic{_trimmed(question)}{_trimmed(answer)}".encode()).hexdigest()


def _trimmed(part: str) -> str:
    """Return a side of a card as hashcards reads it."""
    first, *others = part.split("\n")
    return "\n".join([first.strip(), *others]).strip()
