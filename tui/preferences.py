"""The user's preferences: the tables [app] and [keys] of their own `config.toml`, never of a vault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tui import keymap
from vault.config import user
from vault.config.toml_file import TomlFile, parsed
from vault.diagnostic import Diagnostic
from vault.errors import Damaged, RetainError

THEMES = ("auto", "dark", "light", "contrast", "contrast-light", "terminal")
PICTURES = ("auto", "never")
_SWITCHES = ("type_answers", "show_timer", "motion")
_CHOICES = {"theme": THEMES, "pictures": PICTURES}


@dataclass(frozen=True, slots=True)
class Preferences:
    """How the user likes the app: `theme` "auto" follows the terminal; `keys` maps ids like `review.undo` to keys.

    `found` says what in the file has no effect, and why.
    """

    theme: str = "auto"
    type_answers: bool = False  # ask for the answer in writing before it is shown
    show_timer: bool = False  # the seconds that the card has been on the screen
    pictures: str = "auto"  # by the terminal's own graphics where it has them, or never
    motion: bool = True  # False: nothing glides, as over a slow line
    keys: Mapping[str, str] = field(default_factory=dict)
    found: tuple[Diagnostic, ...] = ()


def of_user() -> Preferences:
    """Read the user's preferences; the defaults if the file is missing or unreadable."""

    path = str(user.config_folder() / user.CONFIG)
    try:
        return read_preferences(user.config_text(), path)
    except RetainError as error:
        return Preferences(found=(Diagnostic(path, _number(error.where), "settings", error.what, error.hint),))


def _number(where: str) -> int:
    line = where.rpartition(":")[2]
    return int(line) if line.isdecimal() else 0


def read_preferences(text: str, path: str) -> Preferences:
    """Parse the preferences in `text`, the file at `path`. Invalid ones are reported in `found` and left out.

    Raises: Damaged if it is not TOML.
    """
    data = parsed(text, path)
    file = TomlFile(text, path)
    found: list[Diagnostic] = []
    asked: dict[str, Any] = {}
    for key, value in _table(file, data, "app", found).items():
        try:
            asked[key] = _checked(file, key, value)
        except Damaged as error:
            code = "app-setting" if key in _SWITCHES or key in _CHOICES else "unknown-setting"
            found.append(_without_effect(file, key, code, error.what))
    keys = _keys(file, _flat(_table(file, data, "keys", found)), found)
    return replace(Preferences(**asked), keys=keys, found=tuple(found))


def _table(file: TomlFile, data: Mapping[str, Any], name: str, found: list[Diagnostic]) -> Mapping[str, Any]:
    try:
        return file.table(data, name)
    except Damaged as error:
        found.append(_without_effect(file, name, "app-setting", error.what))
        return {}


def _checked(file: TomlFile, key: str, value: Any) -> Any:
    if key in _SWITCHES:
        return file.switch({key: value}, key)
    if key in _CHOICES:
        return file.choice({key: value}, key, _CHOICES[key], "auto")
    raise file.wrong(key, f"unknown setting `{key}`")


def _keys(file: TomlFile, given: Mapping[str, Any], found: list[Diagnostic]) -> dict[str, str]:
    if not given:
        return {}

    moved: dict[str, str] = {}
    for id_, keys in given.items():
        reason = keymap.problem_with(id_, keys)
        if reason:
            found.append(_without_effect(file, id_, "key", reason))
        else:
            moved[id_] = keymap.normalized(keys)
    holds, clashes = keymap.without_clashes(moved)
    found += [_without_effect(file, id_, "key-clash", reason) for id_, reason in clashes.items()]
    return holds


def _without_effect(file: TomlFile, key: str, code: str, message: str) -> Diagnostic:
    return Diagnostic(
        file.path, file.line(key), code, message, "the line is ignored; Settings (,) lists the valid names"
    )


def _flat(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Flatten nested tables, so that `review.undo = ...` works with or without quotes."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        flat |= _flat(value, f"{before}{key}.") if isinstance(value, dict) else {before + key: value}
    return flat
