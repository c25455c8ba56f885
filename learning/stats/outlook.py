"""Forecasts of a vault, and their meaning in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import cache

from learning.cards.workspace import Desk
from learning.memory.model import Model
from learning.schedule.workload import BacklogPlan
from learning.stats import forecast
from learning.stats.forecast import backlog_plan as plan_of
from vault.text.formatting import plural

USUAL = (0.8, 0.85, 0.9, 0.95)  # retentions that are worth comparing


class Outlook:
    """The start of a vault's forecasts; `new` cards a day without end, or, with None, those that wait."""

    def __init__(self, desk: Desk, days: int, new: int | None = None) -> None:
        settings, rules = desk.vault.settings, desk.scheduler.rules
        self.calendar, self.own = rules.calendar, rules.retention
        self._reviews_today: int = min(settings.reviews_per_day, desk.limits.reviews)
        self.today = self.calendar.day(desk.now)
        self.habits: forecast.Habits = forecast.habits_of(desk.past.day_sums())
        day = cache(self.calendar.day)  # many cards fall due at the same instant
        states = forecast.states_in(desk.past.states.with_all(), desk.cards)
        self.stock: list[forecast.Stock] = forecast.stock_of(states, lambda s: day(s.due) if s.due else 0, self.today)
        self.waiting = len(desk.queue.new)
        self.model: Model = Model(desk.scheduler.parameters)
        self.course: forecast.Course = forecast.Course(
            days,
            rules.retention,
            settings.new_per_day if new is None else new,
            self.waiting if new is None else None,
            settings.reviews_per_day,
            rules.maximum_interval,
        )

    def at(self, retention: float) -> forecast.Forecast:
        """Return the forecast with another retention."""
        return forecast.simulated(self.stock, self.habits, self.model, replace(self.course, retention=retention))

    def that_fit(self, minutes: int) -> tuple[int, forecast.Forecast]:
        """Return the most new cards a day that fit into so many minutes, and the forecast with them."""
        return forecast.new_that_fit(self.stock, self.habits, self.model, self.course, minutes)

    def backlog(self) -> BacklogPlan | None:
        """Return the plan for overdue cards; None if today has room for them."""
        course = replace(self.course, reviews_per_day=self._reviews_today)
        return plan_of(self.stock, self.habits, self.model, course)

    def days_to_clear(self, per_day: int, within: int) -> int:
        """Return on how many days there are reviews until nothing is overdue, at so many a day; 0: not so soon."""
        course = replace(self.course, reviews_per_day=per_day)
        plan = plan_of(self.stock, self.habits, self.model, course, within)
        return 1 if plan is None else plan.days + 1 if plan.days else 0

    def date(self, day: int) -> date:
        """Return the date of day number `day`."""
        return date.fromordinal(self.today + day)


def backlog_of(desk: Desk) -> str:
    """Return the plan of a desk in one sentence; "" if today has room for what is due."""
    outlook = Outlook(desk, 1, 0)
    plan = outlook.backlog()
    return backlog_words(plan, outlook.today) if plan is not None else ""


def backlog_words(plan: BacklogPlan, today: int) -> str:
    """Return the plan in one sentence."""
    if not plan.per_day:
        return f"{plan.overdue:,} overdue, but none are shown: reviews_per_day is 0 in retain.toml"
    when = f"cleared by {date.fromordinal(today + plan.days):%d %B %Y}" if plan.days else "not cleared in a year"
    first = "the cards where further delay would lower your recall most are shown first"
    return f"{plan.overdue:,} overdue; at {plan.per_day:,} a day {when}; {first}"


def meaning(forecasts: Sequence[forecast.Forecast], own: forecast.Forecast) -> str:
    """Return what the forecasts mean: the present retention beside the next lower one."""
    words = f"at a retention of {own.course.retention:.0%}, reviews will take {_about(own.settled_minutes)} a day"
    other = min(
        (f for f in forecasts if f is not own and f.course.retention < own.course.retention),
        key=lambda f: -f.course.retention,
        default=None,
    )
    if other is None:
        return words
    fewer = round(own.remembered - other.remembered)
    kept = plural(abs(fewer), "fewer card" if fewer > 0 else "more card")
    lower = f"at {other.course.retention:.0%} {_about(other.settled_minutes)}"
    return f"{words}; {lower}, and you would remember {kept if fewer else 'as many cards'}"


def _about(minutes: float) -> str:
    """Return minutes in words."""
    ends = round(minutes)
    return f"about {plural(ends, 'minute')}" if ends else "under a minute"
