"""The sections of a screen on one line, each under its number; one of them is shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widget import Widget

from tui.text import content


class Sections(Widget):
    """Posts which section was clicked."""

    @dataclass
    class Chosen(Message):
        """By its place, from 0."""

        number: int

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self._names, self._at = tuple(names), 0

    def show(self, number: int) -> None:
        self._at = number
        self.refresh()

    def render(self) -> Content:
        return Content("").join(self._parts())

    def _parts(self) -> Iterator[Content]:
        for number, name in enumerate(self._names):
            here = number == self._at
            key = (f" {number + 1}", "bold $text-accent")
            yield Content.assemble(key, content.plain(f" {name}", "bold underline" if here else content.DIM))

    def on_click(self, event: Click) -> None:
        at = event.x - self.gutter.left
        for number, part in enumerate(self._parts()):
            at -= part.cell_length
            if at < 0:
                self.post_message(self.Chosen(number))
                return
