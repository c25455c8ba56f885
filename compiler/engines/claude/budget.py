"""The budget of a compile: what a call may cost is set aside before it is made, so that the cap is never passed."""

from __future__ import annotations

import threading

_GRAIN = 1e-9  # USD that adding up may be out by


class BudgetUsedUp(Exception):
    """What is left does not pay for the call, and no call is under way that could give anything back."""


class Purse:
    """`cap` None sets no bound. Safe for many threads."""

    def __init__(self, cap: float | None = None) -> None:
        self.cap = cap
        self._held = 0.0  # for calls that are under way
        self._lost = 0.0  # for calls that broke off: nobody knows whether they were billed, so they count
        self._paid = 0.0
        self._under_way = 0
        self._changed = threading.Condition()

    def hold(self, usd: float, *, wait: bool = True) -> None:
        """Set aside what a call may cost; waits for calls under way that may give some back. Raises: BudgetUsedUp."""
        with self._changed:
            while self.cap is not None and self._paid + self._lost + self._held + usd > self.cap + _GRAIN:
                if not (wait and self._under_way):
                    raise BudgetUsedUp
                self._changed.wait()
            self._held += usd
            self._under_way += 1

    def settle(self, held: float, paid: float | None) -> None:
        """The call is over: it cost `paid`, or nobody knows (None), so that all that was held is counted as gone."""
        with self._changed:
            self._held -= held
            self._under_way -= 1
            if paid is None:
                self._lost += held
            else:
                self._paid += paid
            self._changed.notify_all()

    def owe(self, usd: float) -> None:
        """Take down what an earlier run spent and this one learns of."""
        with self._changed:
            self._paid += usd

    @property
    def lost(self) -> float:
        """USD that calls which broke off may have cost on top of what is known."""
        with self._changed:
            return self._lost
