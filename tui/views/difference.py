"""Two versions of a page or card, with the lines that differ."""

from __future__ import annotations

from datetime import tzinfo

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from tui.strings import inbox as strings
from tui.text import content
from tui.text.wrapping import folded
from tui.views.inbox import Question
from vault.text.diff import LEFT_OUT, MINE, OFFERED, Row, TextDiff

_MOST = 400  # rows painted; the command line has all
_STYLES = {MINE: "$text-error", OFFERED: "$text-success"}


class DifferenceView(VerticalScroll):
    """Shows the two versions of an inbox item; hidden without one."""

    def __init__(self) -> None:
        super().__init__(can_focus=False)
        self._compared: TextDiff | None = None

    def compose(self) -> ComposeResult:
        yield Static(markup=False, id="difference-what")
        yield Static(markup=False, id="difference-where")
        yield Static(markup=False, id="difference-rows")

    def show(self, question: Question | None, zone: tzinfo) -> None:
        """Show the item, with dates in the zone; its differences follow by `show_differences`."""
        self.display = question is not None
        self._compared = None
        if question is None:
            return
        item = question.item
        what = content.line(strings.name(item, question.view), "bold")
        self.query_one("#difference-what", Static).update(what)
        note = [content.line(item.note, "$text-warning")] if item.note else []
        mine, offered = strings.LEGEND
        legend = Content.assemble((mine, _STYLES[MINE]), "  ", (offered, _STYLES[OFFERED]))
        rows = [content.line(strings.since(item, zone), content.DIM), *note, legend]
        self.query_one("#difference-where", Static).update(Content("\n").join(rows))
        self.query_one("#difference-rows", Static).update(Content(""))
        self.scroll_home(animate=False)

    def show_differences(self, compared: TextDiff) -> None:
        self._compared = compared
        self._lay_out()

    def on_resize(self, _event: Resize) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        """Fold rows here, so that continued lines stay to the right of the mark."""
        found = self._compared
        width = self.query_one("#difference-rows", Static).content_size.width
        if found is None or width < 4:
            return
        rows = [line for row in found.rows[:_MOST] for line in _folded(row, width)]
        if len(found.rows) > _MOST:
            rows.append(content.plain(strings.more(len(found.rows) - _MOST), content.DIM))
        if not found.rows:
            rows.append(content.plain(strings.SAME, content.DIM))
        if not found.whole:
            rows.append(content.plain(strings.CUT, content.DIM))
        self.query_one("#difference-rows", Static).update(Content("\n").join(rows))


def _folded(row: Row, width: int) -> list[Content]:
    if row.mark == LEFT_OUT:
        return [Content.assemble(content.plain("  "), content.plain(strings.left_out(row.words), content.DIM))]
    style = _STYLES.get(row.mark, "")
    first, *more = folded(content.line(row.words, style), width - 2)
    head = Content.assemble((f"{row.mark} ", style), first)
    return [head, *(Content.assemble("  ", line) for line in more)]
