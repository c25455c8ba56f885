"""A quiz on a topic: a model asks and points to articles; it ends with what was right and what was missing.

Nothing is rated and nothing is written. The model is asked in a worker, and esc gives up waiting for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event

from textual.app import ComposeResult
from textual.containers import Center, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from compiler.engines.grading.tutor import configured_tutor
from learning.review.plan import Plan
from learning.review.quiz_material import readings
from learning.store.topics import topics
from tui.context import Context
from tui.keys import QUIZ, Key
from tui.screen import Page
from tui.strings import quiz as said
from tui.text import content
from tui.views.typed_answer import TypedAnswer
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.notice import Notice
from vault.errors import ModelUnavailable, RetainError
from vault.log.grading import Cost, Point, QuizReply, QuizRequest, Reading, Speaker, Turn, Tutor


@dataclass(frozen=True, slots=True)
class Talk:
    """The conversation of a quiz so far."""

    topic: str
    readings: tuple[Reading, ...]
    tutor: Tutor


class QuizScreen(Page, key="quiz"):
    """A quiz about a topic or concept named by `about`; "" lets the user choose."""

    @dataclass
    class Opened(Message):
        """The tutor and the articles are ready."""

        talk: Talk

    @dataclass
    class Choose(Message):
        """No topic was given: these are available."""

        topics: list[str]

    @dataclass
    class Said(Message):
        """The tutor's answer to request number `asked`."""

        reply: QuizReply
        asked: Event

    @dataclass
    class Silent(Message):
        """The tutor gave no answer."""

        error: RetainError
        asked: Event

    def __init__(self, context: Context, about: str = "") -> None:
        super().__init__(context, about)
        self._talk: Talk | None = None
        self._turns: tuple[Turn, ...] = ()
        self._asked: Event | None = None  # set when nobody waits for the answer any more
        self._ending: QuizReply | None = None
        self._cost = Cost()

    def compose(self) -> ComposeResult:
        yield TopBar(said.TITLE)
        with VerticalScroll(id="talk", can_focus=False), Vertical(classes="column"):
            yield Static(markup=False, id="said")
            yield OptionList(markup=False, compact=True, id="topics")
        yield Notice()
        with Center():
            yield TypedAnswer("reply", said.INVITES, enter_sends=True)
        yield KeyBar(())

    def on_mount(self) -> None:
        self._open()

    def _open(self) -> None:
        self.query_one(TopBar).show_status(said.READING)
        self.run_worker(self._read, thread=True)
        self._show_keys()

    def _read(self) -> None:
        vault = self.context.vault
        with self.posting_errors():
            asks = configured_tutor(self.context.environment)
            if not self.about:
                self.post_message(self.Choose(sorted(topics(vault))))
                return
            self.post_message(self.Opened(Talk(*readings(vault, self.about), asks)))

    # --- before the first question ----------------------------------------------------------------------------------

    def on_page_failed(self, message: Page.Failed) -> None:
        self.query_one(TopBar).show_status("")
        if isinstance(message.error, ModelUnavailable):
            rows = [content.plain(row) for row in said.NEEDS]
            rows += [Content(""), *(content.plain(f"  {row}", content.CODE) for row in said.EXAMPLE), Content("")]
            self.query_one("#said", Static).update(Content("\n").join([*rows, content.plain(said.SENT, content.DIM)]))

    def on_quiz_screen_choose(self, message: Choose) -> None:
        self.query_one(TopBar).show_status("")
        self.query_one("#said", Static).update(content.plain(said.WHICH if message.topics else said.NO_TOPICS, "bold"))
        names = self.query_one("#topics", OptionList)
        names.add_options([Option(content.line(name), id=str(n)) for n, name in enumerate(message.topics)])
        names.display = bool(message.topics)
        self._names = message.topics
        if message.topics:
            names.highlighted = 0
            names.focus()

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        message.stop()
        self.about = self._names[message.option_index]
        self.query_one("#topics", OptionList).display = False
        self.query_one("#said", Static).update(Content(""))
        self._open()

    # --- the talk ----------------------------------------------------------------------------------------------------

    def on_quiz_screen_opened(self, message: Opened) -> None:
        self._talk = message.talk
        self._ask()

    def _ask(self, *, last: bool = False) -> None:
        """Ask the tutor for the next turn, in a worker."""
        if self._talk is None:
            return
        talk, asked = self._talk, Event()
        self._asked = asked
        request = QuizRequest(talk.topic, talk.readings, self._turns, last)
        self.query_one(Notice).clear()
        self._show()
        self.run_worker(lambda: self._hear(talk.tutor, request, asked), thread=True)

    def _hear(self, tutor: Tutor, request: QuizRequest, asked: Event) -> None:
        try:
            self.post_message(self.Said(tutor.turn(request, asked.is_set), asked))
        except RetainError as error:
            self.post_message(self.Silent(error, asked))

    def on_quiz_screen_said(self, message: Said) -> None:
        self._cost += message.reply.cost
        if message.asked is not self._asked:
            return
        self._asked = None
        self._turns = (*self._turns, message.reply.turn)
        if message.reply.ended:
            self._ending = message.reply
        self._show()

    def on_quiz_screen_silent(self, message: Silent) -> None:
        if message.asked is self._asked:
            self._asked = None
            self._show()
            self.show_error(message.error)

    def on_typed_answer_done(self, message: TypedAnswer.Done) -> None:
        if self._asked is not None or self._ending is not None or self._talk is None:
            return
        if message.words:
            self._turns = (*self._turns, Turn(Speaker.LEARNER, message.words))
            self.query_one(TypedAnswer).text = ""
        if message.words or self._turns[-1:] == () or self._turns[-1].speaker is Speaker.LEARNER:
            self._ask()  # with nothing written, again: what was asked got no answer

    def on_typed_answer_left(self) -> None:
        self.action_leave()

    def action_leave(self) -> None:
        """Stop waiting for the tutor; if nothing is awaited, close the quiz."""
        if self._asked is None:
            self.action_back()
            return
        self._asked.set()
        self._asked = None
        self._show()

    def action_end(self) -> None:
        if self._talk is not None and self._asked is None and self._ending is None:
            self._ask(last=True)

    def action_article(self) -> None:
        """Open the article that the tutor named last."""
        path = next((turn.article for turn in reversed(self._turns) if turn.article), "")
        if path:
            self.go("article", path)

    def action_review(self) -> None:
        if self._ending is None or self._talk is None:
            return
        several = len(self._talk.readings) > 1
        tag = f"topic:{self._talk.topic}" if several else self._talk.topic
        self.go("review", str(Plan(tag=tag)))

    def on_unmount(self) -> None:
        if self._asked is not None:
            self._asked.set()

    # --- what is shown -----------------------------------------------------------------------------------------------

    def _show(self) -> None:
        talk = self._talk
        if talk is None:
            return
        parts = [self._turn(turn) for turn in self._turns]
        if self._ending is not None:
            parts.append(_summary(self._ending))
        elif self._asked is not None:
            parts.append(content.plain(said.THINKING, content.DIM))
        self.query_one("#said", Static).update(Content("\n\n").join(parts))
        self.query_one(TopBar).show_status(said.above(talk.topic, talk.tutor.name, talk.tutor.place, self._cost))
        area = self.query_one(TypedAnswer)
        area.display = self._ending is None
        if self._ending is None:
            area.focus()
        else:
            self.set_focus(None)
        self._show_keys()
        self.query_one("#talk", VerticalScroll).scroll_end(animate=False)

    def _turn(self, turn: Turn) -> Content:
        if turn.speaker is Speaker.LEARNER:
            return Content.assemble(content.plain(said.YOU, "bold $text-accent"), "\n", content.plain(turn.words))
        head = content.plain(said.TUTOR, "bold $text-primary")
        shown = Content.assemble(head, "\n", content.plain(turn.words or said.IN_ARTICLE))
        title = next((r.title for r in self._talk.readings if r.path == turn.article), "") if self._talk else ""
        return Content.assemble(shown, "\n", content.line(said.points_to(title), content.DIM)) if title else shown

    def _show_keys(self) -> None:
        self.query_one(KeyBar).show(key for key in QUIZ if self.offers(key))

    def offers(self, key: Key) -> bool:
        if key.action == "article":
            return any(turn.article for turn in self._turns)
        if key.action == "end":
            return self._talk is not None and self._asked is None and self._ending is None
        if key.action == "review":
            return self._ending is not None
        return True


def _summary(reply: QuizReply) -> Content:
    parts = []
    for heading, sign, style, points in (
        (said.RIGHT, "✓", "$text-success", reply.right),
        (said.MISSING, "✗", "$text-warning", reply.missing),
    ):
        if points:
            rows = [_point(sign, style, point) for point in points]
            parts.append(Content("\n").join([content.plain(heading, "bold"), *rows]))
    if not parts:
        parts.append(content.plain(said.NOTHING_SAID, content.DIM))
    return Content("\n\n").join([*parts, content.plain(said.AFTER, content.DIM)])


def _point(sign: str, style: str, point: Point) -> Content:
    return Content.assemble(
        content.plain(f"{sign} ", style), content.line(point.words), "  ", content.line(f"“{point.quote}”", content.DIM)
    )
