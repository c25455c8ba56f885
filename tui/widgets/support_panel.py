"""The words behind an answer: each quote, the source it stands in, and the place there."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui import text
from tui.strings import review as said
from vault.claim import ClaimState
from vault.evidence import Evidence
from vault.readable import exhibit, words


class SupportPanel(VerticalScroll):
    """Hidden until it is asked for. One of the quotes is the one that is looked at."""

    def __init__(self) -> None:
        super().__init__(can_focus=False)
        self._evidence: Sequence[Evidence] = ()
        self._at = 0

    def on_mount(self) -> None:
        self.border_title = "Source"

    def compose(self) -> ComposeResult:
        yield Static(markup=False, id="quotes")

    def show(self, evidence: Sequence[Evidence]) -> None:
        """Shows the quotes, the first one looked at."""
        self._evidence, self._at = evidence, 0
        self._paint()
        self.display = True
        self.scroll_home(animate=False)

    def next(self) -> bool:
        """Looks at the next quote; False if there is none."""
        if self._at + 1 >= len(self._evidence):
            return False
        self._at += 1
        self._paint()
        self.scroll_home(animate=False)
        return True

    def _paint(self) -> None:
        several = len(self._evidence) > 1
        first = [*self._evidence[self._at :], *self._evidence[: self._at]]
        quotes = [_quote(each, looked_at=not several or n == 0) for n, each in enumerate(first)]
        nothing = text.plain(said.NO_SOURCE, text.DIM)
        self.query_one("#quotes", Static).update(Content("\n\n").join(quotes) if quotes else nothing)


def _quote(evidence: Evidence, *, looked_at: bool) -> Content:
    claim = evidence.claim
    if claim is None:
        return Content.assemble(text.line(evidence.source), "\n", text.plain(evidence.problem, "$text-warning"))
    place = f"{evidence.source} · {claim.locator}" if claim.locator else evidence.source
    said_there = text.line(words(claim.quote), "" if looked_at else text.DIM)
    quote = Content.assemble(text.plain("“", text.DIM), said_there, text.plain("”", text.DIM), "\n")
    shown = [Content.assemble(text.line(exhibit(e), text.DIM), "\n") for e in claim.exhibits]
    state = "" if claim.state is ClaimState.CURRENT else f" · {claim.state}"
    return Content.assemble(quote, *shown, text.line(place, text.MATH), text.plain(state, "$text-warning"))
