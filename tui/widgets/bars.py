"""The line at the head of every screen and the keys at its foot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from tui import text
from tui.keys import Key


class TopBar(Horizontal):
    """Where one is, on the left, and what goes with it, on the right."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title

    def compose(self) -> ComposeResult:
        name = Content.assemble((" retain ", "bold $text-primary"), text.plain(f" {self._title}", text.DIM))
        yield Static(name, markup=False, classes="bar-name")
        yield Static(markup=False, classes="bar-note")

    def say(self, words: str) -> None:
        """Shows `words` on the right."""
        self.query_one(".bar-note", Static).update(text.line(words))


class KeyBar(Static):
    """The keys of a screen, from the registry, one line; each can be clicked."""

    @dataclass
    class Chosen(Message):
        """A key was clicked; `action` is what it is bound to."""

        action: str

    def __init__(self, keys: Iterable[Key]) -> None:
        self._places: list[tuple[int, int, str]] = []
        super().__init__(self._line(keys), markup=False)

    def show(self, keys: Iterable[Key]) -> None:
        """Shows these keys from now on."""
        self.update(self._line(keys), layout=False)

    def _line(self, keys: Iterable[Key]) -> Content:
        self._places.clear()
        parts: list[Content] = []
        at = 0
        for key in keys:
            if not key.words:
                continue
            part = Content.assemble((f" {key.display} ", "bold $text-accent"), text.plain(f"{key.words} ", text.DIM))
            self._places.append((at, at + part.cell_length, key.action))
            at += part.cell_length
            parts.append(part)
        return Content("").join(parts)

    def on_click(self, event: Click) -> None:
        for start, end, action in self._places:
            if start <= event.x - self.gutter.left < end:
                self.post_message(self.Chosen(action))
