"""What the home screen says: the day's work, what is missing, and what to do where there is nothing yet."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import date as Day
from datetime import datetime
from typing import TYPE_CHECKING

from learning.agenda.gap_decisions import open_by_kind, read_agenda
from learning.cards.workspace import Desk, open_desk
from learning.history.due import next_due
from learning.pages.promotion_page import parse_queue
from learning.pages.promotion_page import waiting as for_a_note
from learning.schedule import date_text
from learning.schedule.catch_up import MISSED, CatchUpPlan
from learning.stats.catch_up import Offer, offer_of
from learning.stats.mastery import by_tag, grouped, mastery
from learning.stats.material import studied
from learning.stats.news import News, news
from learning.stats.outlook import Outlook
from learning.stats.overview import Daybook, coming, daybook
from vault.audit.agent_runs import at_work, held_back
from vault.diagnostic import Diagnostic
from vault.errors import RetainError
from vault.inbox.listing import waiting
from vault.inbox.suggestions import offered
from vault.layout import FLASHCARDS, PROMOTION_QUEUE
from vault.model.gaps import Gap, GapKind
from vault.vault import Vault

if TYPE_CHECKING:
    from learning.schedule.workload import BacklogPlan
    from learning.stats.mastery import Group

FORTNIGHT = 14


@dataclass(frozen=True, slots=True)
class Overview:
    """`due` and `new` are what today takes; `due_beyond` and `new_beyond` wait beyond that.

    `backlog` reviews are due, whether today takes them or not. `is_back` after days away, since `last_visit`, with no
    plan made since. `plan` is in force until `plan_ends`; in a pause nothing is due until `paused_until`.
    """

    date: str
    today: Day
    cards: int
    concepts: int
    due: int
    new: int
    minutes: int
    due_beyond: int
    new_beyond: int
    done: int
    tomorrow: int
    next_due: str  # "" if nothing is scheduled
    has_sources: bool
    gaps: dict[GapKind, list[Gap]]
    diagnostics: tuple[Diagnostic, ...] = ()
    held_back: str = ""  # why new cards wait that the day has room for
    suggested: int = 0  # cards to keep or drop, as far as there are no others
    desired: float = 0.9
    backlog: int = 0
    is_back: bool = False
    last_visit: Day | None = None
    away: int = 0  # days since then
    plan: CatchUpPlan | None = None
    plan_ends: Day | None = None
    paused_until: Day | None = None

    @property
    def waiting(self) -> int:
        """Return how many cards wait beyond what today takes."""
        return self.due_beyond + self.new_beyond

    @property
    def open_gaps(self) -> int:
        return sum(map(len, self.gaps.values()))


def overview(vault: Vault, now: datetime, tag: str | None) -> Overview:
    """Reads the vault at `now`. Raises: SchemaTooNew, Refused, Damaged where the log cannot be read."""
    return overview_of(open_desk(vault, now, tag=tag or ""))


def overview_of(desk: Desk) -> Overview:
    """What today holds, by a desk."""
    vault, now = desk.vault, desk.now
    gaps, invalid = _gaps(vault)
    calendar, today, limits = desk.scheduler.calendar, desk.today, desk.limits
    done, day = desk.past.done(calendar, now), calendar.day(now)
    return Overview(
        date=date_text.date(now, calendar),
        today=Day.fromordinal(day),
        cards=len(desk.cards),
        concepts=desk.cards.concepts(),
        due=today["due"],
        new=today["new"],
        minutes=today["minutes"],
        due_beyond=desk.beyond["due"],
        new_beyond=desk.beyond["new"],
        done=done.new + done.reviews,
        tomorrow=sum(coming(desk, 2)),
        next_due="" if today["due"] + today["new"] else _next_due(desk),
        has_sources=_has_files(vault),
        gaps=gaps,
        diagnostics=(*desk.diagnostics, *invalid),
        held_back=desk.held_back,
        suggested=0 if desk.cards else len(offered(vault).suggestions),
        desired=desk.scheduler.rules.retention,
        backlog=len(desk.queue.due),
        is_back=_is_back(desk),
        last_visit=_date(limits.last_visit),
        away=day - limits.last_visit if limits.last_visit else 0,
        plan=limits.plan,
        plan_ends=_date(limits.plan_ends),
        paused_until=_date(limits.paused_until),
    )


def _date(day: int) -> Day | None:
    """Return the date of a study day; None for 0."""
    return Day.fromordinal(day) if day else None


def _is_back(desk: Desk) -> bool:
    """Return whether the user has been away for days, has reviews to do and has not decided since how."""
    limits = desk.limits
    if limits.missed < MISSED or not desk.queue.due:
        return False
    plan = desk.past.decisions.plan_on(desk.scheduler.calendar.day(desk.now))
    return plan is None or plan.first <= limits.last_visit


def proposed(desk: Desk) -> Offer | None:
    """Return the plan to propose for the backlog; None, and at once, where today takes all that is due."""
    if desk.limits.plan is not None or not (_is_back(desk) or desk.beyond["due"]):
        return None
    return offer_of(desk)


@dataclass(frozen=True, slots=True)
class Figures:
    """What takes longer to find: `today` is the ordinal of the study day, `topics` are None until they are known."""

    today: int
    book: Daybook
    news: News
    ripe: int  # concepts that wait for a note
    held: int  # decks of an agent's that wait to be judged
    topics: tuple[Group, ...] | None = None
    inbox: int = 0  # questions that wait for the human's word
    suggested: int = 0  # cards to keep or drop
    backlog: BacklogPlan | None = None  # for what is overdue, where today has not room for all of it


def figures_of(desk: Desk) -> Figures:
    """Streak, retention, the year and the weeks to come, and what came about since yesterday.

    Raises: SchemaTooNew, Refused, Damaged.
    """
    calendar = desk.scheduler.calendar
    today = calendar.day(desk.now)
    found = news(desk.vault, calendar.start(today - 1), desk.now)
    held = len(held_back(desk.vault)) if at_work(desk.vault) else 0
    inbox, suggested = waiting(desk.vault)[0], len(offered(desk.vault).suggestions)
    return Figures(today, daybook(desk, FORTNIGHT), found, _ripe(desk.vault), held, inbox=inbox, suggested=suggested)


def backlog_of(desk: Desk) -> BacklogPlan | None:
    """How long what is overdue lasts; None, and at once, where today has room for it."""
    if not desk.beyond["due"]:
        return None

    return Outlook(desk, 1, 0).backlog()


def topics_of(desk: Desk) -> tuple[Group, ...]:
    """The mastery of the vault's topics, the weakest that were begun first; of its tags where it has no topics."""
    from learning.store.topics import topics

    cards, members = studied(desk), topics(desk.vault)
    chance = desk.scheduler.chances(desk.now)
    concepts = mastery(cards, desk.past.states.facts(), chance)
    groups = grouped(concepts, members) or grouped(concepts, by_tag(cards))
    return tuple(sorted(groups, key=lambda g: (not g.seen, g.score, g.name.casefold())))


def _ripe(vault: Vault) -> int:
    """How many concepts the promotion queue names, as the last command that rendered it found them."""
    try:
        return len({item.title for item in for_a_note(parse_queue(vault.read_text(PROMOTION_QUEUE) or ""))})
    except RetainError:
        return 0


def _gaps(vault: Vault) -> tuple[dict[GapKind, list[Gap]], list[Diagnostic]]:
    try:
        return open_by_kind(read_agenda(vault)), []
    except RetainError as error:
        path, _, line = error.where.rpartition(":")
        found = Diagnostic(path or error.where, int(line) if line.isdecimal() else 0, "gaps", error.what, error.hint)
        return open_by_kind([]), [found]


def _next_due(desk: Desk) -> str:
    at = next_due(desk.cards)
    return "" if at is None else date_text.when(at, desk.now, desk.scheduler.calendar)


def _has_files(vault: Vault) -> bool:
    """Whether `raw/` holds any document, notes are sources in place, or the vault has cards without one."""
    if vault.paths(FLASHCARDS, ".md") or vault.settings.notes.folders:
        return True
    tree = os.walk(vault.root / "raw")
    return any(not name.startswith(".") for _, _, names in tree for name in names)
