"""What Anki says of a card besides reviews and suspension: flags, burying, due dates, forgetting and tags.

Each becomes an event of the log that is the same in every import, and so is logged once; an event whose id is known is
not logged again, so that what the user decides here afterwards stays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo

from learning.anki.reviews import VIA, KnownHistory
from learning.anki.suspension import AnkiState
from learning.study_day import StudyCalendar
from vault.ids import CardId, ulid
from vault.log.events import Bury, Flag, Forget, LogEvent, Reschedule, Stamp, Tag, Undo
from vault.log.review_log import at_of, unix_ms

FLAGS = ("red", "orange", "green", "blue", "pink", "turquoise", "purple")  # Anki's, from 1 on
BURIED = (-2, -3)  # Anki's queues of a card that is out of the way until the next day
_FAR = 36_500  # days: Anki's own limit of a due date
_SECOND = 1000  # in milliseconds


def stamp_of(vault_id: str, card: CardId, ms: int, what: str) -> Stamp:
    """Return the stamp of `what` Anki says of a card since that Unix millisecond, the same wherever it is imported."""
    seed = hashlib.sha256(f"{vault_id}\0{card}\0{what}".encode("utf-8", "replace")).digest()
    return Stamp(ulid(ms, seed), at_of(ms), via=VIA)


def flag_reason(flag: int) -> str:
    """Return the reason of a flag that came from Anki; "" for none."""
    return f"{FLAGS[flag - 1]} flag in Anki" if 1 <= flag <= len(FLAGS) else ""


def flag_events(
    vault_id: str,
    history: KnownHistory,
    states: Iterable[AnkiState],
    now: datetime,
    is_flagged: Callable[[CardId], bool],
) -> list[LogEvent]:
    """Return a Flag for each card that got another flag in Anki since the last import, and an Undo of Anki's last one
    for each that lost it. A flag that the user removed here stays away while Anki has the same; one that `is_flagged`
    here has its reason from here.
    """
    latest = unix_ms(now) // _SECOND
    found: list[LogEvent] = []
    for state in states:
        second, reason = min(max(state.mod, 0), latest), flag_reason(state.flag)
        last = history.flags.get(state.card)
        was = "" if last is None or last.id in history.unflagged else last.reason
        if last is None and is_flagged(state.card):
            continue
        if reason == was or (last is not None and second * _SECOND <= unix_ms(last.at)):
            continue
        if reason:
            stamp = stamp_of(vault_id, state.card, second * _SECOND, f"flag {state.flag}")
            found.append(Flag(stamp, state.card, reason))
        elif last is not None:
            found.append(Undo(stamp_of(vault_id, state.card, second * _SECOND, f"no flag {last.id}"), last.id))
    return _new(found, history)


def bury_events(
    vault_id: str, history: KnownHistory, states: Iterable[AnkiState], now: datetime, calendar: StudyCalendar
) -> list[LogEvent]:
    """Return a Bury for each card that Anki buried on the study day of `now`; on the next day it is back there, too."""
    latest, today, found = unix_ms(now), calendar.day(now), []
    for state in states:
        ms = min(max(state.mod, 0) * _SECOND, latest)
        if state.is_buried and calendar.day(at_of(ms)) == today:
            found.append(Bury(stamp_of(vault_id, state.card, ms, f"bury {today}"), state.card))
    return _new(found, history)


def forget_events(vault_id: str, history: KnownHistory, rows: Iterable[tuple[CardId, int]]) -> list[LogEvent]:
    """Return a Forget for each card that was forgotten in Anki at that Unix millisecond."""
    return _new((Forget(stamp_of(vault_id, card, ms, "forget"), card) for card, ms in rows), history)


def due_events(vault_id: str, history: KnownHistory, rows: Iterable[tuple[CardId, int, date | None]]) -> list[LogEvent]:
    """Return a Reschedule for each card whose due date was set in Anki at that Unix millisecond."""
    events = (Reschedule(stamp_of(vault_id, card, ms, "due"), card, due) for card, ms, due in rows if due is not None)
    return _new(events, history)


def tag_event(vault_id: str, card: CardId, second: int, add: Collection[str], remove: Collection[str]) -> Tag:
    """Return the event by which a card gets and loses tags that it got and lost in Anki at that second."""
    added, removed = tuple(sorted(add)), tuple(sorted(remove))
    what = "\x1f".join(("tag", *added, "\x1e", *removed))
    return Tag(stamp_of(vault_id, card, second * _SECOND, what), card, added, removed)


def due_date(created: int, minutes_west: int | None, zone: tzinfo, days: int) -> date | None:
    """Return the study day that is so many days after the one on which a collection was created, at that Unix second.

    `minutes_west` is how far it was west of UTC then; None in collections of old versions, of which `zone` is assumed.
    """
    if not (0 < created < 1 << 36 and abs(days) <= 10 * _FAR):
        return None
    there = zone if minutes_west is None else timezone(timedelta(minutes=-max(-1439, min(1439, minutes_west))))
    return datetime.fromtimestamp(created, UTC).astimezone(there).date() + timedelta(days=days)


def counted(events: Iterable[LogEvent]) -> dict[str, int]:
    """Return how many cards the events flag, bury and so on, for a report."""
    names: Mapping[type[LogEvent], str] = {
        Flag: "flagged",
        Undo: "unflagged",
        Bury: "buried",
        Reschedule: "rescheduled",
        Forget: "forgotten",
        Tag: "tagged",
    }
    counts = dict.fromkeys(names.values(), 0)
    for event in events:
        counts[names[type(event)]] += 1
    return counts


def _new(events: Iterable[LogEvent], history: KnownHistory) -> list[LogEvent]:
    """Return the events that the log lacks, each once."""
    return list({event.id: event for event in events if event.id not in history.mark_ids}.values())
