"""Answers in writing, a part of the review: typed, then shown, compared and, if a model may, graded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Event
from typing import TYPE_CHECKING

from textual.containers import Center
from textual.message import Message

from learning.review.sitting import Sitting
from tui.context import Context
from tui.screens.review_actions import ReviewDeeds
from tui.state.review import Table
from tui.strings import typed as said
from vault.errors import ModelUnavailable, RetainError
from vault.log.events import Rating

if TYPE_CHECKING:  # few type their answers
    from learning.cards.workspace import Placed
    from learning.review.typed_answer import Comparison
    from tui.views.typed_answer import TypedAnswer
    from vault.log.grading import Grade, Grader


@dataclass(slots=True)
class Written:
    """An answer that was typed, and what it came to so far. `gone` is set when the human has gone on."""

    comparison: Comparison
    grader: Grader | None
    gone: Event
    grade: Grade | None = None

    @property
    def suggested(self) -> Rating | None:
        return self.grade.suggested if self.grade is not None else self.comparison.suggested


class Typing(ReviewDeeds):
    """The part of the review in which one writes. Nothing of what is typed is kept once the card has been rated."""

    @dataclass
    class Graded(Message):
        """What a model says of what was written; `problem` why it says nothing."""

        written: Written
        grade: Grade | None
        problem: RetainError | None = None

    def __init__(self, context: Context, about: str = "", classes: str = "") -> None:
        super().__init__(context, about, classes=classes)
        self._written: Written | None = None
        self._field: TypedAnswer | None = None  # in which an answer is being typed

    @property
    def types(self) -> bool:
        """Whether an answer is being typed."""
        return self._field is not None

    def action_type(self) -> None:
        """Asks for the answer in writing, before it is shown."""
        if self._placed is None or self._revealed or self.types:
            return
        from tui.views.typed_answer import TypedAnswer

        self._field = TypedAnswer("typed-answer")  # the one before it may not have gone from the screen yet
        self.mount(Center(self._field, classes="writing"), before=self._ratings)
        self.add_class("-typing")
        self.set_focus(self._field)
        self._ratings.ask_typed()
        self._show_keys()

    def begin_writing(self) -> None:
        """A card was dealt: whoever always types is asked to."""
        if self.context.preferences.type_answers:
            self.action_type()

    def clear_writing(self) -> None:
        """Another card is on the table, or none."""
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
        self._stir()

    # --- what was written --------------------------------------------------------------------------------------------

    def compare_writing(self, placed: Placed) -> None:
        """The answer is shown: what was typed is held against it."""
        if self._field is None:
            return
        from learning.review.typed_answer import compare
        from tui.views.verdict import Verdict
        from vault.model import latex

        card, words = placed.card, self._field.text.strip()
        self._close_writing()
        found = compare(latex.text(card.question), latex.text(card.answer), words)
        written = self._written = Written(found, self._grader() if words else None, Event())
        self.mount(Verdict(found, said.ASKING if written.grader else ""), before=self._ratings)
        self._ratings.suggest(written.suggested)
        if written.grader is not None:
            self.run_worker(lambda: self._ask(written, placed), thread=True)

    def _grader(self) -> Grader | None:
        """Who grades; nobody unless the user has named a model for that."""
        from compiler.engines.grading.configured import grader  # late: most answers are not typed

        try:
            return grader(self.context.environment)
        except ModelUnavailable:
            return None
        except RetainError as error:
            self.say(error)
            return None

    def _ask(self, written: Written, placed: Placed) -> None:
        from vault.evidence.evidence import EvidenceReader
        from vault.log.grading import GradeRequest
        from vault.model import latex

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
            return  # the human did not wait
        from tui.views.verdict import Verdict

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
        self.suggestion_came()

    def suggestion_came(self) -> None:
        """A key that was pressed for something else is not to take it."""

    def accepted(self) -> Rating | None:
        """What the key that shows the answer says once that is shown: Good, or what is suggested for what was typed."""
        return Rating.GOOD if self._written is None else self._written.suggested

    def rate_written(self, sitting: Table, given: Rating) -> None:
        """Rates, and writes down beside it what had been suggested. Raises: as `Sitting.rate` does."""
        written = self._written
        sitting.rate(given)
        if written is None or not isinstance(sitting, Sitting):
            return
        try:
            _note(sitting, given, written)
        except RetainError as error:  # the rating stands
            self.call_after_refresh(self.say, error)


def _note(sitting: Sitting, given: Rating, written: Written) -> None:
    from learning.review.typed_answer import NAME

    found, grade = written.comparison, written.grade
    if grade is not None:
        sitting.note_grade(grade.suggested, given, grade.engine, len(grade.met), len(grade.missed))
    else:
        sitting.note_grade(found.suggested, given, NAME, len(found.said), len(found.missing))
