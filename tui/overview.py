"""What the home screen says: the day's work, what is missing, and what to do where there is nothing yet."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime

from learning.desk import Desk, open_desk
from learning.gaps import open_by_kind, read_agenda
from learning.indexed_cards import IndexedCards
from learning.tally import due_before
from tui import words
from vault.agenda import Gap, GapKind
from vault.diagnostic import Diagnostic
from vault.errors import RetainError
from vault.store import FLASHCARDS, Vault


@dataclass(frozen=True, slots=True)
class Overview:
    """`due` and `new` are what today has room for; `waiting` cards are due or new beyond that."""

    date: str
    cards: int
    concepts: int
    due: int
    new: int
    minutes: int
    waiting: int
    done: int
    tomorrow: int
    next_due: str  # "" if nothing is scheduled
    has_sources: bool
    gaps: dict[GapKind, list[Gap]]
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def open_gaps(self) -> int:
        return sum(map(len, self.gaps.values()))


def overview(vault: Vault, now: datetime, tag: str | None) -> Overview:
    """Reads the vault at `now`. Raises: SchemaTooNew, Refused, Damaged where the log cannot be read."""
    desk = open_desk(vault, now, tag=tag or "")
    gaps, odd = _gaps(vault)
    calendar, today = desk.scheduler.calendar, desk.today
    done = desk.past.done(calendar, now)
    steps = len(desk.queue.waiting)
    return Overview(
        date=words.date(now, calendar),
        cards=len(desk.cards),
        concepts=_concepts(desk),
        due=today["due"] + steps,
        new=today["new"],
        minutes=today["minutes"],
        waiting=len(desk.queue.due) + len(desk.queue.new) - len(desk.queue.today),
        done=done.new + done.reviews,
        tomorrow=due_before(calendar.start(calendar.day(now) + 2), desk.states.values()),
        next_due=_next_due(desk),
        has_sources=_has_files(vault),
        gaps=gaps,
        diagnostics=(*desk.diagnostics, *odd),
    )


def _gaps(vault: Vault) -> tuple[dict[GapKind, list[Gap]], list[Diagnostic]]:
    try:
        return open_by_kind(read_agenda(vault)), []
    except RetainError as error:
        path, _, line = error.where.rpartition(":")
        found = Diagnostic(path or error.where, int(line) if line.isdecimal() else 0, "gaps", error.what, error.hint)
        return open_by_kind([]), [found]


def _concepts(desk: Desk) -> int:
    """How many concepts have cards; the index knows it without a look into their decks."""
    if isinstance(desk.cards, IndexedCards):
        return desk.cards.concepts()
    return len({placed.concept for placed in desk.cards.values()})


def _next_due(desk: Desk) -> str:
    known = [desk.states[id_] for id_ in desk.cards if id_ in desk.states]
    times = [state.due for state in known if state.due is not None and not state.hidden(desk.now)]
    return words.when(min(times), desk.now, desk.scheduler.calendar) if times else ""


def _has_files(vault: Vault) -> bool:
    """Whether `raw/` holds any document, or the vault has cards without one."""
    if vault.paths(FLASHCARDS, ".md"):
        return True
    tree = os.walk(vault.root / "raw")
    return any(not name.startswith(".") for _, _, names in tree for name in names)
