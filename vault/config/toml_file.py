"""Read a TOML file strictly: each value is checked, and errors name file and line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from vault.errors import Damaged


def parsed(text: str, path: str, hint: str = "fix the file") -> dict[str, Any]:
    """Return the tables of `text`, the file at `path`. Raises: Damaged, with file and line."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise Damaged(f"not TOML: {error}", where=f"{path}:{line[1]}" if line else path, hint=hint) from error
    except RecursionError as error:
        raise Damaged("not TOML: nested too deeply", where=path, hint=hint) from error


class TomlFile:
    """The values of the file at `path`. Each method raises Damaged for a value of another type."""

    def __init__(self, text: str, path: str, hint: str = "fix the line") -> None:
        self.text, self.path, self.hint = text, path, hint

    def line(self, key: str) -> int:
        """Return the 1-based line on which `key` is set, with or without its table's name; 1 if there is none."""
        for name in (key, key.rpartition(".")[2]):
            exact = rf"(?:([\"']){re.escape(name)}\1|{re.escape(name)}(?![\w-]))"
            found = re.search(rf"^[ \t]*\[*[ \t]*(?:[\w-]+\.)*{exact}", self.text, re.MULTILINE)
            if found:
                return self.text.count("\n", 0, found.start()) + 1
        return 1

    def wrong(self, key: str, what: str) -> Damaged:
        """Return the error for what is wrong with `key`."""
        return Damaged(what, where=f"{self.path}:{self.line(key)}", hint=self.hint)

    def table(self, parent: Mapping[str, Any], name: str, shown: str = "") -> dict[str, Any]:
        """Return the table `name`, empty where there is none; errors show it as `shown`."""
        value = parent.get(name, {})
        if not isinstance(value, dict):
            raise self.wrong(name, f"[{shown or name}] must be a table")
        return value

    def string(self, table: Mapping[str, Any], key: str, default: str = "") -> str:
        """Return a string."""
        value = table.get(key, default)
        if not isinstance(value, str):
            raise self.wrong(key, f"{key} must be a quoted string")
        return value

    def strings(self, table: Mapping[str, Any], key: str) -> tuple[str, ...]:
        """Return a list of strings, empty where there is none."""
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.wrong(key, f"{key} must be a list of quoted strings")
        return tuple(value)

    def choice(self, table: Mapping[str, Any], key: str, choices: Sequence[str], default: str = "") -> str:
        """Return one of `choices`, or the default."""
        value = table.get(key, default)
        if value not in (*choices, default):
            raise self.wrong(key, f"{key} must be one of {', '.join(choices)}")
        return str(value)

    def switch(self, table: Mapping[str, Any], key: str) -> bool:
        """Return a boolean."""
        value = table[key]
        if not isinstance(value, bool):
            raise self.wrong(key, f"{key} must be true or false")
        return value

    def number(self, table: Mapping[str, Any], key: str, low: float, high: float) -> float:
        """Return a number from `low` to `high`."""
        value = table[key]
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise self.wrong(key, f"{key} must be a number from {low} to {high}")
        return float(value)

    def whole(self, table: Mapping[str, Any], key: str, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`."""
        value = table[key]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.wrong(key, f"{key} must be a whole number from {low} to {high}")
        return value
