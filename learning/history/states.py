"""The memory state of each card in the index, as the fold of log and ledger gives it, by card and by when it is due."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from learning.memory.state import PHASES, BeforeChange, MemoryState, Phase
from vault.ids import CardId
from vault.index.database import Database, Row

FIELDS = (
    "phase, stability, difficulty, step, due, last_review, last_day, interval_days, reps, lapses, suspended, retracted,"
    " buried_until, flagged, changed, leech, tags, before_change"
)
COUNT = FIELDS.count(",") + 1
_SAVE = "INSERT OR REPLACE INTO {} VALUES(" + ", ".join("?" * (COUNT + 2)) + ")"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_NUMBERS = {phase: number for number, phase in enumerate(PHASES)}


def micros(at: datetime) -> int:
    """Return the microseconds since 1970."""
    return (at - _EPOCH) // _MICROSECOND


def instant_of(number: int) -> datetime:
    """Return the instant of microseconds since 1970."""
    return _EPOCH + timedelta(microseconds=number)


def row_of(state: MemoryState) -> Row:
    """Return the values of FIELDS."""
    return (
        _NUMBERS[state.phase],
        state.stability,
        state.difficulty,
        state.step,
        None if state.due is None else micros(state.due),
        None if state.last_review is None else micros(state.last_review),
        state.last_day,
        state.interval_days,
        state.reps,
        state.lapses,
        state.suspended,
        state.retracted,
        None if state.buried_until is None else micros(state.buried_until),
        state.flagged,
        state.changed,
        state.leech,
        json.dumps(state.tags) if state.tags else "",
        "" if state.before_change is None else _before_text(state.before_change),
    )


def _before_text(before: BeforeChange) -> str:
    """Return what held before a change, as the column has it."""
    due = None if before.due is None else micros(before.due)
    memory = before.stability, before.difficulty, before.step, due, before.last_day, before.interval_days
    return json.dumps([before.words, _NUMBERS[before.phase], *memory])


def _before_in(text: str) -> BeforeChange | None:
    """Return what held before a change in a column."""
    if not text:
        return None
    words, phase, stability, difficulty, step, due, last_day, interval_days = json.loads(text)
    due = None if due is None else instant_of(due)
    return BeforeChange(words, PHASES[phase], stability, difficulty, step, due, last_day, interval_days)


def state_of(row: Row) -> MemoryState:
    """Return the state of the values of FIELDS."""
    due, last, buried, tags, before = row[4], row[5], row[12], row[16], row[17]
    return MemoryState(
        PHASES[row[0]],
        row[1],
        row[2],
        row[3],
        None if due is None else instant_of(due),
        None if last is None else instant_of(last),
        row[6],
        row[7],
        row[8],
        row[9],
        bool(row[10]),
        bool(row[11]),
        None if buried is None else instant_of(buried),
        bool(row[13]),
        bool(row[14]),
        bool(row[15]),
        tags_in(tags),
        _before_in(before),
    )


def tags_in(text: str) -> tuple[str, ...]:
    """Return the tags in a column."""
    return tuple(json.loads(text)) if text else ()


def save_states(database: Database, states: Iterable[tuple[CardId, MemoryState]], table: str = "state") -> None:
    """Save the states of cards that log or ledger name."""
    database.run_many(_SAVE.format(table), ((card, 1, *row_of(state)) for card, state in states))


class Facts(NamedTuple):
    """What statistics ask of a card's memory; see `MemoryState`."""

    number: int = 0  # of the phase
    stability: float = 0.0
    last_day: int = 0
    interval_days: int = 0
    reps: int = 0
    lapses: int = 0
    suspended: bool = False
    retracted: bool = False
    flagged: bool = False
    changed: bool = False
    leech: bool = False

    @property
    def phase(self) -> Phase:
        """Return the phase of the card."""
        return PHASES[self.number]


class States(Mapping[CardId, MemoryState]):
    """The state of every card that log or ledger name; each is read from the index once, when it is asked for."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._read: dict[str, MemoryState | None] = {}
        self._all = False

    def __getitem__(self, card: CardId) -> MemoryState:
        state = self._read.get(card)
        if state is None and card not in self._read and not self._all:
            row = self._database.one(f"SELECT {FIELDS} FROM state WHERE known AND card = ?", (card,))
            state = self._read[card] = None if row is None else state_of(row)
        if state is None:
            raise KeyError(card)
        return state

    def __iter__(self) -> Iterator[CardId]:
        if self._all:
            return (CardId(card) for card, state in self._read.items() if state is not None)
        return (CardId(card) for (card,) in self._rows("card"))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def add(self, card: CardId, known: int, row: Row) -> None:
        """Take the state of a card that has just been read, unless it was read before."""
        if card not in self._read:
            self._read[card] = state_of(row) if known else None

    def with_all(self) -> States:
        """Return the states, every one read at once: for a caller that asks for most of them."""
        out = States(self._database)
        out._read.update((row[0], state_of(row[1:])) for row in self._rows(f"card, {FIELDS}"))
        out._read.update(self._read)
        out._all = True
        return out

    def facts(self) -> dict[CardId, Facts]:
        """Return what statistics ask of every card, in a fifth of the time that its states take."""
        names = ", ".join(Facts._fields[1:])
        rows = self._rows(f"card, phase, {names}")
        return {row[0]: Facts._make(row[1:]) for row in rows}

    def tagged(self) -> dict[CardId, tuple[str, ...]]:
        """Return the tags that cards have of their own, by card."""
        return {CardId(c): tags_in(tags) for c, tags in self._rows("card, tags", "tags != ''")}

    def _rows(self, columns: str, condition: str = "1") -> list[Row]:
        return self._database.rows(f"SELECT {columns} FROM state WHERE known AND {condition}")
