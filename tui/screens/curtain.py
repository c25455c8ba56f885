"""The first card of a review while everything else loads: the framework's first frame, and the keys pressed meanwhile.

Nothing of memory and log is loaded for it. What was pressed goes to the review, which takes its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from tui.context import Context
from tui.keys import REVIEW, bindings
from tui.page import Page
from tui.strings import card as said
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.card_view import CardView
from tui.widgets.notice import Notice
from tui.widgets.progress import Progress
from tui.widgets.rating_bar import RatingBar
from vault.errors import RetainError

if TYPE_CHECKING:
    from tui.review_table import Table

_KEPT = ("reveal", "rate", "home")


class CurtainScreen(Page):
    NAME = "review"
    BINDINGS = bindings(key for key in REVIEW if key.action.partition("(")[0] in _KEPT)  # type: ignore[assignment]

    @dataclass
    class Opened(Message):
        """The review can take its place."""

        curtain: CurtainScreen
        sitting: Table

    @dataclass
    class Failed(Message):
        """There is nothing to review with."""

        error: RetainError

    class Left(Message):
        """The human goes home before the review was there."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.pressed: list[int] = []  # 0 for the answer, or a rating

    def compose(self) -> ComposeResult:
        yield TopBar(said.REVIEW)
        yield Progress()
        with Vertical(id="table"):
            yield CardView()
        yield Notice()
        yield RatingBar()
        yield KeyBar(())

    def on_mount(self) -> None:
        first = self.context.early
        assert first is not None
        self.query_one(TopBar).say(said.READING)
        self.query_one(CardView).show_plainly(first.kind, first.head, first.question)
        self.call_after_refresh(self.run_worker, self._load, thread=True)

    def _load(self) -> None:
        from tui.screens.review import begin

        try:
            self.post_message(self.Opened(self, begin(self.context)))
        except RetainError as error:
            self.post_message(self.Failed(error))

    def action_reveal(self) -> None:
        self.pressed.append(0)

    def action_rate(self, rating: int) -> None:
        self.pressed.append(rating)

    def action_home(self) -> None:
        self.post_message(self.Left())
