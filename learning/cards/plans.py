"""What a user decides about whole days: to catch up with a backlog, to pause. Each is one event of the log."""

from __future__ import annotations

from datetime import date

from learning.cards.actions import MOST_DAYS
from learning.cards.workspace import Desk, after
from learning.schedule.usual import catch_up_rate
from vault.errors import UsageError
from vault.log.events import EVERYTHING, CatchUp, Pause

Decision = CatchUp | Pause


def catch_up(desk: Desk, per_day: int, until: date | None, *, via: str) -> tuple[Desk, Decision]:
    """Save a plan from today on; `until` None: for as long as a plan may last.

    Raises: WriteFailed, Refused, LockHeld.
    """
    last = _today(desk).toordinal() + MOST_DAYS
    return _save(desk, CatchUp, per_day, until or date.fromordinal(last), via)


def catch_up_today(desk: Desk, *, via: str) -> tuple[Desk, Decision]:
    """Save that all that is due is reviewed today. Raises as `catch_up`."""
    return _save(desk, CatchUp, EVERYTHING, _today(desk), via)


def end_plan(desk: Desk, *, via: str) -> tuple[Desk, Decision]:
    """Save that no plan holds from today on. Raises as `catch_up`."""
    return _save(desk, CatchUp, 0, _today(desk), via)


def pause(desk: Desk, until: date, *, via: str) -> tuple[Desk, Decision]:
    """Save that nothing is due from today to the day before `until`, and that the load is spread afterwards.

    Raises: UsageError for a day that is not after today, or more than ten years off; else as `catch_up`.
    """
    days = until.toordinal() - _today(desk).toordinal()
    if not 1 <= days <= MOST_DAYS:
        raise UsageError("a pause must end after today, and within ten years", where=until.isoformat())
    return _save(desk, Pause, catch_up_rate(desk.limits.usual), until, via)


def end_pause(desk: Desk, *, via: str) -> tuple[Desk, Decision | None]:
    """Save that the pause ends today; None where today is in no pause. Raises as `catch_up`."""
    if paused_until(desk) is None:
        return desk, None
    return _save(desk, Pause, catch_up_rate(desk.limits.usual), _today(desk), via)


def paused_until(desk: Desk) -> date | None:
    """Return the day on which the pause ends that today is in; None if it is in none."""
    pause = desk.past.decisions.pause_on(_today(desk).toordinal())
    return date.fromordinal(pause.until) if pause is not None else None


def _today(desk: Desk) -> date:
    """Return the study day."""
    return date.fromordinal(desk.scheduler.calendar.day(desk.now))


def _save(desk: Desk, kind: type[CatchUp] | type[Pause], per_day: int, until: date, via: str) -> tuple[Desk, Decision]:
    """Append an event; return the desk after it, and the event."""
    writer = desk.writer(via)
    event = kind(writer.stamp(desk.now), per_day=per_day, until=until)
    writer.write(event)
    return after(desk), event
