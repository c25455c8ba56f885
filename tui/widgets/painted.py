"""A widget that paints its own rows, without a layout; rows are made once and can be made before they are shown."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from textual.content import Content
from textual.geometry import Region
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

State = TypeVar("State", bound=Hashable)
_KEPT = 32  # states whose rows stay made


@dataclass(slots=True)
class Painting:
    """The rows of one state at one width, and as they are painted, with a blank one at the end."""

    rows: list[Content]
    strips: dict[int, Strip] = field(default_factory=dict)


class PaintedWidget(Widget, Generic[State]):
    """A widget without border and padding whose rows depend on its state and width alone.

    The framework's own way to paint a row takes about a millisecond for each widget, for which the next card waits.
    """

    def __init__(self, state: State) -> None:
        super().__init__()
        self.state = state
        self.top = 0  # the first row that is visible
        self._paintings: dict[tuple[State, int], Painting] = {}

    def rows(self, state: State, width: int) -> list[Content]:
        """Return all rows of `state`, each at most `width` cells wide."""
        raise NotImplementedError

    def show_state(self, state: State) -> None:
        """Show another state."""
        if state != self.state:
            self.state = state
            self.refresh()

    def prepare(self, state: State) -> None:
        """Make the rows of a state that is likely to be shown next."""
        if self.outer_size:
            painting = self.painting(state)
            for at in range(min(len(painting.rows) + 1, self.outer_size.height)):
                self._strip(painting, at)

    def painting(self, state: State) -> Painting:
        """Return the rows of a state at the present width."""
        key = state, self.outer_size.width
        if key not in self._paintings:
            if len(self._paintings) >= _KEPT:
                del self._paintings[next(iter(self._paintings))]
            self._paintings[key] = Painting(self.rows(*key))
        return self._paintings[key]

    def render(self) -> Content:
        """Return the rows as one text, of which the framework copies what is selected."""
        return Content("\n").join(self.painting(self.state).rows)

    def render_line(self, y: int) -> Strip:
        return self.render_lines(Region(0, y, self.outer_size.width, 1))[0]

    def render_lines(self, crop: Region) -> list[Strip]:
        painting, selection = self.painting(self.state), self.text_selection if self.allow_select else None
        numbers = [y + self.top for y in crop.line_range]
        if selection is None:
            strips = [self._strip(painting, at) for at in numbers]
        else:
            strips = [self._selected(painting, at, selection) for at in numbers]
        if crop.column_span == (0, self.outer_size.width):
            return strips
        return [strip.crop(*crop.column_span) for strip in strips]

    def _strip(self, painting: Painting, at: int) -> Strip:
        at = min(at, len(painting.rows))
        if at not in painting.strips:
            row = painting.rows[at] if at < len(painting.rows) else Content("")
            painting.strips[at] = self.painted(row, at)
        return painting.strips[at]

    def _selected(self, painting: Painting, at: int, selection: Selection) -> Strip:
        """Return a row with the part that the mouse has selected highlighted."""
        span = selection.get_span(at)
        if span is None or at >= len(painting.rows):
            return self._strip(painting, at)
        start, end = span
        row = painting.rows[at]
        style = self.screen.get_visual_style("screen--selection")
        return self.painted(row.stylize(style, start, len(row) if end == -1 else end), at)

    def painted(self, row: Content, at: int = 0) -> Strip:
        """Return a row in the colours of the theme, as wide as the widget."""
        width, style = self.outer_size.width, self.visual_style
        strip = Strip(row.truncate(width, pad=True).render_segments(style), width)
        if self.allow_select:
            strip = strip.apply_offsets(0, at)
        for line_filter in self.get_line_filters():
            strip = strip.apply_filter(line_filter, self.background_colors[1])
        return strip

    def forget(self) -> None:
        """Make all rows again, as something beside the state has changed."""
        self._paintings.clear()
        self.refresh()

    def notify_style_update(self) -> None:
        """Make all rows again after a change of theme."""
        self._paintings.clear()
        super().notify_style_update()

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()
