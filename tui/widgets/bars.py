"""The bar at the top of every screen, the keys at the bottom, sections and progress."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from tui.keymap import with_user_keys
from tui.keys import ANYWHERE, Key
from tui.text import content
from tui.text.wrapping import cell_len
from tui.widgets.painted import PaintedWidget

_WAYS_OUT = ("back", "home", "quit", "close")  # never left out for want of room


class TopBar(PaintedWidget[tuple[str, str, str]]):
    """The title of the screen on the left with the running job, a status on the right."""

    ALLOW_SELECT = False

    def __init__(self, title: str) -> None:
        super().__init__((title, "", ""))

    @property
    def job(self) -> str:
        """The running job, as it is shown."""
        return self.state[1]

    @property
    def status(self) -> str:
        """What is shown on the right."""
        return self.state[2]

    def show_job(self, words: str) -> None:
        """Show the running job beside the title; nothing for ""."""
        title, _, status = self.state
        self.show_state((title, words, status))

    def show_status(self, words: str) -> None:
        """Show `words` on the right."""
        title, job, _ = self.state
        self.show_state((title, job, words))

    def rows(self, state: tuple[str, str, str], width: int) -> list[Content]:
        title, job, status = state
        name = Content.assemble((" retain ", "bold $text-primary"), content.plain(f" {title}", content.DIM))
        if job:
            name = Content("  ").join([name, content.line(job, "$text-accent")])
        room = max(0, width - name.cell_length - 2)
        note = content.line(status).truncate(room, ellipsis=True)
        return [name + note.pad_left(1 + room - note.cell_length)]


class KeyBar(PaintedWidget[tuple[Key, ...]]):
    """The keys of a screen on one line; each can be clicked. Help is at the right end.

    Of what has no room, the last goes first; the way out stays.
    """

    ALLOW_SELECT = False

    @dataclass
    class Chosen(Message):
        """A key was clicked; `action` is what it is bound to."""

        action: str

    def __init__(self, keys: Iterable[Key]) -> None:
        super().__init__(tuple(keys))
        self._moved: Mapping[str, str] = {}

    def show(self, keys: Iterable[Key]) -> None:
        """Show other keys."""
        self.show_state(tuple(keys))

    def follow(self, moved: Mapping[str, str]) -> None:
        """Use the user's own keys."""
        self._moved = moved
        self.forget()

    def rows(self, state: tuple[Key, ...], width: int) -> list[Content]:
        return [self.line(width)]

    def line(self, width: int) -> Content:
        """Return the keys that fit into `width` columns."""
        keys, last, gap = self._fitted(width)
        return Content("").join([*map(_part, keys), Content(" " * gap), *map(_part, last)])

    def _fitted(self, width: int) -> tuple[list[Key], list[Key], int]:
        """Return the keys at the left, those at the right, and the columns between them."""
        keys, last = [key for key in self._as_moved(self.state) if key.words], list(self._as_moved(ANYWHERE))
        room = width - sum(map(_width, last))
        keys = _fitting(keys, room)
        return keys, last, max(0, room - sum(map(_width, keys)))

    def _as_moved(self, keys: Iterable[Key]) -> Iterable[Key]:
        return with_user_keys(keys, self._moved) if self._moved else keys

    def on_click(self, event: Click) -> None:
        keys, last, gap = self._fitted(self.size.width)
        at = 0
        for key in (*keys, None, *last):
            at += _width(key) if key is not None else gap
            if event.x < at:
                if key is not None:
                    self.post_message(self.Chosen(key.action))
                return


def _part(key: Key) -> Content:
    return Content.assemble((f" {key.display} ", "bold $text-accent"), content.plain(f"{key.words} ", content.DIM))


def _width(key: Key) -> int:
    """Return the columns that a key takes."""
    return cell_len(f" {key.display} {key.words} ")


def _fitting(keys: list[Key], room: int) -> list[Key]:
    fits = list(keys)
    while sum(map(_width, fits)) > room:
        others = [at for at, key in enumerate(fits) if key.action not in _WAYS_OUT]
        if not others:
            return fits[:1]
        del fits[others[-1]]
    return fits


class Progress(PaintedWidget[tuple[int, int]]):
    """A line of one row that fills."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__((0, 0))

    def show(self, done: int, of: int) -> None:
        """Show the share of `done`; painted again only if it looks different."""
        before, self.state, width = self.state, (done, of), self.outer_size.width
        if _filled(before, width) != _filled(self.state, width):
            self.refresh()

    def rows(self, state: tuple[int, int], width: int) -> list[Content]:
        filled = _filled(state, width)
        return [Content.assemble(("━" * filled, "$primary"), ("─" * (width - filled), "$foreground 20%"))]


def _filled(state: tuple[int, int], width: int) -> int:
    """Return how many of `width` columns are filled."""
    done, of = state
    return round(width * done / of) if of else 0


class Sections(Widget):
    """The numbered sections of a screen, on two lines where one is too narrow; one of them is shown."""

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
        return Content("\n").join(Content("").join(row) for row in self._rows(self.content_size.width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._rows(width))

    def _rows(self, width: int) -> list[list[Content]]:
        rows: list[list[Content]] = [[]]
        for part in self._parts():
            if rows[-1] and sum(each.cell_length for each in rows[-1]) + part.cell_length > width:
                rows.append([])
            rows[-1].append(part)
        return rows

    def _parts(self) -> Iterator[Content]:
        for number, name in enumerate(self._names):
            here = number == self._at
            key = (f" {number + 1}", "bold $text-accent")
            yield Content.assemble(key, content.plain(f" {name}", "bold underline" if here else content.DIM))

    def on_click(self, event: Click) -> None:
        at = event.x - self.gutter.left
        rows = self._rows(self.content_size.width)
        line = min(event.y - self.gutter.top, len(rows) - 1)
        for number, part in enumerate(rows[line], sum(map(len, rows[:line]))):
            at -= part.cell_length
            if at < 0:
                self.post_message(self.Chosen(number))
                return
