"""What the review asks of those that deal its cards, whether their ratings count or not."""

from __future__ import annotations

from typing import Protocol

from learning.cards.changes import ChangedCards
from learning.cards.edit import Edited
from learning.cards.workspace import Desk, Placed
from learning.memory.state import MemoryState
from learning.review.plan import Plan
from learning.review.practice import Recall
from learning.review.summary import Tally
from vault.errors import RetainError
from vault.ids import CardId
from vault.log.events import LogEvent, Rating


class Table(Protocol):
    """Where cards are dealt: a `Sitting`, or a `PracticeSession`, whose ratings do not count."""

    desk: Desk
    plan: Plan
    counts: bool

    @property
    def problems(self) -> list[RetainError]: ...
    @property
    def changes(self) -> ChangedCards: ...
    @property
    def revealed(self) -> bool: ...
    @property
    def can_undo(self) -> bool: ...
    @property
    def done(self) -> int: ...
    @property
    def left(self) -> int: ...
    def state(self, card: CardId) -> MemoryState: ...
    def table(self) -> Placed | None: ...
    def reveal(self) -> bool: ...
    def rate(self, rating: Rating) -> None: ...
    def undo(self) -> LogEvent | Edited | Recall: ...
    def done_so_far(self) -> Tally: ...
