"""The words behind an answer: each quote, the source it stands in, and the place there."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui import text
from vault.claim import ClaimState
from vault.evidence import Evidence
from vault.readable import exhibit, words


class SupportPanel(VerticalScroll):
    """Hidden until it is asked for."""

    def __init__(self) -> None:
        super().__init__(can_focus=False)

    def on_mount(self) -> None:
        self.border_title = "Source"

    def compose(self) -> ComposeResult:
        yield Static(markup=False, id="quotes")

    def show(self, evidence: Sequence[Evidence]) -> None:
        quotes = [_quote(each) for each in evidence]
        nothing = text.plain("This card cites no source.", text.DIM)
        self.query_one("#quotes", Static).update(Content("\n\n").join(quotes) if quotes else nothing)
        self.display = True
        self.scroll_home(animate=False)


def _quote(evidence: Evidence) -> Content:
    claim = evidence.claim
    if claim is None:
        return Content.assemble(text.line(evidence.source), "\n", text.plain(evidence.problem, "$text-warning"))
    place = f"{evidence.source} · {claim.locator}" if claim.locator else evidence.source
    quote = Content.assemble(text.plain("“", text.DIM), text.line(words(claim.quote)), text.plain("”", text.DIM), "\n")
    shown = [Content.assemble(text.line(exhibit(e), text.DIM), "\n") for e in claim.exhibits]
    state = "" if claim.state is ClaimState.CURRENT else f" · {claim.state}"
    return Content.assemble(quote, *shown, text.line(place, text.MATH), text.plain(state, "$text-warning"))
