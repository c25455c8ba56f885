"""The review's actions on the current card besides rating: source, flag, bury, suspend, edit, undo."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from learning.review.study_session import StudySession
from learning.store.placed import Placed
from tui.context import Context
from tui.external import run_in_terminal, show_result
from tui.screen import Page
from tui.state.review import ReviewSession, pictures_of
from tui.strings import review as said
from tui.text.images import checked_picture, open_in_viewer
from tui.views.card import CardView
from tui.views.evidence import SupportPanel
from tui.views.flag import FlagLine
from tui.views.rating import RatingBar
from tui.widgets.bars import TopBar
from tui.widgets.notice import Notice
from vault.errors import EditedMeanwhile, NotFound, RetainError
from vault.evidence.context import quote_context
from vault.evidence.evidence import Evidence, EvidenceReader

if TYPE_CHECKING:  # few cards are flagged
    from tui.views.flag import FlagLine
    from vault.evidence.context import QuoteContext


class ReviewActions(Page):
    """The actions of the review on the current card besides rating."""

    @dataclass
    class Surrounded(Message):
        """The text around a quote in its source has been read."""

        evidence: Evidence
        around: QuoteContext

    def __init__(self, context: Context, title: str, about: str = "", classes: str = "") -> None:
        super().__init__(context, about, classes=classes)
        self._top, self._notice = TopBar(title), Notice()
        self._card, self._ratings, self._support = CardView(), RatingBar(), SupportPanel()
        self._clock = context.clock
        self._study_session: ReviewSession | None = None
        self._placed: Placed | None = None
        self._addresses: list[str] = []  # of the sources behind the card on the table; the first one is offered next
        self._shown_address = ""  # the one that the next press opens
        self._shown_picture = ""  # the one that the next press opens
        self._evidence: list[Evidence] | None = None  # of the card on the table, once it was asked for
        self._above = ""
        self._editing_card = False  # the edit screen is open for the current card

    def _deal(self) -> None:
        raise NotImplementedError

    def _show_again(self, placed: Placed) -> None:
        raise NotImplementedError

    def _show_keys(self) -> None:
        raise NotImplementedError

    @property
    def _revealed(self) -> bool:
        return self._study_session is not None and self._placed is not None and self._study_session.revealed

    @property
    def _counting(self) -> StudySession | None:
        """The session if there is a card and its actions are saved, else None; in practice shows a message."""
        if self._study_session is None or self._placed is None:
            return None
        if not isinstance(self._study_session, StudySession):
            self._notice.show_message(said.NOT_IN_PRACTICE)
            return None
        return self._study_session

    # --- marks, and a step back -------------------------------------------------------------------------------------

    def action_bury(self) -> None:
        if (study_session := self._counting) is not None:
            self._do(study_session, study_session.bury, said.BURIED)

    def action_suspend(self) -> None:
        if (study_session := self._counting) is not None:
            self._do(study_session, study_session.suspend, said.SUSPENDED)

    def action_undo(self) -> None:
        """Undo the last step, show what it was, and show that card again."""
        study_session = self._study_session
        if study_session is None:
            return
        self._close_flag()
        if not self._confirmed(study_session):
            return
        try:
            undone = study_session.undo()
        except NotFound as error:  # there is nothing to take back: no fault
            self._notice.show_message(f"{error.what} ({error.hint})" if error.hint else error.what)
            return
        except RetainError as error:
            self._notice.show_error(error)
            return
        self._deal_again(study_session)
        self._notice.show_message(said.undone(undone))

    def _deal_again(self, study_session: ReviewSession) -> None:
        """Show the card that undo returned to; its answer stays visible if it was."""
        revealed = study_session.revealed
        self._deal()
        if revealed and self._placed is not None:
            self._show_again(self._placed)

    def _confirmed(self, study_session: ReviewSession) -> bool:
        """Have the last rating on disk. If that fails, show the error and its card again; return False."""
        try:
            study_session.confirm()
        except RetainError as error:
            self._deal_again(study_session)
            self._notice.show_error(error)
            return False
        return True

    def _do(self, study_session: ReviewSession, step: Callable[[], None], message: str = "") -> None:
        """Run a step and show the next card and a message; if saving fails, keep the card and show the error."""
        if not self._confirmed(study_session):
            return
        try:
            step()
        except RetainError as error:
            if isinstance(error, EditedMeanwhile):
                self._deal()
            self._notice.show_error(error)
            return
        self._notice.clear()
        if message:
            self._notice.show_message(message)
        self._deal()

    async def action_flag(self) -> None:
        """Ask for the reason of a flag."""
        if self._counting is None or self.query(FlagLine):
            return
        self._pause()
        await self.mount(FlagLine(), before=self._ratings)
        self.add_class("-flagging")
        self.query_one(FlagLine).ask()

    def on_flag_line_given(self, message: FlagLine.Given) -> None:
        self._close_flag()
        study_session = self._counting
        if study_session is None or self._placed is None or not self._confirmed(study_session):
            return
        try:
            study_session.flag(message.reason)
        except RetainError as error:
            self._notice.show_error(error)
            return
        self._show_keys()
        self._notice.show_message(said.flagged(message.reason))

    def on_flag_line_left(self) -> None:
        self._close_flag()

    def _close_flag(self) -> None:
        if self.has_class("-flagging"):
            self.query("FlagLine").remove()
            self.remove_class("-flagging")
            self.set_focus(None)
            self._note_activity()

    # --- mending ----------------------------------------------------------------------------------------------------

    def action_edit(self) -> None:
        """Open the card in the edit screen."""
        if self._placed is not None:
            self._editing_card = True
            self.go("edit", self._placed.id)

    def action_new_card(self) -> None:
        """Let the user write a card for the deck of the current one."""
        if self._study_session is not None:
            self._pause()
            self.go("new", self._placed.deck.path if self._placed is not None else "")

    def action_info(self) -> None:
        """Show the schedule and the ratings of the current card."""
        if self._placed is not None and self._study_session is not None and self._confirmed(self._study_session):
            self._pause()
            self.go("info", self._placed.id)

    def action_edit_outside(self) -> None:
        """Open the card in the user's editor, or in the edit screen if none is set."""
        if self._placed is None:
            return
        if not self.context.editor:
            self.action_edit()
            return

        self._pause()
        ended = run_in_terminal(self.app, self.context, "card", "edit", self._placed.id)
        self._show_edited_card()
        show_result(self, ended)

    def action_insight(self) -> None:
        """At the end, let the user write an insight in their editor."""
        if self._study_session is None or self._placed is not None:
            return

        show_result(self, run_in_terminal(self.app, self.context, "insight"))

    def _show_edited_card(self) -> None:
        """Show the card after an edit, which undo can reverse."""
        self._note_activity()
        if self._placed is None or self._study_session is None:
            return
        now = (
            self._study_session.edited()
            if isinstance(self._study_session, StudySession)
            else self._study_session.table()
        )
        if now is not None:
            self._evidence = None
            self._show_again(now)

    # --- looking around ---------------------------------------------------------------------------------------------

    def action_source(self) -> None:
        """Show the quotes behind the answer, one more at each press; after the last, hide them."""
        panel = self._support
        if not self._revealed:
            return
        self._note_activity()
        if not panel.display:
            panel.show(self._behind())
        elif not panel.next():
            self._hide_source()
            return
        if (quote := panel.looked_at) is not None:
            self.run_worker(lambda: self._look_around(quote), thread=True)
        self._show_keys()

    def _hide_source(self) -> None:
        self._support.display = False
        self._show_keys()

    def _look_around(self, quote: Evidence) -> None:
        with suppress(RetainError):  # then the quote stands alone
            self.post_message(self.Surrounded(quote, quote_context(self.context.vault, quote)))

    def on_review_actions_surrounded(self, message: Surrounded) -> None:
        self._support.place(message.evidence, message.around)

    def action_article(self) -> None:
        """Open the article of the card's concept."""
        if self._placed is None or not self._revealed:
            return
        path = self._placed.article
        if (self.context.vault.root / path).is_file():
            self.go("article", path)
        else:
            self._notice.show_message(said.NO_ARTICLE)

    def _behind(self) -> list[Evidence]:
        """Return the evidence of the card, read once; also collects the addresses of its sources."""
        if self._evidence is None and self._placed is not None:
            self._evidence = EvidenceReader(self.context.vault).of(self._placed.card.support)
            self._addresses = list(dict.fromkeys(each.address for each in self._evidence if each.address))
        return self._evidence or []

    def action_open(self) -> None:
        """Show the web address of the source; pressed again, open it in the browser. Only http and https."""
        if self._placed is None or not self._revealed:
            return
        self._behind()
        if self._shown_address:
            self.app.open_url(self._shown_address)
            self._shown_address = ""
            self._notice.clear()
        elif self._addresses:
            self._shown_address = self._addresses[0]
            self._addresses = [*self._addresses[1:], self._shown_address]
            self._notice.show_message(said.address(self._shown_address))
        else:
            self._notice.show_message(said.NO_ADDRESS)

    def _pictures(self) -> list[str]:
        """Return the card's pictures, and those of its sources once these have been read."""
        if self._placed is None:
            return []
        return pictures_of(self._placed.card, self._evidence or (), revealed=self._revealed)

    def action_picture(self) -> None:
        """Show the path of the card's first picture; pressed again, open it in the desktop's viewer."""
        if self._revealed:
            self._behind()
        found = self._pictures()
        if not found:
            self._notice.show_message(said.NO_PICTURE)
            return

        vault, shown, self._shown_picture = self.context.vault, self._shown_picture, ""
        try:
            if shown == found[0]:
                open_in_viewer(vault, shown, self.context.environment)
                self._notice.clear()
            else:
                self._shown_picture = checked_picture(vault, found[0])
                self._notice.show_message(said.picture(self._shown_picture))
        except RetainError as error:
            self._notice.show_error(error)

    def _reset_lookups(self) -> None:
        """Forget addresses, pictures and evidence of the previous card."""
        self._close_flag()
        self._addresses, self._shown_address, self._evidence = [], "", None
        self._shown_picture = ""
        panel = self._support
        if panel.display:
            panel.display = False

    def action_scroll(self, rows: int) -> None:
        self._note_activity()
        self._card.scroll_rows(rows)

    def action_page(self, pages: int) -> None:
        self._note_activity()
        self._card.scroll_rows(pages * max(1, self._card.size.height - 1))

    # --- time -------------------------------------------------------------------------------------------------------

    def _keep_time(self) -> None:
        """Count time only while this window, program and screen are in front."""
        self.watch(self.app, "app_focus", self._on_front, init=False)
        self.app.app_suspend_signal.subscribe(self, lambda _: self._pause())
        self.app.app_resume_signal.subscribe(self, lambda _: self._come_back())
        if self.context.preferences.show_timer:
            self.set_interval(1, self._tick)

    def _on_front(self, here: bool) -> None:
        self._note_activity() if here else self._pause()

    def _come_back(self) -> None:
        """Repaint after the program was stopped or another program had the terminal."""
        self._note_activity()
        self.refresh(layout=True)

    def on_screen_suspend(self) -> None:
        self._pause()

    def on_screen_resume(self) -> None:
        mends, self._editing_card = self._editing_card, False
        if mends:
            self._show_edited_card()
        elif isinstance(self._study_session, StudySession) and (now := self._study_session.reworded()) is not None:
            self._evidence = None  # it was edited in the browser, or by a compile
            self._show_again(now)
        self._note_activity()

    def _note_activity(self) -> None:
        if isinstance(self._study_session, StudySession):
            self._study_session.stir()

    def _pause(self) -> None:
        if isinstance(self._study_session, StudySession):
            self._study_session.pause()

    def _tick(self) -> None:
        self._say_above(self._above)

    def _timer(self) -> str:
        """Return the time spent on the card, or that it is paused; "" unless the user wants the timer."""
        study_session = self._study_session
        if (
            not self.context.preferences.show_timer
            or not isinstance(study_session, StudySession)
            or self._placed is None
        ):
            return ""
        now = self._clock()
        if study_session.watch.away(now):
            return f" · {said.PAUSED}"
        return f" · {said.timer(int(study_session.watch.spent(now).total_seconds()))}"

    # --- the parts of the screen ------------------------------------------------------------------------------------

    def _say_above(self, words: str) -> None:
        self._above = words
        self._top.show_status(words + self._timer())
