"""Pauses and plans to catch up with a backlog, as the review log has them. Days are study days as ordinals. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from learning.study_day import StudyCalendar
from vault.log.events import EVERYTHING, CatchUp, LogEvent, Pause

MISSED = 3  # days without a review after which Home offers a plan


@dataclass(frozen=True, slots=True)
class CatchUpPlan:
    """From `first` on at most `per_day` reviews a day, for so many `days` with reviews; days without one don't count.

    `per_day` EVERYTHING is all that is due on `first`; 0 is no plan.
    """

    per_day: int
    first: int
    days: int

    @property
    def is_everything(self) -> bool:
        """Return whether all is to be reviewed on one day."""
        return self.per_day >= EVERYTHING

    def holds(self, today: int, studied: int) -> bool:
        """Return whether the plan is in force; `studied` are the days with reviews from `first` to yesterday."""
        if self.is_everything:
            return today == self.first
        return bool(self.per_day) and self.first <= today and studied < self.days

    def last_day(self, today: int, studied: int) -> int:
        """Return the day on which the plan ends if no day is missed from today on."""
        return today + max(0, self.days - studied - 1)


@dataclass(frozen=True, slots=True)
class PausedDays:
    """Nothing is due from `first` to the day before `until`; afterwards at most `per_day` reviews, 0: as usual."""

    first: int
    until: int
    per_day: int = 0


@dataclass(frozen=True, slots=True)
class Decisions:
    """What the log says of pauses, in order, and of plans, the latest last."""

    pauses: tuple[PausedDays, ...] = ()
    plans: tuple[CatchUpPlan, ...] = field(default=())

    def pause_on(self, day: int) -> PausedDays | None:
        """Return the pause that a day is in."""
        return next((pause for pause in reversed(self.pauses) if pause.first <= day < pause.until), None)

    def plan_on(self, day: int) -> CatchUpPlan | None:
        """Return the plan that was made last by that day, whether it is over or not."""
        return max((plan for plan in self.plans if plan.first <= day), key=lambda plan: plan.first, default=None)

    def paused_days(self) -> frozenset[int]:
        """Return all days of all pauses."""
        return frozenset(day for pause in self.pauses for day in range(pause.first, pause.until))


def decisions_of(events: Iterable[LogEvent], calendar: StudyCalendar) -> Decisions:
    """Return the decisions among `events`, which are in order and count."""
    pauses: list[PausedDays] = []
    plans: list[CatchUpPlan] = []
    for event in events:
        day = calendar.day(event.when)
        if isinstance(event, CatchUp):
            days = event.until.toordinal() - day + 1
            plans = [plan for plan in plans if plan.first != day]  # the later decision of a day counts
            plans.append(CatchUpPlan(event.per_day, day, max(1, days)))
        elif isinstance(event, Pause):
            until = max(day, event.until.toordinal())
            is_pause = until > day or any(pause.first < day <= pause.until for pause in pauses)  # else none had begun
            pauses = [*_before(pauses, day), PausedDays(day, until, event.per_day if is_pause else 0)]
    return Decisions(tuple(p for p in pauses if p.first < p.until), (*plans, *_on_return(pauses)))


def _before(pauses: Iterable[PausedDays], day: int) -> Iterator[PausedDays]:
    """Yield the pauses without what is left of them from `day` on."""
    for pause in pauses:
        if pause.first < day:
            yield replace(pause, until=min(pause.until, day), per_day=pause.per_day if pause.until < day else 0)


_RETURN_DAYS = 28  # with reviews, for which the load is bounded after a pause


def _on_return(pauses: Iterable[PausedDays]) -> Iterator[CatchUpPlan]:
    """Yield the plans by which the load is spread after pauses."""
    return (CatchUpPlan(pause.per_day, pause.until, _RETURN_DAYS) for pause in pauses if pause.per_day)


def missed_days(last: int, today: int, decisions: Decisions) -> int:
    """Return the days between the last visit and today that were neither studied nor paused."""
    return sum(decisions.pause_on(day) is None for day in range(last + 1, today))
