"""The reading agenda: its gaps as a list, and one gap in full."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from learning.agenda.gap_mentions import Failing, Mention
from tui.strings import gaps as strings
from tui.strings.gaps import STATUS
from tui.text import content
from tui.widgets.grouped_list import GroupedList
from vault.model.gaps import SHOWN, SOURCE_OF_TERM, Gap, GapKind, GapStatus, entries
from vault.model.markdown import unescape
from vault.model.wikilink import links


class AgendaList(GroupedList):
    """The gaps in the order of the agenda; a row's id is the gap's."""

    def show(self, gaps: Sequence[Gap]) -> None:
        """Show these gaps, open ones first; the cursor stays, or moves to the next gap."""
        listed = entries(gaps)
        alone = [entry.gaps[0] for entry in listed if len(entry.gaps) == 1]
        groups = [(strings.NEXT, "", alone[:SHOWN])]
        groups += [
            (strings.subjects(len(entry.gaps)), entry.gaps[0].missing, list(entry.gaps))
            for entry in listed
            if len(entry.gaps) > 1
        ]
        groups += [(strings.MORE, "", alone[SHOWN:]), (strings.CLOSED, "", [gap for gap in gaps if not gap.open])]
        self.show_groups(
            (_heading(name, said, len(some)), [(gap.id, _item(gap, name_only=bool(said))) for gap in some])
            for name, said, some in groups
            if some
        )


def _heading(name: str, said: str, number: int) -> Content:
    count = "" if said else f" {number}"
    return Content.assemble((f"{name}{count}", "bold $text-primary"), "  ", content.line(said, content.DIM))


def _item(gap: Gap, *, name_only: bool) -> Content:
    mark = {GapStatus.PLANNED: ("▸ ", "$text-accent")}.get(gap.status, ("  ", ""))
    style = "$text-accent" if gap.status is GapStatus.PLANNED else content.DIM
    status = content.plain(f"  {STATUS[gap.status]}", style) if gap.status in STATUS else Content("")
    name = content.line(gap.what, "bold" if gap.open else content.DIM)
    said = Content("") if name_only else content.line(f": {gap.missing}", "" if gap.open else content.DIM)
    return Content.assemble(mark, name, said, status)


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
        said = {
            "missing": gap.missing,
            "use": f"“{gap.use}”" if gap.use else "",
            "mentions": _mentions(gap),
            "read": unescape(gap.read),
            "search": gap.search,
            "fill": gap.fill if gap.fill != SOURCE_OF_TERM or not gap.search else "",
        }
        for name, words in said.items():
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
