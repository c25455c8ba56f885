"""What one can do with the card on the table besides rating it: look at its source, mark, mend, take a step back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from textual.message import Message
from textual.widget import Widget

from learning.cards.workspace import Placed
from learning.review.sitting import Sitting
from tui.context import Context
from tui.screen import Page
from tui.state.review import Table
from tui.strings import review as said
from tui.text.review_images import pictures_of
from tui.views.card import CardView
from tui.views.evidence import SupportPanel
from tui.views.rating import RatingBar
from tui.widgets.bars import TopBar
from tui.widgets.notice import Notice
from vault.errors import EditedMeanwhile, NotFound, RetainError
from vault.evidence.evidence import Evidence, EvidenceReader

if TYPE_CHECKING:  # few cards are flagged
    from tui.views.flag import FlagLine
    from vault.evidence.context import QuoteContext

_Part = TypeVar("_Part", bound=Widget)


class ReviewDeeds(Page):
    """The part of the review that acts on its card; what is shown of it, and when, is the screen's."""

    @dataclass
    class Surrounded(Message):
        """What stands around a quote in its source."""

        evidence: Evidence
        around: QuoteContext

    def __init__(self, context: Context, about: str = "", classes: str = "") -> None:
        super().__init__(context, about, classes=classes)
        self._clock = context.clock
        self._sitting: Table | None = None
        self._placed: Placed | None = None
        self._addresses: list[str] = []  # of the sources behind the card on the table; the first one is offered next
        self._shown_address = ""  # the one that the next press opens
        self._shown_picture = ""  # the one that the next press opens
        self._evidence: list[Evidence] | None = None  # of the card on the table, once it was asked for
        self._above = ""
        self._mends = False  # the human has gone to edit the card on the table
        self._parts: dict[type[Widget], Widget] = {}

    def _deal(self) -> None:
        raise NotImplementedError

    def _show_again(self, placed: Placed) -> None:
        raise NotImplementedError

    def _show_keys(self) -> None:
        raise NotImplementedError

    @property
    def _revealed(self) -> bool:
        return self._sitting is not None and self._placed is not None and self._sitting.revealed

    @property
    def _counting(self) -> Sitting | None:
        """The sitting whose deeds are kept; says so where practice keeps none. None without a card."""
        if self._sitting is None or self._placed is None:
            return None
        if not isinstance(self._sitting, Sitting):
            self._notice.tell(said.NOT_IN_PRACTICE)
            return None
        return self._sitting

    # --- marks, and a step back -------------------------------------------------------------------------------------

    def action_bury(self) -> None:
        if (sitting := self._counting) is not None:
            self._do(sitting.bury, said.BURIED)

    def action_suspend(self) -> None:
        if (sitting := self._counting) is not None:
            self._do(sitting.suspend, said.SUSPENDED)

    def action_undo(self) -> None:
        """Takes the last step back, says which it was, and shows that card again."""
        sitting = self._sitting
        if sitting is None:
            return
        self._close_flag()
        try:
            deed = sitting.undo()
        except NotFound as error:  # there is nothing to take back: no fault
            self._notice.tell(f"{error.what} ({error.hint})" if error.hint else error.what)
            return
        except RetainError as error:
            self._notice.failure(error)
            return
        self._deal_again(sitting)
        self._notice.tell(said.undone(deed))

    def _deal_again(self, sitting: Table) -> None:
        """The card that undo leads back to; its answer stays where it was shown, as after a flag."""
        revealed = sitting.revealed
        self._deal()
        if revealed and self._placed is not None:
            self._show_again(self._placed)

    def _do(self, step: Callable[[], None], told: str = "") -> None:
        """Takes a step, deals the next card and tells; if the disk refuses, the card stays and the error says why."""
        try:
            step()
        except RetainError as error:
            if isinstance(error, EditedMeanwhile):
                self._deal()
            self._notice.failure(error)
            return
        self._notice.clear()
        if told:
            self._notice.tell(told)
        self._deal()

    async def action_flag(self) -> None:
        """Asks what is wrong with the card."""
        from tui.views.flag import FlagLine

        if self._counting is None or self.query(FlagLine):
            return
        self._pause()
        await self.mount(FlagLine(), before=self._ratings)
        self.add_class("-flagging")
        self.query_one(FlagLine).ask()

    def on_flag_line_given(self, message: FlagLine.Given) -> None:
        self._close_flag()
        sitting = self._counting
        if sitting is None or self._placed is None:
            return
        try:
            sitting.flag(message.reason)
        except RetainError as error:
            self._notice.failure(error)
            return
        self._show_keys()
        self._notice.tell(said.flagged(message.reason))

    def on_flag_line_left(self) -> None:
        self._close_flag()

    def _close_flag(self) -> None:
        if self.has_class("-flagging"):
            self.query("FlagLine").remove()
            self.remove_class("-flagging")
            self.set_focus(None)
            self._stir()

    # --- mending ----------------------------------------------------------------------------------------------------

    def action_edit(self) -> None:
        """Opens the card's words where they can be changed; back leads to the same card."""
        if self._placed is not None:
            self._mends = True
            self.go("edit", self._placed.id)

    def action_edit_outside(self) -> None:
        """Opens the card in the human's own editor."""
        if self._placed is None:
            return
        from tui.external import run_outside, tell

        self._pause()
        ended = run_outside(self.app, self.context, "card", "edit", self._placed.id)
        self._take_edit()
        tell(self, ended)

    def action_insight(self) -> None:
        """At the end: the human writes a thought of their own, in their own editor."""
        if self._sitting is None or self._placed is not None:
            return
        from tui.external import run_outside, tell

        tell(self, run_outside(self.app, self.context, "insight"))

    def _take_edit(self) -> None:
        """Shows the card as it is after the human's edit, which undo takes back from now on."""
        self._stir()
        if self._placed is None or self._sitting is None:
            return
        now = self._sitting.edited() if isinstance(self._sitting, Sitting) else self._sitting.table()
        if now is not None:
            self._evidence = None
            self._show_again(now)

    # --- looking around ---------------------------------------------------------------------------------------------

    def action_source(self) -> None:
        """Shows the words that the answer rests on; pressed again, the next of them; after the last it is hidden."""
        panel = self._part(SupportPanel)
        if not self._revealed:
            return
        self._stir()
        if not panel.display:
            panel.show(self._behind())
        elif not panel.next():
            panel.display = False
        if panel.display and (quote := panel.looked_at) is not None:
            self.run_worker(lambda: self._look_around(quote), thread=True)
        self._show_keys()

    def _look_around(self, quote: Evidence) -> None:
        from vault.evidence.context import quote_context

        with suppress(RetainError):  # then the quote stands alone
            self.post_message(self.Surrounded(quote, quote_context(self.context.vault, quote)))

    def on_review_deeds_surrounded(self, message: Surrounded) -> None:
        self._part(SupportPanel).place(message.evidence, message.around)

    def action_article(self) -> None:
        """Opens the article of the card's concept; back leads to the same card, as it was."""
        if self._placed is None or not self._revealed:
            return
        path = self._placed.article
        if (self.context.vault.root / path).is_file():
            self.go("article", path)
        else:
            self._notice.tell(said.NO_ARTICLE)

    def _behind(self) -> list[Evidence]:
        """The words behind the answer; that the sources' addresses can be opened is known from here on."""
        if self._evidence is None and self._placed is not None:
            self._evidence = EvidenceReader(self.context.vault).of(self._placed.card.support)
            self._addresses = list(dict.fromkeys(each.address for each in self._evidence if each.address))
        return self._evidence or []

    def action_open(self) -> None:
        """Shows the web address of the source; pressed again, opens it in the browser. Only http and https."""
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
            self._notice.tell(said.address(self._shown_address))
        else:
            self._notice.tell(said.NO_ADDRESS)

    def _pictures(self) -> list[str]:
        """The card's pictures, those of its sources if these have been asked for."""
        if self._placed is None:
            return []
        return pictures_of(self._placed.card, self._evidence or (), revealed=self._revealed)

    def action_picture(self) -> None:
        """Shows where the card's first picture lies; pressed again, opens it in the desktop's program."""
        if self._revealed:
            self._behind()
        found = self._pictures()
        if not found:
            self._notice.tell(said.NO_PICTURE)
            return
        from tui.text.images import checked_for_outside, open_outside  # with what draws them, which few cards need

        vault, shown, self._shown_picture = self.context.vault, self._shown_picture, ""
        try:
            if shown == found[0]:
                open_outside(vault, shown, self.context.environment)
                self._notice.clear()
            else:
                self._shown_picture = checked_for_outside(vault, found[0])
                self._notice.tell(said.picture(self._shown_picture))
        except RetainError as error:
            self._notice.failure(error)

    def _forget_looks(self) -> None:
        """Nothing that was looked at belongs to the next card."""
        self._close_flag()
        self._addresses, self._shown_address, self._evidence = [], "", None
        self._shown_picture = ""
        panel = self._part(SupportPanel)
        if panel.display:
            panel.display = False

    def action_scroll(self, rows: int) -> None:
        self._stir()
        self._card.scroll_rows(rows)

    def action_page(self, pages: int) -> None:
        self._stir()
        self._card.scroll_rows(pages * max(1, self._card.size.height - 1))

    # --- time -------------------------------------------------------------------------------------------------------

    def _keep_time(self) -> None:
        """Counts only while the human is here: not while another window, program or screen is in front."""
        self.watch(self.app, "app_focus", self._on_front, init=False)
        self.app.app_suspend_signal.subscribe(self, lambda _: self._pause())
        self.app.app_resume_signal.subscribe(self, lambda _: self._come_back())
        if self.context.preferences.show_timer:
            self.set_interval(1, self._tick)

    def _on_front(self, here: bool) -> None:
        self._stir() if here else self._pause()

    def _come_back(self) -> None:
        """After the program was stopped, or the terminal lent out: it is painted again as it was."""
        self._stir()
        self.refresh(layout=True)

    def on_screen_suspend(self) -> None:
        self._pause()

    def on_screen_resume(self) -> None:
        mends, self._mends = self._mends, False
        if mends:
            self._take_edit()
        elif isinstance(self._sitting, Sitting) and (now := self._sitting.reworded()) is not None:
            self._evidence = None  # it was edited in the browser, or by a compile
            self._show_again(now)
        self._stir()

    def _stir(self) -> None:
        if isinstance(self._sitting, Sitting):
            self._sitting.stir()

    def _pause(self) -> None:
        if isinstance(self._sitting, Sitting):
            self._sitting.pause()

    def _tick(self) -> None:
        self._say_above(self._above)

    def _timer(self) -> str:
        """How long the card has been looked at, or that time does not count; "" unless the user wants to see it."""
        sitting = self._sitting
        if not self.context.preferences.show_timer or not isinstance(sitting, Sitting) or self._placed is None:
            return ""
        now = self._clock()
        if sitting.watch.away(now):
            return f" · {said.PAUSED}"
        return f" · {said.timer(int(sitting.watch.spent(now).total_seconds()))}"

    # --- the parts of the screen ------------------------------------------------------------------------------------

    def _say_above(self, words: str) -> None:
        self._above = words
        self._part(TopBar).say(words + self._timer())

    def _part(self, kind: type[_Part]) -> _Part:
        """The one widget of its kind, looked for once: the hot path asks at each key."""
        found = self._parts.get(kind)
        if not isinstance(found, kind):
            found = self._parts[kind] = self.query_one(kind)
        return found

    @property
    def _notice(self) -> Notice:
        return self._part(Notice)

    @property
    def _card(self) -> CardView:
        return self._part(CardView)

    @property
    def _ratings(self) -> RatingBar:
        return self._part(RatingBar)
