"""One gap in full: what is missing, where it is mentioned, what would fill it."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from learning.agenda.gap_mentions import Failing, Mention
from tui.strings import gaps as strings
from tui.text import content
from vault.model.gaps import Gap, GapKind
from vault.model.wikilink import links

_MOST = 6  # notes named; the file has the rest
_SENTENCES = 3
_CARDS = 5


class GapView(VerticalScroll):
    """The current gap; hidden without one."""

    def __init__(self) -> None:
        super().__init__(can_focus=False)

    def compose(self) -> ComposeResult:
        yield Static(markup=False, id="gap-what")
        for name, label in strings.ROWS.items():
            with Horizontal(id=f"gap-{name}"):
                yield Static(label, markup=False, classes="gap-label")
                yield Static(markup=False, classes="gap-words")
        yield Static(markup=False, id="gap-sentences")
        yield Static(markup=False, id="gap-cards")

    def show(self, gap: Gap | None) -> None:
        self.display = gap is not None
        if gap is None:
            return
        self.query_one("#gap-what", Static).update(content.line(gap.what, "bold"))
        labels = strings.LEARNERS if gap.kind is GapKind.LEARNER else strings.ROWS
        for name, label in labels.items():
            self.query_one(f"#gap-{name} .gap-label", Static).update(label)
        for name, words in (("missing", gap.missing), ("mentions", _mentions(gap)), ("fill", gap.fill)):
            self.query_one(f"#gap-{name}").display = bool(words)
            self.query_one(f"#gap-{name} .gap-words", Static).update(content.line(words))
        self.show_mentions((), ())

    def show_mentions(self, mentions: Sequence[Mention], cards: Sequence[Failing]) -> None:
        """Show the sentences that mention the gap, and the cards that fail because of it."""
        once = {mention.sentence: mention for mention in reversed(mentions) if mention.sentence}
        said = [_sentence(mention) for mention in mentions if mention is once.get(mention.sentence)][:_SENTENCES]
        failing = [_card(card) for card in cards[:_CARDS]]
        for name, rows in (("#gap-sentences", said), ("#gap-cards", failing)):
            self.query_one(name, Static).update(Content("\n").join(rows))
            self.query_one(name).display = bool(rows)


def _sentence(mention: Mention) -> Content:
    return Content.assemble(content.line(mention.sentence), "  ", content.line(strings.place(mention), content.DIM))


def _card(card: Failing) -> Content:
    return Content.assemble(content.line(card.question), "  ", content.line(strings.forgotten(card), content.DIM))


def _mentions(gap: Gap) -> str:
    names = [next((link.alias or link.target for link in links(mention)), mention) for mention in gap.mentions]
    return ", ".join(names[:_MOST]) + strings.more(len(names) - _MOST)
