"""Reading and searching the vault for the browser, in threads; only the newest search counts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from learning.cards.workspace import open_desk
from learning.search.query import Query, completions, parse
from learning.search.records import Records
from learning.search.search import Found, Superseded, find
from tui.context import Context
from tui.models.browser import Browsing, browsing
from tui.models.browser_rows import Listed
from tui.process.background import read_in_background, without_gc_pauses
from tui.screen import Page
from tui.strings import browse as said
from tui.text import content
from tui.views.card_table import CardTable
from tui.widgets.bars import TopBar
from tui.widgets.notice import Notice
from vault.errors import RetainError, UsageError


class Completing(Suggester):
    """Suggests completions of the word being typed."""

    def __init__(self, names: Callable[[], dict[str, tuple[str, ...]]]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._names = names

    async def get_suggestion(self, value: str) -> str | None:
        for whole in completions(value, len(value), self._names()):
            start = len(value) - len(value.split(" ")[-1])
            if (value[:start] + whole).startswith(value):
                return value[:start] + whole
        return None


class BrowseSearch(Page):
    """A screen that lists the results of a search."""

    @dataclass
    class Loaded(Message):
        """The vault has been read."""

        records: Records

    @dataclass
    class Grew(Message):
        """More files have been indexed for the search."""

        done: int
        total: int

    @dataclass
    class Answered(Message):
        """The results of a search; None if a newer one replaced it."""

        ticket: int
        found: Found | None

    @dataclass
    class Failed(Page.Failed):
        """A file could not be read or written; `reading` if it was the vault itself."""

        reading: bool = False

    def __init__(self, context: Context, about: str = "") -> None:
        super().__init__(context, about)
        self._listed: Listed | None = None
        self._query = Query()
        self._ticket = 0
        self._searching = self._loading = self._load_again = False
        self._asked = ""

    @property
    def _open(self) -> Browsing:
        return browsing(self.app)

    # --- reading ----------------------------------------------------------------------------------------------------

    def _load(self) -> None:
        """Read the vault in the background, and again if asked meanwhile."""
        if self._loading:
            self._load_again = True
            return
        self._loading = True
        self.run_worker(read_in_background(self._read), group="browse-read")

    def _read(self) -> None:
        worker = get_current_worker()
        try:
            records = Records(open_desk(self.context.vault, self.context.clock(), queued=False))
            if worker.is_cancelled:
                return
            self.post_message(self.Loaded(records))
            self._index(records, lambda: not worker.is_cancelled)
        except OSError as error:
            self.post_message(self.Failed(UsageError(str(error.strerror), where=str(error.filename or "")), True))
        except RetainError as error:
            self.post_message(self.Failed(error, True))

    def _index(self, records: Records, is_wanted: Callable[[], bool]) -> None:
        for done, total in records.refresh():
            self.post_message(self.Grew(done, total))
            if not is_wanted():
                return

    def on_browse_search_loaded(self, message: Loaded) -> None:
        self._open.take(message.records)
        self._search(keeps_notice=True)

    def on_browse_search_grew(self, message: Grew) -> None:
        if message.done < message.total:
            self.query_one(TopBar).show_status(said.indexing(message.done, message.total))
        else:
            self._loading = False
            self._show_counts()
        self._search(keeps_notice=True)
        if not self._loading and self._load_again:
            self._load_again = False
            self._load()

    def on_browse_search_failed(self, message: Failed) -> None:
        self._loading = self._loading and not message.reading
        self.show_error(message.error)

    # --- searching --------------------------------------------------------------------------------------------------

    def on_input_changed(self, message: Input.Changed) -> None:
        held = self._open
        if message.input.id == "browse-words" and message.value != held.words:
            held.words, held.at = message.value, None  # what fits best is looked at first
            self._search()

    def _search(self, *, keeps_notice: bool = False) -> None:
        """Search for the current text; an earlier search that still runs is dropped.

        With `keeps_notice`, what stands in the notice is not about the search, and stays.
        """
        try:
            self._query = parse(self._open.words)
        except RetainError as error:
            self.query_one(Notice).show_message(str(error))  # calmly: a filter may be half written
            return
        if self._asked == "" and not keeps_notice:
            self.query_one(Notice).clear()
        self._ticket += 1
        if not self._searching:
            self._start_search()

    def _start_search(self) -> None:
        records = self._open.records
        if records is None:
            return
        self._searching = True
        ticket, query, held = self._ticket, self._query, self._open
        scope, order, now = held.scope, held.order, self.context.clock()

        def search() -> None:
            def is_wanted() -> bool:
                return ticket == self._ticket

            found = None
            with suppress(Superseded), self.posting_errors(), without_gc_pauses():
                found = find(query, records, now, scope=scope, order=order, is_wanted=is_wanted)
            self.post_message(self.Answered(ticket, found))

        self.run_worker(search, thread=True, group="browse-search")

    def on_browse_search_answered(self, message: Answered) -> None:
        self._searching = False
        if message.ticket != self._ticket:
            self._start_search()
        elif message.found is not None:
            self._show(message.found)

    def _show(self, found: Found) -> None:
        held = self._open
        if held.records is None:
            return
        held.found = found
        listed = Listed(held.records, found, self.context.clock(), held.marked)
        self._listed = listed
        row = listed.row(held.at) if held.at is not None else None
        nothing = not len(found)
        self.set_class(nothing, "-empty")
        if nothing:
            words = said.NOTHING_FOUND if held.words or held.scope != "cards" else said.NO_CARDS
            self.query_one("#browse-nothing", Static).update(content.prose(words))
        self.query_one(CardTable).show(listed, row if row is not None else 0)
        self._show_counts()

    def _show_counts(self) -> None:
        held = self._open
        records = held.records
        if records is None:
            return
        total = (len(records) if held.scope != "articles" else 0) + (records.articles if held.scope != "cards" else 0)
        self.query_one(TopBar).show_status(said.counts(len(held.found), total, len(held.marked)))

    def _names(self) -> dict[str, tuple[str, ...]]:
        records = self._open.records
        if records is None:
            return {}
        return {"topic": tuple(records.topics), "concept": tuple(dict.fromkeys(records.titles))}
