"""Questions to the sources: a conversation, the sources of each answer at its side, answers filed as pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, OptionList, Static

from tui.context import Context
from tui.keys import ASK, Key
from tui.models import ask as model
from tui.models.ask import Turn
from tui.process.background import read_in_background
from tui.screens.ask_sources import AskSources
from tui.screens.asking import Asking
from tui.strings import ask as strings
from tui.text import content
from tui.views.ask import ConversationView, QuestionList, SourceList, TurnView
from tui.views.evidence import SupportPanel
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.grouped_list import ReachingList, move_cursor
from tui.widgets.notice import Notice

if TYPE_CHECKING:  # the compiler is loaded in a thread, which the first frame need not wait for
    from compiler.query.questions import Asked

_LONGEST = 500  # characters of a question


class AskScreen(AskSources, key="ask"):
    """Asks questions; `about` is the first one, "" if none."""

    @dataclass
    class Filed(Message):
        """An answer is a page now."""

        turn: Turn
        page: str

    def __init__(self, context: Context, about: str = "") -> None:
        super().__init__(context, about)
        self._at = -1  # the selected turn
        self._asked: Sequence[Asked] = ()  # before, the latest first
        self._recalled = -1  # the number of the earlier question that is in the field
        self._is_empty = False

    def compose(self) -> ComposeResult:
        yield TopBar(strings.TITLE)
        with Vertical(id="ask"):
            with Vertical(id="ask-talk"):
                yield Static(markup=False, id="ask-nothing")
                yield QuestionList()
                yield ConversationView()
            with Vertical(id="ask-side"):
                yield SourceList()
                yield SupportPanel()
        yield Input(placeholder=strings.PLACEHOLDER, id="ask-question", max_length=_LONGEST, compact=True)
        yield Static(markup=False, id="ask-hint")
        yield Notice()
        yield KeyBar(())

    def on_mount(self) -> None:
        self.set_interval(1.0, self._tick)
        self._field.focus()
        self._show()
        self._take_job()
        if self.about and not self._question:
            self._field.value = self.about
            self._ask(self.about)

    def on_screen_resume(self) -> None:
        """Read the questions asked before, which another screen or command may have added to."""
        self._read_earlier()

    # --- what is shown ------------------------------------------------------------------------------------------------

    @property
    def _turn(self) -> Turn | None:
        return self._turns[self._at] if 0 <= self._at < len(self._turns) else None

    @property
    def _list(self) -> ReachingList:
        """The list that tab goes to: the sources of the answer, or earlier questions."""
        return self.query_one(SourceList if self._turns else QuestionList)

    def _show(self) -> None:
        talking = bool(self._turns or self._question)
        self.set_class(talking, "-talking")
        self.set_class(bool(self._sources), "-sourced")
        self.query_one(QuestionList).display = not talking and bool(self._asked)
        nothing = [strings.EMPTY, "", *strings.FILL] if self._is_empty else strings.NOTHING_YET
        self.query_one("#ask-nothing", Static).update(content.plain("\n".join(nothing)))
        self._field.placeholder = strings.FOLLOW_UP if self._turns else strings.PLACEHOLDER
        self._show_keys()

    def _show_keys(self) -> None:
        self.query_one(KeyBar).show(replace(key, words=self._words(key)) for key in ASK if self.offers(key))
        self.query_one("#ask-hint", Static).update(content.line(self._hint, content.DIM))

    @property
    def _hint(self) -> str:
        if self._question:
            return strings.HINT_WAITING
        if self._recalled >= 0:
            return model.about_earlier(self._asked[self._recalled], self.context.vault.settings.zone)
        if self.focused is not self._field:
            return strings.HINT_SOURCES if self._turns else strings.HINT_EARLIER
        if self._sources:
            return strings.HINT_ANSWERED
        return strings.HINT if self._asked else strings.HINT_FIRST

    def _words(self, key: Key) -> str:
        """Return what a key is called at the bottom of the screen."""
        in_list = self.focused is not self._field
        if key.action == "enter":
            return strings.SHOW if in_list and self._turns else key.words
        if key.action == "switch":
            return strings.BACK_TO if in_list else key.words if self._turns else strings.EARLIER
        return key.words

    def offers(self, key: Key) -> bool:
        turn, in_list = self._turn, self.focused is not self._field
        match key.action:
            case "file":
                return turn is not None and not turn.page and bool(self._sources)
            case "page":
                return turn is not None and bool(turn.page)
            case "new":
                return bool(self._turns)
            case "switch":
                return bool(self._list.option_count)
            case "article":
                return in_list and bool(self._sources)
        return True

    def on_descendant_focus(self) -> None:
        self._show_keys()

    def on_asking_changed(self) -> None:
        self._show()

    def on_asking_added(self, message: Asking.Added) -> None:
        if not any(turn is message.turn for turn in self._turns):  # a new conversation was begun meanwhile
            return
        self.query_one(ConversationView).add(message.turn, self.context.vault.settings.zone)
        self._select(len(self._turns) - 1)
        self._read_earlier()

    def _select(self, at: int) -> None:
        """Select a turn: its sources are shown."""
        self._at = at
        self._sources = model.sources_of(self._turns[at].answer)
        self._close_source()
        self.query_one(SourceList).show(self._sources, is_roomy=self.has_class("-wide"))
        self.query_one(ConversationView).choose(at)
        self._show()

    def on_turn_view_chosen(self, message: TurnView.Chosen) -> None:
        self._select(message.number)

    def action_turn(self, step: int) -> None:
        if self._turns:
            self._select(max(0, min(len(self._turns) - 1, self._at + step)))

    def action_page_by(self, pages: int) -> None:
        talk = self.query_one(ConversationView)
        talk.scroll_relative(y=pages * max(1, talk.size.height - 1), animate=False)

    def action_new(self) -> None:
        """Begin a new conversation, which no earlier question counts for."""
        if self._question:
            self.query_one(Notice).show_message(strings.WAIT)
            return
        self._turns, self._at, self._sources = [], -1, ()
        self._close_source()
        self.query_one(ConversationView).clear()
        self._field.focus()
        self._show()

    # --- questions ----------------------------------------------------------------------------------------------------

    def _read_earlier(self) -> None:
        self.run_worker(read_in_background(self._read), group="earlier", exclusive=True)

    def _read(self) -> None:
        with self.posting_errors():
            from tui.models import answering

            self.post_message(self.Read(*answering.overview(self.context.vault)))

    def on_asking_read(self, message: Asking.Read) -> None:
        self._asked, self._recalled, self._is_empty = message.asked, -1, message.is_empty
        self.query_one(TopBar).show_status(strings.ENGINES.get(message.engine, message.engine))
        self.query_one(QuestionList).show(self._asked, self.context.vault.settings.zone)
        self._show()

    def action_recall(self, step: int) -> None:
        """Put an earlier question into the field; below the latest it is empty again."""
        if self.focused is not self._field:
            return
        if not self._asked:
            self.query_one(Notice).show_message(strings.NOTHING_ASKED)
            return
        self._recalled = max(-1, min(len(self._asked) - 1, self._recalled + step))
        words = self._asked[self._recalled].question if self._recalled >= 0 else ""
        self._field.value, self._field.cursor_position = words, len(words)
        self._show_keys()

    def on_input_changed(self, message: Input.Changed) -> None:
        if self._recalled >= 0 and message.value != self._asked[self._recalled].question:
            self._recalled = -1
        self._show_keys()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        self.action_enter()

    def action_enter(self) -> None:
        """Ask what is in the field; in a list, choose the row."""
        if isinstance(self.focused, ReachingList):
            self.focused.action_select()
            return
        self._recalled = -1
        self._ask(self._field.value.strip())

    # --- the lists ----------------------------------------------------------------------------------------------------

    def action_switch(self) -> None:
        """Go to the list, or back to the field."""
        in_field = self.focused is self._field
        if in_field and not self._list.option_count:
            self.query_one(Notice).show_message(strings.NO_SOURCES if self._turns else strings.NOTHING_ASKED)
        else:
            self.set_focus(self._list if in_field else self._field)

    def action_move(self, rows: int) -> None:
        if self.focused is not self._field:
            move_cursor(self._list, rows)

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        """Show a source in its surroundings, or ask an earlier question again."""
        message.stop()
        if isinstance(message.option_list, SourceList):
            self._open_source()
        else:
            question = self._asked[message.option_index].question
            self._field.value = question
            self._field.focus()
            self._ask(question)

    # --- the page of an answer ----------------------------------------------------------------------------------------

    def action_file(self) -> None:
        """File the selected answer as a page of the wiki."""
        turn, vault, at = self._turn, self.context.vault, self.context.clock()
        if turn is None:
            self.query_one(Notice).show_message(strings.NO_ANSWER)
            return

        def file() -> None:
            from tui.models import answering

            with self.posting_errors():
                self.post_message(self.Filed(turn, answering.file_turn(vault, turn, at)))

        self.run_worker(file, thread=True, group="file", exclusive=True)

    def on_ask_screen_filed(self, message: Filed) -> None:
        for number, turn in enumerate(self._turns):
            if turn is message.turn:
                self._turns[number] = replace(turn, page=message.page)
                self.query_one(ConversationView).renew(number, self._turns[number], self.context.vault.settings.zone)
        self.query_one(Notice).show_message(strings.filed(message.page))
        self._show_keys()

    def action_page(self) -> None:
        """Open the page of the selected answer."""
        if self._turn is not None and self._turn.page:
            self.go("article", self._turn.page)
        else:
            self.query_one(Notice).show_message(strings.NO_PAGE)

    def action_back(self) -> None:
        """Stop waiting; else close the source, leave the list, leave the screen."""
        if self._question:
            self._stop()
        elif self.query_one(SupportPanel).display:
            self._close_source()
        elif self.focused is not self._field:
            self._field.focus()
        else:
            super().action_back()
