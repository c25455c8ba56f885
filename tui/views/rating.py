"""The four ratings with their intervals; before the answer, the key that shows it.

One widget: the layout does not change when the ratings come and go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from textual.content import Content
from textual.events import Click, Leave, MouseMove
from textual.message import Message

from tui.strings import typed
from tui.text import content
from tui.widgets.painted import PaintedWidget
from vault.log.events import Rating

_PROMPT = Content.assemble(("space", "bold $text-accent"), content.plain(f" {typed.SHOWS}", content.DIM))
_TYPED = Content.assemble(
    (typed.SHOW_KEYS[0], "bold $text-accent"), content.plain(f" {typed.SHOW_KEYS[1]} {typed.SHOWS}", content.DIM)
)
_WIDEST = 22  # cells of one rating
_COLOURS = {Rating.AGAIN: "$error", Rating.HARD: "$warning", Rating.GOOD: "$success", Rating.EASY: "$primary"}


@dataclass(frozen=True, slots=True)
class Offer:
    """What the bar shows: the prompt while there are no `intervals`; `typed` while an answer is being typed."""

    intervals: tuple[tuple[Rating, str], ...] = ()
    typed: bool = False
    suggested: Rating | None = None
    under_mouse: Rating | None = None

    @property
    def prompt(self) -> Content:
        return _TYPED if self.typed else _PROMPT


class RatingBar(PaintedWidget[Offer]):
    """The three rows with the prompt or the four ratings."""

    ALLOW_SELECT = False

    class RevealClicked(Message):
        """The answer was asked for by a click."""

    @dataclass
    class Rated(Message):
        """This rating was clicked, at `at_s` on the clock of Textual's events."""

        rating: Rating
        at_s: float

    def __init__(self) -> None:
        super().__init__(Offer())

    def ask(self) -> None:
        """Show the prompt for the answer."""
        self.show_state(Offer(under_mouse=self.state.under_mouse))

    def ask_typed(self) -> None:
        """Show the prompt while an answer is being typed."""
        self.show_state(Offer(typed=True, under_mouse=self.state.under_mouse))

    def offer(self, intervals: Mapping[Rating, str]) -> None:
        """Show the four ratings with their intervals."""
        self.show_state(self.offering(intervals))

    def offering(self, intervals: Mapping[Rating, str]) -> Offer:
        """Return the state that shows the four ratings with their intervals."""
        return Offer(tuple(intervals.items()), under_mouse=self.state.under_mouse)

    def suggest(self, rating: Rating | None) -> None:
        """Mark the suggested rating; None marks none."""
        self.show_state(replace(self.state, suggested=rating))

    @property
    def prompt(self) -> str:
        """The prompt that is shown; "" while ratings are shown."""
        return "" if self.state.intervals else self.state.prompt.plain

    @property
    def offered(self) -> dict[Rating, str]:
        """The two lines of each rating."""
        suggested = self.state.suggested
        return {rating: f"{_named(rating, suggested).plain}\n{wait}" for rating, wait in self.state.intervals}

    # --- painting ---------------------------------------------------------------------------------------------------

    def rows(self, state: Offer, width: int) -> list[Content]:
        if not state.intervals:
            return [Content(""), _centred(state.prompt, width)]
        cell, left = _places(width)
        rows = [_cells(state, rating, wait, cell) for rating, wait in state.intervals]
        return [Content(" " * left) + Content("").join(row) for row in zip(*rows, strict=True)]

    # --- the mouse --------------------------------------------------------------------------------------------------

    def _at(self, x: int) -> Rating | None:
        cell, left = _places(self.size.width)
        place, inside = divmod(x - left, cell + 2)
        there = self.state.intervals and 0 <= place < len(Rating) and 0 < inside <= cell
        return list(Rating)[place] if there else None

    def on_click(self, event: Click) -> None:
        rating = self._at(event.x)
        if rating is not None:
            self.post_message(self.Rated(rating, event.time))
        elif not self.state.intervals:
            self.post_message(self.RevealClicked())

    def on_mouse_move(self, event: MouseMove) -> None:
        self._hover(self._at(event.x))

    def on_leave(self, _event: Leave) -> None:
        self._hover(None)

    def _hover(self, rating: Rating | None) -> None:
        self.show_state(replace(self.state, under_mouse=rating))


def _places(width: int) -> tuple[int, int]:
    """Return (the cells of one rating, the cells left of the first) of a bar of `width` cells."""
    cell = max(1, min(_WIDEST, width // len(Rating) - 2))
    return cell, max(0, (width - len(Rating) * (cell + 2)) // 2)


def _cells(state: Offer, rating: Rating, wait: str, width: int) -> list[Content]:
    """Return the three rows of one rating with a blank on either side."""
    ground = "$panel" if rating in (state.suggested, state.under_mouse) else "$surface"
    edge = Content.styled("▔" * width, f"{_COLOURS[rating]} on {ground}")
    words = _named(rating, state.suggested), content.plain(wait, content.DIM)
    lines = [_centred(line, width).truncate(width, pad=True).stylize_before(f"on {ground}") for line in words]
    return [Content.assemble(" ", line, " ") for line in (edge, *lines)]


def _named(rating: Rating, suggested: Rating | None) -> Content:
    """Return the name of a rating, with a mark that also shows without colours if it is suggested."""
    marked = rating is suggested
    sign = ("▸ ", "$text-success") if marked else ""
    style = "bold" if marked else ""
    return Content.assemble(sign, (str(int(rating)), "bold"), (f" {rating.name.capitalize()}", style))


def _centred(words: Content, width: int) -> Content:
    return words.pad_left(max(0, (width - words.cell_length) // 2))
