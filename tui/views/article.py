"""A page of Markdown of any length: only visible rows are painted, the rest is laid out in a thread."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from threading import Event

from textual.content import Content
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual

from tui.text.markdown import Row, Shown, Target, rows

_AT_ONCE = 200  # rows that are laid out before the screen is painted; the others follow from a thread
_BATCH = 2_000
WORDS = ":~:text="  # what an anchor begins with that is words of the page, as in the address of a web page
_COMPARED = 40  # letters and digits of a line of such words
_FEWEST = 8
_FOLDED = 8  # rows on which a line of them may be


class ArticleView(ScrollView, can_focus=True):
    """A page of Markdown that scrolls. Links are followed by a click or by the screen's keys."""

    @dataclass
    class Followed(Message):
        """A link was clicked."""

        target: Target

    @dataclass
    class LaidOut(Message):
        """More rows of the page number `page`, which may have been replaced meanwhile."""

        page: int
        rows: list[Row]
        links: list[Target]

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._markdown = ""
        self._page = 0  # counts what is laid out, so that rows of a page that is gone are known
        self._rows: list[Content] = []
        self._anchors: dict[str, int] = {}
        self._links: list[Target] = []
        self._link_rows: list[int] = []  # the first row of each link
        self._at = -1  # the link that the keys are on
        self._stop = Event()
        self._shown: Shown | None = None
        self._width = 0
        self._words = ""  # those that are looked for, and marked
        self._wish: int | str = 0  # where to go once that row is there: a row, or an anchor

    # --- what is shown ----------------------------------------------------------------------------------------------

    def show(self, markdown: str, at: int | str = 0, link: int = -1, shown: Shown | None = None) -> None:
        """Show a page from a row or an anchor, with link number `link` selected.

        An anchor is a heading, a `^block-id`, or `WORDS` and lines of which the page has some.
        """
        self._markdown, self._wish, self._at, self._shown = markdown, at, link, shown
        self._lay_out()

    def _lay_out(self) -> None:
        self._stop.set()
        self._stop = stop = Event()
        self._page += 1
        self._rows, self._anchors, self._links, self._link_rows = [], {}, [], []
        self._width = self.scrollable_content_region.width
        if not self._width:
            return
        links: list[Target] = []
        made = rows(self._markdown, self._width, links, self._shown)
        first = list(islice(made, _AT_ONCE))
        self._take(first, links)
        if len(first) == _AT_ONCE:
            page = self._page
            self.run_worker(lambda: self._go_on(page, made, links, stop), thread=True)

    def _go_on(self, page: int, made: Iterator[Row], links: list[Target], stop: Event) -> None:
        while not stop.is_set() and (batch := list(islice(made, _BATCH))):
            self.post_message(self.LaidOut(page, batch, list(links)))

    def on_article_view_laid_out(self, message: LaidOut) -> None:
        message.stop()
        if message.page == self._page:
            self._take(message.rows, message.links)

    def _take(self, more: list[Row], links: list[Target]) -> None:
        before = len(self._rows)
        for row in more:
            for anchor in row.anchors:
                self._anchors.setdefault(anchor, len(self._rows))
            for target in _targets(row.content):
                if target == len(self._link_rows):
                    self._link_rows.append(len(self._rows))
            self._rows.append(row.content)
        self._links = links[: len(self._link_rows)]
        self.virtual_size = Size(self._width, len(self._rows))
        self._go_to_wish(max(0, before - _FOLDED))
        self.refresh()

    def _go_to_wish(self, first: int) -> None:
        """Go to the row that is asked for, if it is there; words are looked for in the rows from `first` on."""
        row = self._wish if isinstance(self._wish, int) else self._anchors.get(self._wish.casefold(), -1)
        if isinstance(self._wish, str) and self._wish.startswith(WORDS):
            row = row_with(self._wish.removeprefix(WORDS), [each.plain for each in self._rows[first:]])
            row += first if row >= 0 else 0
        if 0 <= row < max(1, len(self._rows)):
            self._wish = -1
            self.call_after_refresh(self.scroll_to, y=row, animate=False, immediate=True)

    def on_resize(self) -> None:
        width = self.scrollable_content_region.width
        if width != self._width:
            top = self.scroll_offset.y / max(1, len(self._rows))
            if self._wish == -1:
                self._wish = round(top * len(self._rows) * max(1, self._width) / max(1, width))
            self._lay_out()

    def on_unmount(self) -> None:
        self._stop.set()

    def render_line(self, y: int) -> Strip:
        row, width = self.scroll_offset.y + y, self.size.width
        style = self.visual_style
        if row >= len(self._rows):
            return Strip.blank(width, style.rich_style)
        content = self._marked(self._rows[row])
        strips = Visual.to_strips(self, content, width, 1, style, apply_selection=False)
        strip = strips[0] if strips else Strip.blank(width, style.rich_style)
        return strip.adjust_cell_length(width, style.rich_style).apply_offsets(0, row)

    def _marked(self, row: Content) -> Content:
        """Return the row with the selected link and the search words highlighted."""
        if self._at >= 0:
            for span in row.spans:
                if isinstance(span.style, Style) and span.style.meta.get("target") == self._at:
                    row = row.stylize("reverse", span.start, span.end)
        if self._words:
            plain, size = row.plain.casefold(), len(self._words)
            at = plain.find(self._words) if len(plain) == len(row.plain) else -1
            while at >= 0:
                row = row.stylize("$background on $warning", at, at + size)
                at = plain.find(self._words, at + size)
        return row

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract("\n".join(row.plain for row in self._rows)), "\n"

    # --- where one is -----------------------------------------------------------------------------------------------

    @property
    def top(self) -> int:
        """The first visible row."""
        return self.scroll_offset.y

    @property
    def at(self) -> int:
        """The number of the selected link; -1 for none."""
        return self._at

    @property
    def chosen(self) -> Target | None:
        return self._links[self._at] if 0 <= self._at < len(self._links) else None

    def move(self, step: int) -> bool:
        """Select the next or previous link, starting at the visible rows; return False at the end."""
        if 0 <= self._at < len(self._links):
            to = self._at + step
        else:
            ahead = [n for n, row in enumerate(self._link_rows) if row >= self.top]
            to = (ahead[0] if ahead else len(self._links)) if step > 0 else len(self._links) - 1
        if not 0 <= to < len(self._links):
            return False
        self._at = to
        self._see(self._link_rows[to])
        self.refresh()
        return True

    def leave(self) -> None:
        """Select no link."""
        self._at = -1
        self.refresh()

    def look_for(self, words: str, after: int) -> tuple[int, int]:
        """Return (the next row after `after` with the words, else the first, or -1; the number of such rows)."""
        self.find(words)
        wanted = words.casefold()
        holding = [n for n, row in enumerate(self._rows) if wanted in row.plain.casefold()]
        if not holding:
            return -1, 0
        row = next((n for n in holding if n > after), holding[0])
        self._see(row)
        return row, len(holding)

    def find(self, words: str) -> None:
        """Highlight the words everywhere; "" highlights none."""
        self._words = words.casefold()
        self.refresh()

    def _see(self, row: int) -> None:
        if not self.top <= row < self.top + self.size.height:
            self.scroll_to(y=max(0, row - self.size.height // 3), animate=False)

    # --- the mouse --------------------------------------------------------------------------------------------------

    def on_click(self, event: Click) -> None:
        target = event.style.meta.get("target")
        if isinstance(target, int) and 0 <= target < len(self._links):
            event.stop()
            self._at = target
            self.refresh()
            self.post_message(self.Followed(self._links[target]))


def row_with(words: str, rows: Sequence[str]) -> int:
    """Return the number of the row where the first line of `words` that the rows have begins or ends; -1 if none has.

    Letters and digits alone are compared: rows fold lines and show marks in their own way.
    """
    keys = [_letters(row) for row in rows]
    starts = list(accumulate(map(len, keys), initial=0))
    text = "".join(keys)
    for line in map(_letters, words.splitlines()):
        for part in (line[:_COMPARED], line[-_COMPARED:]):
            if len(part) >= _FEWEST and (at := text.find(part)) >= 0:
                return bisect_right(starts, at) - 1
    return -1


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _targets(row: Content) -> Iterator[int]:
    for span in row.spans:
        if isinstance(span.style, Style):
            target = span.style.meta.get("target")
            if isinstance(target, int):
                yield target
