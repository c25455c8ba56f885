"""The budget of a compile: the most that a call can cost is reserved before it, so that the cap is never passed."""

from __future__ import annotations

import threading

_ROUNDING_USD = 1e-9


class BudgetUsedUp(Exception):
    """What is left does not pay for the call, and no call is under way that could give anything back."""


class Budget:
    """USD reserved, spent and lost by the calls of one run. `cap` None sets no bound. Safe for many threads."""

    def __init__(self, cap: float | None = None) -> None:
        self.cap = cap
        self._reserved = 0.0
        self._lost = 0.0
        self._spent = 0.0
        self._calls_under_way = 0
        self._changed = threading.Condition()

    def _exceeds_cap(self, usd: float) -> bool:
        return self.cap is not None and self._spent + self._lost + self._reserved + usd > self.cap + _ROUNDING_USD

    def reserve(self, usd: float, *, wait: bool = True) -> None:
        """Reserve what a call may cost; waits for calls under way that may give some back. Raises: BudgetUsedUp."""
        with self._changed:
            while self._exceeds_cap(usd):
                if not (wait and self._calls_under_way):
                    raise BudgetUsedUp
                self._changed.wait()
            self._reserved += usd
            self._calls_under_way += 1

    def reserve_retry(self, usd: float) -> None:
        """Count the last attempt of a call as lost, and keep as much reserved for the next. Raises: BudgetUsedUp."""
        with self._changed:
            if self._exceeds_cap(usd):
                raise BudgetUsedUp
            self._lost += usd

    def finish(self, reserved: float, paid: float | None) -> None:
        """Replace a call's reservation by what it cost; None if it is unknown, then all of it counts as lost."""
        with self._changed:
            self._reserved -= reserved
            self._calls_under_way -= 1
            if paid is None:
                self._lost += reserved
            else:
                self._spent += paid
            self._changed.notify_all()

    def add_spent(self, usd: float) -> None:
        """Record what an earlier run's batch cost."""
        with self._changed:
            self._spent += usd

    @property
    def lost(self) -> float:
        """USD that calls which broke off may have cost on top of what is known."""
        with self._changed:
            return self._lost
