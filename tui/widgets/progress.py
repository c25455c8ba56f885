"""How far the sitting has come: a line that fills."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget


class Progress(Widget):
    """One row; drawn again only when a number changes."""

    def __init__(self) -> None:
        super().__init__()
        self._done, self._all = 0, 0

    def show(self, done: int, of: int) -> None:
        if (done, of) != (self._done, self._all):
            self._done, self._all = done, of
            self.refresh()

    def render(self) -> Content:
        width = self.size.width
        filled = round(width * self._done / self._all) if self._all else 0
        return Content.assemble(("━" * filled, "$primary"), ("─" * (width - filled), "$foreground 20%"))
