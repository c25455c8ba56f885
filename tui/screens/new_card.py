"""The screen that makes a card by hand: basic, both ways or a cloze, in a deck of choice."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.events import Click
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static, TextArea

from learning.cards.edit import Words
from learning.cards.new import Added, Draft, add_card
from learning.store.cards import read_cards
from learning.store.index import with_open_index
from tui.context import Context
from tui.keys import NEW
from tui.models.browser import Browsing, browsing
from tui.screen import Page
from tui.strings import new_card as said
from tui.text import content
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.notice import Notice
from vault.model.card import CardKind

_TYPES = (said.BASIC, said.BOTH_WAYS, said.CLOZE)
_KINDS = (said.NO_KIND, *(kind.value for kind in CardKind))


class Choices(Horizontal):
    """A choice of one of a few names, on one line."""

    class Name(Static):
        """One of the names."""

        def __init__(self, name: str) -> None:
            super().__init__(content.plain(name), markup=False, classes="choice")

    def __init__(self, label: str, names: tuple[str, ...], id_: str) -> None:
        super().__init__(id=id_)
        self._label, self._names = label, names
        self.chosen = 0

    def compose(self) -> ComposeResult:
        yield Static(self._label, markup=False, classes="new-name")
        yield from map(self.Name, self._names)

    def on_mount(self) -> None:
        self.choose(self.chosen)

    def choose(self, place: int) -> None:
        """Choose the name at `place`, counted on from the last to the first."""
        self.chosen = place % len(self._names)
        for n, name in enumerate(self.query(self.Name)):
            name.set_class(n == self.chosen, "-chosen")


class NewCardScreen(Page, key="new"):
    """Makes cards, one after another; `about` is the vault path of the deck to begin with, or ""."""

    @dataclass
    class Decks(Message):
        """The titles of the decks have been read, with that of the deck to begin with."""

        titles: list[str]
        title: str

    @dataclass
    class Saved(Message):
        """The cards have been written."""

        added: Added

    def __init__(self, context: Context, about: str = "") -> None:
        super().__init__(context, about)
        self._deck_title = ""  # of the deck at `about`
        self._asked = False  # whether what is not saved may go
        self._saving = False

    def compose(self) -> ComposeResult:
        yield TopBar(said.TITLE)
        with Container(id="sides"), Vertical(classes="column"):
            yield Choices(said.TYPE, _TYPES, "new-type")
            yield Choices(said.KIND, _KINDS, "new-kind")
            yield from _field(said.DECK, "new-deck", said.DECK_HINT)
            yield Static(said.QUESTION, markup=False, classes="side-name", id="new-asks")
            yield TextArea(id="new-question", soft_wrap=True, tab_behavior="focus")
            yield Static(said.ANSWER, markup=False, classes="side-name -of-answer")
            yield TextArea(id="new-answer", soft_wrap=True, tab_behavior="focus")
            yield from _field(said.TAGS, "new-tags", said.TAGS_HINT)
            yield from _field(said.SOURCE, "new-source", said.SOURCE_HINT)
        yield Notice()
        yield KeyBar(NEW)

    def on_mount(self) -> None:
        self._question.focus()
        self.run_worker(self._read, thread=True)

    def _read(self) -> None:
        with self.posting_errors():
            decks = with_open_index(self.context.vault, lambda index: read_cards(self.context.vault, index).titles())
            title = next((title for path, title in decks if path == self.about), "")
            self.post_message(self.Decks(sorted({title for _, title in decks}), title))

    def on_new_card_screen_decks(self, message: Decks) -> None:
        deck = self._input("new-deck")
        deck.suggester = SuggestFromList(message.titles, case_sensitive=False)
        if not deck.value:
            self._deck_title = deck.value = message.title

    def on_click(self, event: Click) -> None:
        """Choose a name by a click."""
        name = event.widget
        if isinstance(name, Choices.Name) and isinstance(name.parent, Choices):
            name.parent.choose(list(name.parent.query(Choices.Name)).index(name))
            self._show_type()

    def action_type(self, step: int) -> None:
        """Choose the next type of card."""
        choices = self.query_one("#new-type", Choices)
        choices.choose(choices.chosen + step)
        self._show_type()

    def action_kind(self, step: int) -> None:
        """Choose the next kind of question."""
        choices = self.query_one("#new-kind", Choices)
        choices.choose(choices.chosen + step)

    def _show_type(self) -> None:
        self.set_class(self._is_cloze, "-cloze")
        self.query_one("#new-asks", Static).update(said.CLOZE_TEXT if self._is_cloze else said.QUESTION)
        if self._is_cloze and self._answer.has_focus:
            self._question.focus()

    def on_text_area_changed(self) -> None:
        self._asked = False

    def action_save(self) -> None:
        """Add the card, and let the user write the next; pressed twice, it adds one."""
        if self._saving:
            return
        self._saving = True
        browser = browsing(self.app)
        self.run_worker(lambda draft=self._draft: self._save(draft, browser), thread=True, exclusive=True)

    def _save(self, draft: Draft, browser: Browsing) -> None:
        with self.posting_errors():
            added, _ = add_card(self.context.vault, draft, self.context.clock(), via="tui")
            with browser.turn:
                browser.done.append(added)
            self.post_message(self.Saved(added))

    def on_new_card_screen_saved(self, message: Saved) -> None:
        added, self._saving = message.added, False
        self._question.load_text("")
        self._answer.load_text("")
        self._question.focus()
        words = said.added(len(added.cards), added.title, is_new_deck=added.is_new_deck, alike=added.alike is not None)
        self.query_one(Notice).show_message(words)

    def on_page_failed(self, message: Page.Failed) -> None:
        self._saving = False

    def action_back(self) -> None:
        """Close; with an unsaved card only at the second press."""
        is_written = bool(self._question.text.strip() or self._answer.text.strip())
        if is_written and not self._asked and not self._saving:
            self._asked = True
            self.query_one(Notice).show_message(said.NOT_SAVED)
        else:
            self.leave()

    @property
    def _draft(self) -> Draft:
        """Return the card as it is written."""
        kind = self.query_one("#new-kind", Choices).chosen
        name = self._input("new-deck").value.strip()
        return Draft(
            Words(self._question.text, None if self._is_cloze else self._answer.text),
            is_reversed=self.query_one("#new-type", Choices).chosen == _TYPES.index(said.BOTH_WAYS),
            kind=CardKind(_KINDS[kind]) if kind else None,
            deck=self.about if self.about and name == self._deck_title else name,
            tags=tuple(self._input("new-tags").value.split()),
            source=self._input("new-source").value,
        )

    @property
    def _is_cloze(self) -> bool:
        return self.query_one("#new-type", Choices).chosen == _TYPES.index(said.CLOZE)

    def _input(self, id_: str) -> Input:
        return self.query_one(f"#{id_}", Input)

    @property
    def _question(self) -> TextArea:
        return self.query_one("#new-question", TextArea)

    @property
    def _answer(self) -> TextArea:
        return self.query_one("#new-answer", TextArea)


def _field(label: str, id_: str, hint: str) -> ComposeResult:
    """Yield one line with a label and a field."""
    with Horizontal(classes="new-row"):
        yield Static(label, markup=False, classes="new-name")
        yield Input(id=id_, placeholder=hint, select_on_focus=False)
