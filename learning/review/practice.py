"""Practice: cards are shown, recalled or not, and shown again. Nothing is logged or scheduled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from vault.errors import NotFound, UsageError
from vault.ids import CardId
from vault.log.events import Rating

BETWEEN = 7  # cards that come before one that was not recalled comes again, where there are so many


@dataclass(frozen=True, slots=True)
class Recall:
    """How a user rated a card in practice."""

    card: CardId
    rating: Rating


@dataclass(frozen=True, slots=True)
class Practice:
    """A practice: `current` is shown, `rest` comes after it; `recalled` counts the cards that are finished.

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
        """Return how many cards are not finished, the current one included."""
        return len(self.rest) + (self.current is not None)

    def recalls(self) -> Iterable[Recall]:
        """Return all ratings, the latest first."""
        past = self.past
        while past is not None:
            before, recall = past
            yield recall
            past = before.past


def begin(cards: Iterable[CardId], *, until_recalled: bool) -> Practice:
    """Return a practice of those cards, each once, the first one shown."""
    once = tuple(dict.fromkeys(cards))
    return Practice(once[1:], until_recalled, once[0] if once else None)


def reveal(practice: Practice) -> Practice:
    """Return the practice with the answer shown."""
    _current(practice)
    return replace(practice, revealed=True)


def rate(practice: Practice, rating: Rating) -> Practice:
    """Return the practice with the next card shown. Raises: UsageError if the answer is not shown yet."""
    card = _current(practice)
    if not practice.revealed:
        raise UsageError("show the answer before you rate the card", hint="show the answer first")
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
    """Return the practice without its current card, which is gone; the next one becomes current."""
    _current(practice)
    rest = practice.rest
    return replace(practice, rest=rest[1:], current=rest[0] if rest else None, revealed=False)


def undo(practice: Practice) -> tuple[Practice, Recall]:
    """Return the practice before the last rating, with that card shown again. Raises: NotFound if there was none."""
    if practice.past is None:
        raise NotFound("nothing to undo in this session")
    before, recall = practice.past
    return replace(before, revealed=False), recall


def _current(practice: Practice) -> CardId:
    """Return the current card. Raises: NotFound."""
    if practice.current is None:
        raise UsageError("no card is shown")
    return practice.current
