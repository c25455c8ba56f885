"""A label with its value, and a large number with its label."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Click, Resize
from textual.message import Message
from textual.widgets import Digits, Static

from tui.text import content


class Fact(Horizontal):
    """A label with a value; it keeps its place while the value is unknown, and can be clicked."""

    class Clicked(Message):
        """`fact` was clicked."""

        def __init__(self, fact: Fact) -> None:
            super().__init__()
            self.fact = fact

    class Resized(Message):
        """The value has another width now."""

    def __init__(self, name: str, id: str) -> None:
        super().__init__(id=id)
        self._label = name

    def compose(self) -> ComposeResult:
        yield Static(content.line(self._label, content.DIM), markup=False, classes="fact-name")
        yield Static(markup=False, classes="fact-words")

    @property
    def words(self) -> Static:
        return self.query_one(".fact-words", Static)

    def show(self, words: Content) -> None:
        self.words.update(words)

    def on_resize(self, _event: Resize) -> None:
        self.post_message(self.Resized())

    def on_click(self, event: Click) -> None:
        event.stop()
        self.post_message(self.Clicked(self))


class Tile(Vertical):
    def __init__(self, id: str) -> None:
        super().__init__(id=id)

    def compose(self) -> ComposeResult:
        yield Digits()
        yield Static(markup=False)

    def show(self, number: int, words: str) -> None:
        self.query_one(Digits).update(str(number))
        self.query_one(Static).update(content.line(words, content.DIM))
