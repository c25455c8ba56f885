"""What is known of a card's memory: its schedule, its FSRS state and every rating."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime

from learning.cards.workspace import Desk
from learning.memory.labels import interval, status
from learning.memory.state import MemoryState
from learning.schedule.date_text import when
from vault.ids import CardId
from vault.log.events import Rating
from vault.log.ledger import instant
from vault.log.review_log import at_of


@dataclass(frozen=True, slots=True)
class CardInfo:
    """The memory of a card as of a desk's instant. `due` is a date in the vault's zone, "" for a card without one;
    `recall` the probability of recalling it now, None before the first rating; `ratings` the latest last.
    """

    card: CardId
    status: str
    state: MemoryState
    due: str
    recall: float | None
    ratings: tuple[tuple[datetime, Rating], ...]

    def as_json(self) -> dict[str, object]:
        """Return it as `card show --json` prints it."""
        state = self.state
        return {
            "status": self.status,
            "due": instant(state.due) if self.due and state.due else None,
            "interval_days": state.interval_days,
            "stability": round(state.stability, 4),
            "difficulty": round(state.difficulty, 4),
            "retrievability": None if self.recall is None else round(self.recall, 4),
            "reps": state.reps,
            "lapses": state.lapses,
            "leech": state.leech,
            "reviews": [{"at": instant(at), "rating": rating.name.lower()} for at, rating in self.ratings],
        }

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield name and value of each fact, as the command line and the app show them; none that is unknown yet."""
        state = self.state
        yield "Status", ", ".join([self.status, *(["leech"] if state.leech else [])])
        if self.due:
            yield "Due", self.due
        if state.reps:
            yield "Interval", interval(state)
            yield "Stability", _in_days(state.stability)
            yield "Difficulty", f"{state.difficulty:.1f} of 10"
        if self.recall is not None:
            yield "Retrievability", f"{self.recall:.0%}"
        yield "Reviews", f"{state.reps:,}" if state.reps else "none"
        if state.reps:
            yield "Lapses", f"{state.lapses:,}"


def _in_days(days: float) -> str:
    """Return a number of days: `0.4 days`, `12 days`."""
    return f"{days:.1f} days" if days < 10 else f"{days:,.0f} days"


def card_info(desk: Desk, card: CardId) -> CardInfo:
    """Return what is known of a card, whether it is in a deck or not."""
    state = desk.state(card)
    shown = _due(state.due, state, desk) if state.due and card in desk.cards else ""
    recall = desk.scheduler.retrievability(state, desk.now) if state.due and state.reps else None
    columns = desk.past.reviews([card])
    ratings = tuple((at_of(at), Rating(rating)) for at, rating in zip(columns.at_ms, columns.rating, strict=True))
    return CardInfo(card, status(state, desk.now), state, shown, recall, ratings)


def _due(at: datetime, state: MemoryState, desk: Desk) -> str:
    """Return when the card is due: `2026-11-24, in 3 days`; in learning also the time of the day."""
    calendar = desk.scheduler.calendar
    day = f"{date.fromordinal(calendar.day(at)):%Y-%m-%d}"
    time = "" if state.interval_days else f" {at.astimezone(calendar.zone):%H:%M}"
    return f"{day}{time}, {when(at, desk.now, calendar)}"


def rating_rows(info: CardInfo, desk: Desk) -> Iterator[str]:
    """Yield a line for each rating, the latest first: `2026-11-21 13:00  Good`."""
    zone = desk.scheduler.calendar.zone
    for at, rating in reversed(info.ratings):
        yield f"{at.astimezone(zone):%Y-%m-%d %H:%M}  {rating.name.capitalize()}"
