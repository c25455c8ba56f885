"""Events of the log, changes of cards and states of memory as rows of the index."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from learning.history.states import FIELDS, instant_of, micros, state_of
from learning.memory.state import CardEvent, MemoryState
from vault.ids import CardId
from vault.index.database import Database
from vault.log.events import LogEvent, Params, Review, Tag, Undo, decode, encode
from vault.log.review_log import unix_ms
from vault.vault import Vault

_MOST_MS = 1 << 40  # of a time on screen, as the table has it


def save_events(database: Database, events: Iterable[LogEvent], counting: Container[str]) -> None:
    """Add events; those with an id in `counting` count."""
    database.run_many(
        "INSERT INTO event VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                event.id,
                unix_ms(event.at),
                unix_ms(event.when),
                event.type,
                event.voids if isinstance(event, Undo) else getattr(event, "card", ""),
                event.id in counting,
                min(event.ms, _MOST_MS) if isinstance(event, Review) else 0,
                encode(event),
            )
            for event in events
        ),
    )


def read_events(database: Database, condition: str, values: Sequence[object] = ()) -> list[LogEvent]:
    """Return events in order of (at, id)."""
    rows = database.rows(f"SELECT line FROM event WHERE {condition} ORDER BY at, id", values)
    return [decode(line) for (line,) in rows]


def save_changes(database: Database, changes: Iterable[CardEvent]) -> None:
    """Add changes of cards that the ledger records."""
    database.run_many(
        "INSERT INTO change VALUES(?, ?, ?, ?, ?)", ((c.card, c.type, micros(c.at), c.was, c.now) for c in changes)
    )


def changes_of(database: Database, card: CardId | None = None) -> tuple[CardEvent, ...]:
    """Return the ledger's changes of a card, or of all, in the order of its lines."""
    where, values = ("WHERE card = ? ", (card,)) if card is not None else ("", ())
    rows = database.rows(f"SELECT card, type, at, was, now FROM change {where}ORDER BY rowid", values)
    return tuple(CardEvent(CardId(card), type_, instant_of(at), "", was, now) for card, type_, at, was, now in rows)


def _tunes(vault: Vault) -> tuple[type[LogEvent], ...]:
    """Return the types of events that the scheduler depends on: tags, too, where some ask for another retention."""
    return (Params, Tag) if vault.settings.retention_by_tag else (Params,)


def tuning_events(vault: Vault, database: Database) -> list[LogEvent]:
    """Return the events that the scheduler depends on."""
    types = [kind.type for kind in _tunes(vault)]
    return read_events(database, f"counts AND type IN ({', '.join('?' * len(types))})", types)


def keep_base(database: Database, cards: Iterable[CardId]) -> None:
    """Keep the states of these cards as those before the cut, where nothing has happened to them since."""
    rows = [(card,) for card in cards]
    database.run_many("INSERT OR IGNORE INTO base SELECT * FROM state WHERE card = ?", rows)
    database.run_many("INSERT OR IGNORE INTO base(card) VALUES(?)", rows)


def keep_none(database: Database, cards: Iterable[CardId]) -> None:
    """Keep of these cards that they had no state before the cut."""
    database.run_many("INSERT INTO base(card) VALUES(?)", ((card,) for card in cards))


def states_at(database: Database, cards: Iterable[CardId], table: str = "state") -> dict[CardId, MemoryState]:
    """Return the states of those cards that have one."""
    query = f"SELECT {FIELDS} FROM {table} WHERE known AND card = ?"
    return {card: state_of(row) for card in cards if (row := database.one(query, (card,)))}
