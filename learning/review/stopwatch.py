"""How long a card was looked at: a stopwatch that stops where nobody is there. Pure: each instant is an argument."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

IDLE = timedelta(seconds=60)  # after so long without a key one has gone away; no more than this is counted
_NOTHING = timedelta()


@dataclass(frozen=True, slots=True)
class Stopwatch:
    """`counted` up to the last sign of the human at `stirred`; None while it stands still."""

    counted: timedelta = _NOTHING
    stirred: datetime | None = None

    def stir(self, now: datetime) -> Stopwatch:
        """A key was pressed: the time since the last one counts, up to IDLE. Starts a watch that stands still."""
        return Stopwatch(self.spent(now), now)

    def stop(self, now: datetime) -> Stopwatch:
        """Nobody looks at the card until the next `stir`."""
        return Stopwatch(self.spent(now))

    def spent(self, now: datetime) -> timedelta:
        """What counts as looked at the card by `now`; a clock that goes back takes nothing away."""
        if self.stirred is None:
            return self.counted
        return self.counted + min(max(now - self.stirred, _NOTHING), IDLE)

    def away(self, now: datetime) -> bool:
        """Whether the time that passes now does not count."""
        return self.stirred is None or now - self.stirred >= IDLE

    def anew(self) -> Stopwatch:
        """The same watch with nothing counted, for the next card."""
        return replace(self, counted=_NOTHING)
