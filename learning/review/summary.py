"""The summary of a review session: counted from its own events, and what is to come from the desk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from learning.cards import workspace as desks
from learning.cards.workspace import Desk
from learning.history.due import count_due, next_due
from learning.memory.state import MemoryState, Phase
from learning.pages.promotion import promotion
from learning.review.session import Session
from learning.schedule import workload
from learning.stats.activity import streaks
from vault.errors import RetainError
from vault.ids import CardId
from vault.log.events import LogEvent, Rating, Review

HARDEST = 3  # cards that are named


@dataclass(frozen=True, slots=True)
class Tally:
    """The summary of a session. `seconds` were spent looking at cards; `tomorrow` cards are due by the end of the next
    study day, and take `tomorrow_s` seconds. `next_at` is when a card in learning comes back, `next_due` when the first
    of all cards is due. `streak` days in a row have reviews, and at most `longest` had.

    `ripe` concepts are ready for a thought of the human's own. `learnt` cards were new or in learning and are known
    now, of the concepts named; `hardest` are those that were not recalled, each with how often, the worst first.
    """

    ratings: Counter[Rating]
    seconds: float
    tomorrow: int
    next_at: datetime | None
    ripe: int = 0
    learnt: int = 0
    concepts: tuple[str, ...] = ()
    hardest: tuple[tuple[CardId, int], ...] = ()
    cards: int = 0
    next_due: datetime | None = None
    tomorrow_s: float = 0.0
    streak: int = 0
    longest: int = 0

    @property
    def rated(self) -> int:
        """Return the number of ratings."""
        return self.ratings.total()

    @property
    def pace(self) -> float:
        """Return the seconds for a rating; 0 without one."""
        return self.seconds / self.rated if self.rated else 0.0


def tally_of(session: Session, desk: Desk) -> Tally:
    """Return what the session's own events say: quick, as nothing is read but the place of a card."""
    ratings: Counter[Rating] = Counter()
    again: Counter[CardId] = Counter()
    first: dict[CardId, MemoryState] = {}
    spent_ms = 0
    for before, event in done(session):
        if isinstance(event, Review):
            ratings[event.rating] += 1
            spent_ms += event.ms
            again[event.card] += event.rating is Rating.AGAIN
            first[event.card] = before.state(event.card)
    learnt = [c for c, was in first.items() if was.phase is not Phase.REVIEW and _is_learnt(session.state(c), was)]
    hardest = tuple((card, count) for card, count in again.most_common(HARDEST) if count)
    concepts = tuple(dict.fromkeys(_concept(desk, card) for card in reversed(learnt)))
    known = tuple(filter(None, concepts))
    return Tally(ratings, spent_ms / 1000, 0, session.next_at, 0, len(learnt), known, hardest, len(first))


def _is_learnt(state: MemoryState, was: MemoryState) -> bool:
    """Return whether the card has left learning."""
    return state.phase is Phase.REVIEW and was.phase is not Phase.RELEARNING


def _concept(desk: Desk, card: CardId) -> str:
    """Return the concept of a card; "" if it is gone."""
    try:
        return desk.place(card).title
    except KeyError:
        return ""


def done(session: Session) -> Iterable[tuple[Session, LogEvent]]:
    """Yield every event of the session that still counts, with the session before it, the latest first; no edits."""
    past = session.past
    while past is not None:
        before, event = past
        if isinstance(event, LogEvent):
            yield before, event
        past = before.past


def with_outlook(tally: Tally, desk: Desk, now: datetime) -> Tally:
    """Return `tally` with what is to come; on big vaults this takes a moment."""
    calendar = desk.scheduler.calendar
    end = calendar.start(calendar.day(now) + 2)
    desk = desks.after(replace(desk, is_queued=False))
    due = count_due(desk.cards, end)
    streak, longest = streaks(set(desk.past.day_sums().days), calendar.day(now), desk.past.decisions.paused_days())
    pace = workload.pace_of(workload.ms_per_rating(desk.past.recent_ms()))
    return replace(
        tally,
        tomorrow=due,
        ripe=_ripe(desk),
        next_due=next_due(desk.cards),
        tomorrow_s=due * pace.review_s,
        streak=streak,
        longest=longest,
    )


def _ripe(desk: Desk) -> int:
    """Return how many concepts are ready for a note of the user's; 0 where it cannot be computed."""
    try:
        return promotion(desk).concepts
    except RetainError:
        return 0
