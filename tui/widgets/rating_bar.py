"""Four ratings, each with the interval it would give; before the answer, the one key that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from tui import text
from tui.strings import typed
from vault.log_event import Rating

_PROMPT = Content.assemble(("space", "bold $text-accent"), text.plain(f" {typed.SHOWS}", text.DIM))
_TYPED = Content.assemble(
    (typed.SHOW_KEYS[0], "bold $text-accent"), text.plain(f" {typed.SHOW_KEYS[1]} {typed.SHOWS}", text.DIM)
)


class RatingCell(Static):
    """One rating."""

    @dataclass
    class Clicked(Message):
        rating: Rating

    def __init__(self, rating: Rating) -> None:
        super().__init__(markup=False, classes=f"rating-{rating.name.lower()}")
        self._rating, self._interval = rating, ""

    def suggest(self, suggested: bool) -> None:
        """Marks it as the one that is suggested, or takes the mark away."""
        if suggested != self.has_class("-suggested"):
            self.set_class(suggested, "-suggested")
            self.show(self._interval)

    def show(self, interval: str) -> None:
        """`interval` is what the rating would give. The mark is a sign too, for whoever sees no colours."""
        self._interval = interval
        sign = ("▸ ", "$text-success") if self.has_class("-suggested") else ""
        head = Content.assemble(sign, (str(int(self._rating)), "bold"), " ", self._rating.name.capitalize())
        self.update(Content.assemble(head, "\n", text.plain(interval, text.DIM)))

    def on_click(self) -> None:
        self.post_message(self.Clicked(self._rating))


class RatingBar(Horizontal):
    """Keeps its height whether the ratings show or not, so that nothing jumps."""

    class RevealClicked(Message):
        """The answer is asked for."""

    @dataclass
    class Rated(Message):
        rating: Rating

    class Prompt(Static):
        def on_click(self) -> None:
            self.post_message(RatingBar.RevealClicked())

    def compose(self) -> ComposeResult:
        yield self.Prompt(_PROMPT, markup=False)
        with Horizontal(id="ratings"):
            for rating in Rating:
                yield RatingCell(rating)

    def ask(self) -> None:
        """Only the way to the answer."""
        self.query_one(self.Prompt).update(_PROMPT)
        self._show(prompt=True)

    def ask_typed(self) -> None:
        """The way to the answer while one is being typed."""
        self.query_one(self.Prompt).update(_TYPED)
        self._show(prompt=True)

    def suggest(self, rating: Rating | None) -> None:
        """Marks the rating that is suggested for what was typed; None marks none."""
        for cell, each in zip(self.query(RatingCell), Rating, strict=True):
            cell.suggest(each is rating)

    def offer(self, intervals: Mapping[Rating, str]) -> None:
        """The four ratings."""
        for cell, rating in zip(self.query(RatingCell), Rating, strict=True):
            cell.suggest(False)
            cell.show(intervals[rating])
        self._show(prompt=False)

    def _show(self, *, prompt: bool) -> None:
        self.query_one(self.Prompt).display = prompt
        self.query_one("#ratings").display = not prompt

    def on_rating_cell_clicked(self, message: RatingCell.Clicked) -> None:
        message.stop()
        self.post_message(self.Rated(message.rating))
