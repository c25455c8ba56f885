"""The review: a question, its answer, a rating; thin over the sitting, which puts each rating on disk first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from learning import changed_card, wording
from learning.changed_card import Changed
from learning.desk import Placed
from learning.sitting import Sitting
from tui.context import Context
from tui.keys import REVIEW, TYPED, Key, bindings
from tui.screens.typing import Typing
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.card_view import CardView
from tui.widgets.notice import Notice
from tui.widgets.progress import Progress
from tui.widgets.rating_bar import RatingBar
from tui.widgets.session_end import SessionEnd
from tui.widgets.support_panel import SupportPanel
from vault.errors import EditedMeanwhile, RetainError
from vault.evidence import Evidence, EvidenceReader
from vault.log_event import Rating

# The key that shows the answer also says Good, as in Anki; held down, it must not race through the deck.
_REPEAT = timedelta(milliseconds=250)


class ReviewScreen(Typing):
    NAME = "review"
    BINDINGS = bindings(REVIEW)  # type: ignore[assignment]

    @dataclass
    class Opened(Message):
        """The vault has been read, and the first card is on the table."""

        sitting: Sitting

    @dataclass
    class Failed(Message):
        """There is nothing to review with."""

        error: RetainError

    class Left(Message):
        """The human goes home."""

    def __init__(self, context: Context, about: str = "") -> None:
        super().__init__(context, about, classes="-waiting")
        self._clock = context.clock
        self._sitting: Sitting | None = None
        self._placed: Placed | None = None
        self._changed: Changed | None = None  # the card on the table, since it was last there
        self._pressed_at = context.clock() - _REPEAT
        self._addresses: list[str] = []  # of the sources behind the card on the table; the first one is offered next
        self._shown_address = ""  # the one that the next press opens

    def compose(self) -> ComposeResult:
        yield TopBar("Review")
        yield Progress()
        with Vertical(id="table"):
            yield CardView()
            yield SupportPanel()
        yield from self.writing()
        yield SessionEnd()
        yield Notice()
        yield RatingBar()
        yield KeyBar(())

    def on_mount(self) -> None:
        self.query_one(TopBar).say("reading the vault …")
        self.run_worker(self._open, thread=True)

    def _open(self) -> None:
        try:
            sitting = Sitting.at(self.context.vault, self._clock, self.context.tag)
            self.post_message(self.Opened(sitting))
        except RetainError as error:
            self.post_message(self.Failed(error))

    def on_review_screen_opened(self, message: Opened) -> None:
        self._sitting = message.sitting
        self._deal()
        if self._placed is not None:
            self.query_one(Notice).found(message.sitting.desk.diagnostics)

    # --- what is shown ----------------------------------------------------------------------------------------------

    def _deal(self) -> None:
        """Shows the front of the next card, or the end."""
        sitting = self._sitting
        if sitting is None:
            return
        self._placed = sitting.table()
        self._addresses, self._shown_address = [], ""
        self.remove_class("-waiting")
        self.set_class(self._placed is None, "-ended")
        self.query_one(SupportPanel).display = False
        self.clear_writing()
        if self._placed is None:
            calendar = sitting.desk.scheduler.calendar
            self.query_one(SessionEnd).show(sitting.tally(), self._clock(), calendar)
        else:
            card, state = self._placed.card, sitting.session.state(self._placed.id)
            self._changed = sitting.changes.of(self._placed.id, state)
            told = wording.change_told(state, self._changed.how if self._changed is not None else "")
            self.query_one(CardView).show(card.kind, self._placed.title, card.question, told)
            self.query_one(RatingBar).ask()
            if self.context.preferences.type_answers:
                self.open_writing()
        self._show_progress(sitting)
        self._show_keys()
        if sitting.problems:
            self.query_one(Notice).failure(sitting.problems.pop())

    def _show_progress(self, sitting: Sitting) -> None:
        counts, done = sitting.session.counts(), sitting.session.done
        kinds = f"{counts.new} new, {counts.learning} learning, {counts.review} review"
        self.query_one(TopBar).say(f"{done} done · {counts.all} left: {kinds}" if counts.all else f"{done} done")
        self.query_one(Progress).show(done, done + counts.all)

    def _show_keys(self) -> None:
        keys = TYPED if self.types else (key for key in REVIEW if self._offered(key))
        self.query_one(KeyBar).show(keys)

    def _offered(self, key: Key) -> bool:
        sitting = self._sitting
        if key.action == "undo":
            return sitting is not None and sitting.session.past is not None
        if key.action in ("reveal", "type"):
            return self._placed is not None and not self._revealed
        if key.action == "open":
            return bool(self._addresses)
        if key.action == "source":
            return self._revealed
        return key.action == "home" or self._placed is not None

    @property
    def _revealed(self) -> bool:
        return self._sitting is not None and self._placed is not None and self._sitting.session.revealed

    # --- what the human does ----------------------------------------------------------------------------------------

    def action_reveal(self) -> None:
        """Shows the answer; pressed again, it says Good, or what is suggested; at the end, it goes on or home."""
        now, before = self._clock(), self._pressed_at
        self._pressed_at = now
        if self._sitting is None:
            return
        if self._placed is None:
            self._deal()
            if self._placed is None:
                self.action_home()
        elif not self._revealed:
            if not self._sitting.reveal():
                self._deal()  # the card has just become another
                return
            self._show_back(self._placed)
            previews = self._sitting.previews()
            self.query_one(RatingBar).offer({rating: wording.interval(state) for rating, state in previews.items()})
            self.compare_writing(self._placed)
            self._show_keys()
        elif now - before >= _REPEAT and (accepted := self.accepted()) is not None:
            self.action_rate(accepted)

    def _show_back(self, placed: Placed) -> None:
        """The answer; where the fact changed, what the learner was asked to remember before stands beside it."""
        view, card, changed = self.query_one(CardView), placed.card, self._changed
        if changed is None or changed.how != changed_card.FACT:
            view.reveal(card.answer)
        else:
            view.reveal_changed(card.answer, changed.before, changed.after if card.human_edited else "")

    def action_rate(self, rating: int) -> None:
        sitting = self._sitting
        if sitting is not None and self._revealed:
            self._do(lambda: sitting.rate(Rating(rating)), self._noted(sitting, Rating(rating)))

    def action_undo(self) -> None:
        if self._sitting is not None:
            self._do(self._sitting.undo)

    def action_bury(self) -> None:
        if self._sitting is not None and self._placed is not None:
            self._do(self._sitting.bury)

    def action_suspend(self) -> None:
        if self._sitting is not None and self._placed is not None:
            self._do(self._sitting.suspend)

    def _noted(self, sitting: Sitting, given: Rating) -> Callable[[], None]:
        """What is written down once the rating is on disk: what had been suggested for what was typed."""
        written = self._written
        return lambda: self.note_grade(sitting, given, written)

    def action_type(self) -> None:
        if self._placed is not None and not self._revealed:
            self.open_writing()
            self._show_keys()

    def on_typed_answer_done(self) -> None:
        self.action_reveal()

    def written_or_not(self) -> None:
        self._show_keys()

    def suggestion_came(self) -> None:
        self._pressed_at = self._clock()

    def _do(self, step: Callable[[], object], then: Callable[[], None] = lambda: None) -> None:
        """Takes a step and deals the next card; if the disk refuses, the card stays and the error says why."""
        try:
            step()
        except RetainError as error:
            if isinstance(error, EditedMeanwhile):
                self._deal()
            self.query_one(Notice).failure(error)
            return
        self.query_one(Notice).clear()
        self._deal()
        try:
            then()
        except RetainError as error:
            self.query_one(Notice).failure(error)

    def action_source(self) -> None:
        """Shows or hides the words that the answer rests on."""
        panel = self.query_one(SupportPanel)
        if panel.display:
            panel.display = False
        elif self._revealed and self._placed is not None:
            panel.show(self._evidence(self._placed))
        self._show_keys()

    def _evidence(self, placed: Placed) -> list[Evidence]:
        """The words behind the answer; that the sources' addresses can be opened is known from here on."""
        evidence = EvidenceReader(self.context.vault).of(placed.card.support)
        self._addresses = list(dict.fromkeys(each.address for each in evidence if each.address))
        return evidence

    def action_open(self) -> None:
        """Shows the web address of the source; pressed again, opens it in the browser. Only http and https."""
        if self._placed is None or not self._revealed:
            return
        if not self._addresses:
            self._evidence(self._placed)
        if self._shown_address:
            self.app.open_url(self._shown_address)
            self._shown_address = ""
            self.query_one(Notice).clear()
        elif self._addresses:
            self._shown_address = self._addresses[0]
            self._addresses = [*self._addresses[1:], self._shown_address]
            self.query_one(Notice).tell(f"{self._shown_address} opens in your browser: press o again")
        else:
            self.query_one(Notice).tell("No source of this card names an address on the web.")

    def action_scroll(self, rows: int) -> None:
        self.query_one(CardView).scroll_relative(y=rows, animate=False)

    def action_page(self, pages: int) -> None:
        view = self.query_one(CardView)
        view.scroll_relative(y=pages * max(1, view.size.height - 1), animate=False)

    def action_home(self) -> None:
        self.post_message(self.Left())

    def on_rating_bar_reveal_clicked(self) -> None:
        self.action_reveal()

    def on_rating_bar_rated(self, message: RatingBar.Rated) -> None:
        self.action_rate(message.rating)
