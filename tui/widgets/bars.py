"""The line at the head of every screen and the keys at its foot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from tui.keys import ANYWHERE, Key
from tui.text import content

_WAYS_OUT = ("back", "home", "quit", "close")  # never left out for want of room


class TopBar(Horizontal):
    """Where one is, on the left, and what goes with it, on the right."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title

    def compose(self) -> ComposeResult:
        name = Content.assemble((" retain ", "bold $text-primary"), content.plain(f" {self._title}", content.DIM))
        yield Static(name, markup=False, classes="bar-name")
        yield Static(markup=False, classes="bar-work")
        yield Static(markup=False, classes="bar-note")

    def at_work(self, words: str) -> None:
        """Shows what long work goes on, beside the name; nothing with ""."""
        self.query_one(".bar-work", Static).update(content.line(words, "$text-accent"))

    def say(self, words: str) -> None:
        """Shows `words` on the right."""
        self.query_one(".bar-note", Static).update(content.line(words), layout=False)  # its width is what is left


class KeyBar(Widget):
    """The keys of a screen, from the registry, on one line; each can be clicked. The help stands at its right end.

    Of what has no room, the last goes first; the way out stays.
    """

    @dataclass
    class Chosen(Message):
        """A key was clicked; `action` is what it is bound to."""

        action: str

    def __init__(self, keys: Iterable[Key]) -> None:
        super().__init__()
        self._keys = list(keys)
        self._moved: Mapping[str, str] = {}
        self._places: list[tuple[int, int, str]] = []

    def show(self, keys: Iterable[Key]) -> None:
        """Shows these keys from now on."""
        self._keys = list(keys)
        self.refresh()

    def follow(self, moved: Mapping[str, str]) -> None:
        """Shows the keys that the user has moved where they are now."""
        self._moved = moved
        self.refresh()

    def render(self) -> Content:
        return self.line(self.content_size.width)

    def line(self, width: int) -> Content:
        """The keys in so many columns."""
        keys, last = [key for key in self._as_moved(self._keys) if key.words], list(self._as_moved(ANYWHERE))
        room = width - sum(_part(key).cell_length for key in last)
        keys = _fitting(keys, room)
        parts = [_part(key) for key in keys]
        used = sum(part.cell_length for part in parts)
        gap = Content(" " * max(0, room - used))
        self._places = list(_places([*keys, None, *last], max(0, room - used)))
        return Content("").join([*parts, gap, *map(_part, last)])

    def _as_moved(self, keys: Iterable[Key]) -> Iterable[Key]:
        if not self._moved:
            return keys
        from tui.keymap import as_moved

        return as_moved(keys, self._moved)

    def on_click(self, event: Click) -> None:
        for start, end, action in self._places:
            if start <= event.x - self.gutter.left < end:
                self.post_message(self.Chosen(action))


def _part(key: Key) -> Content:
    return Content.assemble((f" {key.display} ", "bold $text-accent"), content.plain(f"{key.words} ", content.DIM))


def _fitting(keys: list[Key], room: int) -> list[Key]:
    fits = list(keys)
    while sum(_part(key).cell_length for key in fits) > room:
        others = [at for at, key in enumerate(fits) if key.action not in _WAYS_OUT]
        if not others:
            return fits[:1]
        del fits[others[-1]]
    return fits


def _places(keys: Iterable[Key | None], gap: int) -> Iterator[tuple[int, int, str]]:
    """Where each key is clicked: first column, the one after its last, action; None is the gap."""
    at = 0
    for key in keys:
        width = gap if key is None else _part(key).cell_length
        if key is not None:
            yield at, at + width, key.action
        at += width
