"""One line over a terminal that has no room for a screen."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from tui.strings.app import TOO_SMALL
from tui.text import content


class TooSmall(Widget):
    """Covers the screen; the keys work on below it."""

    def render(self) -> Content:
        return content.plain(TOO_SMALL, "bold")
