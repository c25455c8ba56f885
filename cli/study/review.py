"""Commands of the daily review: review, due, rate, undo."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from cli import output
from cli.environment import now
from cli.options import json_option, opened, settle_left_over, vault_option
from cli.review_pages import mend
from cli.study.launcher import open_app
from learning.store.freshness import look
from vault.errors import Refused, UsageError, WriteFailed

if TYPE_CHECKING:
    from learning.cards.workspace import Desk
    from learning.schedule.queue import Item
    from vault.cache.stamps import Listing
    from vault.log.events import LogEvent
    from vault.vault import Vault

RATINGS = ("again", "hard", "good", "easy")
SHOWN = 20


@click.command()
@click.option("--tag", default="", help="Only cards of this tag, kind or concept, or as topic:NAME of a topic.")
@click.option("--limit", type=click.IntRange(1, 9999), default=None, metavar="N", help="At most so many cards.")
@click.option(
    "--ahead", type=click.IntRange(1, 9999), default=None, metavar="DAYS", help="What falls due by then, too."
)
@click.option("--cram", is_flag=True, help="Every card, again until it is recalled; nothing is scheduled or kept.")
@click.option("--preview", is_flag=True, help="A look at new cards; nothing is scheduled or kept.")
@click.option("--plain", is_flag=True, help="Lines of text only: for a dumb terminal, a pipe or a screen reader.")
@vault_option
def review(
    tag: str, limit: int | None, ahead: int | None, cram: bool, preview: bool, plain: bool, vault_dir: str | None
) -> int:
    """Start today's reviews. Every rating is on disk before the next card shows.

    \b
    Examples:
      retain review
      retain review --tag applied --limit 20
      retain review --ahead 3
      retain review --cram --tag "topic:Memory"
      retain review --plain
    """
    if not (limit or ahead or cram or preview):
        return open_app(vault_dir, start="review", tag=tag, plain=plain)
    from learning.review.plan import Mode, Plan

    modes = [*[Mode.AHEAD][: bool(ahead)], *[Mode.CRAM][:cram], *[Mode.PREVIEW][:preview]] or [Mode.REVIEW]
    if len(modes) > 1:
        raise UsageError("one way to review at a time", where=", ".join(f"--{mode}" for mode in modes))
    plan = Plan(modes[0], " ".join(tag.split()), limit or 0, ahead or 0)
    return open_app(vault_dir, start="review", tag=tag, plan=str(plan), plain=plain)


def desk_of(vault_dir: str | None, *, looking: bool = False) -> Desk:
    """The desk for one command; one that is only looking leaves what an agent left as it is."""
    from learning.cards.workspace import open_desk

    vault = opened(vault_dir)
    if not looking:
        settle_left_over(vault)
    desk = open_desk(vault, now())
    output.found(d for d in desk.diagnostics if d not in desk.vault.notices)
    return desk


@click.command()
@click.option("--tag", default="", help="Only cards with this tag, of this kind, or of this concept.")
@vault_option
@json_option
def due(tag: str, vault_dir: str | None, as_json: bool) -> int:
    """List the cards that are due, then the new ones, in study order."""
    from learning.cards.workspace import open_desk
    from learning.memory.labels import card_heading
    from vault.log.ledger import instant

    vault = opened(vault_dir)
    decks = _listed(vault)
    seen = look(vault.root, decks=decks)
    desk = open_desk(vault, now(), tag=tag, listing=decks)
    output.found(d for d in desk.diagnostics if d not in vault.notices)
    if as_json:
        lists = {"due": [_as_json(desk, i) for i in desk.queue.due], "new": [_as_json(desk, i) for i in desk.queue.new]}
        held = {"waiting": _waiting(desk), "why": desk.held_back}
        output.show_json({"as_of": instant(desk.now), **lists, "today": {**desk.today, **held}})
        output.flush()  # who asked needs not wait for the pages
        mend(desk, seen)
        return output.DONE
    today = desk.today
    output.show(f"today: {today['due']} due, {today['new']} new, about {today['minutes']} min")
    for words in (desk.held_back, _backlog(desk)):
        if words:
            output.show(f"  {words}")
    for name, items in (("due", desk.queue.due), ("new", desk.queue.new)):
        output.show(f"{name} ({len(items)})")
        for item in items[:SHOWN]:
            placed = desk.cards.get(item.card)
            if placed is not None:  # gone in this very moment
                output.show(f"  {item.card}  {card_heading(placed.title, item.kind)}: {_short(placed.card.question)}")
        if len(items) > SHOWN:
            output.show(f"  and {len(items) - SHOWN} more (--json lists all)")
    if not desk.cards:
        output.say("no cards yet: `retain add FILES`, then `retain compile`")
    output.flush()
    mend(desk, seen)
    return output.DONE


def _listed(vault: Vault) -> Listing | None:
    """The folder of the decks, listed once for all who ask; None where it cannot be."""
    from vault.cache.stamps import listing
    from vault.layout import FLASHCARDS

    try:
        return listing(vault.root, FLASHCARDS)
    except OSError:
        return None


def _waiting(desk: Desk) -> int:
    """New cards that today has no room for."""
    return len(desk.queue.new) - desk.today["new"]


def _backlog(desk: Desk) -> str:
    """When what is overdue will be done, in one sentence; "" if today has room for it."""
    per_day = desk.vault.settings.reviews_per_day
    if len(desk.queue.due) <= per_day or desk.tag:
        return ""
    from learning.stats.outlook import backlog_of

    return backlog_of(desk)


def _short(markdown: str) -> str:
    from vault.model.markdown import unescape
    from vault.text.sanitize import clean_line

    text = clean_line(unescape(markdown))
    return text if len(text) <= 90 else text[:89] + "…"


def _as_json(desk: Desk, item: Item) -> dict[str, object]:
    from vault.log.ledger import instant

    state = desk.state(item.card)
    place = desk.place(item.card)
    return {
        "id": item.card,
        "concept": place.title,
        "kind": item.kind,
        "due": instant(state.due) if state.due else None,
        "retrievability": round(desk.scheduler.retrievability(state, desk.now), 4) if state.due else None,
        "path": place.path,
        "line": place.line,
        "tags": list(state.tags),
    }


@click.command()
@click.argument("card", metavar="CARD")
@click.argument("rating", type=click.Choice(RATINGS, case_sensitive=False))
@click.option("--at", "at_text", metavar="INSTANT", help="When it was, as 2026-11-21T09:30+01:00; else now.")
@vault_option
@json_option
def rate(card: str, rating: str, at_text: str | None, vault_dir: str | None, as_json: bool) -> int:
    """Record one review of a card.

    \b
    Examples:
      retain rate k7q2m9xd3f good
      retain rate k7q2m9xd3f again --at 2026-11-21T09:30+01:00
    """
    from learning.cards import workspace as desks
    from learning.memory.labels import interval
    from vault.log.events import Rating

    desk = desk_of(vault_dir)
    dated = _instant(at_text, desk.now) if at_text else None
    desk, event = desks.rate(desk, card, Rating[rating.upper()], via="cli", dated=dated)
    show_in_page(desk)
    state = desk.state(event.card)
    if as_json:
        numbers = {"stability": round(state.stability, 4), "difficulty": round(state.difficulty, 4)}
        due_at = state.due.isoformat(timespec="milliseconds").replace("+00:00", "Z") if state.due else None
        output.show_json({"event": event_json(event), "due": due_at, "interval_days": state.interval_days, **numbers})
    else:
        when = (
            f"due {desk.scheduler.calendar.shown(state.due)}" if dated and state.due else f"next in {interval(state)}"
        )
        output.show(f"{event.card} {rating}: {when}")
    return output.DONE


def show_in_page(desk: Desk) -> None:
    """Render what shows the log. These are products: where one cannot be written, what the human did is saved."""
    from cli.review_pages import render_if_stale

    try:
        render_if_stale(desk.vault)
    except (WriteFailed, Refused) as error:
        output.say(f"  saved in the review log; only its page could not be written: {error}")


def event_json(event: LogEvent) -> dict[str, object]:
    from vault.log.events import encode

    written: dict[str, object] = json.loads(encode(event))
    return written


def _instant(text: str, at: datetime) -> datetime:
    """The instant in `text`. Raises UsageError for one without a zone, before 1970, or more than ten years ahead."""
    hint = "write it as 2026-11-21T09:30+01:00"
    try:
        found = datetime.fromisoformat(text)
        if found.tzinfo is None:
            raise UsageError("the instant names no time zone", where=text, hint="end it with +01:00, or Z for UTC")
        found = found.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise UsageError("not an instant", where=text, hint=hint) from error
    if not datetime(1970, 1, 1, tzinfo=UTC) <= found <= at + timedelta(days=3653):
        raise UsageError("no review was or will be then", where=text, hint=hint)
    if found > at:
        output.say(f"{text} lies in the future; whatever you do before then will be dated after it")
    return found


@click.command()
@vault_option
@json_option
def undo(vault_dir: str | None, as_json: bool) -> int:
    """Take back what you did last to a card, or to many at once. Repeat it to go further back.

    That is a rating, a bury, suspend, resume, flag, tag or reschedule. An edit of a card's words is taken back by
    `retain card edit CARD --restore`.
    """
    from learning.cards import workspace as desks

    desk, events, voided = desks.undo_last(desk_of(vault_dir), via="cli")
    show_in_page(desk)
    if as_json:
        several = {"voided_all": [event_json(one) for one in voided]}
        output.show_json({"event": event_json(events[-1]), "voided": event_json(voided[-1]), **several})
    else:
        whose = getattr(voided[0], "card", "") if len(voided) == 1 else output.number(len(voided), "card")
        output.show(f"undone: {voided[-1].type} of {whose}")
    return output.DONE
