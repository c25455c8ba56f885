"""The reading agenda: its gaps as a list by kind, and one gap in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from learning.agenda.gap_mentions import Failing, Mention
from tui.strings import gaps as strings
from tui.strings.gaps import ABOUT, STATUS
from tui.text import content
from tui.widgets.grouped_list import GroupedList
from vault.model.gaps import Gap, GapKind, GapStatus
from vault.model.wikilink import links


class AgendaList(GroupedList):
    """The gaps by kind; a row's id is the gap's."""

    def show(self, gaps: Mapping[GapKind, Sequence[Gap]]) -> None:
        """Show these gaps; the cursor stays, or moves to the next gap."""
        self.show_groups(
            (_heading(kind, len(of_kind)), [(gap.id, _item(gap)) for gap in of_kind])
            for kind, of_kind in gaps.items()
            if of_kind
        )


def _heading(kind: GapKind, number: int) -> Content:
    return Content.assemble(
        (f"{kind.value.capitalize()} {number}", "bold $text-primary"), (f"  {ABOUT[kind]}", content.DIM)
    )


def _item(gap: Gap) -> Content:
    mark = {GapStatus.PLANNED: ("▸ ", "$text-accent")}.get(gap.status, ("  ", ""))
    style = "$text-accent" if gap.status is GapStatus.PLANNED else content.DIM
    status = content.plain(f"  {STATUS[gap.status]}", style) if gap.status in STATUS else Content("")
    name = content.line(gap.what, "bold" if gap.open else content.DIM)
    return Content.assemble(mark, name, ": ", content.line(gap.missing, "" if gap.open else content.DIM), status)


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
