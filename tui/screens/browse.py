"""Every card and article: searched as one types, sorted, looked at, and changed, one or many at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from learning import card_deeds
from learning.card_columns import CardColumns, columns_of
from learning.card_deeds import Deed
from learning.desk import Desk, open_desk
from learning.finding import SCOPES, SORTS, Found, Order, find
from learning.search_index import Superseded
from learning.search_query import Query, completions, parse
from tui import text
from tui.browse_rows import Listed
from tui.browsing import Browsing, Seen, browsing, seen
from tui.context import Context
from tui.going import Go
from tui.keys import BROWSE, bindings
from tui.page import Page
from tui.strings import browse as said
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.card_preview import CardPreview
from tui.widgets.card_table import CardTable, Column, TableHead
from tui.widgets.notice import Notice
from vault.errors import RetainError, UsageError

COLUMNS = (
    Column("kind", said.COLUMNS["kind"], 12),
    Column("concept", said.COLUMNS["concept"], 18, least=56),
    Column("question", said.COLUMNS["question"], quiet=False),
    Column("topic", said.COLUMNS["topic"], 16, least=120),
    Column("ivl", said.COLUMNS["ivl"], 8, right=True, least=86),
    Column("difficulty", said.COLUMNS["difficulty"], 5, right=True, least=104),
    Column("lapses", said.COLUMNS["lapses"], 7, right=True, least=104),
    Column("recall", said.COLUMNS["recall"], 7, right=True, least=86),
    Column("due", said.COLUMNS["due"], 10, right=True),
)
_ASKS = {"flag": said.WHY_FLAGGED, "tag": said.WHICH_TAG, "reschedule": said.WHICH_DAY}


class _Completing(Suggester):
    """Offers what the word that is being typed could become."""

    def __init__(self, names: Callable[[], dict[str, tuple[str, ...]]]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._names = names

    async def get_suggestion(self, value: str) -> str | None:
        for whole in completions(value, len(value), self._names()):
            start = len(value) - len(value.split(" ")[-1])
            if (value[:start] + whole).startswith(value):
                return value[:start] + whole
        return None


class BrowseScreen(Page):
    """`about` is a search to begin with; without one, what was searched last."""

    NAME = "browse"
    CSS_PATH = "browse.tcss"
    BINDINGS = bindings(BROWSE)  # type: ignore[assignment]

    @dataclass
    class Loaded(Message):
        """The vault has been read."""

        columns: CardColumns

    @dataclass
    class Grew(Message):
        """More has been read for the search."""

        done: int
        total: int

    @dataclass
    class Answered(Message):
        """What a search has found; None where a newer one went before."""

        ticket: int
        found: Found | None

    @dataclass
    class Looked(Message):
        """What the cursor is on."""

        seen: Seen

    @dataclass
    class Did(Message):
        """A deed is on disk; with `undone` it was taken back."""

        deed: Deed
        name: str
        desk: Desk
        undone: bool = False

    @dataclass
    class Failed(Message):
        """Something could not be read or written."""

        error: RetainError

    def __init__(self, context: Context, about: str = "") -> None:
        super().__init__(context, about)
        self._listed: Listed | None = None
        self._query = Query()
        self._ticket = 0
        self._searching = self._loading = self._load_again = False
        self._looking = self._look_again = False
        self._asked = ""
        self._repaired = 0
        self._anchor: int | None = None

    @property
    def _open(self) -> Browsing:
        return browsing(self.app, self.context.vault)

    def compose(self) -> ComposeResult:
        yield TopBar(said.TITLE)
        with Horizontal(id="browse-search"):
            yield Static(text.plain("/"), markup=False, id="browse-slash")
            names = _Completing(self._names)
            yield Input(placeholder=said.SEARCH_HINT, suggester=names, id="browse-words", select_on_focus=False)
            yield Static(markup=False, id="browse-scope")
        with Vertical(id="browse-body"):
            with Vertical(id="browse-list"):
                yield TableHead(COLUMNS)
                yield CardTable(COLUMNS)
            yield CardPreview()
        yield Static(markup=False, id="browse-nothing")
        with Vertical(id="browse-ask"):
            yield Static(markup=False)
            yield Input(id="browse-answer")
        yield OptionList(markup=False, id="browse-sorts")
        yield Notice()
        yield KeyBar(BROWSE)

    def on_mount(self) -> None:
        held = self._open
        if self.about:
            held.words = self.about
        self.query_one("#browse-words", Input).value = held.words
        self._repaired = held.index.repaired
        sorts = self.query_one("#browse-sorts", OptionList)
        sorts.add_options([Option(text.line(said.SORTS[name]), id=name) for name in SORTS])
        sorts.border_title = "Sort"
        self.query_one(CardTable).focus()
        self._show_order()
        self.query_one(TopBar).say(said.READING)
        if held.columns is not None:
            self._search()
        self._load()

    def on_screen_resume(self) -> None:
        """Back from another screen, which may have changed a card."""
        if self._open.columns is not None and self._listed is not None:
            self._load()

    # --- reading ----------------------------------------------------------------------------------------------------

    def _load(self) -> None:
        """Reads the vault in the background; once more, if it is asked for meanwhile."""
        if self._loading:
            self._load_again = True
            return
        self._loading = True
        self.run_worker(self._read, thread=True, group="browse-read")

    def _read(self) -> None:
        worker, index = get_current_worker(), self._open.index
        try:
            columns = columns_of(open_desk(self.context.vault, self.context.clock()))
            self.post_message(self.Loaded(columns))
            self._index(columns, lambda: not worker.is_cancelled)
        except OSError as error:
            self.post_message(self.Failed(UsageError(str(error.strerror), where=str(error.filename or ""))))
        except RetainError as error:
            self.post_message(self.Failed(error))
        del index

    def _index(self, columns: CardColumns, is_wanted: Callable[[], bool]) -> None:
        for done, total in self._open.index.refresh(columns):
            self.post_message(self.Grew(done, total))
            if not is_wanted():
                return

    def on_browse_screen_loaded(self, message: Loaded) -> None:
        self._open.take(message.columns)
        self._search()

    def on_browse_screen_grew(self, message: Grew) -> None:
        held = self._open
        if message.done < message.total:
            self.query_one(TopBar).say(said.indexing(message.done, message.total))
        else:
            self._loading = False
            self._show_counts()
            if held.index.repaired > self._repaired:
                self._repaired = held.index.repaired
                self.query_one(Notice).tell(said.REPAIRED)
        self._search()
        if not self._loading and self._load_again:
            self._load_again = False
            self._load()

    def on_browse_screen_failed(self, message: Failed) -> None:
        self._loading = False
        self.say(message.error)

    # --- searching --------------------------------------------------------------------------------------------------

    def on_input_changed(self, message: Input.Changed) -> None:
        if message.input.id == "browse-words":
            self._open.words = message.value
            self._search()

    def _search(self) -> None:
        """Asks for what is written now; what was asked for before need not be answered any more."""
        try:
            self._query = parse(self._open.words)
        except RetainError as error:
            self.say(error)
            return
        if self._asked == "":
            self.query_one(Notice).clear()
        self._ticket += 1
        if not self._searching:
            self._start_search()

    def _start_search(self) -> None:
        columns = self._open.columns
        if columns is None:
            return
        self._searching = True
        ticket, query, held = self._ticket, self._query, self._open
        scope, order, now = held.scope, held.order, self.context.clock()

        def search() -> None:
            def is_wanted() -> bool:
                return ticket == self._ticket

            found = None
            try:
                found = find(query, columns, held.index, now, scope=scope, order=order, is_wanted=is_wanted)
            except Superseded:
                pass
            except RetainError as error:
                self.post_message(self.Failed(error))
            self.post_message(self.Answered(ticket, found))

        self.run_worker(search, thread=True, group="browse-search")

    def on_browse_screen_answered(self, message: Answered) -> None:
        self._searching = False
        if message.ticket != self._ticket:
            self._start_search()
        elif message.found is not None:
            self._show(message.found)

    def _show(self, found: Found) -> None:
        held = self._open
        if held.columns is None or any(len(held.columns) <= n for n in found.cards[-1:]):
            return
        held.found = found
        listed = Listed(held.columns, held.index.view, found, self.context.clock(), held.marked)
        self._listed = listed
        row = listed.row(held.at) if held.at is not None else None
        nothing = not len(found)
        self.set_class(nothing, "-empty")
        if nothing:
            words = said.NOTHING_FOUND if held.words or held.scope != "cards" else said.NO_CARDS
            self.query_one("#browse-nothing", Static).update(text.prose(words))
        self.query_one(CardTable).show(listed, row if row is not None else 0)
        self._show_counts()

    def _show_counts(self) -> None:
        held = self._open
        if self._loading and held.columns is None:
            return
        cards = len(held.columns) if held.columns is not None else 0
        total = (cards if held.scope != "articles" else 0) + (
            len(held.index.view.articles) if held.scope != "cards" else 0
        )
        self.query_one(TopBar).say(said.counts(len(held.found), total, len(held.marked)))

    def _names(self) -> dict[str, tuple[str, ...]]:
        columns = self._open.columns
        if columns is None:
            return {}
        return {"topic": tuple(columns.topics), "concept": tuple(dict.fromkeys(columns.titles))}

    # --- looking ----------------------------------------------------------------------------------------------------

    def on_card_table_reached(self, message: CardTable.Reached) -> None:
        if self._listed is None or not 0 <= message.row < len(self._listed):
            self.query_one(CardPreview).show(None, None)
            return
        self._open.at = self._listed.item(message.row)
        self._look()

    def _look(self) -> None:
        """Shows what the cursor is on; while one is being read, only the newest is next."""
        if self._looking:
            self._look_again = True
            return
        held, listed = self._open, self._listed
        if held.at is None or listed is None:
            return
        self._looking = True
        item, columns, fully = held.at, listed.columns, self.has_class("-full")
        article = listed.view.articles[-1 - item] if item < 0 else ""

        def look() -> None:
            try:
                found = seen(columns, item, article, fully=fully)
            except RetainError as error:
                self.post_message(self.Failed(error))
                found = Seen(item, article)
            self.post_message(self.Looked(found))

        self.run_worker(look, thread=True, group="browse-look")

    def on_browse_screen_looked(self, message: Looked) -> None:
        self._looking = False
        if self._look_again:
            self._look_again = False
            self._look()
        else:
            self.query_one(CardPreview).show(message.seen, self._listed)

    def action_open(self) -> None:
        """The whole card with its past, or the article in the reader."""
        held, listed = self._open, self._listed
        if held.at is None or listed is None or not len(listed):
            return
        if held.at < 0:
            self.post_message(Go("article", listed.view.articles[-1 - held.at]))
            return
        self.toggle_class("-full")
        self._look()

    def on_card_table_opened(self, _message: CardTable.Opened) -> None:
        self.action_open()

    def action_article(self) -> None:
        """The article of the card's concept."""
        from learning.placed import article_of, concept_of

        if self._open.at is not None and self._open.at >= 0 and self._listed is not None:
            self.post_message(Go("article", article_of(concept_of(self._listed.columns.path(self._open.at)))))

    # --- moving, sorting, choosing ----------------------------------------------------------------------------------

    def action_move(self, rows: int) -> None:
        if self.has_class("-full"):
            self.query_one(CardPreview).scroll_relative(y=rows, animate=False)
            return
        self._anchor = None
        self.query_one(CardTable).move(rows)

    def action_page(self, pages: int) -> None:
        self.action_move(pages * self.query_one(CardTable).page())

    def action_end(self, way: int) -> None:
        self.action_move(way * len(self._listed or ()))

    def action_search(self) -> None:
        self.remove_class("-full")
        self.query_one("#browse-words", Input).focus()

    def action_switch(self) -> None:
        """From the search to the list and back."""
        if self.query_one("#browse-words", Input).has_focus:
            self.query_one(CardTable).focus()
        else:
            self.action_search()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        if message.input.id == "browse-words":
            self.query_one(CardTable).focus()
        else:
            self._answered(message.value)

    def action_scope(self) -> None:
        held = self._open
        held.scope = SCOPES[(SCOPES.index(held.scope) + 1) % len(SCOPES)]
        self._show_order()
        self._search()

    def action_sort(self) -> None:
        sorts = self.query_one("#browse-sorts", OptionList)
        sorts.add_class("-shown")
        sorts.highlighted = SORTS.index(self._open.order.by)
        sorts.focus()

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        self._close_sorts()
        self._sort_by(str(message.option.id))

    def on_table_head_chosen(self, message: TableHead.Chosen) -> None:
        self._sort_by(message.name)

    def _sort_by(self, name: str) -> None:
        """Sorts by it; asked for once more, the other way round."""
        held = self._open
        held.order = Order(name, not held.order.descending if held.order.by == name else False)
        self._show_order()
        self._search()

    def _close_sorts(self) -> None:
        self.query_one("#browse-sorts").remove_class("-shown")
        self.query_one(CardTable).focus()

    def _show_order(self) -> None:
        held = self._open
        self.query_one(TableHead).show(held.order.by, descending=held.order.descending)
        names = [text.line(said.SCOPES[each], "bold" if each == held.scope else text.DIM) for each in SCOPES]
        self.query_one("#browse-scope", Static).update(Content("  ").join(names))

    def on_click(self, event: object) -> None:
        widget = getattr(event, "widget", None)
        if getattr(widget, "id", None) == "browse-scope":
            self.action_scope()

    def action_mark(self) -> None:
        """Chooses the card, or no longer, and goes on to the next."""
        if self._listed is not None and len(self._listed):
            self._open.marked ^= {self._listed.item(self.query_one(CardTable).cursor)}
            self._marks_changed()
            self.query_one(CardTable).move(1)

    def on_card_table_marked(self, message: CardTable.Marked) -> None:
        if self._listed is not None:
            self._open.marked ^= {self._listed.item(message.row)}
            self._marks_changed()

    def action_extend(self, rows: int) -> None:
        """Chooses all from where it began up to the cursor."""
        listed, table = self._listed, self.query_one(CardTable)
        if listed is None or not len(listed):
            return
        if self._anchor is None:
            self._anchor = table.cursor
        table.move(rows)
        start, end = sorted((self._anchor, table.cursor))
        self._open.marked |= {listed.item(row) for row in range(start, end + 1)}
        self._marks_changed()

    def action_all(self) -> None:
        """Chooses all that is found; all of it again, none."""
        if self._listed is not None:
            found = self._listed.found
            every = {*found.cards, *(-1 - n for n in found.articles)}
            self._open.marked = set() if every <= self._open.marked else every
            self._marks_changed()

    def _marks_changed(self) -> None:
        if self._listed is not None:
            held = self._listed
            self._listed = Listed(held.columns, held.view, held.found, held.now, self._open.marked)
            self.query_one(CardTable).repaint_with(self._listed)
        self._show_counts()

    # --- deeds ------------------------------------------------------------------------------------------------------

    def _chosen(self) -> list[str]:
        """The ids of the cards that a deed is for: those that were chosen, else the one under the cursor."""
        held = self._open
        items: Iterable[int] = sorted(held.marked) or ([] if held.at is None else [held.at])
        columns = held.columns
        return [] if columns is None else [columns.card(item) for item in items if 0 <= item < len(columns)]

    def action_suspend(self) -> None:
        """Suspends; where all are suspended already, resumes."""
        held = self._open
        chosen = self._chosen()
        if held.columns is not None and chosen:
            numbers = [n for card in chosen if (n := held.columns.number(card)) is not None]
            if all(held.columns.state(number).suspended for number in numbers):
                self._do("resume", lambda desk: card_deeds.resuming(desk, chosen, via="tui"))
            else:
                self._do("suspend", lambda desk: card_deeds.suspending(desk, chosen, via="tui"))

    def action_bury(self) -> None:
        chosen = self._chosen()
        self._do("bury", lambda desk: card_deeds.burying(desk, chosen, via="tui"))

    def action_ask(self, what: str) -> None:
        """Asks for what the deed needs: a reason, a tag, a day."""
        if not self._chosen():
            self.query_one(Notice).tell(said.NOTHING_MARKED)
            return
        self._asked = what
        self.query_one("#browse-ask Static", Static).update(text.line(_ASKS[what]))
        self.query_one("#browse-ask").add_class("-shown")
        answer = self.query_one("#browse-answer", Input)
        answer.value = ""
        answer.focus()

    def _answered(self, words: str) -> None:
        what, chosen = self._asked, self._chosen()
        self._close_ask()
        if what == "flag":
            self._do("flag", lambda desk: card_deeds.flagging(desk, chosen, words, via="tui"))
        elif what == "tag" and words.strip():
            tags = words.split()
            add = [tag for tag in tags if not tag.startswith("-")]
            gone = [tag[1:] for tag in tags if tag.startswith("-")]
            self._do("tag", lambda desk: card_deeds.tagging(desk, chosen, add, gone, via="tui"))
        elif what == "reschedule":
            self._reschedule(words.strip(), chosen)

    def _reschedule(self, words: str, chosen: list[str]) -> None:
        if not words.isascii() or not words.isdigit() or len(words) > 5:
            self.say(UsageError(said.NOT_A_DAY, hint=said.DAY_HINT))
            return

        def deed(desk: Desk) -> Deed:
            day = date.fromordinal(desk.scheduler.calendar.day(desk.now) + int(words))
            return card_deeds.rescheduling(desk, chosen, day, via="tui")

        self._do("reschedule", deed)

    def _close_ask(self) -> None:
        self._asked = ""
        self.query_one("#browse-ask").remove_class("-shown")
        self.query_one(CardTable).focus()

    def _do(self, name: str, make: Callable[[Desk], Deed]) -> None:
        """Does a deed in the background, on the desk as it is then."""
        if not self._chosen():
            self.query_one(Notice).tell(said.NOTHING_MARKED)
            return

        def work() -> None:
            try:
                desk = open_desk(self.context.vault, self.context.clock())
                deed = make(desk)
                self.post_message(self.Did(deed, name, card_deeds.do(desk, deed)))
            except RetainError as error:
                self.post_message(self.Failed(error))

        self.run_worker(work, thread=True, group="browse-deed")

    def action_undo(self) -> None:
        held = self._open
        if not held.done:
            self.query_one(Notice).tell(said.NOTHING_TO_UNDO)
            return
        deed = held.done.pop()

        def work() -> None:
            try:
                desk = open_desk(self.context.vault, self.context.clock())
                self.post_message(self.Did(deed, "undo", card_deeds.undo(desk, deed, via="tui"), undone=True))
            except RetainError as error:
                self.post_message(self.Failed(error))

        self.run_worker(work, thread=True, group="browse-deed")

    def on_browse_screen_did(self, message: Did) -> None:
        held, count = self._open, len(message.deed.events)
        if count and not message.undone:
            held.done.append(message.deed)
        held.take(columns_of(message.desk, held.columns.topics if held.columns is not None else None))
        self._search()
        words = said.undone(count) if message.undone else said.done(message.name, count) if count else said.UNCHANGED
        self.query_one(Notice).tell(words)

    def action_edit(self) -> None:
        chosen = self._chosen()[:1] if self._open.at is not None and self._open.at >= 0 else []
        if chosen and self._open.columns is not None and self._open.at is not None:
            self.post_message(Go("edit", self._open.columns.card(self._open.at)))

    def action_edit_outside(self) -> None:
        from tui.outside import run_outside

        held = self._open
        if held.columns is None or held.at is None or held.at < 0:
            return
        try:
            run_outside(self.app, self.context, "card", "edit", held.columns.card(held.at))
        except RetainError as error:
            self.say(error)
        self._load()

    def action_back(self) -> None:
        """One step out: of a question, a card, the search, a choice; then of the browser."""
        if self._asked:
            self._close_ask()
        elif self.query_one("#browse-sorts").has_class("-shown"):
            self._close_sorts()
        elif self.has_class("-full"):
            self.remove_class("-full")
        elif self.query_one("#browse-words", Input).has_focus:
            self.query_one(CardTable).focus()
        elif self._open.marked:
            self._open.marked = set()
            self._marks_changed()
        else:
            super().action_back()
