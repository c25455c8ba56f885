"""A card: kind and concept, the question, and, once it is asked for, the answer."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui import text
from tui.strings import review as said
from vault.card import CardKind


class CardView(VerticalScroll):
    """Scrolls where a card is longer than the screen. Texts are Markdown of cards, shown inert."""

    def __init__(self) -> None:
        super().__init__(can_focus=False)

    def compose(self) -> ComposeResult:
        with Vertical(classes="column"):
            yield Static(markup=False, id="card-head")
            yield Static(markup=False, id="question")
            with Container(id="back"):
                yield Static(markup=False, id="was")
                yield Static(markup=False, id="answer")
                yield Static(markup=False, id="now")

    def show(self, kind: CardKind | None, concept: str, question: str, marks: str = "") -> None:
        """The front of a card."""
        asked = self.query_one("#question", Static)
        for each in CardKind:  # on the leaf alone: a class on this widget would have all its children styled anew
            asked.set_class(each is kind, f"kind-{each}")
        head = [text.plain(kind.heading if kind else "Card", f"bold $kind-{kind}")] if kind else [Content("Card")]
        if concept:
            head += [text.plain("  ·  ", text.DIM), text.line(concept)]
        if marks:
            head += [text.plain("  ·  ", text.DIM), text.plain(marks, "$text-warning")]
        self.query_one("#card-head", Static).update(Content("").join(head))
        asked.update(text.prose(question))
        for part in self._back:
            part.display = False
        self.scroll_home(animate=False)

    def reveal(self, answer: str) -> None:
        """The back of the card."""
        self._show_back("#answer", text.prose(answer))

    def reveal_changed(self, answer: str, was: str, now: str = "") -> None:
        """The back of a card that says another thing than it did: what it said, and beside it what it says.

        `was` and `now` are plain text; `now` is what the sources say where `answer` is a human's own.
        """
        self._show_back("#was", _labelled("was", text.plain(was, text.DIM)))
        self._show_back("#answer", _labelled("yours" if now else "now", text.prose(answer)))
        if now:
            self._show_back("#now", _labelled(said.NOW_IN_SOURCE, text.plain(now)))

    @property
    def _back(self) -> list[Static]:
        return [self.query_one(part, Static) for part in ("#was", "#answer", "#now")]

    def _show_back(self, part: str, words: Content) -> None:
        shown = self.query_one(part, Static)
        shown.update(words)
        shown.display = True


def _labelled(label: str, words: Content) -> Content:
    return Content.assemble(text.plain(label, "bold $text-warning"), "\n", words)
