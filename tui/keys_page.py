"""`docs/keys.md` as the registry has it: what each key of each screen does, and the name by which it is moved."""

from __future__ import annotations

from collections.abc import Iterable

from tui import keymap
from tui.keys import EVERYWHERE, SCREENS, Key
from tui.strings import keys_page as strings


def page() -> str:
    """The whole page, as Markdown."""
    parts = [strings.HEAD, _table(strings.EVERYWHERE, EVERYWHERE)]
    parts += [_table(strings.NAMES.get(name, name.capitalize()), keys) for name, keys in SCREENS.items()]
    return "\n".join(parts)


def _table(heading: str, keys: Iterable[Key]) -> str:
    rows = [f"| {_pressed(key)} | {_cell(key.told or key.id)} | `{key.id}` |" for key in keys]
    return "\n".join((f"## {heading}", "", strings.COLUMNS, "|---|---|---|", *rows, ""))


def _pressed(key: Key) -> str:
    return " ".join(f"`{_cell(keymap.shown(name))}`" for name in key.keys.split(","))


def _cell(words: str) -> str:
    return words.replace("|", "\\|")
