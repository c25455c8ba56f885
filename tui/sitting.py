"""The sitting that the review screen shows; the same one serves the plain face."""

from __future__ import annotations

from learning.sitting import Clock, Sitting, Tally, due_before

__all__ = ["Clock", "Sitting", "Tally", "due_before"]
