"""A number that can be read across the room, and what it counts."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Digits, Static

from tui.text import content


class Tile(Vertical):
    def __init__(self, id: str) -> None:
        super().__init__(id=id)

    def compose(self) -> ComposeResult:
        yield Digits()
        yield Static(markup=False)

    def show(self, number: int, words: str) -> None:
        self.query_one(Digits).update(str(number))
        self.query_one(Static).update(content.line(words, content.DIM))
