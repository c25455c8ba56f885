"""The reading agenda: what is missing, by kind; resolve, ignore or plan, and take it back."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from learning.gaps import Decision, decide, open_by_kind, read_agenda
from tui import text, words
from tui.context import Context
from tui.keys import GAPS, bindings
from tui.page import Page
from tui.widgets.agenda_list import AgendaList
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.gap_view import GapView
from tui.widgets.notice import Notice
from vault.agenda import Gap, GapStatus
from vault.errors import RetainError
from vault.ids import GapId

_TOLD = {
    Decision.RESOLVE: "resolved",
    Decision.IGNORE: "ignored",
    Decision.PLAN: "planned",
    Decision.REOPEN: "open again",
}
_BACK = {GapStatus.PLANNED: Decision.PLAN, GapStatus.OPEN: Decision.REOPEN}


class GapsScreen(Page):
    NAME = "gaps"
    BINDINGS = bindings(GAPS)  # type: ignore[assignment]

    def __init__(self, context: Context, about: str = "") -> None:
        super().__init__(context, about)
        self._gaps: dict[str, Gap] = {}
        self._at = ""
        self._done: list[Gap] = []  # as they were before each decision

    def compose(self) -> ComposeResult:
        yield TopBar("Reading agenda")
        with Vertical(id="gaps"):
            yield AgendaList()
            yield GapView()
        nothing = "Nothing is missing. `retain compile` looks again when sources change."
        yield Static(text.prose(nothing), markup=False, id="nothing")
        yield Notice()
        yield KeyBar(GAPS)

    def on_mount(self) -> None:
        self._show()
        self.query_one(AgendaList).focus()

    def _show(self) -> None:
        """Reads the agenda and shows what is open."""
        try:
            gaps = open_by_kind(read_agenda(self.context.vault))
        except RetainError as error:
            self.query_one(Notice).failure(error)
            gaps = open_by_kind([])
        self._gaps = {gap.id: gap for of_kind in gaps.values() for gap in of_kind}
        self.query_one("#gaps").display = bool(self._gaps)
        self.query_one("#nothing").display = not self._gaps
        self.query_one(AgendaList).show(gaps)
        self.query_one(TopBar).say(words.counted(len(self._gaps), "open gap"))

    def on_agenda_list_reached(self, message: AgendaList.Reached) -> None:
        self._at = message.gap
        self.query_one(GapView).show(self._gaps.get(self._at))

    def action_decide(self, decision: str) -> None:
        gap = self._gaps.get(self._at)
        if gap is not None and self._decided(gap.id, Decision(decision)):
            self._done.append(gap)

    def action_undo(self) -> None:
        if not self._done:
            self.query_one(Notice).tell("Nothing to take back here.")
            return
        before = self._done[-1]
        if self._decided(before.id, _BACK[before.status]):
            self._done.pop()

    def _decided(self, gap: GapId, decision: Decision) -> bool:
        """Whether the decision is in the ledger; if not, the error is on the screen."""
        notice = self.query_one(Notice)
        try:
            now = decide(self.context.vault, gap, decision, self.context.clock(), via="tui")
        except RetainError as error:
            notice.failure(error)
            return False
        self._show()
        notice.tell(f"{now.what}: {_TOLD[decision]}.")
        return True

    def action_move(self, rows: int) -> None:
        agenda = self.query_one(AgendaList)
        if rows > 0:
            agenda.action_cursor_down()
        else:
            agenda.action_cursor_up()
