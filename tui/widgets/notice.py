"""Errors, warnings and messages on a screen; and the line on a terminal that is too small."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from tui.strings.app import TOO_SMALL
from tui.text import content
from vault.diagnostic import Diagnostic
from vault.errors import RetainError

_MARKS = {"error": "× ", "warning": "! "}  # where there is no colour, these tell one from the other


class Notice(Static):
    """An error, warning or note on the screen; hidden without one."""

    def __init__(self) -> None:
        super().__init__(markup=False)

    def show_error(self, error: RetainError) -> None:
        """Show an error."""
        self._show("error", error.what, error.where, error.hint)

    def show_findings(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Show the first finding, and how many more there are."""
        if not diagnostics:
            self.clear()
            return
        first, more = diagnostics[0], len(diagnostics) - 1
        place = f"{first.path}:{first.line}" if first.line else first.path
        self._show("warning", first.message + (f" (and {more} more)" if more else ""), place, first.hint)

    def show_message(self, words: str) -> None:
        """Show a message that is no error."""
        self._show("note", words, "", "")

    def clear(self) -> None:
        if self.display:
            self.display = False

    def clear_message(self) -> None:
        """Hide a message; errors and findings stay."""
        if self.display and self.has_class("note"):
            self.clear()

    def _show(self, kind: str, what: str, where: str, hint: str) -> None:
        for name in ("error", "warning", "note"):
            self.set_class(name == kind, name)
        parts: list[Content] = [content.plain(_MARKS[kind], "bold")] if kind in _MARKS else []
        parts += [content.line(where) + ": "] if where else []
        parts.append(content.line(what, "bold" if kind == "error" else ""))
        if hint:
            parts += [Content(" "), content.line(f"({hint})", content.DIM)]
        self.update(Content("").join(parts))
        self.display = True


class TooSmall(Widget):
    """One line that covers a terminal that is too small; the keys still work."""

    def render(self) -> Content:
        return content.plain(TOO_SMALL, "bold")
