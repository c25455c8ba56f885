"""The card browser: search, sort, preview and change cards and articles."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize
from textual.message import Message
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from learning.search.search import SCOPES, SORTS, Order
from learning.store.placed import article_of, concept_of
from tui.context import Context
from tui.keys import BROWSE
from tui.models.browser import Seen, seen
from tui.models.browser_rows import Listed
from tui.screens.browse_actions import BrowseActions
from tui.screens.browser_search import Completing
from tui.strings import browse as said
from tui.text import content
from tui.views.card_preview import CardPreview
from tui.views.card_table import CardTable, Column, TableHead
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.notice import Notice

COLUMNS = (
    Column("question", said.COLUMNS["question"], quiet=False),
    Column("concept", said.COLUMNS["concept"], 18, least=90),
    Column("kind", said.COLUMNS["kind"], 12, least=124),
    Column("topic", said.COLUMNS["topic"], 16, least=150),
    Column("ivl", said.COLUMNS["ivl"], 8, right=True, least=112),
    Column("difficulty", said.COLUMNS["difficulty"], 10, right=True, least=171),
    Column("lapses", said.COLUMNS["lapses"], 7, right=True, least=166),
    Column("recall", said.COLUMNS["recall"], 7, right=True, least=112),
    Column("due", said.COLUMNS["due"], 10, right=True),
)
_BESIDE = 180  # cells from which on the preview stands beside the list, with room for every column


class BrowseScreen(BrowseActions, key="browse"):
    """The card browser. `about` is the search to start with; "" repeats the last one."""

    @dataclass
    class Looked(Message):
        """The text of the current item has been read."""

        seen: Seen

    def __init__(self, context: Context, about: str = "") -> None:
        super().__init__(context, about)
        self._looking = self._look_again = False
        self._anchor: int | None = None

    def compose(self) -> ComposeResult:
        yield TopBar(said.TITLE)
        with Horizontal(id="browse-search"):
            yield Static(content.plain("/"), markup=False, id="browse-slash")
            names = Completing(self._names)
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
        sorts = self.query_one("#browse-sorts", OptionList)
        sorts.add_options([Option(content.line(said.SORTS[name]), id=name) for name in SORTS])
        sorts.border_title = "Sort"
        self.query_one(CardTable).focus()
        self._show_order()
        self.query_one(TopBar).show_status(said.READING)
        if held.records is not None:
            self._search()
        self._load()

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width >= _BESIDE, "-beside")

    def on_screen_resume(self) -> None:
        """Read the current card again: another screen may have changed it."""
        if self._open.records is not None and self._listed is not None:
            self._load()

    # --- looking ----------------------------------------------------------------------------------------------------

    def on_card_table_reached(self, message: CardTable.Reached) -> None:
        if self._listed is None or not 0 <= message.row < len(self._listed):
            self.query_one(CardPreview).show(None, None)
            return
        self._open.at = self._listed.item(message.row)
        self._look()

    def _look(self) -> None:
        """Read and show the current item; of several requests only the newest is kept."""
        if self._looking:
            self._look_again = True
            return
        held, listed = self._open, self._listed
        if held.at is None or listed is None:
            return
        self._looking = True
        item, records, fully = held.at, listed.records, self.has_class("-full")

        def look() -> None:
            found = Seen(item)
            with self.posting_errors():
                found = seen(records, item, fully=fully)
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
        """Show the whole card with its history, or open the article."""
        held, listed = self._open, self._listed
        if held.at is None or listed is None or not len(listed):
            return
        if held.at < 0:
            self.go("article", listed.records.article(-1 - held.at)[0])
            return
        self.toggle_class("-full")
        self._look()

    def on_card_table_opened(self, _message: CardTable.Opened) -> None:
        self.action_open()

    def action_article(self) -> None:
        """Open the article of the card's concept."""

        if self._open.at is not None and self._open.at >= 0 and self._listed is not None:
            record = self._listed.records.record(self._open.at)
            if record is not None:
                self.go("article", article_of(concept_of(record.path)))

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
        self.set_focus(self.query_one("#browse-words", Input))

    def action_switch(self) -> None:
        """Move the focus from the search to the list or back."""
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
        """Sort by a column; the second time in reverse."""
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
        names = [content.line(said.SCOPES[each], "bold" if each == held.scope else content.DIM) for each in SCOPES]
        self.query_one("#browse-scope", Static).update(Content("  ").join(names))

    def on_click(self, event: object) -> None:
        widget = getattr(event, "widget", None)
        if getattr(widget, "id", None) == "browse-scope":
            self.action_scope()

    def action_mark(self) -> None:
        """Select or unselect the card, and go to the next."""
        if self._listed is not None and len(self._listed):
            self._open.marked ^= {self._listed.item(self.query_one(CardTable).cursor)}
            self._marks_changed()
            self.query_one(CardTable).move(1)

    def on_card_table_marked(self, message: CardTable.Marked) -> None:
        if self._listed is not None:
            self._open.marked ^= {self._listed.item(message.row)}
            self._marks_changed()

    def action_extend(self, rows: int) -> None:
        """Select all cards from where the selection began to the cursor."""
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
        """Select all results; if all are selected, none."""
        if self._listed is not None:
            found = self._listed.found
            every = {*found.cards, *(-1 - n for n in found.articles)}
            self._open.marked = set() if every <= self._open.marked else every
            self._marks_changed()

    def _marks_changed(self) -> None:
        if self._listed is not None:
            held = self._listed
            self._listed = Listed(held.records, held.found, held.now, self._open.marked)
            self.query_one(CardTable).repaint_with(self._listed)
        self._show_counts()

    def action_back(self) -> None:
        """Close the question, the card, the search or the selection; then the browser."""
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
