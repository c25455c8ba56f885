"""The end of a session: what was done, learnt and hard, and what comes next."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from learning.cards.workspace import Desk
from learning.memory import labels
from learning.review.plan import Mode, Plan
from learning.review.summary import Tally
from learning.schedule import date_text as words
from learning.study_day import StudyCalendar
from tui.strings import home
from tui.strings import review as said
from tui.text import content
from vault.log.events import Rating
from vault.model import latex

_STYLES = {
    Rating.AGAIN: "$text-error",
    Rating.HARD: "$text-warning",
    Rating.GOOD: "$text-success",
    Rating.EASY: "$text-primary",
}
_LABEL = 11  # columns of the words on the left
_BAR = 30
_ASKED = 56  # characters of a question that is named


class SessionEnd(VerticalScroll):
    def __init__(self) -> None:
        super().__init__(can_focus=False)

    def compose(self) -> ComposeResult:
        with Vertical(classes="column"):
            yield Static(markup=False, id="ended")

    def show(self, tally: Tally, now: datetime, desk: Desk, plan: Plan, *, complete: bool) -> None:
        """Show the summary of a session; `complete` if the tally includes what comes next."""
        rows = list(_words(tally, now, desk.scheduler.calendar, plan, _asked(desk, tally), complete=complete))
        self.query_one("#ended", Static).update(Content("\n").join(rows))


def _asked(desk: Desk, tally: Tally) -> list[str]:
    """Return the questions of the hardest cards."""
    found = (desk.cards.get(card) for card, _ in tally.hardest)
    return [_short(latex.text(placed.card.question)) if placed is not None else "" for placed in found]


def _short(words: str) -> str:
    one = " ".join(words.split())
    return one if len(one) <= _ASKED else one[: _ASKED - 1] + "…"


def _words(
    tally: Tally, now: datetime, calendar: StudyCalendar, plan: Plan, asked: list[str], *, complete: bool
) -> Iterator[Content]:
    yield content.plain(_head(tally, plan), "bold")
    yield Content("")
    if tally.rated:
        yield Content(said.done_line(tally.rated, words.stretch(tally.seconds), tally.pace))
        most = max(tally.ratings.values())
        yield from (_bar(rating, tally.ratings[rating], most) for rating in Rating)
        yield Content("")
    if tally.learnt:
        yield _row(said.LEARNED, content.line(said.learnt(tally.learnt, tally.concepts)))
    for n, ((_, times), question) in enumerate(zip(tally.hardest, asked, strict=True)):
        text = Content.assemble(content.line(question), content.plain(f"  {said.forgotten(times)}", content.DIM))
        yield _row(said.HARDEST if n == 0 else "", text)
    if tally.learnt or tally.hardest:
        yield Content("")
    yield from _to_come(tally, now, calendar, plan, complete=complete)


def _head(tally: Tally, plan: Plan) -> str:
    if tally.rated:
        return said.DONE
    return said.NOTHING if plan.mode is Mode.REVIEW else said.NOTHING_FITS


def _to_come(tally: Tally, now: datetime, calendar: StudyCalendar, plan: Plan, *, complete: bool) -> Iterator[Content]:
    if not plan.counts:
        yield content.plain(said.NOT_KEPT, content.DIM)
        return
    comes = tally.next_at or tally.next_due
    if comes is not None and (tally.next_at is not None or comes > now):
        when = words.when(comes, now, calendar)
        yield _row(said.NEXT, Content(said.comes_back(when, in_learning=tally.next_at is not None)))
    if not complete:
        yield content.plain(said.CALCULATING, content.DIM)
        return
    yield _row(said.TOMORROW, Content(said.tomorrow(tally.tomorrow, words.stretch(tally.tomorrow_s))))
    streak, remark = home.streak(tally.streak, tally.longest, bool(tally.rated))
    yield _row(said.STREAK, Content.assemble(streak, content.plain(f"  ·  {remark}", content.DIM)))
    if tally.ripe:
        yield from (Content(""), content.plain(labels.ready_concepts(tally.ripe), content.DIM))


def _row(label: str, text: Content) -> Content:
    return Content.assemble(content.plain(f"{label:<{_LABEL}}", content.DIM), text)


def _bar(rating: Rating, number: int, most: int) -> Content:
    name = content.plain(f"{rating.name.capitalize():<{_LABEL}}", content.DIM)
    return Content.assemble(name, content.plain("█" * round(number / most * _BAR), _STYLES[rating]), f" {number}")
