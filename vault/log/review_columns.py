"""The reviews that count as columns: what a million of them are worked with, where a million objects are too many."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field

from vault.ids import CardId
from vault.log.events import LogEvent, Review
from vault.log.review_log import live, unix_ms

MOST_MS = 0xFFFFFFFF  # the longest time on screen that a column holds


@dataclass(frozen=True, slots=True)
class ReviewColumns:
    """Live reviews, imported ones included, in order of (at, id); row n of each column is one review.

    `card` is an index into `cards`, which holds each card once, in order of its first review. `at_ms` are Unix
    milliseconds, `ms` the time on screen (0 if unknown), `rating` 1 to 4. `at_ms` ascends and says no more than the
    order: what is reckoned in days or hours takes `when_ms`. `clocks` are the rows in which the two differ.
    """

    cards: list[CardId] = field(default_factory=list)
    card: array[int] = field(default_factory=lambda: array("L"))
    rating: array[int] = field(default_factory=lambda: array("B"))
    at_ms: array[int] = field(default_factory=lambda: array("q"))
    ms: array[int] = field(default_factory=lambda: array("L"))
    clocks: dict[int, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.card)

    @property
    def when_ms(self) -> array[int]:
        """When each review happened (`LogEvent.when`), in Unix milliseconds. It need not ascend."""
        if not self.clocks:
            return self.at_ms
        when = self.at_ms[:]
        for row, ms in self.clocks.items():
            when[row] = ms
        return when


def columns_of(events: Iterable[LogEvent]) -> ReviewColumns:
    """The columns of the reviews among `events` that no undo voids."""
    columns = ReviewColumns()
    index: dict[CardId, int] = {}
    for event in live(events):
        if isinstance(event, Review):
            number = index.setdefault(event.card, len(index))
            if number == len(columns.cards):
                columns.cards.append(event.card)
            columns.card.append(number)
            columns.rating.append(event.rating)
            if event.when != event.at:
                columns.clocks[len(columns.at_ms)] = unix_ms(event.when)
            columns.at_ms.append(unix_ms(event.at))
            columns.ms.append(min(event.ms, MOST_MS))
    return columns
