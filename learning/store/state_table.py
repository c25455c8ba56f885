"""Memory states as columns: those of a hundred thousand cards are read in milliseconds, and made when asked for."""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from typing import Any

from learning.memory.state import MemoryState, Phase
from vault.ids import ID, CardId

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_NO_TIME = -(2**63)
_NO_NUMBER = -(2**31)
_PHASES = tuple(Phase)
_WIDTH = 10  # characters of an id
_EACH = re.compile(rb"[0-9a-z]{10}")


def micros(at: datetime) -> int:
    """Return the microseconds since 1970."""
    return (at - _EPOCH) // _MICROSECOND


def _micros_or_none(at: datetime | None) -> int:
    """Return the microseconds since 1970, or the number for None."""
    return _NO_TIME if at is None else micros(at)


def instant_of(number: int) -> datetime:
    """Return the instant of microseconds since 1970."""
    return _EPOCH + timedelta(microseconds=number)


def _instant(number: int) -> datetime | None:
    """Return the instant of microseconds since 1970; None for the number for None."""
    return None if number == _NO_TIME else instant_of(number)


def _whole(number: int | None) -> int:
    """Return the number, or the number for None."""
    return _NO_NUMBER if number is None else number


@dataclass(frozen=True, slots=True)
class _Form:
    """How values of a type are stored in a column."""

    code: str
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


_FORMS = {
    "Phase": _Form("B", _PHASES.index, _PHASES.__getitem__),
    "float": _Form("d", float, float),
    "int": _Form("q", int, int),
    "int | None": _Form("q", _whole, lambda number: None if number == _NO_NUMBER else number),
    "datetime | None": _Form("q", _micros_or_none, _instant),
    "bool": _Form("B", int, bool),
}
_TAGS = "tags"  # of few cards, and the same for many of them: a column only says which of the sets
_FIELDS = tuple((each.name, _FORMS[str(each.type)]) for each in fields(MemoryState) if each.name != _TAGS)
NAMES = (*(name for name, _ in _FIELDS), _TAGS)
_CODES = (*(form.code for _, form in _FIELDS), "I")
_Sets = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class StateColumns(Mapping[CardId, MemoryState]):
    """The states of many cards, by id: `ids` are their ten characters each, sorted; a column for each field.

    The last column says which of `sets` are a card's tags; the first of them is that of no tags.
    """

    ids: bytes = b""
    columns: tuple[array[Any], ...] = field(default_factory=lambda: tuple(array(code) for code in _CODES))
    sets: _Sets = ((),)
    _noted: dict[CardId, MemoryState | None] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.ids) // _WIDTH

    def __iter__(self) -> Iterator[CardId]:
        text = self.ids.decode("ascii")
        return (CardId(text[n : n + _WIDTH]) for n in range(0, len(text), _WIDTH))

    def __getitem__(self, card: CardId) -> MemoryState:
        found = self._noted.get(card)
        if found is not None:
            return found
        row = None if card in self._noted else self.row(card)
        if row is None:
            raise KeyError(card)
        return self.state(row)

    def cache_state(self, card: CardId, row: int | None) -> None:
        """Cache the state of a card, as it will be asked for often; with None, that it has no row."""
        if card not in self._noted:
            self._noted[card] = None if row is None else self.state(row)

    def __contains__(self, card: object) -> bool:
        return isinstance(card, str) and self.row(card) is not None

    def state(self, row: int) -> MemoryState:
        """Return the state in a row."""
        *columns, tags = self.columns
        values: list[Any] = [form.read(column[row]) for (_, form), column in zip(_FIELDS, columns, strict=True)]
        values.append(self.sets[tags[row]])
        return MemoryState(*values)

    def each(self) -> dict[CardId, MemoryState]:
        """Return every state, by id."""
        *columns, tags = self.columns
        values = [map(form.read, column) for (_, form), column in zip(_FIELDS, columns, strict=True)]
        return dict(zip(self, map(MemoryState, *values, map(self.sets.__getitem__, tags)), strict=True))

    def tagged(self) -> dict[CardId, tuple[str, ...]]:
        """Return the tags that cards have of their own, by card."""
        if len(self.sets) == 1:
            return {}
        return {card: self.sets[number] for card, number in zip(self, self.columns[-1], strict=True) if number}

    def column(self, name: str) -> array[Any]:
        """Return the column of the field `name`."""
        return self.columns[NAMES.index(name)]

    def row(self, card: str) -> int | None:
        """Return the row of a card; None if it has none."""
        wanted = card.encode("utf-8", "replace")
        row = self._place(wanted)
        return row if len(wanted) == _WIDTH and self.ids[row * _WIDTH : (row + 1) * _WIDTH] == wanted else None

    def _place(self, wanted: bytes) -> int:
        """Return the row at which the id is, or would be inserted."""
        ids = self.ids
        return bisect_left(range(len(self)), wanted, key=lambda row: ids[row * _WIDTH : (row + 1) * _WIDTH])

    def parts(self) -> list[bytes]:
        """Return the columns as byte strings for a file."""
        return [self.ids, *(column.tobytes() for column in self.columns), json.dumps(self.sets[1:]).encode()]


def columns_from(parts: list[bytes]) -> StateColumns | None:
    """Return the columns that `parts` came from; None where they do not fit together."""
    if len(parts) != len(_CODES) + 2:
        return None
    try:
        columns = tuple(array(code, part) for code, part in zip(_CODES, parts[1:-1], strict=True))
        sets: _Sets = ((), *(tuple(map(str, each)) for each in json.loads(parts[-1])))
    except (ValueError, TypeError):
        return None
    found = StateColumns(parts[0], columns, sets)
    fits = len(parts[0]) == len(found) * _WIDTH and all(len(column) == len(found) for column in columns)
    return found if fits and max(columns[-1], default=0) < len(sets) else None


def columns_with(old: StateColumns, states: Mapping[CardId, MemoryState]) -> StateColumns | None:
    """Return `old` with `states` added or replaced; None where a card has no valid id."""
    if not all(ID.fullmatch(card) for card in states):
        return None
    known = {card: row for card in states if (row := old.row(card)) is not None} if len(old) else {}
    columns = tuple(array(column.typecode, column) for column in old.columns)
    sets = _sets_with(old.sets, (state.tags for state in states.values()))
    forms = (*_FIELDS, (_TAGS, _Form("I", {tags: n for n, tags in enumerate(sets)}.__getitem__, sets.__getitem__)))
    for card, row in known.items():
        for (name, form), column in zip(forms, columns, strict=True):
            column[row] = form.write(getattr(states[card], name))
    new = sorted(card for card in states if card not in known)
    if not new:
        return StateColumns(old.ids, columns, sets)
    for (name, form), column in zip(forms, columns, strict=True):
        column.extend([form.write(getattr(states[card], name)) for card in new])
    return _sorted(old.ids + "".join(new).encode("ascii"), columns, sets)


def _sets_with(sets: _Sets, more: Iterable[tuple[str, ...]]) -> _Sets:
    """Return `sets` and those of `more` that are not among them, sorted."""
    new = set(more).difference(sets)
    return (*sets, *sorted(new)) if new else sets


def _sorted(ids: bytes, columns: tuple[array[Any], ...], sets: _Sets) -> StateColumns:
    """Return the columns in the order of the ids."""
    each = _EACH.findall(ids)
    order = sorted(range(len(each)), key=each.__getitem__)
    return StateColumns(
        b"".join([each[n] for n in order]),
        tuple(array(column.typecode, [column[n] for n in order]) for column in columns),
        sets,
    )
