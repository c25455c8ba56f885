"""The triage of suggested cards: one at a time with its passage, twenty a sitting; keep, edit, drop, skip, undo."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Static, TextArea

from learning.cards.edit import Words, checked_words
from tui.context import Context
from tui.keys import SUGGEST, Key
from tui.process.background import read_in_background
from tui.screen import Page
from tui.strings import suggest as strings
from tui.text import content
from tui.views.evidence import SupportPanel
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.notice import Notice
from vault.errors import NotFound, Refused, RetainError
from vault.evidence.context import QuoteContext, quote_context
from vault.evidence.evidence import Evidence
from vault.inbox.suggestion_events import Decided, Decision
from vault.inbox.suggestions import SITTING, Offered, Outcome, Suggestion, decide, is_by_model, offered, undo
from vault.model.markdown import escape

_COMPILE = ("compile", "--engine", "extractive")  # writes the kept cards, and asks no model
_AROUND = 4  # lines of a source before a quote and after it
_ON_A_CARD = ("keep", "edit", "drop", "skip", "article")


@dataclass(frozen=True, slots=True)
class _Decision:
    """A decision of this sitting, and the suggestion that it was about."""

    suggestion: Suggestion
    decided: Decided


class SuggestScreen(Page, key="suggest"):
    """Goes through suggested cards; `about` is the path of the article that they belong to, "" for all."""

    @dataclass
    class Read(Message):
        """The suggestions have been read."""

        offered: Offered

    @dataclass
    class Placed(Message):
        """The lines around a quote have been read."""

        evidence: Evidence
        around: QuoteContext

    def __init__(self, context: Context, about: str = "") -> None:
        super().__init__(context, about)
        self._waiting: list[Suggestion] = []  # of this sitting, the present one first
        self._later: Sequence[Suggestion] = ()
        self._of = 0  # how many this sitting has
        self._done: list[_Decision] = []
        self._skipped: list[Suggestion] = []
        self._forms_changed = False
        self._before: Words | None = None  # what the fields showed when editing began; None while nothing is edited
        self._asked = False  # whether words that are not saved may go

    def compose(self) -> ComposeResult:
        yield TopBar(strings.TITLE)
        with Vertical(id="suggestion"):
            with VerticalScroll(id="suggestion-card", can_focus=False):
                yield Static(markup=False, id="suggestion-about")
                yield Static(markup=False, id="suggestion-question")
                yield Static(markup=False, id="suggestion-answer")
            with Vertical(id="suggestion-form"):
                yield Static(strings.QUESTION, markup=False, classes="side-name")
                yield TextArea(id="suggestion-q", soft_wrap=True, tab_behavior="focus")
                yield Static(strings.ANSWER, markup=False, classes="side-name")
                yield TextArea(id="suggestion-a", soft_wrap=True, tab_behavior="focus")
            yield SupportPanel()
        yield Static(content.prose(strings.READING), markup=False, id="nothing")
        yield Notice()
        yield KeyBar(())

    def on_mount(self) -> None:
        self.add_class("-ended")  # until there is a card to show
        self._begin()

    # --- what is shown ----------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Begin a sitting."""
        self.run_worker(read_in_background(self._read), group="suggestions", exclusive=True)

    def _read(self) -> None:
        with self.posting_errors():
            self.post_message(self.Read(offered(self.context.vault)))

    def on_suggest_screen_read(self, message: Read) -> None:
        passed = {each.id for each in self._skipped}
        found = [each for each in message.offered.about(self.about) if each.id not in passed]
        self._waiting, self._later, self._of = found[:SITTING], found[SITTING:], min(len(found), SITTING)
        nothing = (
            strings.BY_MODEL
            if message.offered.by_model
            else strings.NOTHING
            if message.offered.compiled
            else strings.NOT_COMPILED
        )
        self._show(nothing)

    def _show(self, nothing: str = "") -> None:
        """Show the present card, or the end of the sitting."""
        one = self._waiting[0] if self._waiting else None
        self.set_class(one is None, "-ended")
        self.query_one(KeyBar).show(key for key in SUGGEST if self.offers(key))
        bar = self.query_one(TopBar)
        if one is None:
            kept = sum(each.decided.kept for each in self._done)
            dropped, skipped = len(self._done) - kept, len(self._skipped)
            words = strings.end(kept, dropped, skipped, len(self._later)) if self._of else nothing
            self.query_one("#nothing", Static).update(content.prose(words))
            bar.show_status("")
            return
        bar.show_status(strings.progress(self._of - len(self._waiting) + 1, self._of, len(self._later)))
        self.query_one("#suggestion-about", Static).update(content.line(strings.about(one), content.DIM))
        self.query_one("#suggestion-question", Static).update(content.plain(one.question, "bold"))
        self.query_one("#suggestion-answer", Static).update(content.plain(one.answer))
        self._show_passage(one)

    def _show_passage(self, one: Suggestion) -> None:
        evidence = one.evidence
        self.query_one(SupportPanel).show([evidence])

        def look() -> None:
            with suppress(RetainError):  # the quote alone is shown then
                self.post_message(self.Placed(evidence, quote_context(self.context.vault, evidence, _AROUND)))

        self.run_worker(read_in_background(look), group="passage", exclusive=True)

    def on_suggest_screen_placed(self, message: Placed) -> None:
        self.query_one(SupportPanel).place(message.evidence, message.around)

    def offers(self, key: Key) -> bool:
        editing, on_card = self._before is not None, bool(self._waiting)
        if key.action == "save":
            return editing
        if key.action in _ON_A_CARD:
            return on_card and not editing
        if key.action == "more":
            return not on_card and bool(self._later)
        return not editing if key.action == "undo" else True

    # --- decisions --------------------------------------------------------------------------------------------------

    def action_keep(self) -> None:
        self._press(Decision.KEEP)

    def action_drop(self) -> None:
        self._press(Decision.DROP)

    def _press(self, decision: Decision) -> None:
        """Decide once for each press: a key that is held down must not decide on cards that nobody has read."""
        if not self.context.presses.repeated:
            self._decide(decision)

    def _decide(self, decision: Decision, words: Words | None = None) -> bool:
        """Record a decision on the present card; return False and show the error if that fails."""
        if not self._waiting or (self._before is not None and words is None):
            return False
        one, said = self._waiting[0], (words.question, words.answer or "") if words is not None else None
        try:
            done = decide(self.context.vault, one.id, decision, self.context.clock(), words=said, via="tui")
        except RetainError as error:
            is_gone = isinstance(error, NotFound)  # decided elsewhere meanwhile, or a compile ended
            self.show_error(NotFound(strings.GONE, hint=strings.COPY_WORDS) if is_gone and words else error)
            if is_gone and words is None:  # with words of the user's, the form stays, so that they can be copied
                self._waiting.pop(0)
                self._show_form()
                self._show()
            return False
        self._done.append(_Decision(self._waiting.pop(0), done.decided))
        self._report(done, strings.decided(decision, one.question))
        return True

    def action_undo(self) -> None:
        if not self._done:
            self.query_one(Notice).show_message(strings.NOTHING_BACK)
            return
        try:
            done = undo(self.context.vault, self.context.clock(), id_=self._done[-1].decided.id, via="tui")
        except RetainError as error:
            self.show_error(error)
            if isinstance(error, NotFound):  # undone elsewhere meanwhile
                self._done.pop()
            return
        self._waiting.insert(0, self._done.pop().suggestion)
        self._of = max(self._of, len(self._waiting))  # it may be of the sitting before
        self._report(done, strings.undone(done.decided.question))

    def _report(self, done: Outcome, words: str) -> None:
        self._forms_changed = self._forms_changed or bool(done.news)
        self._show()
        self.query_one(Notice).show_message(". ".join([words, *done.news]))

    def action_skip(self) -> None:
        if self._waiting and self._before is None:
            self._skipped.append(self._waiting.pop(0))
            self.query_one(Notice).clear_message()
            self._show()

    def action_more(self) -> None:
        """Begin the next sitting."""
        if not self._waiting and self._later:
            self._begin()

    # --- editing ----------------------------------------------------------------------------------------------------

    def action_edit(self) -> None:
        """Let the user word the card."""
        if not self._waiting or self._before is not None:
            return
        one = self._waiting[0]
        question, answer = escape(one.question), escape(one.answer)
        self._before, self._asked = Words(question, answer), False
        for field, words in zip(self._fields, (question, answer), strict=True):
            field.load_text(words)
        self._show_form()

    def _show_form(self) -> None:
        editing = self._before is not None
        self.set_class(editing, "-editing")
        self.set_focus(self._fields[0] if editing else None)
        self.query_one(KeyBar).show(key for key in SUGGEST if self.offers(key))

    def action_save(self) -> None:
        """Keep the card in the words of the fields; what a deck cannot hold is shown and stays to be changed."""
        if self._before is None:
            return
        try:
            words = checked_words(*(field.text for field in self._fields))
        except Refused as error:
            self.show_error(error)
            return
        before, one, self._before = self._before, self._waiting[0], None
        if self._decide(*((Decision.KEEP, None) if words == before else (Decision.EDIT, words))):
            self._show_form()
        elif self._waiting[:1] == [one]:  # the words stay, to be saved again
            self._before = before

    @property
    def _fields(self) -> tuple[TextArea, TextArea]:
        return self.query_one("#suggestion-q", TextArea), self.query_one("#suggestion-a", TextArea)

    def on_text_area_changed(self) -> None:
        self._asked = False

    # --- from here --------------------------------------------------------------------------------------------------

    def action_article(self) -> None:
        if self._waiting:
            self.go("article", self._waiting[0].article)

    def action_scroll(self, rows: int) -> None:
        self.query_one(SupportPanel).scroll_relative(y=rows, animate=False)

    def action_back(self) -> None:
        """End editing, with unsaved words at the second press; else leave, and compile if a card was kept."""
        if self._before is not None:
            if Words(*(field.text for field in self._fields)) != self._before and not self._asked:
                self._asked = True
                self.query_one(Notice).show_message(strings.NOT_SAVED)
                return
            self._before = None
            self.query_one(Notice).clear_message()
            self._show_form()
            return
        self._write_kept()
        super().action_back()

    def _write_kept(self) -> None:
        """Start the compile that brings kept cards into their decks; if other work is going on, the next one does."""
        context = self.context
        if self._forms_changed or any(each.decided.kept for each in self._done):
            with suppress(RetainError):
                if is_by_model(context.vault):  # a model or an agent wrote the decks meanwhile
                    return
                context.jobs.start(context.program, context.vault.root, _COMPILE, context.environment, context.clock)
