"""Practice without a log: cards are shown, recalled or not, and shown again. Nothing is scheduled, nothing is kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from vault.errors import NotFound, UsageError
from vault.ids import CardId
from vault.log.events import Rating

BETWEEN = 7  # cards that come before one that was not recalled comes again, where there are so many


@dataclass(frozen=True, slots=True)
class Recall:
    """What the human said of a card in practice."""

    card: CardId
    rating: Rating


@dataclass(frozen=True, slots=True)
class Practice:
    """`current` is on the table, `rest` comes after it; `recalled` counts the cards that are done with.

    With `until_recalled` a card that was not recalled comes again.
    """

    rest: tuple[CardId, ...]
    until_recalled: bool
    current: CardId | None = None
    revealed: bool = False
    recalled: int = 0
    past: tuple[Practice, Recall] | None = field(default=None, repr=False, compare=False)

    @property
    def left(self) -> int:
        """Cards that are not done with, that on the table included."""
        return len(self.rest) + (self.current is not None)

    def recalls(self) -> Iterable[Recall]:
        """All that was said of cards, the latest first."""
        past = self.past
        while past is not None:
            before, recall = past
            yield recall
            past = before.past


def begin(cards: Iterable[CardId], *, until_recalled: bool) -> Practice:
    """A practice of those cards, each once, the first one on the table."""
    once = tuple(dict.fromkeys(cards))
    return Practice(once[1:], until_recalled, once[0] if once else None)


def reveal(practice: Practice) -> Practice:
    """The answer is shown, too."""
    _current(practice)
    return replace(practice, revealed=True)


def rate(practice: Practice, rating: Rating) -> Practice:
    """The practice with the next card on the table. Raises: UsageError if the answer is not shown yet."""
    card = _current(practice)
    if not practice.revealed:
        raise UsageError("the answer has to be shown before a rating", hint="reveal it first")
    again = practice.until_recalled and rating is Rating.AGAIN
    rest = (*practice.rest[:BETWEEN], card, *practice.rest[BETWEEN:]) if again else practice.rest
    return Practice(
        rest[1:],
        practice.until_recalled,
        rest[0] if rest else None,
        recalled=practice.recalled + (not again),
        past=(practice, Recall(card, rating)),
    )


def drop(practice: Practice) -> Practice:
    """The current card is gone, so practice goes on without it."""
    _current(practice)
    rest = practice.rest
    return replace(practice, rest=rest[1:], current=rest[0] if rest else None, revealed=False)


def undo(practice: Practice) -> tuple[Practice, Recall]:
    """The practice before the last rating, that card on the table again. Raises: NotFound if there was none."""
    if practice.past is None:
        raise NotFound("nothing to undo in this session")
    before, recall = practice.past
    return replace(before, revealed=False), recall


def _current(practice: Practice) -> CardId:
    if practice.current is None:
        raise UsageError("there is no card on the table")
    return practice.current
