"""Answers in writing, a part of the review: typed, then shown, compared and, if a model may, graded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING

from textual.message import Message
from textual.widget import Widget

from tui.context import Context
from tui.page import Page
from tui.strings import typed as said
from tui.widgets.rating_bar import RatingBar
from tui.widgets.typed_answer import TypedAnswer
from tui.widgets.verdict import Verdict
from vault.errors import ModelUnavailable, RetainError
from vault.log_event import Rating

if TYPE_CHECKING:
    from learning.comparison import Comparison
    from learning.desk import Placed
    from learning.sitting import Sitting
    from vault.grading import Grade, Grader


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

    @property
    def pending(self) -> bool:
        return self.grader is not None and self.grade is None


class Typing(Page):
    """The review adds what is asked and rated; nothing of what is typed is kept once the card has been rated."""

    @dataclass
    class Graded(Message):
        """What a model says of what was written; `problem` why it says nothing."""

        written: Written
        grade: Grade | None
        problem: RetainError | None = None

    def __init__(self, context: Context, about: str = "", classes: str = "") -> None:
        super().__init__(context, about, classes)
        self._written: Written | None = None

    def writing(self) -> Iterator[Widget]:
        """What the review puts below the card."""
        yield TypedAnswer("typed-answer")
        yield Verdict()

    @property
    def types(self) -> bool:
        """Whether an answer is being typed."""
        return bool(self.query_one(TypedAnswer).display)

    def clear_writing(self) -> None:
        """Another card is on the table, or none."""
        if self._written is not None:
            self._written.gone.set()
        self._written = None
        self.query_one(TypedAnswer).close()
        self.query_one(Verdict).close()

    def open_writing(self) -> None:
        """The answer may be typed; nothing of it is asked yet but the loading of what grades it."""
        self.query_one(TypedAnswer).open()
        self.query_one(RatingBar).ask_typed()

    def on_typed_answer_left(self, message: TypedAnswer.Left) -> None:
        message.stop()
        self.query_one(TypedAnswer).display = False
        self.query_one(RatingBar).ask()
        self.written_or_not()

    def written_or_not(self) -> None:
        """The keys that are offered are others now."""

    # --- what was written --------------------------------------------------------------------------------------------

    def compare_writing(self, placed: Placed) -> None:
        """The answer is shown: what was typed is held against it."""
        typed = self.query_one(TypedAnswer)
        if not typed.display:
            return
        from learning.comparison import compare
        from vault import readable

        card, words = placed.card, typed.text.strip()
        typed.close()
        found = compare(readable.text(card.question), readable.text(card.answer), words)
        self._written = Written(found, self._grader() if words else None, Event())
        self.query_one(Verdict).compared(found, said.ASKING if self._written.grader else "")
        self.query_one(RatingBar).suggest(self._written.suggested)
        if self._written.grader is not None:
            written = self._written
            self.run_worker(lambda: self._ask(written, placed), thread=True)

    def _grader(self) -> Grader | None:
        """Who grades; nobody unless the user has named a model for that."""
        from compiler.engines.configured import grader  # late: most answers are not typed

        try:
            return grader(self.context.environment)
        except ModelUnavailable:
            return None
        except RetainError as error:
            self.say(error)
            return None

    def _ask(self, written: Written, placed: Placed) -> None:
        from vault import readable
        from vault.evidence import EvidenceReader
        from vault.grading import GradeRequest

        card, found = placed.card, written.comparison
        try:
            evidence = EvidenceReader(self.context.vault).of(card.support)
            quotes = tuple(each.claim.quote for each in evidence if each.claim is not None)
            asked = GradeRequest(readable.text(card.question), found.reference, found.answer, quotes, card.kind or "")
            assert written.grader is not None
            self.post_message(self.Graded(written, written.grader.grade(asked, written.gone.is_set)))
        except RetainError as problem:
            self.post_message(self.Graded(written, None, problem))

    def on_typing_graded(self, message: Graded) -> None:
        written = message.written
        if written is not self._written:
            return  # the human did not wait
        verdict, grader = self.query_one(Verdict), written.grader
        if message.grade is None or grader is None:
            written.grader = None
            verdict.failed(written.comparison, str(message.problem or ""))
        else:
            written.grade = message.grade
            verdict.graded(written.comparison, message.grade, grader.place)
        self.query_one(RatingBar).suggest(written.suggested)
        self.suggestion_came()

    def suggestion_came(self) -> None:
        """A key that was pressed for something else is not to take it."""

    def accepted(self) -> Rating | None:
        """What the key that shows the answer says once that is shown: Good, or what is suggested for what was typed."""
        return Rating.GOOD if self._written is None else self._written.suggested

    def note_grade(self, sitting: Sitting, given: Rating, written: Written | None) -> None:
        """Writes down beside the rating what had been suggested. Raises: as `Sitting.note_grade` does."""
        if written is None:
            return
        from learning.comparison import NAME

        found, grade = written.comparison, written.grade
        if grade is not None:
            sitting.note_grade(grade.suggested, given, grade.engine, len(grade.met), len(grade.missed))
        else:
            sitting.note_grade(found.suggested, given, NAME, len(found.said), len(found.missing))
