"""The inbox: your version beside the proposed one; accept, keep, reject with a reason, undo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from tui.context import Context
from tui.keys import INBOX, Key
from tui.process.background import read_in_background
from tui.screen import Page
from tui.strings import inbox as strings
from tui.text import content
from tui.views.difference import DifferenceView
from tui.views.inbox import InboxList, Question
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.grouped_list import move_cursor
from tui.widgets.notice import Notice
from vault.errors import NotFound, RetainError
from vault.inbox.decisions import decide, undo
from vault.inbox.events import REASON, Choice
from vault.inbox.items import Item
from vault.inbox.listing import items, source_of
from vault.text.diff import TextDiff, compare_texts


class InboxScreen(Page, key="inbox"):
    @dataclass
    class Read(Message):
        """The inbox has been read."""

        items: Sequence[Item]

    @dataclass
    class Compared(Message):
        """The two versions of an item have been compared."""

        question: str
        compared: TextDiff

    def __init__(self, context: Context, about: str = "") -> None:
        super().__init__(context, about)
        self._questions: dict[str, Question] = {}
        self._at = ""

    def compose(self) -> ComposeResult:
        yield TopBar(strings.TITLE)
        with Horizontal(id="inbox-ask"):
            yield Static(content.plain(strings.WHY), markup=False)
            yield Input(id="inbox-why", max_length=REASON)
        with Vertical(id="inbox"):
            yield InboxList()
            yield DifferenceView()
        yield Static(content.prose(strings.READING), markup=False, id="nothing")
        yield Notice()
        yield KeyBar(INBOX)

    def on_mount(self) -> None:
        self.query_one(InboxList).focus()

    def on_screen_resume(self) -> None:
        """Read the inbox again: a compile or an edit may have changed it."""
        self._begin_reading()

    # --- what is shown ----------------------------------------------------------------------------------------------

    def _begin_reading(self) -> None:
        self.run_worker(read_in_background(self._read), group="inbox", exclusive=True)

    def _read(self) -> None:
        with self.posting_errors():
            self.post_message(self.Read(items(self.context.vault)))

    def on_inbox_screen_read(self, message: Read) -> None:
        questions = [Question(item, view) for item in message.items for view in item.views]
        self._questions = {question.id: question for question in questions}
        self.query_one("#inbox").display = bool(questions)
        self.query_one(KeyBar).show(key for key in INBOX if self.offers(key))
        nothing = self.query_one("#nothing", Static)
        nothing.display = not questions
        nothing.update(content.prose(strings.NOTHING))
        cards = sum(bool(question.view.part) for question in questions)
        pages = sum(bool(question.item.path) for question in questions) - cards
        self.query_one(TopBar).show_status(strings.shown(pages, cards, len(questions) - pages - cards))
        self.query_one(InboxList).show(questions)

    def offers(self, key: Key) -> bool:
        return bool(self._questions) or key.action in ("undo", "back")

    def on_reaching_list_reached(self, message: InboxList.Reached) -> None:
        self._at = message.id
        question = self._questions.get(self._at)
        self.query_one(DifferenceView).show(question, self.context.vault.settings.zone)
        if question is not None:
            self.run_worker(read_in_background(lambda: self._compare(question)), group="difference", exclusive=True)

    def _compare(self, question: Question) -> None:
        found = compare_texts(question.view.mine, question.view.offered)
        self.post_message(self.Compared(question.id, found))

    def on_inbox_screen_compared(self, message: Compared) -> None:
        if message.question == self._at:
            self.query_one(DifferenceView).show_differences(message.compared)

    # --- decisions --------------------------------------------------------------------------------------------------

    def action_accept(self) -> None:
        self._decide(Choice.ACCEPT)

    def action_keep(self) -> None:
        self._decide(Choice.KEEP)

    def action_reject(self) -> None:
        """Ask for the reason first."""
        if self._at in self._questions:
            self.query_one("#inbox-ask").display = True
            self.set_focus(self.query_one("#inbox-why", Input))

    def on_input_submitted(self, message: Input.Submitted) -> None:
        if not message.value.strip():
            self.query_one(Notice).show_message(strings.WHY_MISSING)
            return
        self._stop_asking()
        if self._decide(Choice.REJECT, message.value):
            message.input.value = ""

    def _stop_asking(self) -> None:
        self.query_one("#inbox-ask").display = False
        self.query_one(InboxList).focus()

    def _decide(self, choice: Choice, reason: str = "") -> bool:
        """Record a decision; return False and show the error if that fails."""
        question = self._questions.get(self._at)
        if question is None:
            return False
        item, part, at = question.item, question.view.part, self.context.clock()
        try:
            decide(self.context.vault, [item.id], choice, at, reason=reason, part=part, via="tui")
        except RetainError as error:
            self.show_error(error)
            if isinstance(error, NotFound):  # edited meanwhile: show it again
                self._begin_reading()
            return False
        message = source_of(item.kind).messages.get(choice, "")
        self.query_one(Notice).show_message(strings.decided(item, question.view, choice, message))
        self._begin_reading()
        return True

    def action_undo(self) -> None:
        try:
            done = undo(self.context.vault, self.context.clock(), via="tui")
        except NotFound:
            self.query_one(Notice).show_message(strings.NOTHING_BACK)
            return
        except RetainError as error:
            self.show_error(error)
            return
        self.query_one(Notice).show_message(strings.undone(done))
        self._begin_reading()

    # --- from here --------------------------------------------------------------------------------------------------

    def on_option_list_option_selected(self) -> None:
        self.action_open()

    def action_open(self) -> None:
        """Open your version: the page in the reader, the card in the browser."""
        question = self._questions.get(self._at)
        if question is None:
            return
        if question.view.part:
            self.go("browse", f"id:{question.view.part}")
        elif question.item.path.startswith("wiki/"):
            self.go("article", question.item.path)
        else:
            self.query_one(Notice).show_message(strings.NOT_A_PAGE)

    def action_move(self, rows: int) -> None:
        move_cursor(self.query_one(InboxList), rows)

    def action_scroll(self, pages: int) -> None:
        view = self.query_one(DifferenceView)
        view.scroll_relative(y=pages * max(1, view.size.height - 1), animate=False)

    def action_back(self) -> None:
        """Close the text field, then the inbox."""
        if self.query_one("#inbox-ask").display:
            self._stop_asking()
        else:
            super().action_back()
