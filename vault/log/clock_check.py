"""Events and ledger lines that are dated ahead of the present clock: one of the two clocks is or was wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, tzinfo

from vault.diagnostic import Diagnostic
from vault.log import ledger
from vault.log.events import CardMark, Graded, Import, LogEvent, Params, Review
from vault.log.review_log import LOG_PATH
from vault.text.formatting import clean_line

LEEWAY = timedelta(hours=1)  # clocks of two machines may differ; a zone that was set wrong makes an hour or more


def log_ahead(counting: Sequence[LogEvent], now: datetime, zone: tzinfo) -> list[Diagnostic]:
    """Return at most one finding: the first of these live events, in order, that happened more than an hour after
    `now`.
    """
    first = next((n for n, event in enumerate(counting) if event.when > now + LEEWAY), None)
    if first is None:
        return []
    event, since = counting[first], counting[first:]
    later = sum(each.when > now + LEEWAY for each in since) - 1
    more = f" (and {later} more)" if later else ""
    what = f"{_named(event)}{more} is dated {_shown(event.when, zone)}, {_far(event.when - now)} in the future: "
    meaning = "cards rated then are not due before that date" if isinstance(event, Review) else "the event still counts"
    taken = any(each.when > now + LEEWAY and not isinstance(each, Graded | Import | Params) for each in since)
    remedy = "run `retain undo --ahead` to undo all of them" if taken else "wait"
    hint = f"if the clock was wrong then: {remedy}; if it is wrong now, set the clock"
    return [Diagnostic(LOG_PATH, 0, "log-ahead", what + meaning, hint)]


def ledger_ahead(path: str, instants: Iterable[datetime], now: datetime, zone: tzinfo) -> list[Diagnostic]:
    """Return at most one finding: the latest of these instants of the ledger at `path`, if it is over an hour after
    `now`.
    """
    latest = max(instants, default=now)
    if latest <= now + LEEWAY:
        return []
    what = (
        f"its newest event is dated {_shown(latest, zone)}, {_far(latest - now)} in the future: new events "
        "get a later date than this one, and reviews that you do before that date are treated as older than this event"
    )
    day = ledger.instant(latest)[:10]
    hint = (
        f'if the clock is wrong, set it; otherwise wait, or correct the date in the lines with "at":"{day}…", using git'
    )
    return [Diagnostic(path, 0, "ledger-ahead", what, hint)]


def instants_of(events: Iterable[ledger.Event]) -> list[datetime]:
    """Return the instants of a ledger's events."""
    latest = max((str(event["at"]) for event in events), default="")  # as texts they are in the order of time
    return [ledger.parse_instant(latest)] if latest else []


def _named(event: LogEvent) -> str:
    """Return the kind of event, with its card."""
    card = f" of card {clean_line(event.card)}" if isinstance(event, Review | CardMark) else ""
    return f"the {event.type}{card}"


def _far(ahead: timedelta) -> str:
    """Return a duration in words."""
    hours = ahead / timedelta(hours=1)
    if hours < 48:
        return f"{hours:.0f} hours"
    return f"{ahead.days:,} days"


def _shown(at: datetime, zone: tzinfo) -> str:
    """Return an instant on the zone's clock."""
    try:
        return at.astimezone(zone).isoformat(timespec="minutes")
    except (OverflowError, ValueError):
        return at.isoformat(timespec="minutes")
