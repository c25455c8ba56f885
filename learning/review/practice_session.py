"""A practice at an open vault, as a sitting is one of reviews: cards are dealt the same way, and nothing is written."""

from __future__ import annotations

from collections import Counter

from learning.cards import workspace as desks
from learning.cards.changes import ChangedCards
from learning.cards.current_text import Dealer
from learning.cards.workspace import Desk, Placed
from learning.memory.state import MemoryState
from learning.review import practice as practices
from learning.review.plan import Mode, Plan, laid
from learning.review.practice import Practice, Recall
from learning.review.sitting import Clock
from learning.review.summary import HARDEST, Tally
from vault.errors import RetainError
from vault.ids import CardId
from vault.log.events import Rating
from vault.vault import Vault


class Practising:
    """Cram or preview: `counts` is False, as its ratings schedule nothing and are kept nowhere."""

    counts = False

    def __init__(self, desk: Desk, clock: Clock, plan: Plan) -> None:
        self.desk, self.plan = desk, plan
        self._clock, self._began = clock, clock()
        self._dealer = Dealer(desk)
        cards = (item.card for item in desk.queue.today)
        self.practice: Practice = practices.begin(cards, until_recalled=plan.mode is Mode.CRAM)

    @classmethod
    def at(cls, vault: Vault, clock: Clock, plan: Plan) -> Practising:
        """A practice of the cards of `plan`. Raises: as `Sitting.at`."""
        return cls(laid(desks.open_desk(vault, clock(), tag=plan.tag), plan), clock, plan)

    @property
    def problems(self) -> list[RetainError]:
        """Those of files that could not be shown; whoever told them takes them away."""
        return self._dealer.problems

    @property
    def changes(self) -> ChangedCards:
        """What was said before of the cards whose facts or words have changed."""

        return ChangedCards(self.desk.vault, self.desk.changes)

    @property
    def revealed(self) -> bool:
        return self.practice.revealed

    @property
    def can_undo(self) -> bool:
        return self.practice.past is not None

    @property
    def done(self) -> int:
        """Cards that are done with."""
        return self.practice.recalled

    @property
    def left(self) -> int:
        """Cards still to come, that on the table included."""
        return self.practice.left

    def state(self, card: CardId) -> MemoryState:
        """What is known of the card; practice changes none of it."""
        return self.desk.state(card)

    def table(self) -> Placed | None:
        """The card to show, as its file has it now; what is gone meanwhile is passed over."""
        while (id_ := self.practice.current) is not None:
            found = self._dealer.card(id_)
            if found is not None:
                return found
            self.practice = practices.drop(self.practice)
        return None

    def reveal(self) -> bool:
        """The answer is shown."""
        self.practice = practices.reveal(self.practice)
        self._dealer.read_ahead(self.practice.rest[:1])
        return True

    def rate(self, rating: Rating) -> None:
        """Raises: UsageError if the answer is not shown yet."""
        self.practice = practices.rate(self.practice, rating)

    def undo(self) -> Recall:
        """Takes back the last rating, and gives it. Raises: NotFound if there was none."""
        self.practice, recall = practices.undo(self.practice)
        return recall

    def done_so_far(self) -> Tally:
        """What the practice came to; `seconds` is the time since it began."""
        ratings: Counter[Rating] = Counter()
        again: Counter[CardId] = Counter()
        for recall in self.practice.recalls():
            ratings[recall.rating] += 1
            again[recall.card] += recall.rating is Rating.AGAIN
        hardest = tuple((card, count) for card, count in again.most_common(HARDEST) if count)
        seconds = (self._clock() - self._began).total_seconds()
        return Tally(ratings, max(0.0, seconds), 0, None, hardest=hardest, cards=len(again))
