"""What went wrong, in place, until something goes right: what, where, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from tui.text import content
from vault.diagnostic import Diagnostic
from vault.errors import RetainError

_MARKS = {"error": "× ", "warning": "! "}  # where there is no colour, these tell one from the other


class Notice(Static):
    """Hidden until there is something to say."""

    def __init__(self) -> None:
        super().__init__(markup=False)

    def failure(self, error: RetainError) -> None:
        """Shows an error."""
        self._show("error", error.what, error.where, error.hint)

    def found(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Shows the first of the findings, and how many more there are."""
        if not diagnostics:
            self.clear()
            return
        first, more = diagnostics[0], len(diagnostics) - 1
        place = f"{first.path}:{first.line}" if first.line else first.path
        self._show("warning", first.message + (f" (and {more} more)" if more else ""), place, first.hint)

    def tell(self, words: str) -> None:
        """Says something that is no failure."""
        self._show("note", words, "", "")

    def clear(self) -> None:
        self.display = False

    def go_on(self) -> None:
        """What was told has been read; failures and findings stay."""
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
