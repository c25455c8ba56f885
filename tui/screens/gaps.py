"""The reading agenda: decide on gaps, undo, read where they are mentioned, add what fills them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from learning.agenda.gap_decisions import Decision, decide, read_agenda
from learning.agenda.gap_mentions import Failing, Mention, failing_cards, mentions_of
from learning.cards.workspace import open_desk
from tui.context import Context
from tui.keys import GAPS
from tui.process.jobs import busy
from tui.screen import Page
from tui.strings import gaps as strings
from tui.text import content
from tui.views.gaps import AgendaList, GapView
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.grouped_list import move_cursor
from tui.widgets.notice import Notice
from tui.widgets.path_input import PathInput, whole
from vault.errors import RetainError
from vault.ids import GapId
from vault.model.gaps import Gap, GapKind, GapStatus
from vault.model.reading_list import query

_BACK = {  # what makes a gap as it was again
    GapStatus.PLANNED: Decision.PLAN,
    GapStatus.OPEN: Decision.REOPEN,
    GapStatus.RESOLVED: Decision.RESOLVE,
    GapStatus.IGNORED: Decision.IGNORE,
}


class GapsScreen(Page, key="gaps"):
    """The reading agenda. `about` is the words to narrow it to."""

    @dataclass
    class Mentioned(Message):
        """The mentions of a gap have been read."""

        gap: str
        mentions: Sequence[Mention]

    @dataclass
    class Forgotten(Message):
        """The failing cards of each gap are known."""

        cards: Mapping[GapId, tuple[Failing, ...]]

    def __init__(self, context: Context, about: str = "") -> None:
        super().__init__(context, about)
        self._all: list[Gap] = []
        self._gaps: dict[str, Gap] = {}  # those that are shown
        self._at = ""
        self._done: list[Gap] = []  # as they were before each decision
        self._kind, self._words, self._settled = "", about, False
        self._mentions: dict[str, Sequence[Mention]] = {}
        self._failing: Mapping[GapId, tuple[Failing, ...]] = {}
        self._reading = False  # mentions, just now
        self._seen = False  # before, so that this is coming back
        self._turn = 0  # which of the mentions is opened next

    def compose(self) -> ComposeResult:
        yield TopBar(strings.TITLE)
        with Horizontal(id="gaps-ask"):
            yield Static(markup=False, id="gaps-label")
            yield Input(id="gaps-find")
            yield PathInput(id="gaps-file")
        with Vertical(id="gaps"):
            yield AgendaList()
            yield GapView()
        yield Static(content.prose(strings.NOTHING), markup=False, id="nothing")
        yield Notice()
        yield KeyBar(GAPS)

    def on_mount(self) -> None:
        self._read()
        self.query_one(AgendaList).focus()
        self._look_for_failing()

    def on_screen_resume(self) -> None:
        """Read the agenda again: a compile may have filled gaps."""
        if self._seen:
            self._mentions.clear()
            self._read()
            self._look_for_failing()
        self._seen = True

    # --- what is shown ----------------------------------------------------------------------------------------------

    def _read(self) -> None:
        """Read the agenda and show the gaps that match."""
        try:
            self._all = read_agenda(self.context.vault)
        except RetainError as error:
            self._all = []
            self.show_error(error)
        self._show()

    def _show(self) -> None:
        wanted = [gap for gap in self._all if self._asked_for(gap)]
        self._gaps = {gap.id: gap for gap in wanted}
        self.query_one("#gaps").display = bool(wanted)
        nothing = self.query_one("#nothing", Static)
        nothing.display = not wanted
        narrowed = bool(self._kind or self._words)
        nothing.update(content.prose(strings.NOTHING_SUCH if narrowed else strings.NOTHING))
        self.query_one(AgendaList).show(wanted)
        still_open = sum(gap.open for gap in self._all)
        status = strings.shown(still_open, len(wanted), self._kind, self._words, self._settled)
        self.query_one(TopBar).show_status(status)

    def _asked_for(self, gap: Gap) -> bool:
        said = f"{gap.what} {gap.missing} {gap.fill} {' '.join(gap.mentions)}".casefold()
        named = all(word in said for word in self._words.casefold().split())
        return (gap.open or self._settled) and self._kind in ("", gap.kind) and named

    def on_reaching_list_reached(self, message: AgendaList.Reached) -> None:
        self._at, self._turn = message.id, 0
        gap = self._gaps.get(self._at)
        self.query_one(GapView).show(gap)
        if gap is not None and gap.id in self._mentions:
            self._show_facts(gap)
        elif gap is not None:
            self._look_for_mentions(gap)

    def _look_for_mentions(self, gap: Gap) -> None:
        """Read the mentions of a gap in the background, one gap at a time; only the newest request is kept."""
        if not self._reading:
            self._reading = True
            self.run_worker(lambda: self._find_mentions(gap), thread=True, group="mentions")

    def _find_mentions(self, gap: Gap) -> None:
        self.post_message(self.Mentioned(gap.id, mentions_of(self.context.vault, gap)))

    def on_gaps_screen_mentioned(self, message: Mentioned) -> None:
        self._mentions[message.gap] = message.mentions
        self._reading = False
        gap = self._gaps.get(self._at)
        if gap is not None and gap.id in self._mentions:
            self._show_facts(gap)
        elif gap is not None:
            self._look_for_mentions(gap)

    def _look_for_failing(self) -> None:
        if any(gap.kind is GapKind.LEARNER for gap in self._all):
            self.run_worker(self._find_failing, thread=True, group="failing", exclusive=True)

    def _find_failing(self) -> None:
        with suppress(RetainError):  # home says what is wrong with log or decks; the agenda can be worked on without
            desk = open_desk(self.context.vault, self.context.clock())
            self.post_message(self.Forgotten(failing_cards(desk, self._all)))

    def on_gaps_screen_forgotten(self, message: Forgotten) -> None:
        self._failing = message.cards
        gap = self._gaps.get(self._at)
        if gap is not None:
            self._show_facts(gap)

    def _show_facts(self, gap: Gap) -> None:
        self.query_one(GapView).show_mentions(self._mentions.get(gap.id, ()), self._failing.get(gap.id, ()))

    # --- decisions --------------------------------------------------------------------------------------------------

    def action_decide(self, decision: str) -> None:
        """Decide on the gap; the same decision again reopens it."""
        gap = self._gaps.get(self._at)
        if gap is None:
            return
        wanted = Decision(decision)
        if _BACK.get(gap.status) is wanted:
            wanted = Decision.REOPEN
        if self._decided(gap.id, wanted):
            self._done.append(gap)

    def action_undo(self) -> None:
        if not self._done:
            self.query_one(Notice).show_message(strings.NOTHING_BACK)
            return
        before = self._done[-1]
        if self._decided(before.id, _BACK[before.status]):
            self._done.pop()

    def _decided(self, gap: GapId, decision: Decision) -> bool:
        """Record a decision in the ledger; return False and show the error if that fails."""
        try:
            now = decide(self.context.vault, gap, decision, self.context.clock(), via="tui")
        except RetainError as error:
            self.show_error(error)
            return False
        self._read()
        self.query_one(Notice).show_message(strings.decided(now, decision))
        return True

    # --- the list ---------------------------------------------------------------------------------------------------

    def action_kind(self, kind: str) -> None:
        self._kind = kind
        self._show()

    def action_settled(self) -> None:
        self._settled = not self._settled
        self._show()

    def action_find(self) -> None:
        self._ask("gaps-find", strings.FIND)

    def action_add(self) -> None:
        if self._at in self._gaps:
            self._ask("gaps-file", strings.FILLS)

    def _ask(self, name: str, label: str) -> None:
        self.query_one("#gaps-label", Static).update(content.plain(label))
        for asked in self.query("#gaps-ask Input").results(Input):
            asked.display = asked.id == name
        self.query_one("#gaps-ask").display = True
        self.set_focus(self.query_one(f"#{name}", Input))

    def on_input_changed(self, message: Input.Changed) -> None:
        if message.input.id == "gaps-find":
            self._words = message.value.strip()
            self._show()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        if message.input.id == "gaps-file" and message.value.strip() and self.context.jobs.running:
            self.show_error(busy())  # what was typed stays, to be entered again
            return
        self._stop_asking()
        if message.input.id == "gaps-file" and message.value.strip() and self._at in self._gaps:
            self.query_one("#gaps-file", Input).value = ""
            self.go("work", shlex.join(["add", "--fills", self._at, "--", whole(message.value.strip())]))

    def _stop_asking(self) -> None:
        self.query_one("#gaps-ask").display = False
        self.query_one(AgendaList).focus()

    def action_back(self) -> None:
        """Close the text field, then the filter, then the agenda."""
        if self.query_one("#gaps-ask").display:
            self._stop_asking()
        elif self._words:
            self.query_one("#gaps-find", Input).value = ""
        else:
            super().action_back()

    def action_move(self, rows: int) -> None:
        move_cursor(self.query_one(AgendaList), rows)

    # --- from here --------------------------------------------------------------------------------------------------

    def on_option_list_option_selected(self) -> None:
        self.action_article()

    def action_article(self, further: int = 0) -> None:
        """Open the article that mentions the gap; with `further`, the next one each time."""
        gap = self._gaps.get(self._at)
        if gap is None:
            return
        pages = [m.path for m in self._mentions.get(gap.id) or mentions_of(self.context.vault, gap)]
        pages = [path for path in pages if path.startswith("wiki/")]
        if pages:
            self.go("article", pages[self._turn % len(pages) if further else 0])
            self._turn += further
        elif self._failing.get(gap.id):
            self.action_card()
        else:
            self.query_one(Notice).show_message(strings.NO_ARTICLE)

    def action_card(self) -> None:
        cards = self._failing.get(GapId(self._at), ())
        if cards:
            self.go("browse", f"id:{cards[0].card}")
        elif self._at in self._gaps:
            self.query_one(Notice).show_message(strings.NO_CARD)

    def action_query(self) -> None:
        """Copy a web search query to the clipboard."""
        gap = self._gaps.get(self._at)
        if gap is not None:
            words = self._query_for(gap)
            self.app.copy_to_clipboard(words)
            self.query_one(Notice).show_message(strings.copied(words))

    def _query_for(self, gap: Gap) -> str:
        """Return the search query of a gap, else its name with what is missing."""
        return gap.search or query(f"{gap.what} {gap.missing if gap.kind is not GapKind.LEARNER else ''}")
