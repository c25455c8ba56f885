"""How a user likes the app: the tables [app] and [keys] of their own `config.toml`, never of a vault."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from vault.diagnostic import Diagnostic

THEMES = ("auto", "dark", "light", "contrast", "contrast-light", "terminal")
PICTURES = ("auto", "never")
_SWITCHES = ("type_answers", "show_timer", "motion")
_CHOICES = {"theme": THEMES, "pictures": PICTURES}


@dataclass(frozen=True, slots=True)
class Preferences:
    """`theme` "auto" goes with the terminal; `keys` has the id of a key (`review.undo`) and Textual's names of others.

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
    """The preferences of whoever runs this; those of a newcomer where the file is not there or cannot be read."""
    from vault import user
    from vault.errors import RetainError

    path = str(user.config_folder() / user.CONFIG)
    try:
        return read_preferences(user.config_text(), path)
    except RetainError as error:
        return Preferences(found=(Diagnostic(path, _number(error.where), "settings", error.what, error.hint),))


def _number(where: str) -> int:
    line = where.rpartition(":")[2]
    return int(line) if line.isdecimal() else 0


def read_preferences(text: str, path: str) -> Preferences:
    """What `text`, the file at `path`, asks for. What cannot be is named in `found` and left out; the rest holds.

    Raises: Damaged if it is not TOML.
    """
    from vault import user

    data = user.tables(text, path)
    return _Reader(text, path).read(data)


class _Reader:
    def __init__(self, text: str, path: str) -> None:
        self._text, self._path = text, path
        self._found: list[Diagnostic] = []

    def read(self, data: Mapping[str, Any]) -> Preferences:
        asked = self._app(self._table(data, "app"))
        given = _flat(self._table(data, "keys"))
        keys = self._keys(given) if given else {}
        return replace(Preferences(**asked), keys=keys, found=tuple(self._found))

    def _table(self, data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        table = data.get(name, {})
        if isinstance(table, dict):
            return table
        self._odd(name, "app-setting", f"[{name}] must be a table")
        return {}

    def _app(self, table: Mapping[str, Any]) -> dict[str, Any]:
        asked: dict[str, Any] = {}
        for key, value in table.items():
            if key in _SWITCHES and not isinstance(value, bool):
                self._odd(key, "app-setting", f"{key} must be true or false")
            elif key in _CHOICES and value not in _CHOICES[key]:
                self._odd(key, "app-setting", f"{key} must be one of {', '.join(_CHOICES[key])}")
            elif key not in _SWITCHES and key not in _CHOICES:
                self._odd(key, "unknown-setting", f"unknown setting `{key}`")
            else:
                asked[key] = value
        return asked

    def _keys(self, given: Mapping[str, Any]) -> dict[str, str]:
        from tui import keymap

        moved: dict[str, str] = {}
        for id_, keys in given.items():
            reason = keymap.wrong(id_, keys)
            if reason:
                self._odd(id_, "key", reason)
            else:
                moved[id_] = keymap.named(keys)
        holds, clashes = keymap.without_clashes(moved)
        for id_, reason in clashes.items():
            self._odd(id_, "key-clash", reason)
        return holds

    def _odd(self, key: str, code: str, message: str) -> None:
        self._found.append(Diagnostic(self._path, self._line(key), code, message, "the line has no effect"))

    def _line(self, key: str) -> int:
        """The 1-based line on which `key` is set; 1 if it isn't to be found."""
        last = re.escape(key.rpartition(".")[2])
        for pattern in (rf"\[?[\"']?{re.escape(key)}[\"']?[ \t]*[=\]]", rf"[\"']?{last}[\"']?[ \t]*="):
            found = re.search(rf"^[ \t]*{pattern}", self._text, re.MULTILINE)
            if found:
                return self._text.count("\n", 0, found.start()) + 1
        return 1


def _flat(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """`review.undo = ...` with or without quotes round its name."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        flat |= _flat(value, f"{before}{key}.") if isinstance(value, dict) else {before + key: value}
    return flat
