"""The bar at the top of every screen, the keys at the bottom, sections and progress."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from tui.keymap import with_user_keys
from tui.keys import ANYWHERE, Key
from tui.text import content

_WAYS_OUT = ("back", "home", "quit", "close")  # never left out for want of room


class TopBar(Horizontal):
    """The title of the screen on the left, a status on the right."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title

    def compose(self) -> ComposeResult:
        name = Content.assemble((" retain ", "bold $text-primary"), content.plain(f" {self._title}", content.DIM))
        yield Static(name, markup=False, classes="bar-name")
        yield Static(markup=False, classes="bar-work")
        yield Static(markup=False, classes="bar-note")

    def show_job(self, words: str) -> None:
        """Show the running job beside the title; nothing for ""."""
        self.query_one(".bar-work", Static).update(content.line(words, "$text-accent"))

    def show_status(self, words: str) -> None:
        """Show `words` on the right."""
        self.query_one(".bar-note", Static).update(content.line(words), layout=False)  # its width is what is left


class KeyBar(Widget):
    """The keys of a screen on one line; each can be clicked. Help is at the right end.

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
        """Use the user's own keys."""
        self._moved = moved
        self.refresh()

    def render(self) -> Content:
        return self.line(self.content_size.width)

    def line(self, width: int) -> Content:
        """Return the keys that fit into `width` columns."""
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

        return with_user_keys(keys, self._moved)

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
    """Yield (first column, column after the last, action) of each key; None is the gap."""
    at = 0
    for key in keys:
        width = gap if key is None else _part(key).cell_length
        if key is not None:
            yield at, at + width, key.action
        at += width


class Progress(Widget):
    """A line of one row that fills."""

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


class Sections(Widget):
    """The numbered sections of a screen on one line; one of them is shown."""

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
