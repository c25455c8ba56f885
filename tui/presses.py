"""When keys came: what an action that one press may take, and a key that is held down may not, has to know."""

from __future__ import annotations

REPEAT_S = 0.25  # a press that comes sooner after the one before is the key held down, or bounced
_RELEASED_S = 1.0  # a key that was held down is let go of when it has been silent for so long: lines stall


class Presses:
    """Told of each key when it was read from the terminal, not when its turn comes: a stall makes no new press."""

    def __init__(self) -> None:
        self.at_s = 0.0  # when the key came whose action runs now
        self.repeated = False  # whether it came from a key that is held down
        self._key = ""

    def came(self, key: str, at_s: float) -> None:
        """A key, read at `at_s` on the clock of the framework's events."""
        silent = _RELEASED_S if self.repeated else REPEAT_S
        self.repeated = key == self._key and at_s - self.at_s < silent
        self._key, self.at_s = key, at_s
