"""A long table of cards and articles, whose rows are made when visible; and its header."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from textual.content import Content
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Static

from tui.text import content

_MARK = 2  # cells at the left for the mark of a chosen row
_GAP = 2  # cells between columns
_CACHED = 500  # rows that stay made


@dataclass(frozen=True, slots=True)
class Column:
    """`width` 0 takes the remaining room. `least` is the table width from which the column is shown."""

    name: str
    title: str
    width: int = 0
    right: bool = False
    least: int = 0
    quiet: bool = True


class Rows(Protocol):
    """The rows of a table, each made when it becomes visible."""

    def __len__(self) -> int: ...

    def cells(self, row: int, names: Sequence[str]) -> list[str]:
        """Return the raw text of these columns."""

    def is_marked(self, row: int) -> bool: ...


def layout(columns: Sequence[Column], width: int) -> list[tuple[Column, int]]:
    """Return the columns that fit a table of that width, with the cells of each."""
    shown = [column for column in columns if width >= column.least]
    fixed = sum(column.width for column in shown)
    open_ = sum(column.width == 0 for column in shown)
    left = width - _MARK - fixed - _GAP * (len(shown) - 1)
    each = max(4, left // max(1, open_))
    return [(column, column.width or each) for column in shown]


class TableHead(Static):
    """The column names; a click on one sorts by it."""

    @dataclass
    class Chosen(Message):
        """Sort the table by this column."""

        name: str

    def __init__(self, columns: Sequence[Column]) -> None:
        super().__init__(markup=False)
        self._columns, self._by, self._down = columns, "", False
        self._places: list[tuple[int, int, str]] = []

    def show(self, by: str, *, descending: bool) -> None:
        """Mark the column by which the table is sorted."""
        self._by, self._down = by, descending
        self._paint()

    def on_resize(self) -> None:
        self._paint()

    def _paint(self) -> None:
        at = _MARK
        parts = [Content(" " * _MARK)]
        self._places.clear()
        for column, width in layout(self._columns, self.size.width - 1):  # the bar at the table's right takes one
            arrow = ("↓" if self._down else "↑") if column.name == self._by else ""
            name = content.line(column.title + arrow, "bold" if arrow else content.DIM)
            parts += [_fitted(name, width, right=column.right), Content(" " * _GAP)]
            self._places.append((at, at + width, column.name))
            at += width + _GAP
        self.update(Content("").join(parts))

    def on_click(self, event: Click) -> None:
        for start, end, name in self._places:
            if start <= event.x - self.gutter.left < end:
                self.post_message(self.Chosen(name))


class CardTable(ScrollView, can_focus=True, inherit_bindings=False):
    """A table of any number of rows; it reports the cursor, and rows opened or selected by mouse.

    Keys are the screen's, as they move the cursor rather than what is in sight.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"card-table--cursor", "card-table--marked", "card-table--rest"}

    cursor: reactive[int] = reactive(0, repaint=False)  # two rows are painted again, not the table

    @dataclass
    class Reached(Message):
        """The cursor is on this row; -1 if there is none."""

        row: int

    @dataclass
    class Opened(Message):
        """This row was double-clicked."""

        row: int

    @dataclass
    class Marked(Message):
        """This row's selection mark was clicked."""

        row: int

    def __init__(self, columns: Sequence[Column]) -> None:
        super().__init__()
        self._columns = columns
        self._rows: Rows | None = None
        self._made: dict[tuple[int, bool, int], Strip] = {}

    def show(self, rows: Rows, cursor: int = 0) -> None:
        """Shows these rows from now on, the cursor on one of them."""
        self._rows = rows
        self._made.clear()
        self.virtual_size = Size(self.scrollable_content_region.width, len(rows))
        moved = min(max(0, cursor), max(0, len(rows) - 1))
        same = moved == self.cursor
        self.cursor = moved
        self._keep_in_sight()
        self.refresh()
        if same:
            self.post_message(self.Reached(self._at()))

    def repaint_with(self, rows: Rows) -> None:
        """Show the same rows again after a change."""
        self._rows = rows
        self._made.clear()
        self.refresh()

    def move(self, rows: int) -> None:
        """Move the cursor, and scroll to it."""
        if self._rows is not None and len(self._rows):
            self.cursor = min(max(0, self.cursor + rows), len(self._rows) - 1)
            self._keep_in_sight()

    def page(self) -> int:
        """Return the number of visible rows minus one."""
        return max(1, self.size.height - 1)

    def watch_cursor(self, before: int, after: int) -> None:
        self.refresh_line(before)
        self.refresh_line(after)
        self.post_message(self.Reached(self._at()))

    def watch_has_focus(self, _has_focus: bool) -> None:
        super().watch_has_focus(_has_focus)
        self._made.clear()
        self.refresh()

    def on_resize(self) -> None:
        self._made.clear()
        self.virtual_size = Size(self.scrollable_content_region.width, len(self._rows or ()))
        self._keep_in_sight()

    def on_click(self, event: Click) -> None:
        row = event.y + round(self.scroll_y)
        if self._rows is None or not 0 <= row < len(self._rows):
            return
        self.focus()
        self.cursor = row
        if event.x < _MARK:
            self.post_message(self.Marked(row))
        elif event.chain == 2:
            self.post_message(self.Opened(row))

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        row = y + round(self.scroll_y)
        if self._rows is None or not 0 <= row < len(self._rows):
            return Strip.blank(width, self.rich_style)
        key = (row, row == self.cursor, width)
        if key not in self._made:
            if len(self._made) > _CACHED:
                self._made.clear()
            self._made[key] = self._strip(self._rows, row, width)
        return self._made[key]

    # --- inside -----------------------------------------------------------------------------------------------------

    def _at(self) -> int:
        return self.cursor if self._rows is not None and len(self._rows) else -1

    def _keep_in_sight(self) -> None:
        if self.size.height and not 0 <= self.cursor - round(self.scroll_y) < self.size.height:
            region = Region(0, self.cursor, max(1, self.size.width), 1)
            self.scroll_to_region(region, animate=False, force=True, x_axis=False)

    def _strip(self, rows: Rows, row: int, width: int) -> Strip:
        placed = layout(self._columns, width)
        words = rows.cells(row, [column.name for column, _ in placed])
        marked = rows.is_marked(row)
        parts = [
            content.plain("▌" if row == self.cursor else " ", "$primary"),
            content.plain("●" if marked else " ", "$accent"),
        ]
        for (column, cells), said in zip(placed, words, strict=True):
            style = content.DIM if column.quiet else ""
            parts += [_fitted(content.line(said, style), cells, right=column.right), Content(" " * _GAP)]
        line = Content("").join(parts).truncate(width, pad=True)
        name = "cursor" if row == self.cursor else "marked" if marked else "rest"
        return Strip(line.render_segments(self.get_visual_style(f"card-table--{name}")), width)


def _fitted(words: Content, width: int, *, right: bool) -> Content:
    """Return `words` in exactly that many cells."""
    cut = words.truncate(width, ellipsis=True)
    space = Content(" " * max(0, width - cut.cell_length))
    return Content("").join([space, cut] if right else [cut, space])
