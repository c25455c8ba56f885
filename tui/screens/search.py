"""Searches of sources, wiki and cards by words: hits in groups, each opened where it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from learning.pages.article import may_read
from learning.search.query import Word, parse
from tui.context import Context
from tui.keys import SEARCH
from tui.process.background import without_gc_pauses
from tui.screen import Page
from tui.strings import search as strings
from tui.text import content
from tui.views.article import WORDS
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.grouped_list import GroupedList, move_cursor
from tui.widgets.notice import Notice
from vault.errors import RetainError
from vault.text.formatting import clean_line, truncate

if TYPE_CHECKING:
    from compiler.search.search import Hit, Results
    from vault.index.database import Database

_SHOWN = 5  # hits of each kind
_TITLE = 24  # characters of a title before the words that were found
_LONGEST = 2_000  # characters of the text that is shown below


class SearchScreen(Page, key="search"):
    """The search; `about` are the words to begin with."""

    @dataclass
    class Grew(Message):
        """More files have been indexed for the search, or more sentences embedded: `words` say how many."""

        words: str

    @dataclass
    class Warned(Message):
        """Something that the user set up for searches could not be used."""

        words: str

    @dataclass
    class Answered(Message):
        """The results of a search; None if it failed."""

        words: str
        results: Results | None
        pages: Mapping[str, str]  # for passages of sources that the reader does not open, by their texts

    def __init__(self, context: Context, about: str = "") -> None:
        super().__init__(context, about)
        self._words = ""  # those searched for last
        self._is_searching = False
        self._hits: dict[str, Hit] = {}
        self._pages: Mapping[str, str] = {}
        self._at = ""  # the hit under the cursor

    def compose(self) -> ComposeResult:
        yield TopBar(strings.TITLE)
        with Horizontal(id="search-ask"):
            yield Static(content.plain("/"), markup=False)
            yield Input(self.about, placeholder=strings.HINT, id="search-words", select_on_focus=False)
        yield GroupedList()
        with VerticalScroll(id="search-text", can_focus=False):
            yield Static(markup=False)
        yield Static(content.prose(strings.ASK), markup=False, id="nothing")
        yield Notice()
        yield KeyBar(SEARCH)

    def on_mount(self) -> None:
        self.add_class("-empty")
        self.query_one(Input).focus()
        if self.about:
            self._search(self.about)

    # --- searching --------------------------------------------------------------------------------------------------

    def on_input_submitted(self, message: Input.Submitted) -> None:
        self._search(message.value)

    def _search(self, words: str) -> None:
        """Search for these words in the background; with a filter, show the cards in the browser."""
        if not words.strip():
            return
        try:
            by_words = all(isinstance(term, Word) for term in parse(words).terms)
        except RetainError as error:
            self.show_error(error)
            return
        if not by_words:
            self.go("browse", words)
            return
        self._words = words
        self.query_one(Notice).clear()
        self.query_one(TopBar).show_status(strings.READING)
        if not self._is_searching:
            self._start()

    def _start(self) -> None:
        self._is_searching = True
        words, vault, at = self._words, self.context.vault, self.context.clock()

        def progress(event: dict[str, Any]) -> None:
            if event.get("event") == "wait":
                self.post_message(self.Warned(event["words"]))
            elif event.get("event") in strings.STEPS and event["done"] < event["of"]:
                self.post_message(self.Grew(strings.step(event["event"], event["done"], event["of"])))

        def search() -> None:
            from compiler.build.search import with_search_index  # the app starts without the compiler
            from compiler.query.extract import page_on
            from compiler.search.likeness import chosen_likeness
            from compiler.search.search import search as found_in

            results, pages = None, dict[str, str]()

            def use(index: Database) -> Results:
                found = found_in(index, words, tuple(strings.HEADS), _SHOWN, likeness)
                closed = (hit.entry for hit in found.hits["passage"] if not may_read(vault, hit.entry.path))
                pages.update({entry.text: page_on(index, entry) for entry in closed})
                return found

            with self.posting_errors(), without_gc_pauses():
                likeness = chosen_likeness(progress)
                results = with_search_index(vault, use, at, progress)
            self.post_message(self.Answered(words, results, pages))

        self.run_worker(search, thread=True, group="search")

    def on_search_screen_grew(self, message: Grew) -> None:
        self.query_one(TopBar).show_status(message.words)

    def on_search_screen_warned(self, message: Warned) -> None:
        self.query_one(Notice).show_message(message.words)

    def on_search_screen_answered(self, message: Answered) -> None:
        self._is_searching = False
        if message.words != self._words:
            self._start()
        elif message.results is None:
            self.query_one(TopBar).show_status("")
        else:
            self._pages = message.pages
            self._show(message.results)

    # --- what is shown ----------------------------------------------------------------------------------------------

    def _show(self, results: Results) -> None:
        from compiler.search.search import snippet

        self._hits = {f"{kind}-{n}": hit for kind, hits in results.hits.items() for n, hit in enumerate(hits)}
        self.set_class(not self._hits, "-empty")
        self.query_one("#nothing", Static).update(content.prose(strings.NOTHING))
        self.query_one(TopBar).show_status(strings.found(len(self._hits), results.unknown))
        groups = []
        for kind, hits in results.hits.items():
            rows = []
            for n, hit in enumerate(hits):
                text, marks = snippet(hit, results.words, 120)
                marked = content.line(text)
                for start, end in marks:
                    marked = marked.stylize("bold", start, end)
                title = truncate(clean_line(hit.entry.title), _TITLE)
                rows.append((f"{kind}-{n}", Content.assemble("  ", content.plain(title, content.DIM), "  ", marked)))
            if rows:
                groups.append((content.plain(strings.HEADS[kind], content.DIM), rows))
        listed = self.query_one(GroupedList)
        listed.show_groups(groups)
        if self._hits:
            listed.focus()

    def on_reaching_list_reached(self, message: GroupedList.Reached) -> None:
        self._at = message.id
        hit = self._hits.get(message.id)
        if hit is not None:
            entry = hit.entry
            about = " · ".join(filter(None, (clean_line(entry.title), clean_line(entry.place), clean_line(entry.path))))
            text = content.plain(entry.text[:_LONGEST])
            self.query_one("#search-text Static", Static).update(
                Content.assemble(content.line(about, content.DIM), "\n", text)
            )

    # --- keys -------------------------------------------------------------------------------------------------------

    def on_option_list_option_selected(self, message: GroupedList.OptionSelected) -> None:
        message.stop()
        self.action_open()

    def action_open(self) -> None:
        """Open the hit under the cursor: a card in the browser, all others in the reader.

        A passage opens in its source, or, where the reader does not open that, on the source's page.
        """
        hit = self._hits.get(self._at)
        if hit is None:
            return
        entry = hit.entry
        if entry.kind == "card":
            self.go("browse", f"id:{entry.ref}" if entry.ref else f'path:"{entry.path}"')
        elif entry.kind == "passage":
            self.go("article", self._pages.get(entry.text) or f"{entry.path}#{WORDS}{entry.text}")
        else:
            self.go("article", f"{entry.path}#^c-{entry.ref}" if entry.kind == "claim" else entry.path)

    def action_move(self, by: int) -> None:
        move_cursor(self.query_one(GroupedList), by)

    def action_find(self) -> None:
        self.query_one(Input).focus()
