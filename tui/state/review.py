"""What the review screen needs of a session, whether its ratings count or not; and the pictures of a card."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from learning.cards.changes import ChangedCards
from learning.cards.edit import Edited
from learning.cards.workspace import Desk
from learning.memory.state import MemoryState
from learning.review.plan import Plan
from learning.review.practice import Recall
from learning.review.summary import Tally
from learning.store.placed import Placed
from vault.errors import RetainError
from vault.evidence.evidence import Evidence
from vault.ids import CardId
from vault.log.events import LogEvent, Rating
from vault.model.card import Card
from vault.model.exhibit import ExhibitKind, embedded_assets


class ReviewSession(Protocol):
    """What the review screen needs: a `StudySession`, or a `PracticeSession`, whose ratings do not count."""

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
    def upcoming(self) -> list[Placed]: ...
    def rate(self, rating: Rating, *, sync: bool = True) -> None: ...
    def confirm(self) -> None: ...
    def undo(self) -> LogEvent | Edited | Recall: ...
    def done_so_far(self) -> Tally: ...


def pictures_of(card: Card, evidence: Iterable[Evidence], *, revealed: bool) -> list[str]:
    """Return the vault paths of a card's pictures, each once; before the answer is shown only those of the question."""
    if not revealed:
        return _in(card.question)
    shown = [
        exhibit.content
        for each in evidence
        if each.claim is not None
        for exhibit in each.claim.exhibits
        if exhibit.kind is ExhibitKind.PICTURE and exhibit.copied
    ]
    return list(dict.fromkeys([*_in(card.question), *_in(card.answer), *shown]))


def _in(words: str) -> list[str]:
    """Return the embedded pictures in order of appearance."""
    return sorted(embedded_assets(words), key=words.find) if "![[" in words else []
