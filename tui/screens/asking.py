"""Asking: a question goes to a thread or to the app's job, and comes back as a turn of a conversation.

The embedded engine answers in a thread; where a model answers, the very command does, as the app's job, so that nothing
of a model is loaded here and the answer comes even if the screen is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from textual.message import Message
from textual.widgets import Input

from tui.context import Context
from tui.models import ask as model
from tui.models.ask import Turn
from tui.process.background import read_in_background
from tui.process.jobs import busy
from tui.screen import Page
from tui.strings import ask as strings
from tui.views.ask import ConversationView
from tui.widgets.notice import Notice
from vault.errors import RetainError

if TYPE_CHECKING:  # the compiler is loaded in a thread, which the first frame need not wait for
    from compiler.query.questions import Asked, Conversation


class Asking(Page):
    """A screen that asks questions and keeps the turns of a conversation."""

    @dataclass
    class Read(Message):
        """The questions asked before, the latest first; the engine that answers; whether there are no sources."""

        asked: Sequence[Asked]
        engine: str
        is_empty: bool

    @dataclass
    class Moved(Message):
        """Something goes on while an answer is looked for."""

        ticket: int
        words: str

    @dataclass
    class ByCommand(Message):
        """A model answers: the command asks it."""

        ticket: int

    @dataclass
    class Answered(Message):
        """An answer has come; with a `conversation`, it is still to be recorded there."""

        ticket: int
        turn: Turn
        conversation: Conversation | None = None

    @dataclass
    class Unanswered(Message):
        """A question could not be answered."""

        ticket: int
        error: RetainError

    class Changed(Message):
        """A question was begun, or is waited for no more."""

    @dataclass
    class Added(Message):
        """There is a new turn, the last one."""

        turn: Turn

    def __init__(self, context: Context, about: str = "") -> None:
        super().__init__(context, about)
        self._turns: list[Turn] = []
        self._question = ""  # what is being asked; "" while nothing is
        self._ticket = 0  # counts what is asked, so that an answer that nobody waits for is known

    @property
    def _field(self) -> Input:
        return self.query_one("#ask-question", Input)

    # --- a question ---------------------------------------------------------------------------------------------------

    def _ask(self, question: str) -> None:
        """Answer a question in a thread, or by the command where a model answers."""
        if not question:
            return
        if self._question:
            self.query_one(Notice).show_message(strings.WAIT)
            return
        self._begin(question, strings.SEARCHING)
        vault, turns, ticket, at = self.context.vault, tuple(self._turns), self._ticket, self.context.clock()

        def answer() -> None:
            from compiler.build.last_engine import chosen_engine
            from tui.models import answering

            try:
                engine = chosen_engine(vault)
                if engine in answering.OF_COMMAND:
                    self.post_message(self.ByCommand(ticket))
                    return
                found = answering.ask_here(vault, question, turns, at, lambda event: self._hear(ticket, event), engine)
                self.post_message(self.Answered(ticket, *found))
            except RetainError as error:
                self.post_message(self.Unanswered(ticket, error))

        self.run_worker(read_in_background(answer), group="answer")

    @property
    def _after(self) -> str:
        """The id of the last answer of the conversation; "" if there is none."""
        return next((turn.id for turn in reversed(self._turns) if turn.waiting is None), "")

    def _begin(self, question: str, words: str) -> None:
        self._question = question
        self._ticket += 1
        self.query_one(Notice).clear()
        self.query_one(ConversationView).show_pending(question, words)
        self.post_message(self.Changed())

    def _hear(self, ticket: int, event: Mapping[str, Any]) -> None:
        words = model.progress(event)
        if words:
            self.post_message(self.Moved(ticket, words))

    def on_asking_moved(self, message: Moved) -> None:
        if message.ticket == self._ticket and self._question:
            self.query_one(ConversationView).show_pending(self._question, message.words)

    def on_asking_by_command(self, message: ByCommand) -> None:
        if message.ticket != self._ticket or not self._question:
            return
        context, words = self.context, model.command(self._question, self._after)
        try:
            if context.jobs.running:
                raise busy()
            context.jobs.start(context.program, context.vault.root, words, context.environment, context.clock)
        except RetainError as error:
            self.post_message(self.Unanswered(message.ticket, error))

    def on_work_moved(self) -> None:
        if self.is_mounted:
            self._take_job()

    def _tick(self) -> None:
        """Show how long the command has been running, also while it sends no events."""
        if self.context.jobs.running:
            self._take_job()

    def _take_job(self) -> None:
        """Show what the command does that asks a question, or its answer; also one that was left before."""
        state = self.context.jobs.state
        if state is None or not model.is_question(state):
            return
        question = model.question_in(state)
        if not self._question:
            self._begin(question, strings.ASKING)
        if state.running:
            words = model.waiting(state, self.context.clock())
            self.query_one(ConversationView).show_pending(question, words)
            return
        self.context.jobs.forget()
        if state.stopping:
            self._end()
            self.query_one(Notice).show_message(strings.STOPPED)
        elif state.code:
            self.post_message(self.Unanswered(self._ticket, model.error_of(state)))
        else:
            self._read_answer(state.result)

    def _read_answer(self, result: Mapping[str, Any]) -> None:
        """Read the answer that the command printed."""
        vault, turns, at, ticket = self.context.vault, tuple(self._turns), self.context.clock(), self._ticket

        def read() -> None:
            from tui.models import answering

            try:
                turn = answering.turn_in(vault, result, turns, at, lambda event: self._hear(ticket, event))
                self.post_message(self.Answered(ticket, turn))
            except RetainError as error:
                self.post_message(self.Unanswered(ticket, error))

        self.run_worker(read_in_background(read), group="answer")

    def on_asking_answered(self, message: Answered) -> None:
        if message.ticket != self._ticket:
            return
        turn = message.turn
        if message.conversation is not None:
            id_ = message.conversation.record(turn.answer, self.context.clock(), after=turn.after)
            turn = replace(turn, id=id_)
        if turn.waiting is None and self._field.value.strip() == self._question:
            self._field.value = ""
        self._turns.append(turn)
        self._end()
        self.post_message(self.Added(turn))
        if turn.waiting is not None:
            self.show_error(turn.waiting)

    def on_asking_unanswered(self, message: Unanswered) -> None:
        """Show why; the question is in the field still, or again."""
        if message.ticket == self._ticket:
            if not self._field.value:
                self._field.value = self._question
            self._end()
            self.show_error(message.error)

    def _end(self) -> None:
        """Wait for nothing any more."""
        self._question = ""
        self._ticket += 1
        self.query_one(ConversationView).show_pending("", "")
        self.post_message(self.Changed())

    def _stop(self) -> None:
        """Wait for the answer no more."""
        state = self.context.jobs.state
        if model.is_question(state):
            self.context.jobs.cancel()
        else:
            self._end()
