"""A card: kind and concept, the question, and, once it is asked for, the answer."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui import text
from vault.card import CardKind


class CardView(VerticalScroll):
    """Scrolls where a card is longer than the screen. Texts are Markdown of cards, shown inert."""

    def __init__(self) -> None:
        super().__init__(can_focus=False)

    def compose(self) -> ComposeResult:
        with Vertical(classes="column"):
            yield Static(markup=False, id="card-head")
            yield Static(markup=False, id="question")
            yield Static(markup=False, id="answer")

    def show(self, kind: CardKind | None, concept: str, question: str, marks: str = "") -> None:
        """The front of a card."""
        asked = self.query_one("#question", Static)
        for each in CardKind:  # on the leaf alone: a class on this widget would have all its children styled anew
            asked.set_class(each is kind, f"kind-{each}")
        head = [text.plain(kind.heading if kind else "Card", f"bold $kind-{kind}")] if kind else [Content("Card")]
        head += [text.plain("  ·  ", text.DIM), text.line(concept)]
        if marks:
            head += [text.plain("  ·  ", text.DIM), text.plain(marks, "$text-warning")]
        self.query_one("#card-head", Static).update(Content("").join(head))
        asked.update(text.prose(question))
        self.query_one("#answer", Static).display = False
        self.scroll_home(animate=False)

    def reveal(self, answer: str) -> None:
        """The back of the card."""
        shown = self.query_one("#answer", Static)
        shown.update(text.prose(answer))
        shown.display = True
