"""The presets (deck options) in an Anki package, read as untrusted input: which decks use them, and what FSRS has."""

from __future__ import annotations

import sqlite3
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import NamedTuple

from learning.anki.columns import message, numbered

MAX_PRESETS = 1_000
MAX_PARAMETERS = 100  # more are no parameters of FSRS; those of its versions are 17 to 21
# Newest first. In JSON and as numbers of protobuf fields, those of FSRS 6, 5 and 4.
_KEYS = ("fsrsParams6", "fsrsParams5", "fsrsWeights")
_NUMBERS = (6, 5, 3)
_RETENTION = 37
_MOST_BYTES = 4 * (MAX_PARAMETERS + 1)


class AnkiPreset(NamedTuple):
    """A preset of `cards` cards. `numbers` is false where a parameter or the retention is no finite number; they are
    left out then. `retention` is None where none is stated.
    """

    name: str
    cards: int
    parameters: tuple[float, ...]
    retention: float | None
    numbers: bool


def read_presets(
    connection: sqlite3.Connection, cards: Mapping[int, int], decks: Iterable[int] | None, *, modern: bool
) -> Iterator[AnkiPreset]:
    """Yield the presets with FSRS parameters that `decks` with cards use (None: all decks); `cards` counts those of
    each deck. Raises: sqlite3.Error, ValueError, RecursionError.
    """
    chosen = None if decks is None else set(decks)
    used: Counter[int] = Counter()
    for deck, preset in (_modern_uses if modern else _legacy_uses)(connection):
        if cards.get(deck) and (chosen is None or deck in chosen):
            used[preset] += cards[deck]
    found = 0
    for id_, name, parameters, retention in (_modern if modern else _legacy)(connection):
        if not used[id_] or not parameters:
            continue
        found += 1
        if found > MAX_PRESETS:
            raise ValueError(f"it has more than {MAX_PRESETS:,} presets")
        some = parameters[:MAX_PARAMETERS]
        whole = all(map(isfinite, (*some, retention or 0.0)))
        yield AnkiPreset(name, used[id_], some if whole else (), retention if whole else None, whole)


def _modern_uses(connection: sqlite3.Connection) -> Iterator[tuple[int, int]]:
    """Yield (deck, its preset)."""
    for deck, kind in connection.execute("SELECT id, kind FROM decks"):
        normal = next((value for number, value in message(kind) if number == 1), b"")
        preset = next((value for number, value in message(normal) if number == 1), 1)
        if isinstance(deck, int) and isinstance(preset, int):
            yield deck, preset


def _modern(connection: sqlite3.Connection) -> Iterator[tuple[int, str, tuple[float, ...], float | None]]:
    """Yield number, name, parameters and retention of each preset."""
    for id_, name, config in connection.execute("SELECT id, name, config FROM deck_config"):
        said = dict.fromkeys((*_NUMBERS, _RETENTION), b"")
        for number, value in message(config):
            if number in said and isinstance(value, bytes):
                said[number] = (said[number] + value)[-_MOST_BYTES:]
        parameters = next((said[number] for number in _NUMBERS if said[number]), b"")
        retention = _floats(said[_RETENTION])
        yield id_, str(name), _floats(parameters), retention[-1] if retention else None


def _floats(packed: bytes) -> tuple[float, ...]:
    """Return numbers of 32 bits, as the shortest numbers of 64 that stand for them."""
    whole = packed[: len(packed) // 4 * 4]
    return tuple(float(f"{number:.7g}") for (number,) in struct.iter_unpack("<f", whole))


def _legacy_uses(connection: sqlite3.Connection) -> Iterator[tuple[int, int]]:
    """Yield (deck, its preset)."""
    for number, deck in numbered(connection, "decks"):
        preset = deck.get("conf")
        if isinstance(preset, int):
            yield number, preset


def _legacy(connection: sqlite3.Connection) -> Iterator[tuple[int, str, tuple[float, ...], float | None]]:
    """Yield number, name, parameters and retention of each preset."""
    for number, preset in numbered(connection, "dconf"):
        listed: object = next((preset[name] for name in _KEYS if preset.get(name)), [])
        parameters = tuple(map(_number, listed)) if isinstance(listed, list) else ()
        retention = preset.get("desiredRetention")
        yield number, str(preset.get("name")), parameters, None if retention is None else _number(retention)


def _number(value: object) -> float:
    """Return a number that JSON may hold as anything; NaN for what is none."""
    try:
        return float(value) if isinstance(value, int | float) else float("nan")
    except OverflowError:
        return float("nan")
