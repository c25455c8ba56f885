"""Typed answers in the review: compared with the card and, if configured, graded by a model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Event
from typing import TYPE_CHECKING

from textual.containers import Center
from textual.message import Message

from learning.review.study_session import StudySession
from learning.review.typed_answer import NAME, compare
from tui.context import Context
from tui.screens.review_actions import ReviewActions
from tui.state.review import ReviewSession
from tui.strings import typed as said
from tui.views.typed_answer import TypedAnswer
from tui.views.verdict import Verdict
from vault.errors import ModelUnavailable, RetainError
from vault.evidence.evidence import EvidenceReader
from vault.log.events import Rating
from vault.log.grading import GradeRequest
from vault.model import latex
from vault.model.card import split_quote

if TYPE_CHECKING:  # few type their answers
    from learning.review.typed_answer import Comparison
    from learning.store.placed import Placed
    from tui.views.typed_answer import TypedAnswer
    from vault.log.grading import Grade, Grader


@dataclass(slots=True)
class Written:
    """A typed answer and its comparison so far. `gone` is set when the user has gone on to another card."""

    comparison: Comparison
    grader: Grader | None
    gone: Event
    grade: Grade | None = None

    @property
    def suggested(self) -> Rating | None:
        return self.grade.suggested if self.grade is not None else self.comparison.suggested


class Typing(ReviewActions):
    """The part of the review where answers are typed; what was typed is dropped after the rating."""

    @dataclass
    class Graded(Message):
        """A model's grade of the typed answer; `problem` if there is none."""

        written: Written
        grade: Grade | None
        problem: RetainError | None = None

    def __init__(self, context: Context, title: str, about: str = "", classes: str = "") -> None:
        super().__init__(context, title, about, classes)
        self._written: Written | None = None
        self._field: TypedAnswer | None = None  # in which an answer is being typed

    @property
    def types(self) -> bool:
        """Whether an answer is being typed."""
        return self._field is not None

    def action_type(self) -> None:
        """Let the user type the answer before it is shown."""
        if self._placed is None or self._revealed or self.types:
            return

        self._field = TypedAnswer("typed-answer")  # the one before it may not have gone from the screen yet
        self.mount(Center(self._field, classes="writing"), before=self._ratings)
        self.add_class("-typing")
        self.set_focus(self._field)
        self._ratings.ask_typed()
        self._show_keys()

    def begin_writing(self) -> None:
        """Start typing at a new card if the user always types."""
        if self.context.preferences.type_answers:
            self.action_type()

    def clear_writing(self) -> None:
        """Drop the typed answer of the previous card."""
        if self._written is not None:
            self._written.gone.set()
            self._written = None
            self.query("Verdict").remove()
        self._close_writing()

    def _close_writing(self) -> None:
        if self.types:
            self._field = None
            self.query(".writing").remove()
            self.remove_class("-typing")
            self.set_focus(None)

    def on_typed_answer_left(self) -> None:
        self._close_writing()
        self._ratings.ask()
        self._show_keys()

    def on_text_area_changed(self) -> None:
        self._note_activity()

    # --- what was written --------------------------------------------------------------------------------------------

    def compare_writing(self, placed: Placed) -> None:
        """Compare the typed answer with the card's."""
        if self._field is None:
            return

        card, words = placed.card, self._field.text.strip()
        self._close_writing()
        answer, _ = split_quote(card.answer)  # where the card is from is no part of it
        found = compare(latex.text(card.question), latex.text(answer or card.answer), words)
        written = self._written = Written(found, self._grader() if words else None, Event())
        self.mount(Verdict(found, said.ASKING if written.grader else ""), before=self._ratings)
        self._ratings.suggest(written.suggested)
        if written.grader is not None:
            self.run_worker(lambda: self._ask(written, placed), thread=True)

    def _grader(self) -> Grader | None:
        """Return the model that grades; None unless the user has configured one."""
        from compiler.engines.grading.grader import configured_grader  # late: most answers are not typed

        try:
            return configured_grader(self.context.environment)
        except ModelUnavailable:
            return None
        except RetainError as error:
            self.show_error(error)
            return None

    def _ask(self, written: Written, placed: Placed) -> None:
        card, found = placed.card, written.comparison
        try:
            evidence = EvidenceReader(self.context.vault).of(card.support)
            quotes = tuple(each.claim.quote for each in evidence if each.claim is not None)
            asked = GradeRequest(latex.text(card.question), found.reference, found.answer, quotes, card.kind or "")
            assert written.grader is not None
            self.post_message(self.Graded(written, written.grader.grade(asked, written.gone.is_set)))
        except RetainError as problem:
            self.post_message(self.Graded(written, None, problem))

    def on_typing_graded(self, message: Graded) -> None:
        written = message.written
        if written is not self._written:
            return  # the user has gone on

        verdict, grader = self.query_one(Verdict), written.grader
        if message.grade is None or grader is None:
            written.grader = None
            verdict.compared(written.comparison, str(message.problem or ""))
        else:
            found = message.grade
            if written.comparison.clashes and found.suggested is Rating.GOOD:  # a number against it weighs more
                found = replace(found, suggested=None)
            written.grade = found
            verdict.graded(written.comparison, found, grader.place)
        self._ratings.suggest(written.suggested)
        self.suggestion_shown()

    def suggestion_shown(self) -> None:
        """Called when a suggested rating appears, so that an earlier key press does not accept it."""

    def accepted(self) -> Rating | None:
        """Return the rating that space gives once the answer is shown: Good, or the suggested one."""
        return Rating.GOOD if self._written is None else self._written.suggested

    def rate_written(self, study_session: ReviewSession, given: Rating) -> None:
        """Rate the card, and record what was suggested. Raises: as `StudySession.rate` does.

        The rating of an answer that was not typed is not synced yet.
        """
        written = self._written
        study_session.rate(given, sync=written is not None)
        if written is None or not isinstance(study_session, StudySession):
            return
        try:
            _note(study_session, given, written)
        except RetainError as error:  # the rating stands
            self.call_after_refresh(self.show_error, error)


def _note(study_session: StudySession, given: Rating, written: Written) -> None:
    found, grade = written.comparison, written.grade
    if grade is not None:
        study_session.note_grade(grade.suggested, given, grade.engine, len(grade.met), len(grade.missed))
    else:
        study_session.note_grade(found.suggested, given, NAME, len(found.said), len(found.missing))
