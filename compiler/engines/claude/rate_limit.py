"""How many calls are under way at once: fewer while a server is busy, more again as it answers."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_GROWS_AFTER = 8  # answers, by one


class Pace:
    """Lets up to `most` calls go at once. Safe for many threads."""

    def __init__(self, most: int) -> None:
        self.most = self.limit = max(1, most)
        self.answered = 0  # calls that were, so far
        self._going = 0
        self._well = 0  # answers since the last change
        self._not_before = 0.0  # of the monotonic clock
        self._free = threading.Condition()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """One call's time, once there is room for it and a busy server was given its rest."""
        with self._free:
            while (wait := self._not_before - time.monotonic()) > 0 or self._going >= self.limit:
                self._free.wait(wait if wait > 0 else None)
            self._going += 1
        try:
            yield
        finally:
            with self._free:
                self._going -= 1
                self._free.notify_all()

    def busy(self, wait: float) -> None:
        """The server has too much to do: half as many calls, and none for `wait` seconds."""
        with self._free:
            self.limit, self._well = max(1, self.limit // 2), 0
            self._not_before = max(self._not_before, time.monotonic() + wait)

    def well(self) -> None:
        """A call was answered."""
        with self._free:
            self.answered += 1
            self._well += 1
            if self._well >= _GROWS_AFTER and self.limit < self.most:
                self.limit, self._well = self.limit + 1, 0
                self._free.notify_all()
