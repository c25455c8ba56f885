"""A card: its kind and concept, the question, and the answer once shown.

It is one widget that paints its own rows: a rating leads to the next card without a layout of anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from textual.content import Content
from textual.events import MouseScrollDown, MouseScrollUp
from textual.geometry import Region
from textual.strip import Strip

from tui.strings import review as said
from tui.text import content
from tui.widgets.painted import PaintedWidget

COLUMN = 88  # cells, as `.column` in theme.tcss
MARGIN = 3
_WHEEL = 3  # rows
_GAP = 2  # cells between answers side by side
_BAR = "▌ "


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a card beside a bar: `markdown`, or plain text; `label` is shown above."""

    name: str
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

    @property
    def words(self) -> str:
        """The text as it is shown, in lines that are not folded."""
        words = self.markdown if self.plain else content.prose(self.markdown).plain
        return f"{self.label}\n{words}" if self.label else words


@dataclass(frozen=True, slots=True)
class Face:
    """What is shown of a card; `kind` is a `vault.model.card.CardKind` or "". `back` is empty before the answer."""

    kind: str = ""
    concept: str = ""
    question: str = ""
    marks: str = ""
    back: tuple[Part, ...] = ()

    def with_answer(self, answer: str) -> Face:
        """Return both sides of the card."""
        return replace(self, back=(Part("answer", answer, "$success"),))

    def with_changed_answer(self, answer: str, was: str, now: str = "") -> Face:
        """Return both sides of a card whose answer changed: the earlier answer beside the current one.

        `was` and `now` are plain text; `now` is what the sources say if `answer` was edited by the user.
        """
        back = [Part("was", was, "$panel", said.WAS, plain=True)]
        back.append(Part("answer", answer, "$success", said.YOURS if now else said.NOW))
        if now:
            back.append(Part("now", now, "$warning", said.NOW_IN_SOURCE, plain=True))
        return replace(self, back=tuple(back))

    @property
    def head(self) -> Content:
        """The line above the question."""
        head = [
            content.line(self.concept),
            content.plain(self.kind or said.CARD, content.DIM),
            content.plain(self.marks, "$text-warning"),
        ]
        return Content.styled("  ·  ", content.DIM).join([part for part in head if part.plain])

    @property
    def parts(self) -> tuple[Part, ...]:
        """The question, and the parts of the back."""
        return Part("question", self.question, self.colour, bold=True), *self.back

    @property
    def colour(self) -> str:
        return f"$kind-{self.kind}" if self.kind else "$panel"


class CardView(PaintedWidget[Face]):
    """The current card; it scrolls if it is longer than the screen."""

    def __init__(self) -> None:
        super().__init__(Face())

    def show(self, face: Face) -> None:
        """Show a card; it stays scrolled where only its back is shown or hidden."""
        before, self.state = self.state, face
        if replace(face, back=before.back) != before:
            self.top = 0
        width, height = self.outer_size
        if width:  # only the rows that held words or will: a slow line is spared the empty ones
            rows = len(self.painting(face).rows)
            self.top = min(self.top, max(0, rows - height))
            self.refresh(Region(0, 0, width, max(rows, len(self.painting(before).rows))))

    @property
    def shown(self) -> Mapping[str, str]:
        """Return the text of each visible part: `head`, `question`, and `answer` and others once shown."""
        return {"head": self.state.head.plain, **{part.name: part.words for part in self.state.parts}}

    def rows(self, state: Face, width: int) -> list[Content]:
        column = min(width, COLUMN)
        indent = (width - column) // 2 + MARGIN
        return [row.pad_left(indent) for row in _column(state, width, max(1, column - 2 * MARGIN))]

    def render_lines(self, crop: Region) -> list[Strip]:
        strips, (width, height) = super().render_lines(crop), self.outer_size
        if len(self.painting(self.state).rows) <= height or crop.column_span != (0, width):
            return strips
        bar = self.painted(Content.styled("▐", "$foreground 30%")).crop(0, 1)
        return [
            Strip.join([strip.crop(0, width - 1), bar]) if self._thumb(y) else strip
            for y, strip in zip(crop.line_range, strips, strict=True)
        ]

    # --- scrolling --------------------------------------------------------------------------------------------------

    def scroll_rows(self, rows: int) -> None:
        """Scroll by `rows`, within the card."""
        top = min(max(0, self.top + rows), self._last_top())
        if top != self.top:
            self.top = top
            self.refresh()

    def _last_top(self) -> int:
        return max(0, len(self.painting(self.state).rows) - self.size.height)

    def _thumb(self, y: int) -> bool:
        """Return whether row `y` belongs to the thumb of the scrollbar."""
        height, rows = self.size.height, len(self.painting(self.state).rows)
        size = max(1, height * height // rows)
        start = round(self.top / self._last_top() * (height - size))
        return start <= y < start + size

    def on_resize(self) -> None:
        self.scroll_rows(0)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        event.stop()
        self.scroll_rows(_WHEEL)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        event.stop()
        self.scroll_rows(-_WHEEL)


def _column(face: Face, width: int, inside: int) -> list[Content]:
    """Return the rows of a card in a column of `inside` cells on a screen of `width`."""
    question, *back = face.parts
    rows = [Content(""), face.head.truncate(inside, ellipsis=True), Content(""), *question.rows(inside)]
    if len(back) > 1 and width >= COLUMN:
        return [*rows, Content(""), *_side_by_side(back, inside)]
    for part in back:
        rows += [Content(""), *part.rows(inside)]
    return rows


def _side_by_side(parts: list[Part], width: int) -> list[Content]:
    """Return the parts beside each other, each with its share of the width."""
    share = (width - _GAP * (len(parts) - 1)) // len(parts)
    columns = [part.rows(share) for part in parts]
    height = max(map(len, columns))
    whole = [[*column, *[Content("")] * (height - len(column))] for column in columns]
    gap = Content(" " * _GAP)
    return [gap.join(row.truncate(share, pad=True) for row in rows) for rows in zip(*whole, strict=True)]
