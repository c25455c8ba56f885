"""The command `simulate`: forecast the workload for other retentions or numbers of new cards."""

from __future__ import annotations

from datetime import date
from typing import Any

import click

from cli import output
from cli.options import FiniteRange, vault_json_options
from cli.workspace import opened_desk
from learning.schedule.workload import BacklogPlan
from learning.stats.forecast import Course, Forecast, averages
from learning.stats.outlook import USUAL, Outlook, backlog_words, meaning
from vault.text.formatting import plural

BOUNDS = (0.7, 0.99)  # of `retention` in retain.toml, too
_BARS = 13  # stretches of days that the plot shows
_WIDTH = 40


@click.command()
@click.option(
    "--days", type=click.IntRange(1, 3650), default=90, show_default=True, help="The number of days to forecast."
)
@click.option(
    "--retention",
    "retentions",
    type=FiniteRange(*BOUNDS),
    multiple=True,
    help="A desired retention to try; repeatable (default: your setting and four common values).",
)
@click.option(
    "--new",
    "new",
    type=click.IntRange(0, 999),
    help="New cards per day (default: your setting, until all new cards are used up).",
)
@click.option(
    "--minutes", type=click.IntRange(1, 1440), help="Find how many new cards per day fit into this many minutes."
)
@vault_json_options
def simulate(
    days: int, retentions: tuple[float, ...], new: int | None, minutes: int | None, vault_dir: str | None, as_json: bool
) -> int:
    """Forecast reviews and minutes per day from your memory states, habits and parameters.

    Nothing is changed. Monte Carlo simulation with a fixed seed: the same vault gives the same forecast.

    \b
    Examples:
      retain simulate
      retain simulate --days 365 --retention 0.85 --retention 0.9
      retain simulate --minutes 20
    """
    desk = opened_desk(vault_dir, read_only=True)
    outlook = Outlook(desk, days, new)
    own = desk.scheduler.rules.retention
    wanted = sorted(set(retentions)) if retentions else sorted({*USUAL, own})
    forecasts = [outlook.at(retention) for retention in wanted]
    fit = None if minutes is None else outlook.that_fit(minutes)
    if as_json:
        output.show_json(_as_json(outlook, forecasts, minutes, fit))
    else:
        _show(outlook, forecasts, minutes, fit)
    return output.DONE


def _as_json(
    outlook: Outlook, forecasts: list[Forecast], minutes: int | None, fit: tuple[int, Forecast] | None
) -> dict[str, Any]:
    course, habits, plan = outlook.course, outlook.habits, outlook.backlog()
    return {
        "from": outlook.date(0).isoformat(),
        "days": course.days,
        "cards": len(outlook.stock),
        "waiting": outlook.waiting,
        "new_per_day": course.new_per_day,
        "reviews_per_day": course.reviews_per_day,
        "seed": course.seed,
        "played": round(forecasts[0].share, 4),
        "seconds": {"new": habits.new_s, "recalled": habits.recalled_s, "forgotten": habits.forgotten_s},
        "forecasts": [_forecast_json(each) for each in forecasts],
        "minutes": None if fit is None else {"minutes": minutes, "new_per_day": fit[0]},
        "backlog": None if plan is None else backlog_json(plan, outlook.today),
    }


def _forecast_json(found: Forecast) -> dict[str, Any]:
    return {
        "retention": found.course.retention,
        "reviews_a_day": round(sum(found.reviews) / len(found.reviews), 1),
        "minutes_a_day": round(sum(found.minutes) / len(found.minutes), 1),
        "minutes_a_day_last_third": round(found.settled_minutes, 1),
        "remembered": round(found.remembered),
        "known": round(found.known),
        "by_day": {
            "reviews": [round(v) for v in found.reviews],
            "new": [round(v) for v in found.new],
            "minutes": [round(v, 1) for v in found.minutes],
            "held_over": [round(v) for v in found.held_over],
        },
    }


def backlog_json(plan: BacklogPlan, today: int) -> dict[str, Any]:
    """Return the plan for overdue cards as JSON; `cleared` is None if it takes more than a year."""
    cleared = date.fromordinal(today + plan.days).isoformat() if plan.days else None
    return {"overdue": plan.overdue, "per_day": plan.per_day, "days": plan.days or None, "cleared": cleared}


def _show(outlook: Outlook, forecasts: list[Forecast], minutes: int | None, fit: tuple[int, Forecast] | None) -> None:
    """Print the forecasts as a table with a plot, and the retention in `fit` that takes `minutes` a day, if given."""
    course = outlook.course
    supply = _supply(course)
    under_way, span = plural(len(outlook.stock), "card"), plural(course.days, "day")
    output.show(f"{under_way} studied so far; {supply}; {span} from {outlook.date(0)}")
    if forecasts[0].share < 1:
        output.show(f"simulated 1 card in {1 / forecasts[0].share:.0f}, extrapolated to all")
    output.show("  retention  reviews/day  minutes/day  in the last third  remembered at the end")
    for each in forecasts:
        mark = "*" if each.course.retention == outlook.own else " "
        days = len(each.reviews)
        row = f"{sum(each.reviews) / days:11,.0f}  {sum(each.minutes) / days:11,.1f}  {each.settled_minutes:17,.1f}"
        share = f"{each.remembered:,.0f} of {each.known:,.0f}"
        output.show(f"  {each.course.retention:8.0%} {mark} {row}  {share:>21}")
    shown = next((each for each in forecasts if each.course.retention == outlook.own), forecasts[0])
    _plot(outlook, shown)
    output.show(meaning(forecasts, shown))
    if fit is not None and minutes is not None:
        output.show(_fits(fit, minutes))
    held = shown.held_over[-1]
    if held >= 1:
        output.show(f"{_a_day(course.reviews_per_day)} is too few: {held:,.0f} would be overdue on the last day")
    plan = outlook.backlog()
    if plan is not None:
        output.show(backlog_words(plan, outlook.today))


def _supply(course: Course) -> str:
    """Return how many new cards a day the forecast assumes, as text."""
    if course.supply is None:
        return f"{course.new_per_day:g} new a day"
    if not course.supply:
        return "no new cards"
    last = (
        "until the one new card is used up"
        if course.supply == 1
        else f"until the {course.supply:,} new cards are used up"
    )
    return f"{course.new_per_day:g} new a day {last}"


def _plot(outlook: Outlook, found: Forecast) -> None:
    """Print minutes a day, one bar for each stretch of days."""
    minutes, reviews = averages(found.minutes, _BARS), averages(found.reviews, _BARS)
    most = max(*minutes, 0.1)
    output.show(f"  minutes a day at {found.course.retention:.0%}")
    for number, (spent, seen) in enumerate(zip(minutes, reviews, strict=True)):
        begins = outlook.date(len(found.minutes) * number // len(minutes))
        bar = "█" * round(spent / most * _WIDTH)
        output.show(f"  {begins:%d %b %Y}  {spent:7.1f}  {bar}  {plural(round(seen), 'review')}")


def _fits(fit: tuple[int, Forecast], minutes: int) -> str:
    """Return a sentence on how many new cards fit into `minutes` a day."""
    new, found = fit
    if new:
        ends = f"{found.settled_minutes:.0f} in the last third of the period"
        return f"{_cards_fit(new)} into {plural(minutes, 'minute')}, once the backlog is cleared: {ends}"
    if found.settled_minutes > minutes:
        taken = plural(round(found.settled_minutes), "minute")
        return f"no new card fits into {plural(minutes, 'minute')}: reviews alone take {taken} a day"
    return f"no new card fits into {plural(minutes, 'minute')}"


def _a_day(reviews: int) -> str:
    return f"{plural(reviews, 'review')} a day {'is' if reviews == 1 else 'are'}"


def _cards_fit(new: int) -> str:
    return "1 new card a day fits" if new == 1 else f"{new} new cards a day fit"
