"""What a check of a vault has found: counts, and what is wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Verdict:
    """Counts, and what is wrong: claims whose words are not in the source, sentences and cards without support.

    `differences` are quotes that a second reading of their source does not have, to be looked at: either reading can be
    the wrong one. `not_compared` are the sources without one. Neither is a fault. `conflicts` are versions that were
    written beside an edited file, and wait for the user.
    """

    claims: int = 0
    verified: int = 0
    sentences: int = 0
    cards: int = 0
    unverified: list[dict[str, Any]] = field(default_factory=list)
    uncited: list[dict[str, Any]] = field(default_factory=list)
    unsupported: list[dict[str, Any]] = field(default_factory=list)
    conflicts: list[dict[str, Any]] = field(default_factory=list)
    differences: list[dict[str, Any]] = field(default_factory=list)
    not_compared: list[dict[str, Any]] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return not (self.unverified or self.uncited or self.unsupported or self.conflicts)
