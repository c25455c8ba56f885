"""A text field for a path; tab completes names as a shell does."""

from __future__ import annotations

import os
from pathlib import Path

from textual.binding import Binding
from textual.suggester import Suggester
from textual.widgets import Input

from vault.text.formatting import clean_line
from vault.text.urls import is_address

_MOST = 5_000  # names of one folder that are looked at


class Paths(Suggester):
    """Suggests the first path, alphabetically, that continues what was typed; folders end in a slash."""

    def __init__(self, suffixes: tuple[str, ...] = ()) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._suffixes = suffixes

    async def get_suggestion(self, value: str) -> str | None:
        found = completions(value, self._suffixes)
        return found[0] if found else None


def completions(typed: str, suffixes: tuple[str, ...] = ()) -> list[str]:
    """Return the paths that `typed` can be completed to; with `suffixes` only folders and such files.

    Names that a terminal would not show as they are don't come up: they can be typed, not offered.
    """
    begun = typed.rpartition("/")[2]
    before = typed[: len(typed) - len(begun)]
    if not typed or "://" in typed:
        return []
    try:
        with os.scandir(Path(before or ".").expanduser()) as entries:
            rows = [entry for _, entry in zip(range(_MOST), entries, strict=False) if entry.name.startswith(begun)]
            named = sorted((entry.name, entry.is_dir()) for entry in rows)
    except (OSError, ValueError, RuntimeError):
        return []
    shown = [(name, is_dir) for name, is_dir in named if name == clean_line(name)]
    shown = [(name, is_dir) for name, is_dir in shown if begun.startswith(".") or not name.startswith(".")]
    return [f"{before}{n}/" if d else f"{before}{n}" for n, d in shown if d or not suffixes or n.endswith(suffixes)]


def whole(typed: str) -> str:
    """Return an absolute path for a typed one; an address is unchanged."""
    if is_address(typed):
        return typed
    try:
        return str(Path(typed).expanduser().absolute())
    except (RuntimeError, OSError):
        return typed


class PathInput(Input):
    """An input for a path or address, completed by tab."""

    BINDINGS = [Binding("tab", "complete", show=False)]  # noqa: RUF012

    def __init__(self, suffixes: tuple[str, ...] = (), id: str | None = None) -> None:
        self._suffixes = suffixes
        super().__init__(suggester=Paths(suffixes), id=id)

    def restrict_to(self, suffixes: tuple[str, ...]) -> None:
        """Suggest only folders and files with these suffixes."""
        self._suffixes, self.suggester = suffixes, Paths(suffixes)

    def action_complete(self) -> None:
        """Complete as far as all suggestions agree, else to the first."""
        found = completions(self.value, self._suffixes)
        common = os.path.commonprefix(found)  # noqa: RUF071 (letters are wanted, not whole names)
        if found:
            self.value = common if len(common) > len(self.value) else found[0]
            self.cursor_position = len(self.value)
