"""The screen that edits a card's question and answer in its deck; undo reverses the edit."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.message import Message
from textual.widgets import Static, TextArea

from learning.cards.edit import Words, edit_card, words_of
from learning.store.cards import read_cards
from learning.store.index import with_open_index
from learning.store.placed import Placed
from tui.context import Context
from tui.keys import EDIT
from tui.screen import Page
from tui.strings import review as said
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.notice import Notice
from vault.errors import NotFound
from vault.ids import CardId
from vault.text.formatting import clean


class EditScreen(Page, key="edit"):
    """Edits the question and answer of a card; `about` is its id."""

    @dataclass
    class Read(Message):
        """The card has been read from its file."""

        card: Placed

    class Saved(Message):
        """The card has been saved."""

    def __init__(self, context: Context, about: str = "") -> None:
        super().__init__(context, about)
        self._before: Words | None = None  # as the file has it
        self._shown = Words("", "")  # as it was given to the fields
        self._asked = False  # whether what is not saved may go

    def compose(self) -> ComposeResult:
        yield TopBar(said.EDIT)
        with Container(id="sides"), Vertical(classes="column"):
            yield Static(said.QUESTION, markup=False, classes="side-name", id="edit-asks")
            yield TextArea(id="edit-question", soft_wrap=True, tab_behavior="focus")
            yield Static(said.ANSWER, markup=False, classes="side-name -of-answer")
            yield TextArea(id="edit-answer", soft_wrap=True, tab_behavior="focus")
        yield Notice()
        yield KeyBar(EDIT)

    def on_mount(self) -> None:
        self.run_worker(self._read, thread=True)

    def _read(self) -> None:

        with self.posting_errors():
            vault, card = self.context.vault, CardId(self.about)
            found = with_open_index(vault, lambda index: read_cards(vault, index).get(card))
            if found is None:
                raise NotFound(said.GONE)
            self.post_message(self.Read(found))

    def on_edit_screen_read(self, message: Read) -> None:
        self._before = before = words_of(message.card.card)
        self._shown = Words(clean(before.question), None if before.answer is None else clean(before.answer))
        self._question.load_text(self._shown.question)
        self._answer.load_text(self._shown.answer or "")
        if before.answer is None:
            self.add_class("-cloze")
            self.query_one("#edit-asks", Static).update(said.CLOZE_TEXT)
        self._question.focus()
        self.query_one(TopBar).show_status(message.card.title)

    def on_edit_screen_saved(self) -> None:
        self.leave()

    def on_text_area_changed(self) -> None:
        self._asked = False

    def action_save(self) -> None:
        """Save the card and close; if its file has changed meanwhile, show the error and keep the text."""
        before, now = self._before, self._now
        if before is None or now == self._shown:
            self.leave()
            return
        self.run_worker(lambda: self._save(before, now), thread=True, exclusive=True)

    def _save(self, before: Words, now: Words) -> None:
        with self.posting_errors():
            at = self.context.clock()
            edit_card(self.context.vault, self.about, now.question, now.answer, at, expect=before)
            self.post_message(self.Saved())

    def action_back(self) -> None:
        """Close; with unsaved changes only at the second press."""
        if self._before is not None and self._now != self._shown and not self._asked:
            self._asked = True
            self.query_one(Notice).show_message(said.NOT_SAVED)
        else:
            self.leave()

    @property
    def _now(self) -> Words:
        return Words(self._question.text, None if self.has_class("-cloze") else self._answer.text)

    @property
    def _question(self) -> TextArea:
        return self.query_one("#edit-question", TextArea)

    @property
    def _answer(self) -> TextArea:
        return self.query_one("#edit-answer", TextArea)
