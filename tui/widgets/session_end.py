"""How a sitting ended: what was done, and what comes next."""

from __future__ import annotations

from datetime import datetime

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from learning import wording
from learning.day import StudyCalendar
from learning.sitting import Tally
from tui import text, words
from vault.log_event import Rating

_STYLES = {
    Rating.AGAIN: "$text-error",
    Rating.HARD: "$text-warning",
    Rating.GOOD: "$text-success",
    Rating.EASY: "$text-primary",
}


class SessionEnd(Vertical):
    def compose(self) -> ComposeResult:
        with Vertical(classes="column"):
            yield Static(markup=False, id="ended")

    def show(self, tally: Tally, now: datetime, calendar: StudyCalendar) -> None:
        self.query_one("#ended", Static).update(_words(tally, now, calendar))


def _words(tally: Tally, now: datetime, calendar: StudyCalendar) -> Content:
    rows = [text.plain("That is all for now." if tally.rated else "Nothing is due now.", "bold"), Content("")]
    if tally.rated:
        rows.append(Content(f"{words.counted(tally.rated, 'rating')} in {words.stretch(tally.seconds)}"))
        most = max(tally.ratings.values())
        rows += [_bar(rating, tally.ratings[rating], most) for rating in Rating]
        rows.append(Content(""))
    if tally.next_at is not None:
        rows.append(Content(f"A card in learning comes back {words.when(tally.next_at, now, calendar)}."))
    comes = f"{words.counted(tally.tomorrow, 'card')} will be due" if tally.tomorrow else "nothing will be due"
    rows.append(Content(f"By tomorrow {comes}, besides what is new."))
    if tally.ripe:
        rows += [Content(""), text.plain(wording.ripe(tally.ripe), text.DIM)]
    return Content("\n").join(rows)


def _bar(rating: Rating, number: int, most: int) -> Content:
    name = text.plain(f"  {rating.name.capitalize():<6}", text.DIM)
    return Content.assemble(name, text.plain("█" * round(number / most * 30), _STYLES[rating]), f" {number}")
