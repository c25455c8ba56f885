"""A card: its kind and concept, the question, and the answer once shown.

It is one widget that paints its own rows: a rating leads to the next card without a layout of anything, and what is
painted early, before the framework is there, stands where this will stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from textual.content import Content
from textual.events import MouseScrollDown, MouseScrollUp
from textual.geometry import Region
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from tui.strings import review as said
from tui.text import content

COLUMN = 88  # cells, as `.column` in theme.tcss
MARGIN = 3
_WHEEL = 3  # rows
_GAP = 2  # cells between answers side by side
_BAR = "▌ "


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a card beside a bar: `markdown`, or plain text; `label` is shown above."""

    markdown: str
    bar: str
    label: str = ""
    bold: bool = False
    plain: bool = False

    def rows(self, width: int) -> list[Content]:
        """Return the rows at a width, including the bar."""
        words = [content.plain(self.label, "bold $text-warning")] if self.label else []
        if self.plain:
            words += content.plain(self.markdown, content.DIM).wrap(width - len(_BAR))
        else:
            words += content.prose(self.markdown, width - len(_BAR)).split("\n", allow_blank=True)
        bar = Content.styled(_BAR, self.bar)
        return [Content.assemble(bar, row.stylize("bold") if self.bold else row) for row in words]


class CardView(Widget):
    """The current card; it scrolls if it is longer than the screen."""

    def __init__(self) -> None:
        super().__init__()
        self._head = Content("")
        self._question = Part("", "$panel")
        self._back: dict[str, Part] = {}
        self._top = 0
        self._rows: list[Content] = []
        self._strips: dict[int, Strip] = {}  # rows as they are painted
        self._laid = 0  # the width for which the rows are

    # --- what is shown ----------------------------------------------------------------------------------------------

    def show(self, kind: str, concept: str, question: str, marks: str = "") -> None:
        """Show the front of a card; `kind` is one of `vault.model.card.CardKind`, or ""."""
        head = [content.plain(kind.capitalize(), f"bold {_colour(kind)}") if kind else Content(said.CARD)]
        if concept:
            head += [content.plain("  ·  ", content.DIM), content.line(concept)]
        if marks:
            head += [content.plain("  ·  ", content.DIM), content.plain(marks, "$text-warning")]
        self._head = Content("").join(head)
        self._question = Part(question, _colour(kind), bold=True)
        self._top = 0
        self._set_back({})

    def reveal(self, answer: str) -> None:
        """Show the back of the card."""
        self._set_back({"answer": Part(answer, "$success")})

    def reveal_changed(self, answer: str, was: str, now: str = "") -> None:
        """Show the back of a card whose answer changed: the earlier answer beside the current one.

        `was` and `now` are plain text; `now` is what the sources say if `answer` was edited by the user.
        """
        back = {"was": Part(was, "$panel", said.WAS, plain=True)}
        back["answer"] = Part(answer, "$success", said.YOURS if now else said.NOW)
        if now:
            back["now"] = Part(now, "$warning", said.NOW_IN_SOURCE, plain=True)
        self._set_back(back)

    def _set_back(self, back: dict[str, Part]) -> None:
        before = len(self._rows)
        self._back = back
        self._laid = 0
        if self.size.width:  # only the rows that held words or will: a slow line is spared the empty ones
            self.refresh(Region(0, 0, self.size.width, max(1, before, len(self._laid_out()))))

    @property
    def shown(self) -> Mapping[str, str]:
        """Return the text of each visible part: `head`, `question`, and `answer` and others once shown."""
        parts = {"question": self._question, **self._back}
        words = {name: self._words(part) for name, part in parts.items()}
        return {"head": self._head.plain, **words}

    @staticmethod
    def _words(part: Part) -> str:
        words = part.markdown if part.plain else content.prose(part.markdown).plain
        return f"{part.label}\n{words}" if part.label else words

    # --- painting ---------------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        width, rows, at = self.size.width, self._laid_out(), y + self._top
        if len(rows) <= self.size.height and at >= len(rows):
            return Strip.blank(width, self.rich_style)
        if self.text_selection is None and len(rows) <= self.size.height:
            if at not in self._strips:
                self._strips[at] = self._strip(rows[at], at, width)
            return self._strips[at]
        row = self._selected(rows[at], at) if at < len(rows) else Content("")
        if self._thumb(y):
            row = Content.assemble(row.truncate(width - 1, pad=True), ("▐", "$foreground 30%"))
        return self._strip(row, at, width)

    def _strip(self, row: Content, at: int, width: int) -> Strip:
        painted = row.truncate(width, pad=True).render_segments(self.visual_style)
        return Strip(painted, width).apply_offsets(0, at)

    def _laid_out(self) -> list[Content]:
        """Return all rows of the card, also those out of sight."""
        width = self.size.width
        if width != self._laid:
            self._laid = width
            column = min(width, COLUMN)
            indent = (width - column) // 2 + MARGIN
            self._rows = [row.pad_left(indent) for row in self._column(max(1, column - 2 * MARGIN))]
            self._strips.clear()
            self._top = min(self._top, self._last_top())
        return self._rows

    def notify_style_update(self) -> None:
        """Lay out again after a change of theme."""
        self._strips.clear()
        super().notify_style_update()

    def _column(self, width: int) -> list[Content]:
        rows = [Content(""), self._head.truncate(width, ellipsis=True), Content(""), *self._question.rows(width)]
        parts = list(self._back.values())
        if len(parts) > 1 and self._laid >= COLUMN:
            return [*rows, Content(""), *_side_by_side(parts, width)]
        for part in parts:
            rows += [Content(""), *part.rows(width)]
        return rows

    def _selected(self, row: Content, at: int) -> Content:
        span = self.text_selection.get_span(at) if self.text_selection is not None else None
        if span is None:
            return row
        start, end = span
        style = self.screen.get_visual_style("screen--selection")
        return row.stylize(style, start, len(row) if end == -1 else end)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract("\n".join(row.plain for row in self._rows)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    # --- scrolling --------------------------------------------------------------------------------------------------

    def scroll_rows(self, rows: int) -> None:
        """Scroll by `rows`, within the card."""
        self._laid_out()
        top = min(max(0, self._top + rows), self._last_top())
        if top != self._top:
            self._top = top
            self.refresh()

    def _last_top(self) -> int:
        return max(0, len(self._rows) - self.size.height)

    def _thumb(self, y: int) -> bool:
        """Return whether row `y` belongs to the thumb of the scrollbar."""
        height, rows = self.size.height, len(self._rows)
        if rows <= height:
            return False
        size = max(1, height * height // rows)
        start = round(self._top / self._last_top() * (height - size))
        return start <= y < start + size

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        event.stop()
        self.scroll_rows(_WHEEL)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        event.stop()
        self.scroll_rows(-_WHEEL)


def _colour(kind: str) -> str:
    return f"$kind-{kind}" if kind else "$panel"


def _side_by_side(parts: list[Part], width: int) -> list[Content]:
    """Return the parts beside each other, each with its share of the width."""
    share = (width - _GAP * (len(parts) - 1)) // len(parts)
    columns = [part.rows(share) for part in parts]
    height = max(map(len, columns))
    whole = [[*column, *[Content("")] * (height - len(column))] for column in columns]
    gap = Content(" " * _GAP)
    return [gap.join(row.truncate(share, pad=True) for row in rows) for rows in zip(*whole, strict=True)]
