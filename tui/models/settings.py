"""The settings: how a value is shown, stepped through and parsed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Any

from tui import keymap
from tui.keys import EVERYWHERE, SCREENS
from tui.preferences import PICTURES, THEMES, Preferences
from tui.strings import settings as strings
from tui.strings.app import PLACES
from vault.config.settings import AUTO, Settings
from vault.toml_edit import Value

_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


class Kind(Enum):
    NUMBER = "number"
    SHARE = "share"
    SWITCH = "switch"
    CHOICE = "choice"
    STEPS = "steps"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Row:
    """One setting: `key` of `[table]`, its default, and the `step` of a number or the `choices`."""

    table: str
    key: str
    kind: Kind
    default: Value
    step: float = 1
    choices: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return f"{self.table}.{self.key}"

    @property
    def in_vault(self) -> bool:
        return self.table == "learning"


def _value(held: Any) -> Value:
    if isinstance(held, tuple):
        return [each if isinstance(each, str) else _step_text(each) for each in held]
    found: Value = held
    return found


def _step_text(step: timedelta) -> str:
    seconds = round(step.total_seconds())
    unit, size = next((unit, size) for unit, size in _UNITS if seconds % size == 0)
    return f"{seconds // size}{unit}"


def _learning(key: str, kind: Kind, step: float = 1, choices: tuple[str, ...] = ()) -> Row:
    return Row("learning", key, kind, _value(getattr(Settings("", ""), key)), step, choices)


def _app(key: str, kind: Kind, choices: tuple[str, ...] = ()) -> Row:
    return Row("app", key, kind, getattr(Preferences(), key), choices=choices)


# Nothing is due until this day, "" for no pause: an event of the review log, no line of a settings file.
PAUSE = Row("pause", "until", Kind.TEXT, "")
LEARNING = (
    _learning("retention", Kind.SHARE, 0.01),
    _learning("new_per_day", Kind.NUMBER, 5),
    _learning("reviews_per_day", Kind.NUMBER, 10),
    Row("learning", "minutes_per_day", Kind.NUMBER, AUTO, 5),
    _learning("pause_new_cards", Kind.SWITCH),
    PAUSE,
    _learning("learning_steps", Kind.STEPS),
    _learning("relearning_steps", Kind.STEPS),
    _learning("maximum_interval", Kind.NUMBER, 365),
    _learning("fuzz", Kind.SWITCH),
    _learning("bury_siblings", Kind.SWITCH),
    _learning("easy_days", Kind.STEPS),
    _learning("leech_threshold", Kind.NUMBER),
    _learning("leech_action", Kind.CHOICE, choices=("flag", "suspend")),
    _learning("auto_optimize", Kind.SWITCH),
    _learning("rollover", Kind.NUMBER),
    _learning("timezone", Kind.TEXT),
)
APP = (
    _app("theme", Kind.CHOICE, THEMES),
    _app("type_answers", Kind.SWITCH),
    _app("show_timer", Kind.SWITCH),
    _app("pictures", Kind.CHOICE, PICTURES),
    _app("motion", Kind.SWITCH),
)


def keys() -> list[Row]:
    """Return a row for every key of the app; a key of several screens appears once."""
    registered = {key.id: key for keys in (*SCREENS.values(), EVERYWHERE) for key in keys}
    return [Row("keys", id_, Kind.TEXT, key.keys) for id_, key in registered.items()]


def value(row: Row, settings: Settings, preferences: Preferences) -> Value:
    """Return the current value of a setting."""
    if row.table == "keys":
        return preferences.keys.get(row.key, str(row.default))
    if row is PAUSE:
        return row.default  # known to the review log alone
    held = getattr(settings if row.in_vault else preferences, row.key)
    return AUTO if held is None else _value(held)


# What no number says as well.
_NOTHING = {
    "learning.minutes_per_day": strings.NO_LIMIT,
    "learning.leech_threshold": strings.NEVER,
    PAUSE.id: strings.NOT_PAUSED,
}


def shown(row: Row, held: Value) -> str:
    """Return a value as it is displayed."""
    if row.table == "keys":
        return "  ".join(keymap.display_name(name) for name in str(held).split(","))
    if isinstance(held, bool):
        return strings.YES if held else strings.NO
    if isinstance(held, list):
        return " ".join(held) or strings.NONE
    if not held and row.id in _NOTHING:
        return _NOTHING[row.id]
    return f"{held:.0%}" if row.kind is Kind.SHARE else f"{_grouped(held)}{strings.UNITS.get(row.id, '')}"


def _grouped(held: Value) -> str:
    return f"{held:,}" if isinstance(held, int) else str(held)


def typed(held: Value) -> str:
    """Return a value as the text that is edited."""
    if isinstance(held, list):
        return " ".join(held)
    return f"{held:g}" if isinstance(held, float) else str(held)


def stepped(row: Row, held: Value, steps: int) -> Value | None:
    """Return the next or previous value, not checked against bounds; None for a setting that must be typed."""
    if row.kind is Kind.SWITCH:
        return not held
    if row.kind is Kind.NUMBER and row.default == AUTO:
        return _stepped_from_auto(row, held, steps)
    if row.kind is Kind.CHOICE:
        return row.choices[(row.choices.index(str(held)) + steps) % len(row.choices)]
    if isinstance(held, list | str):
        return None
    after = held + steps * row.step
    return round(after, 2) if row.kind is Kind.SHARE else round(after)


def _stepped_from_auto(row: Row, held: Value, steps: int) -> Value:
    """Return the next of: auto, no limit, numbers."""
    if isinstance(held, str):
        return 0 if steps > 0 else AUTO
    assert isinstance(held, int)
    return held + round(steps * row.step) if held + steps * row.step >= 0 else AUTO


def read(row: Row, words: str) -> Value:
    """Parse what the user typed. Raises: ValueError if it must be a number."""
    words = words.strip()
    if row.default == AUTO and words == AUTO:
        return AUTO
    if row.kind is Kind.STEPS:
        return words.replace(",", " ").split()
    if row.kind is Kind.SHARE:
        number = float(words.removesuffix("%"))
        return round(number / 100, 4) if number > 1 or words.endswith("%") else number
    return int(words) if row.kind is Kind.NUMBER else words


def description(row: Row) -> tuple[str, str]:
    """Return the name and meaning of a setting."""
    if row.table != "keys":
        return strings.MEANT[row.id]
    key = _registered()[row.key]
    name = row.key.partition(".")[0]
    screen = PLACES[name][0] if name in PLACES else name.capitalize()
    return f"{screen} · {key.label}", f"{key.meaning or key.label} ({row.key})"


def _registered() -> Mapping[str, Any]:
    return {key.id: key for keys in (*SCREENS.values(), EVERYWHERE) for key in keys}
