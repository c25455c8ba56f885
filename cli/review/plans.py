"""The commands `catch-up` and `pause`: plans for a backlog, and days on which nothing is due."""

from __future__ import annotations

from datetime import date

import click

from cli import output
from cli.options import combine, dry_run_option, vault_json_options
from cli.review.review import event_json
from cli.workspace import opened_desk, render_saved
from learning.cards import plans
from learning.cards.plans import Decision
from learning.cards.workspace import Desk
from learning.schedule.date_text import day_of as in_words
from learning.schedule.date_text import study_day
from learning.stats.catch_up import Offer, backlog, offer_at, offer_of
from vault.errors import UsageError
from vault.log.events import MOST_PER_DAY
from vault.text.formatting import plural


@click.command("catch-up")
@click.option("--per-day", type=click.IntRange(1, MOST_PER_DAY), metavar="N", help="At most this many reviews a day.")
@click.option("--all", "everything", is_flag=True, help="Review everything due today, regardless of limits.")
@click.option("--end", is_flag=True, help="End the plan; the usual limits apply again.")
@combine(dry_run_option, vault_json_options)
def catch_up(
    per_day: int | None, everything: bool, end: bool, dry_run: bool, vault_dir: str | None, as_json: bool
) -> int:
    """Clear a backlog by doing the same number of reviews each day, after days without reviews.

    The reviews for which a delay costs the most recall come first; new cards are held back. Without options, the
    plan is 25% more reviews a day than usual, or more if that is needed to clear the backlog in four weeks. The plan
    is saved in the review log; a later one replaces it, and `retain undo` undoes it.

    \b
    Examples:
      retain catch-up --dry-run
      retain catch-up
      retain catch-up --per-day 40
      retain catch-up --end
    """
    if sum((per_day is not None, everything, end)) > 1:
        raise UsageError("conflicting options", hint="give --per-day, --all or --end")
    desk = opened_desk(vault_dir, read_only=dry_run)
    _refuse_paused(desk)
    if end:
        return _end_plan(desk, dry_run=dry_run, as_json=as_json)
    count = backlog(desk)
    offer = None
    if per_day and count > per_day:
        offer = offer_at(desk, per_day)
    elif not (per_day or everything):
        offer = offer_of(desk)
    if offer is None:
        if not (everything and count):
            return _report(None, None, f"nothing to catch up on: {plural(count, 'review')} due", as_json=as_json)
        event = None if dry_run else _saved(*plans.catch_up_today(desk, via="cli"))
        return _report(Offer(count, count, None), event, f"all {plural(count, 'review')} today", as_json=as_json)
    event = None if dry_run else _saved(*plans.catch_up(desk, offer.per_day, offer.until, via="cli"))
    return _report(offer, event, _words(offer), as_json=as_json)


def _refuse_paused(desk: Desk) -> None:
    """Raise UsageError where reviews are paused."""
    until = plans.paused_until(desk)
    if until is not None:
        raise UsageError(f"reviews are paused until {in_words(until)}", hint="`retain pause --end` ends the pause")


def _end_plan(desk: Desk, *, dry_run: bool, as_json: bool) -> int:
    """End the plan that is in force."""
    if desk.limits.plan is None:
        return _report(None, None, "there is no catch-up plan", as_json=as_json)
    event = None if dry_run else _saved(*plans.end_plan(desk, via="cli"))
    return _report(None, event, "the plan has ended", as_json=as_json)


def _words(offer: Offer) -> str:
    """Return an offer in words: `135 waiting: 30 a day, cleared by 7 January 2027`."""
    clear = f"cleared by {in_words(offer.until)}" if offer.until else "the backlog would not be cleared within a year"
    return f"{offer.waiting:,} waiting: {offer.per_day:,} a day, {clear}"


def _saved(desk: Desk, event: Decision) -> Decision:
    """Render the pages after a decision was saved; return it."""
    render_saved(desk.vault)
    return event


def _report(offer: Offer | None, event: Decision | None, words: str, *, as_json: bool) -> int:
    """Print what was decided, or would be."""
    if as_json:
        plan = None
        if offer is not None:
            until = offer.until.isoformat() if offer.until else None
            plan = {"waiting": offer.waiting, "per_day": offer.per_day, "until": until}
        output.show_json({"plan": plan, "event": event_json(event) if event is not None else None})
    else:
        output.show(f"{words}; `retain undo` undoes this" if event is not None else words)
    return output.DONE


@click.command()
@click.option("--until", metavar="DATE", help="The day on which reviews resume, like 2026-12-20 or +14d.")
@click.option("--end", is_flag=True, help="End the pause today.")
@vault_json_options
def pause(until: str | None, end: bool, vault_dir: str | None, as_json: bool) -> int:
    """Pause reviews, for example for a vacation: nothing is due until a date, and the streak is kept.

    Afterwards, overdue reviews are spread over several days. Without options, show whether reviews are paused. `retain
    undo` undoes a pause.

    \b
    Examples:
      retain pause --until 2026-12-20
      retain pause --until +14d
      retain pause --end
    """
    if until is not None and end:
        raise UsageError("conflicting options", hint="give --until or --end")
    desk = opened_desk(vault_dir, read_only=not (until or end))
    event: Decision | None = None
    if until is not None:
        desk, event = plans.pause(
            desk, study_day(until, date.fromordinal(desk.scheduler.calendar.day(desk.now))), via="cli"
        )
    elif end:
        desk, event = plans.end_pause(desk, via="cli")
    if event is not None:
        render_saved(desk.vault)
    now_until = plans.paused_until(desk)
    if as_json:
        written = event_json(event) if event is not None else None
        output.show_json({"paused_until": now_until.isoformat() if now_until else None, "event": written})
        return output.DONE
    words = f"paused until {in_words(now_until)}" if now_until else "the pause has ended" if event else "not paused"
    output.show(f"{words}; `retain undo` undoes this" if event is not None else words)
    return output.DONE
