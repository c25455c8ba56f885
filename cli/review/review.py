"""The commands `review`, `due`, `rate` and `undo`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import click

from cli import output
from cli.environment import now
from cli.options import opened, vault_json_options, vault_option
from cli.review.limits import limits_in_words
from cli.shell import card_ids
from cli.workspace import deck_listing, mend, opened_desk, render_saved, report_cards
from learning.cards import workspace as desks
from learning.cards.undo_ahead import undo_ahead
from learning.cards.workspace import Desk, open_desk
from learning.memory.labels import card_heading, interval
from learning.review.plan import Mode, Plan
from learning.schedule.queue import Item
from learning.store.freshness import look
from vault.errors import UsageError
from vault.log.events import CatchUp, LogEvent, More, Pause, Rating, encode
from vault.log.ledger import instant
from vault.model.markdown import plain_words
from vault.text.formatting import plural, short_line

RATINGS = ("again", "hard", "good", "easy")
SHOWN = 20


@click.command()
@click.option("--tag", default="", help="Only cards with this tag, kind or concept, or topic:NAME.")
@click.option("--limit", type=click.IntRange(1, 9999), default=None, metavar="N", help="At most this many cards.")
@click.option(
    "--ahead",
    type=click.IntRange(1, 9999),
    default=None,
    metavar="DAYS",
    help="Review cards that are due within this many days.",
)
@click.option("--more", type=click.IntRange(1, 9999), metavar="N", help="Study N more new cards today than planned.")
@click.option("--cram", is_flag=True, help="Practise every card until you recall it; nothing is scheduled or saved.")
@click.option("--preview", is_flag=True, help="Preview new cards; nothing is scheduled or saved.")
@click.option("--plain", is_flag=True, help="Use plain text, for a dumb terminal, a pipe or a screen reader.")
@vault_option
def review(
    tag: str,
    limit: int | None,
    ahead: int | None,
    more: int | None,
    cram: bool,
    preview: bool,
    plain: bool,
    vault_dir: str | None,
) -> int:
    """Start today's reviews. Each rating is saved to disk before you can answer the next card.

    \b
    Examples:
      retain review
      retain review --tag applied --limit 20
      retain review --ahead 3
      retain review --more 10
      retain review --cram --tag "topic:Memory"
      retain review --plain
    """
    if more and (ahead or cram or preview):
        raise UsageError("--more works only with today's queue", hint="leave out --ahead, --cram and --preview")
    if more:
        _allow_more(vault_dir, tag, more)
    modes = [mode for mode, on in ((Mode.AHEAD, ahead), (Mode.CRAM, cram), (Mode.PREVIEW, preview)) if on]
    if len(modes) > 1:
        raise UsageError("--ahead, --cram and --preview are mutually exclusive")
    plan = Plan(modes[0] if modes else Mode.REVIEW, " ".join(tag.split()), limit or 0, ahead or 0)
    words = str(plan) if limit or modes else ""  # else today's queue
    with output.Loading(plain=plain) as loading:
        from cli.review.launcher import open_app  # `due` and `rate` open no app

        return open_app(vault_dir, loading, start="review", tag=tag, plan=words, plain=plain)


def _allow_more(vault_dir: str | None, tag: str, cards: int) -> None:
    """Let more new cards into today's queue, and say how many come."""
    from learning.review.more_new import allow_more

    desk = open_desk(opened(vault_dir), now(), tag=" ".join(tag.split()))
    after, _ = allow_more(desk, cards, via="cli")
    output.say(f"{plural(after.today['new'] - desk.today['new'], 'more new card')} today; `retain undo` undoes this")
    render_saved(after.vault)


@click.command()
@click.option("--tag", default="", help="Only cards with this tag, kind or concept.")
@vault_json_options
def due(tag: str, vault_dir: str | None, as_json: bool) -> int:
    """List today's cards, due ones first, and show how many exceed today's limit.

    --json lists all due and new cards in study order, regardless of limits.

    \b
    Examples:
      retain due
      retain due --tag applied --json
    """
    vault = opened(vault_dir)
    decks = deck_listing(vault)
    seen = look(vault.root, decks=decks)
    desk = open_desk(vault, now(), tag=tag, listing=decks)
    report_cards(desk)
    if as_json:
        lists = {"due": [_as_json(desk, i) for i in desk.queue.due], "new": [_as_json(desk, i) for i in desk.queue.new]}
        held = {"waiting": desk.beyond["new"], "why": desk.held_back, "beyond": desk.beyond}
        output.show_json({"as_of": instant(desk.now), **lists, "today": {**desk.today, **held}})
        output.flush()  # who asked needs not wait for the pages
        mend(desk, seen)
        return output.DONE
    _show_due(desk)
    if not desk.cards:
        output.say("no cards yet: `retain add FILES`, then `retain compile`")
    output.flush()
    mend(desk, seen)
    return output.DONE


def _show_due(desk: Desk) -> None:
    """Print what today takes, and how many cards wait beyond that."""
    today, beyond = desk.today, desk.beyond
    output.show(f"today: {today['due']} due, {today['new']} new, about {today['minutes']} min")
    for words in limits_in_words(desk):
        output.show(f"  {words}")
    new = {item.card for item in desk.queue.new}
    due = [*(item for item in desk.queue.today if item.card not in new), *desk.queue.waiting]
    for name, items in (("due", due), ("new", [item for item in desk.queue.today if item.card in new])):
        if items:
            output.show(f"{name} ({len(items)})")
        for item in items[:SHOWN]:
            placed = desk.cards.get(item.card)
            if placed is not None:  # None if it was deleted just now
                question = short_line(plain_words(placed.card.question), 90)
                output.show(f"  {item.card}  {card_heading(placed.title, item.kind)}: {question}")
        if len(items) > SHOWN:
            output.show(f"  and {len(items) - SHOWN} more today")
    if any(beyond.values()):
        output.show(f"beyond today's limit: {beyond['due']} due, {beyond['new']} new (--json lists all)")


def _as_json(desk: Desk, item: Item) -> dict[str, object]:
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
@click.argument("card", metavar="CARD", shell_complete=card_ids)
@click.argument("rating", type=click.Choice(RATINGS, case_sensitive=False))
@click.option(
    "--at", "at_text", metavar="INSTANT", help="The time of the review, like 2026-11-21T09:30+01:00 (default: now)."
)
@vault_json_options
def rate(card: str, rating: str, at_text: str | None, vault_dir: str | None, as_json: bool) -> int:
    """Record one review of a card.

    \b
    Examples:
      retain rate k7q2m9xd3f good
      retain rate k7q2m9xd3f again --at 2026-11-21T09:30+01:00
    """
    desk = opened_desk(vault_dir)
    dated = _instant(at_text, desk.now) if at_text else None
    was_leech = desk.state(desk.card(card).id).leech
    desk, event = desks.rate(desk, card, Rating[rating.upper()], via="cli", dated=dated)
    render_saved(desk.vault)
    state = desk.state(event.card)
    becomes_leech = state.leech and not was_leech
    if as_json:
        numbers = {"stability": round(state.stability, 4), "difficulty": round(state.difficulty, 4)}
        due_at = instant(state.due) if state.due else None
        found = {"event": event_json(event), "due": due_at, "interval_days": state.interval_days, **numbers}
        output.show_json({**found, "becomes_leech": becomes_leech})
    else:
        when = (
            f"due {desk.scheduler.calendar.shown(state.due)}" if dated and state.due else f"next in {interval(state)}"
        )
        output.show(f"{event.card} {rating}: {when}")
        if becomes_leech:
            fate = " and suspended" if state.suspended else ""
            advice = f"reword it with `retain card edit {event.card}`, or delete it"
            output.show(f"  forgotten {plural(state.lapses, 'time')}: marked as a leech{fate}; {advice}")
    return output.DONE


def event_json(event: LogEvent) -> dict[str, object]:
    """Return an event as its line in the review log has it."""
    written: dict[str, object] = json.loads(encode(event))
    return written


def _instant(text: str, at: datetime) -> datetime:
    """Return the instant in `text`. Raises UsageError without a zone, before 1970, or more than ten years ahead."""
    hint = "write it like 2026-11-21T09:30+01:00"
    try:
        found = datetime.fromisoformat(text)
        if found.tzinfo is None:
            raise UsageError("no time zone given", where=text, hint="end it with +01:00, or Z for UTC")
        found = found.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise UsageError("not a date and time", where=text, hint=hint) from error
    if not datetime(1970, 1, 1, tzinfo=UTC) <= found <= at + timedelta(days=3653):
        raise UsageError("the date is out of range", where=text, hint=hint)
    if found > at:
        output.say(f"{text} is in the future; later reviews will be dated after it")
    return found


@click.command()
@click.option(
    "--ahead", is_flag=True, help="Undo all actions dated in the future, e.g. after the system clock was wrong."
)
@vault_json_options
def undo(ahead: bool, vault_dir: str | None, as_json: bool) -> int:
    """Undo the last action on a card, or on many at once. Repeat it to go further back.

    An action is a rating, bury, suspend, resume, flag, tag, reschedule, catch-up or pause, or more new cards today.
    `retain card edit CARD --restore` undoes an edit, `retain card delete CARD --restore` a deletion.

    \b
    Examples:
      retain undo
      retain undo --ahead
    """
    desk, events, voided = (undo_ahead if ahead else desks.undo_last)(opened_desk(vault_dir), via="cli")
    render_saved(desk.vault)
    if as_json:
        several = {"voided_all": [event_json(one) for one in voided]}
        output.show_json({"event": event_json(events[-1]), "voided": event_json(voided[-1]), **several})
    else:
        in_future = f"{plural(len(voided), 'action')} dated in the future"
        output.show(f"undone: {in_future if ahead else _voided_words(voided)}")
    return output.DONE


_OF_DAYS = {
    CatchUp.type: "the catch-up plan",
    Pause.type: "the pause, or its end",
    More.type: "more new cards today",
}


def _voided_words(voided: Sequence[LogEvent]) -> str:
    """Return what was undone: `bury of k7q2m9xd3f`."""
    kind = voided[-1].type
    whose = getattr(voided[0], "card", "") if len(voided) == 1 else plural(len(voided), "card")
    return _OF_DAYS.get(kind) or f"{kind} of {whose}"
