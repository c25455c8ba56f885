"""The review screen: question, answer, rating. The session saves each rating first."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Resize
from textual.message import Message

from learning.cards import changes
from learning.cards.workspace import open_desk
from learning.memory import labels
from learning.memory.state import Phase
from learning.review.more_new import USUAL, allow_more, take_back
from learning.review.plan import Mode, Plan, plan_of
from learning.review.practice_session import PracticeSession
from learning.review.study_session import StudySession
from learning.review.summary import Tally
from learning.store.placed import Placed
from tui.context import REPEAT_S, Context
from tui.keys import REVIEW, TYPED, Key
from tui.screen import Page
from tui.screens.typed_review import Typing
from tui.state.review import ReviewSession
from tui.strings import review as said
from tui.strings import typed
from tui.views.card import COLUMN, MARGIN, Face
from tui.views.rating import RatingBar
from tui.views.session_end import SessionEnd
from tui.widgets.bars import KeyBar, Progress
from vault.errors import RetainError
from vault.log.events import More, Rating

_AT_THE_END = ("insight", "ahead", "more")


class Table(Vertical):
    """The card, and below it the quotes behind it, in one column, so that the card stays where it is."""

    BLANK = True


class ReviewScreen(Typing, key="review"):
    """The review. `about` is a plan as text; "" is today's queue with the context's tag."""

    @dataclass
    class Opened(Message):
        """The vault has been read, and the first card is ready."""

        study_session: ReviewSession
        message: str = ""

    class Failed(Page.Failed):
        """The vault or the review log could not be read."""

    @dataclass
    class Refused(Message):
        """What was to be done before a session goes on was refused."""

        error: RetainError

    class Left(Message):
        """The user goes home."""

    @dataclass
    class Painted(Message):
        """What was shown as number `shown` is visible on the terminal."""

        shown: int

    @dataclass
    class Tallied(Message):
        """The summary of the session is complete."""

        tally: Tally

    def __init__(self, context: Context, about: str = "") -> None:
        self._wrong: RetainError | None = None
        try:
            self._plan = plan_of(about) if about else Plan(tag=context.tag)
        except RetainError as error:
            self._plan, self._wrong = Plan(), error
        super().__init__(context, said.TITLES[self._plan.mode], about, classes="-waiting")
        self._progress, self._end, self._keys = Progress(), SessionEnd(), KeyBar(())
        self._asked_to_leave = False  # at the end: one more press goes home
        self._reopening = False  # the pages are being written, and the vault read again
        self._shown = 0  # answers and ends so far
        self._ready_at_s: float | None = None  # from then on a press was made by someone who saw what is shown
        self._asked_early = False  # for the answer, before the vault was read
        self._bar: list[Key] = []  # the keys at the foot
        self._allowed: More | None = None  # the decision for more new cards today that undo takes back

    def compose(self) -> ComposeResult:
        yield self._top
        yield self._progress
        with Table(id="table"):
            yield self._card
            yield self._support
        yield self._end
        yield self._notice
        yield self._ratings
        yield self._keys

    def on_mount(self) -> None:
        self._say_above(said.READING)
        self._keep_time()
        self._reopen(self._plan)

    def on_resize(self, event: Resize) -> None:
        """Keep the quotes in the column of the card."""
        self._support.styles.margin = (0, max(0, event.size.width - COLUMN) // 2 + MARGIN - 1)

    def _reopen(self, plan: Plan, first: Callable[[], str] = lambda: "") -> None:
        """Do `first`, write the pages of the finished session, and begin a new session with `plan`; show the message
        that `first` returns.
        """
        before, self._plan, self._reopening = self._study_session, plan, True
        self.run_worker(lambda: self._open(before, first), thread=True, group="open")

    def _open(self, before: ReviewSession | None, first: Callable[[], str]) -> None:
        with self.posting_errors():
            if self._wrong is not None:
                raise self._wrong
            try:
                message = first()
            except RetainError as error:
                self.post_message(self.Refused(error))
                return
            if isinstance(before, StudySession):
                before.finish()
            self.post_message(self.Opened(self._opened(), message))

    def _opened(self) -> ReviewSession:
        if self._plan.counts:
            return StudySession.at(self.context.vault, self._clock, None, plan=self._plan)

        return PracticeSession.at(self.context.vault, self._clock, self._plan)

    def on_review_screen_opened(self, message: Opened) -> None:
        self._begin(message.study_session)
        if message.message:
            self._notice.show_message(message.message)

    def on_review_screen_refused(self, message: Refused) -> None:
        """Stay at the end of the session, and show why it does not go on."""
        self._reopening = False
        self.show_error(message.error)

    def _begin(self, study_session: ReviewSession) -> None:
        self._study_session, self._reopening = study_session, False
        gc.freeze()  # what was read stays: searching it for garbage would make a key wait for tens of milliseconds
        self._deal()
        if self._placed is not None:
            self._notice.show_findings(study_session.desk.diagnostics)
            if self._asked_early:
                self._asked_early = False
                self.action_reveal()

    # --- what is shown ----------------------------------------------------------------------------------------------

    def _deal(self) -> None:
        """Show the front of the next card, or the end of the session."""
        study_session = self._study_session
        if study_session is None:
            return
        self._placed = study_session.table()
        self._reset_lookups()
        self.clear_writing()
        self.remove_class("-waiting")
        self.set_class(self._placed is None, "-ended")
        self._asked_to_leave = False
        if self._placed is None:
            self._show_end(study_session)
        else:
            self._show_front(study_session, self._placed)
            self.begin_writing()
        self._card.call_after_refresh(self._after_paint)
        self._show_progress(study_session)
        self._show_keys()
        if study_session.problems:
            self._notice.show_error(study_session.problems.pop())

    def _show_front(self, study_session: ReviewSession, placed: Placed) -> None:
        self._card.show(self._face(study_session, placed))
        self._ratings.ask()

    def _show_back(self, study_session: ReviewSession, placed: Placed) -> None:
        self._card.show(self._face(study_session, placed, revealed=True))
        self._ratings.offer(self._intervals(study_session))

    def _face(self, study_session: ReviewSession, placed: Placed, *, revealed: bool = False) -> Face:
        """Return what is shown of a card; if its fact has changed, the answer is beside the earlier one."""
        card, state = placed.card, study_session.state(placed.id)
        changed = study_session.changes.of(placed.id, state)
        note = labels.change_note(state, changed.how if changed is not None else "")
        title = labels.title_before_answer(placed.title, card.answer)
        front = Face(placed.kind, title, card.question, note)
        if not revealed:
            return front
        if changed is None or changed.how != changes.FACT:
            return front.with_answer(card.answer)
        return front.with_changed_answer(card.answer, changed.before, changed.after if card.human_edited else "")

    def _show_end(self, study_session: ReviewSession) -> None:
        """Show the summary of the session at once, and what comes next when it has been computed."""
        self._wait_until_painted()
        tally = study_session.done_so_far()
        self._end.show(tally, self._clock(), study_session.desk, self._plan, complete=not study_session.counts)
        if isinstance(study_session, StudySession):
            self.run_worker(lambda: self._tally(study_session), thread=True, group="end", exclusive=True)

    def _tally(self, study_session: StudySession) -> None:
        self.post_message(self.Tallied(study_session.tally()))

    def on_review_screen_tallied(self, message: Tallied) -> None:
        if self._study_session is not None and self._placed is None:
            self._end.show(message.tally, self._clock(), self._study_session.desk, self._plan, complete=True)

    def _show_progress(self, study_session: ReviewSession) -> None:
        if isinstance(study_session, StudySession):
            self._say_above(said.progress(study_session.done, study_session.session.counts()))
        else:
            self._say_above(said.practice_progress(self._plan, study_session.done, study_session.left))
        self._progress.show(study_session.done, study_session.done + study_session.left)

    def _show_keys(self) -> None:
        keys = list(TYPED) if self.types else [key for key in REVIEW if key.words and self.offers(key)]
        if keys != self._bar:
            self._bar = keys
            self._keys.show(keys)

    def offers(self, key: Key) -> bool:
        study_session, action = self._study_session, key.action.partition("(")[0]
        if action == "undo":
            return study_session is not None and (study_session.can_undo or self._allowed is not None)
        if action == "new_card":
            return study_session is not None
        if action in ("reveal", "type"):
            return self._placed is not None and not self._revealed
        if action == "open":
            return bool(self._addresses)
        if action == "picture":
            return bool(self._pictures())
        if action in ("source", "article", "rate"):
            return self._revealed
        if action in _AT_THE_END:
            at_end = study_session is not None and self._placed is None and study_session.counts
            return at_end and (action != "more" or self._has_more_new)
        if action in ("bury", "suspend", "flag"):
            return self._placed is not None and study_session is not None and study_session.counts
        return action == "home" or self._placed is not None

    # --- the answer and its rating ----------------------------------------------------------------------------------

    def action_reveal(self) -> None:
        """Show the answer; pressed again, rate Good or as suggested; at the end, continue or go home."""
        if self._study_session is None:
            self._asked_early = True
        elif self._placed is None:
            self._go_on(self._study_session, meant=self._meant)
        elif not self._revealed:
            self._reveal(self._study_session, self._placed)
        elif self._meant and (accepted := self.accepted()) is not None:
            self.action_rate(accepted)
        elif self._meant:
            self._notice.show_message(typed.PRESS_A_NUMBER)

    def _go_on(self, study_session: ReviewSession, *, meant: bool) -> None:
        """At the end, continue with a card that is due again, else go home; a press by accident does not leave."""
        asked, rated = self._asked_to_leave, study_session.done
        self._deal()
        if self._placed is not None:
            return
        if not rated or (asked and meant):
            self.action_home()
        elif meant:
            self._asked_to_leave = True
            self._notice.show_message(said.ONCE_MORE)

    @property
    def _meant(self) -> bool:
        """Whether the key was pressed after the current content was visible, and not held down."""
        presses, ready = self.context.presses, self._ready_at_s
        return not presses.repeated and ready is not None and presses.at_s >= ready

    def _wait_until_painted(self) -> None:
        """Ignore rating presses until the new content has been painted and a moment has passed."""
        self._ready_at_s = None
        self._shown += 1
        shown = self._shown
        self._card.call_after_refresh(lambda: self.post_message(self.Painted(shown)))  # of itself, it'd be too early

    def on_review_screen_painted(self, message: Painted) -> None:
        if message.shown == self._shown:
            self._ready_at_s = message.time + REPEAT_S
            self._after_paint()

    def _after_paint(self) -> None:
        """Have the last rating on disk, and make the rows of what the next key will show, while the user reads."""
        study_session, placed = self._study_session, self._placed
        if study_session is None or not self._confirmed(study_session) or placed is None:
            return
        if self._revealed:
            for following in study_session.upcoming():
                self._card.prepare(self._face(study_session, following))
        else:
            self._card.prepare(self._face(study_session, placed, revealed=True))
            self._ratings.prepare(self._ratings.offering(self._intervals(study_session)))

    def _reveal(self, study_session: ReviewSession, placed: Placed) -> None:
        self._note_activity()
        if not self._confirmed(study_session):
            return
        self._wait_until_painted()
        if not study_session.reveal():
            self._deal()  # the card has just become another
            return
        self._notice.clear_message()
        self._show_back(study_session, placed)
        self.compare_writing(placed)
        self._show_keys()

    def _intervals(self, study_session: ReviewSession) -> dict[Rating, str]:
        if isinstance(study_session, StudySession):
            return {rating: labels.interval(state) for rating, state in study_session.previews().items()}
        return {rating: said.in_practice(self._plan.mode, rating) for rating in Rating}

    def _show_again(self, placed: Placed) -> None:
        """Show the current card with its current text; the answer stays visible if it was."""
        study_session, self._placed = self._study_session, placed
        assert study_session is not None
        if self._revealed:
            self._show_back(study_session, placed)
        else:
            self._show_front(study_session, placed)
        self._show_keys()

    def action_rate(self, rating: int) -> None:
        study_session = self._study_session
        if study_session is not None and self._revealed:
            self._do(study_session, lambda: self.rate_written(study_session, Rating(rating)))

    def on_typed_answer_done(self) -> None:
        self.action_reveal()

    def suggestion_shown(self) -> None:
        self._wait_until_painted()

    # --- the end ----------------------------------------------------------------------------------------------------

    def action_ahead(self) -> None:
        """At the end, continue with the cards due by tomorrow."""
        if self._study_session is None or self._placed is not None or not self._study_session.counts or self._reopening:
            return
        days = self._plan.days + 1 if self._plan.mode is Mode.AHEAD else 1
        self._allowed = None  # from here on, ratings may follow
        self._say_above(said.READING)
        self._reopen(Plan(Mode.AHEAD, self._plan.tag, 0, days))

    @property
    def _has_more_new(self) -> bool:
        """Whether cards are left that are new."""
        session = self._study_session
        return session is not None and any(session.state(i.card).phase is Phase.NEW for i in session.desk.queue.new)

    def action_more(self) -> None:
        """At the end, let 10 more new cards into today's queue, and continue with them."""
        if self._study_session is None or self._placed is not None or not self._study_session.counts or self._reopening:
            return
        plan = Plan(Mode.REVIEW, self._plan.tag)
        self._reopen(plan, lambda: self._allow_more(plan.tag))

    def _allow_more(self, tag: str) -> str:
        """Allow more new cards today; return how many come."""
        desk = open_desk(self.context.vault, self._clock(), tag=tag)
        after, self._allowed = allow_more(desk, USUAL, via="tui")
        return said.more_new(after.today["new"] - desk.today["new"])

    def action_undo(self) -> None:
        """Undo the last step; where nothing was done since more new cards were allowed, that decision."""
        study_session, allowed = self._study_session, self._allowed
        if study_session is None or study_session.can_undo or allowed is None or self._reopening:
            super().action_undo()
            return
        self._reopen(self._plan, lambda: self._take_back(allowed))

    def _take_back(self, allowed: More) -> str:
        take_back(open_desk(self.context.vault, self._clock(), queued=False), allowed, via="tui")
        self._allowed = None
        return said.NO_MORE_NEW

    def action_home(self) -> None:
        """Close the source panel, else leave the review."""
        if self._support.display:
            self._hide_source()
        else:
            self.post_message(self.Left())

    def on_rating_bar_reveal_clicked(self) -> None:
        self.action_reveal()

    def on_rating_bar_rated(self, message: RatingBar.Rated) -> None:
        """Rate by a click; the second click of a double click on the answer does not count."""
        if self._ready_at_s is not None and message.at_s >= self._ready_at_s:
            self.action_rate(message.rating)
