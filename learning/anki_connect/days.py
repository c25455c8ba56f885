"""Anki's count of days, which AnkiConnect does not say: found by searching for cards by when they are due."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from learning.anki_connect.client import AnkiConnect
from learning.anki_connect.remote import CardFacts, card_facts, card_numbers

_FARTHEST = 1 << 17  # days that a due date may be away, into the past or the future
_BY_DAY = (2, 3)  # Anki's queues of cards that are due on a day: reviews, and learning steps on a later day


class Days:
    """Anki's days beside those of the vault. `today` is the ordinal of the present study day."""

    def __init__(self, anki: AnkiConnect, today: int) -> None:
        self._anki, self._today = anki, today
        self._number: int | None = None

    def due(self, cards: Sequence[int]) -> dict[int, date]:
        """Return the study days on which cards are due; those that are due by no day are left out."""
        facts = [each for each in card_facts(self._anki, cards) if each.queue in _BY_DAY]
        number = self.number_of_today(facts)
        if number is None:
            return {}
        return {each.id: date.fromordinal(max(1, self._today + each.due - number)) for each in facts}

    def number_of_today(self, facts: Sequence[CardFacts] = ()) -> int | None:
        """Return Anki's number of the present day; None if no card there is due by a day.

        `facts` are of cards that may be asked for; else one is looked for.
        """
        if self._number is None:
            card = next((each for each in facts if each.queue in _BY_DAY), None) or self._any_card()
            self._number = None if card is None else card.due - self._days_until_due(card.id)
        return self._number

    def _any_card(self) -> CardFacts | None:
        """Return some card that is due by a day; None without one."""
        numbers = card_numbers(self._anki, "is:review -is:suspended -is:buried -is:learn")
        return next((each for each in card_facts(self._anki, numbers[:20]) if each.queue in _BY_DAY), None)

    def _days_until_due(self, card: int) -> int:
        """Return in how many days a card is due, by halving the days in question."""
        least, most = -_FARTHEST, _FARTHEST
        while least < most:
            middle = (least + most) // 2
            if card in card_numbers(self._anki, f"cid:{card} prop:due<={middle}"):
                most = middle
            else:
                least = middle + 1
        return least
