"""The words behind an answer: each quote, the source it stands in, and the place there."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui import text
from tui.support import Support
from vault.claim import ClaimState


class SupportPanel(VerticalScroll):
    """Hidden until it is asked for."""

    def __init__(self) -> None:
        super().__init__(can_focus=False)

    def on_mount(self) -> None:
        self.border_title = "Source"

    def compose(self) -> ComposeResult:
        yield Static(markup=False, id="quotes")

    def show(self, supports: Sequence[Support]) -> None:
        quotes = [_quote(each) for each in supports]
        nothing = text.plain("This card cites no source.", text.DIM)
        self.query_one("#quotes", Static).update(Content("\n\n").join(quotes) if quotes else nothing)
        self.display = True
        self.scroll_home(animate=False)


def _quote(support: Support) -> Content:
    claim = support.claim
    if claim is None:
        return Content.assemble(text.line(support.source), "\n", text.plain(support.problem, "$text-warning"))
    place = f"{support.source} · {claim.locator}" if claim.locator else support.source
    words = Content.assemble(text.plain("“", text.DIM), text.line(claim.quote), text.plain("”", text.DIM), "\n")
    state = "" if claim.state is ClaimState.CURRENT else f" · {claim.state}"
    return Content.assemble(words, text.line(place, text.MATH), text.plain(state, "$text-warning"))
