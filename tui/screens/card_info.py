"""The screen that shows what is known of a card's memory, with every rating: as `retain card show` prints it."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from learning.cards.info import card_info, rating_rows
from learning.cards.workspace import open_desk
from tui.keys import INFO
from tui.screen import Page
from tui.strings import new_card as said
from tui.text import content
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.notice import Notice
from vault.ids import CardId

_NAME = 13  # columns of a fact's name


class CardInfoScreen(Page, key="info"):
    """Shows the memory state of a card and its ratings; `about` is its id."""

    @dataclass
    class Read(Message):
        """The card's facts have been read."""

        title: str
        question: str
        rows: list[tuple[str, str]]
        ratings: list[str]

    def compose(self) -> ComposeResult:
        yield TopBar(said.INFO)
        with VerticalScroll(can_focus=False, id="info-scroll"), Vertical(classes="column"):
            yield Static(markup=False, id="info")
        yield Notice()
        yield KeyBar(INFO)

    def on_mount(self) -> None:
        self.query_one(TopBar).show_status(said.READING)
        self.run_worker(self._read, thread=True)

    def _read(self) -> None:
        with self.posting_errors():
            desk = open_desk(self.context.vault, self.context.clock(), queued=False)
            placed = desk.card(self.about)
            info = card_info(desk, CardId(self.about))
            ratings = list(rating_rows(info, desk))
            self.post_message(self.Read(placed.title, placed.card.question, list(info.rows()), ratings))

    def on_card_info_screen_read(self, message: Read) -> None:
        self.query_one(TopBar).show_status(message.title)
        shown = self.query_one("#info", Static)
        lines = [content.prose(message.question, shown.content_size.width).stylize_before("bold"), Content("")]
        lines += [_row(name, value) for name, value in message.rows]
        lines += [Content(""), content.plain(said.RATINGS, "bold")]
        lines += [content.line(row) for row in message.ratings] or [content.plain(said.NO_RATINGS, content.DIM)]
        shown.update(Content("\n").join(lines))

    def on_page_failed(self, message: Page.Failed) -> None:
        self.query_one(TopBar).show_status("")

    def action_scroll(self, rows: int) -> None:
        self.query_one("#info-scroll").scroll_relative(y=rows, animate=False)

    def action_page(self, pages: int) -> None:
        scroll = self.query_one("#info-scroll")
        scroll.scroll_relative(y=pages * max(1, scroll.size.height - 1), animate=False)


def _row(name: str, value: str) -> Content:
    return Content.assemble(content.plain(f"{name:<{_NAME}}", content.DIM), content.line(value))
