"""The four ratings with their intervals; before the answer, the key that shows it.

One widget that paints its own rows: the layout does not change when the ratings come and go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from textual.content import Content
from textual.events import Click, Leave, MouseMove
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.strings import typed
from tui.text import content
from vault.log.events import Rating

_PROMPT = Content.assemble(("space", "bold $text-accent"), content.plain(f" {typed.SHOWS}", content.DIM))
_TYPED = Content.assemble(
    (typed.SHOW_KEYS[0], "bold $text-accent"), content.plain(f" {typed.SHOW_KEYS[1]} {typed.SHOWS}", content.DIM)
)
_WIDEST = 22  # cells of one rating
_COLOURS = {Rating.AGAIN: "$error", Rating.HARD: "$warning", Rating.GOOD: "$success", Rating.EASY: "$primary"}


class RatingBar(Widget):
    """The three rows with the prompt or the four ratings."""

    class RevealClicked(Message):
        """The answer was asked for by a click."""

    @dataclass
    class Rated(Message):
        """This rating was clicked, at `at_s` on the clock of Textual's events."""

        rating: Rating
        at_s: float

    def __init__(self) -> None:
        super().__init__()
        self._prompt = _PROMPT
        self._intervals: Mapping[Rating, str] = {}  # none while the answer is not shown
        self._suggested: Rating | None = None
        self._under: Rating | None = None  # the mouse

    def ask(self) -> None:
        """Show the prompt for the answer."""
        self._show(_PROMPT, {})

    def ask_typed(self) -> None:
        """Show the prompt while an answer is being typed."""
        self._show(_TYPED, {})

    def offer(self, intervals: Mapping[Rating, str]) -> None:
        """Show the four ratings with their intervals."""
        self._show(self._prompt, intervals)

    def suggest(self, rating: Rating | None) -> None:
        """Mark the suggested rating; None marks none."""
        self._suggested = rating
        self.refresh()

    def _show(self, prompt: Content, intervals: Mapping[Rating, str]) -> None:
        self._prompt, self._intervals, self._suggested = prompt, intervals, None
        self.refresh()

    @property
    def prompt(self) -> str:
        """The prompt that is shown; "" while ratings are shown."""
        return "" if self._intervals else self._prompt.plain

    @property
    def offered(self) -> dict[Rating, str]:
        """The two lines of each rating."""
        return {rating: f"{self._named(rating).plain}\n{wait}" for rating, wait in self._intervals.items()}

    # --- painting ---------------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if self._intervals:
            row = self._ratings(y)
        else:
            row = _centred(self._prompt, width) if y == 1 else Content("")
        return Strip(row.truncate(width, pad=True).render_segments(self.visual_style), width)

    def _ratings(self, y: int) -> Content:
        cell, left = self._places()
        return Content.assemble(" " * left, *(Content.assemble(" ", self._cell(r, y, cell), " ") for r in Rating))

    def _places(self) -> tuple[int, int]:
        """Return (the cells of one rating, the cells left of the first)."""
        cell = max(1, min(_WIDEST, self.size.width // len(Rating) - 2))
        return cell, max(0, (self.size.width - len(Rating) * (cell + 2)) // 2)

    def _cell(self, rating: Rating, y: int, width: int) -> Content:
        ground = "$panel" if rating in (self._suggested, self._under) else "$surface"
        if y == 0:
            return Content.styled("▔" * width, f"{_COLOURS[rating]} on {ground}")
        words = self._named(rating) if y == 1 else content.plain(self._intervals[rating], content.DIM)
        return _centred(words, width).truncate(width, pad=True).stylize_before(f"on {ground}")

    def _named(self, rating: Rating) -> Content:
        """Return the name of a rating, with a mark that also shows without colours if it is suggested."""
        marked = rating is self._suggested
        sign = ("▸ ", "$text-success") if marked else ""
        style = "bold" if marked else ""
        return Content.assemble(sign, (str(int(rating)), "bold"), (f" {rating.name.capitalize()}", style))

    # --- the mouse --------------------------------------------------------------------------------------------------

    def _at(self, x: int) -> Rating | None:
        cell, left = self._places()
        place, inside = divmod(x - left, cell + 2)
        there = self._intervals and 0 <= place < len(Rating) and 0 < inside <= cell
        return list(Rating)[place] if there else None

    def on_click(self, event: Click) -> None:
        rating = self._at(event.x)
        if rating is not None:
            self.post_message(self.Rated(rating, event.time))
        elif not self._intervals:
            self.post_message(self.RevealClicked())

    def on_mouse_move(self, event: MouseMove) -> None:
        self._hover(self._at(event.x))

    def on_leave(self, _event: Leave) -> None:
        self._hover(None)

    def _hover(self, rating: Rating | None) -> None:
        if rating is not self._under:
            self._under = rating
            self.refresh()


def _centred(words: Content, width: int) -> Content:
    return words.pad_left(max(0, (width - words.cell_length) // 2))
