"""A conversation with the sources: its turns, the sources of one answer, and the questions asked before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static
from textual.widgets.option_list import Option

from compiler.query.answer_text import EXTRACT, Line, Part, answer_lines, change_lines
from tui.models.ask import Source, Turn
from tui.strings import ask as strings
from tui.text import content
from tui.widgets.grouped_list import ReachingList
from vault.log.ledger import day_of

if TYPE_CHECKING:  # the compiler is loaded when the first question is answered
    from compiler.query.answer import Answer
    from compiler.query.questions import Asked

_MOST_ASKED = 200  # earlier questions that are listed
_QUOTED = 200  # characters of a quote in the list of sources
_STYLES = {
    Part.HEADING: content.DIM,
    Part.NOTE: "$text-warning",
    Part.MISSING: "$text-warning",
    Part.DROPPED: content.DIM,
    Part.NEW: "$text-success",
    Part.GONE: "$text-error",
}


class TurnView(Static):
    """One question with its answer; a click selects it."""

    @dataclass
    class Chosen(Message):
        """The turn with this number was clicked."""

        number: int

    def __init__(self, number: int, turn: Turn, zone: tzinfo) -> None:
        super().__init__(turn_content(turn, zone), markup=False)
        self.number = number

    def on_click(self, event: Click) -> None:
        event.stop()
        self.post_message(self.Chosen(self.number))


class ConversationView(VerticalScroll):
    """The turns so far, and what is being waited for."""

    def __init__(self) -> None:
        super().__init__(can_focus=False)

    def compose(self) -> ComposeResult:
        yield Static(markup=False, id="ask-pending")

    def add(self, turn: Turn, zone: tzinfo) -> None:
        """Show a further turn."""
        self.mount(TurnView(len(self.query(TurnView)), turn, zone), before="#ask-pending")

    def renew(self, number: int, turn: Turn, zone: tzinfo) -> None:
        """Show a turn again, as it has a page now."""
        for view in self.query(TurnView):
            if view.number == number:
                view.update(turn_content(turn, zone))

    def clear(self) -> None:
        """Show no turns."""
        self.query(TurnView).remove()

    def choose(self, at: int) -> None:
        """Select a turn and scroll to its beginning."""
        for view in self.query(TurnView):
            view.set_class(view.number == at, "-chosen")
            if view.number == at:
                self.call_after_refresh(self.scroll_to_widget, view, top=True, animate=False)

    def show_pending(self, question: str, words: str) -> None:
        """Show the question that is being answered, and what goes on; nothing without one."""
        pending = self.query_one("#ask-pending", Static)
        pending.display = bool(question)
        if question:
            head = content.line(question, "bold $text-accent")
            pending.update(Content.assemble(head, "\n", content.line(words, content.DIM)))
            self.scroll_end(animate=False)


class SourceList(ReachingList):
    """The sources of the selected answer."""

    def on_mount(self) -> None:
        self.border_title = strings.SOURCES

    def show(self, sources: Sequence[Source], *, is_roomy: bool) -> None:
        """Show these sources, the first one current; with room, a blank row after each."""
        self.clear_options()
        after = Content("\n" if is_roomy else "")
        self.add_options([Option(_source(each) + after, id=str(each.number)) for each in sources])
        self.highlighted = 0 if sources else None


class QuestionList(ReachingList):
    """The questions that were asked before, the latest first."""

    def on_mount(self) -> None:
        self.border_title = strings.BEFORE

    def show(self, asked: Sequence[Asked], zone: tzinfo) -> None:
        self.clear_options()
        rows = [(each.id, _asked(each, zone)) for each in asked[:_MOST_ASKED]]
        self.add_options([Option(words, id=id_) for id_, words in rows])
        self.highlighted = 0 if rows else None


def turn_content(turn: Turn, zone: tzinfo) -> Content:
    """Return a question with its answer, what the sources lack, what has changed, and the page of it."""
    parts = [content.line(turn.answer.question, "bold $text-accent"), *_answer(turn.answer)]
    if turn.waiting is not None:
        parts.insert(1, content.line(EXTRACT, content.DIM))
    if turn.change is not None:
        parts.append(Content("\n").join(map(_changed, change_lines(turn.change, zone))))
    if turn.page:
        parts.append(content.line(strings.page(turn.page), "$text-success"))
    return Content("\n").join(parts[:2]) + Content("").join([Content("\n\n") + part for part in parts[2:]])


def _answer(answer: Answer) -> Iterator[Content]:
    """Yield the paragraphs of an answer; the quotes behind its sentences are in the panel beside it alone."""
    sentences: list[Content] = []
    heading = Content("")
    for line in answer_lines(answer):
        words = content.line(line.text, _STYLES.get(line.part, ""))
        if line.part is Part.HEADING:
            heading = words + "\n"
        elif line.part is Part.SENTENCE:
            sentences.append(words + _mark(line.after))
        elif line.part is Part.QUOTE and answer.quotes:
            yield Content.assemble(heading, _mark(line.before), words)
            heading = Content("")
        elif line.part in (Part.NOTE, Part.MISSING, Part.DROPPED):
            if sentences:
                yield Content(" ").join(sentences)
                sentences = []
            yield Content.assemble(content.plain(line.before, content.DIM), words)
    if sentences:
        yield Content(" ").join(sentences)


def _mark(words: str) -> Content:
    return content.plain(words, "bold $text-primary")


def _changed(line: Line) -> Content:
    style = _STYLES.get(line.part, "")
    if line.part is Part.HEADING:
        return content.line(line.text, "bold")
    return Content.assemble(content.plain(line.before, style), content.line(line.text))


def _source(source: Source) -> Content:
    quote = source.quote if len(source.quote) <= _QUOTED else source.quote[:_QUOTED].rsplit(" ", 1)[0] + " …"
    head = Content.assemble(content.plain(f"[{source.number}] ", "bold $text-primary"), content.line(source.place))
    rows = [head, content.line(f"“{quote}”", content.DIM)]
    if source.titles:
        more = strings.more_articles(len(source.titles) - 1)
        rows.append(content.line(f"→ {source.titles[0]}{more}", content.MATH))
    return Content("\n").join(rows)


def _asked(asked: Asked, zone: tzinfo) -> Content:
    day = content.plain(f"{day_of(asked.since, zone)}  ", content.DIM)
    return Content.assemble(day, content.line(asked.question), content.plain(f"  {asked.outcome}", content.DIM))
