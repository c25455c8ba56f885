"""The quotes behind an answer, each with its source and place."""

from __future__ import annotations

import re
from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui.strings import review as said
from tui.text import content
from vault.evidence.context import QuoteContext
from vault.evidence.evidence import Evidence
from vault.model.claim import ClaimState
from vault.model.latex import exhibit

_LEAST = 8  # columns of a part of the title
_LINE = re.compile(r"\bline \d+")


class SupportPanel(VerticalScroll):
    """The quotes behind a card, hidden until asked for; one of them is current."""

    def __init__(self) -> None:
        super().__init__(can_focus=False)
        self._evidence: Sequence[Evidence] = ()
        self._around: dict[int, QuoteContext] = {}  # of the quotes, by their number, as they become known
        self._at = 0

    def compose(self) -> ComposeResult:
        yield Static(markup=False, id="quotes")

    def show(self, evidence: Sequence[Evidence]) -> None:
        """Show the quotes, the first one current."""
        self._evidence, self._around, self._at = evidence, {}, 0
        self.display = True
        self._paint()

    def next(self) -> bool:
        """Make the next quote current; return False if there is none."""
        if self._at + 1 >= len(self._evidence):
            return False
        self._at += 1
        self._paint()
        return True

    @property
    def looked_at(self) -> Evidence | None:
        """The current quote; None if there is none."""
        return self._evidence[self._at] if self._evidence else None

    def place(self, evidence: Evidence, around: QuoteContext) -> None:
        """Show a quote with the lines around it in its source."""
        for number, each in enumerate(self._evidence):
            if each is evidence:
                self._around[number] = around
        if self.looked_at is evidence:
            self._paint()

    def _paint(self) -> None:
        count = len(self._evidence)
        order = [(self._at + n) % count for n in range(count)]
        around = {self._at: self._around.get(self._at)}
        quotes = [_quote(self._evidence[n], around.get(n), looked_at=n == self._at) for n in order]
        nothing = content.plain(said.NO_SOURCE, content.DIM)
        self.query_one("#quotes", Static).update(Content("\n\n").join(quotes) if quotes else nothing)
        self._paint_title()
        self.call_after_refresh(self._begin_at_quote)

    def on_resize(self) -> None:
        self._paint_title()

    def _paint_title(self) -> None:
        """Show where the current quote is: file, heading and line, as far as they fit."""
        quote, around = self.looked_at, self._around.get(self._at)
        room = self.size.width - 2
        self.border_title = Content(" · ").join(
            _fitted([said.SOURCE, *_place(quote, around)], room) if quote is not None else [Content(said.SOURCE)]
        )
        self.border_subtitle = said.quote_number(self._at + 1, len(self._evidence)) if len(self._evidence) > 1 else ""

    def _begin_at_quote(self) -> None:
        """Scroll to the quote unless everything fits."""
        quotes, around = self.query_one("#quotes", Static), self._around.get(self._at)
        before = _before(around).wrap(max(1, quotes.content_size.width)) if around is not None else []
        fits = quotes.size.height <= self.scrollable_content_region.height
        self.scroll_to(y=0 if fits else len(before), animate=False)


def _quote(evidence: Evidence, around: QuoteContext | None, *, looked_at: bool) -> Content:
    claim = evidence.claim
    if claim is None:
        return Content.assemble(content.line(evidence.source), "\n", content.plain(evidence.problem, "$text-warning"))
    place = "" if looked_at else " · ".join(_place(evidence, around))
    said_there = content.line(claim.quote, "bold" if looked_at else content.DIM)
    quote = Content.assemble(content.plain("“", content.DIM), said_there, content.plain("”", content.DIM))
    quote = _among(quote, around) + "\n"
    shown = [Content.assemble(content.line(exhibit(e), content.DIM), "\n") for e in claim.exhibits]
    state = "" if claim.state is ClaimState.CURRENT else str(claim.state)
    last = [content.line(place, content.MATH), content.plain(state, "$text-warning")]
    return Content.assemble(quote, *shown, Content(" · ").join([part for part in last if part.plain])).rstrip()


def _place(evidence: Evidence, around: QuoteContext | None) -> list[str]:
    """Return the file of a quote, and its place there."""
    locator = evidence.claim.locator if evidence.claim is not None else ""
    if around is not None and around.found and not _LINE.search(locator):
        locator = ", ".join(filter(None, [locator, said.line_number(around.line)]))
    return [evidence.source.removeprefix("raw/"), *filter(None, [locator])]


def _fitted(parts: list[str], room: int) -> list[Content]:
    """Return the parts of a title that fits: without the folders of the file, then with less of its name and place."""
    if sum(map(len, parts)) + 3 * (len(parts) - 1) > room > 0 and len(parts) > 1:
        parts = [parts[0], parts[1].rpartition("/")[2], *parts[2:]]
    shown = [content.line(part) for part in parts]
    for number in range(1, len(shown) if room > 0 else 0):  # the file, then the place
        over = sum(part.cell_length for part in shown) + 3 * (len(shown) - 1) - room
        if over > 0:
            shown[number] = shown[number].truncate(max(_LEAST, shown[number].cell_length - over), ellipsis=True)
    return shown


def _among(quote: Content, around: QuoteContext | None) -> Content:
    """Return the quote between the text before and after it, where that can be read."""
    if around is None or not around.found:
        return quote
    before = Content.assemble(_before(around), "\n") if around.before else Content("")
    after = content.plain(f"\n{around.after}", content.DIM) if any(map(str.isalnum, around.after)) else Content("")
    return Content.assemble(before, quote, after)


def _before(around: QuoteContext) -> Content:
    return content.plain(around.before if around.found else "", content.DIM)
