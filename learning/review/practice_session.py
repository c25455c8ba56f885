"""A practice of a vault's cards, with the methods of a review session; nothing is written."""

from __future__ import annotations

from collections import Counter

from learning.cards import workspace as desks
from learning.cards.changes import ChangedCards
from learning.cards.current_text import CurrentCards
from learning.cards.workspace import Desk
from learning.memory.state import MemoryState
from learning.review import practice as practices
from learning.review.plan import Mode, Plan, planned_desk
from learning.review.practice import Practice, Recall
from learning.review.study_session import Clock
from learning.review.summary import HARDEST, Tally
from learning.store.placed import Placed
from vault.errors import RetainError
from vault.ids import CardId
from vault.log.events import Rating
from vault.vault import Vault


class PracticeSession:
    """Cram or preview: `counts` is False, as its ratings schedule nothing and are not logged."""

    counts = False

    def __init__(self, desk: Desk, clock: Clock, plan: Plan) -> None:
        self.desk, self.plan = desk, plan
        self._clock, self._began = clock, clock()
        self._dealer = CurrentCards(desk)
        cards = (item.card for item in desk.queue.today)
        self.practice: Practice = practices.begin(cards, until_recalled=plan.mode is Mode.CRAM)

    @classmethod
    def at(cls, vault: Vault, clock: Clock, plan: Plan) -> PracticeSession:
        """Return a practice of the cards of `plan`. Raises: as `StudySession.at`."""
        return cls(planned_desk(desks.open_desk(vault, clock(), tag=plan.tag), plan), clock, plan)

    @property
    def problems(self) -> list[RetainError]:
        """Return the errors of files that could not be shown; the caller removes those that it has reported."""
        return self._dealer.problems

    @property
    def changes(self) -> ChangedCards:
        """Return what cards said before whose facts or words have changed."""

        return ChangedCards(self.desk.vault, self.desk.changes)

    @property
    def revealed(self) -> bool:
        """Return whether the answer is shown."""
        return self.practice.revealed

    @property
    def can_undo(self) -> bool:
        """Return whether there is a rating to undo."""
        return self.practice.past is not None

    @property
    def done(self) -> int:
        """Return how many cards are finished."""
        return self.practice.recalled

    @property
    def left(self) -> int:
        """Return how many cards are to come, the current one included."""
        return self.practice.left

    def state(self, card: CardId) -> MemoryState:
        """Return the state of the card, which practice does not change."""
        return self.desk.state(card)

    def table(self) -> Placed | None:
        """Return the card to show, as its file has it now; cards that are gone are skipped."""
        while (id_ := self.practice.current) is not None:
            found = self._dealer.card(id_)
            if found is not None:
                return found
            self.practice = practices.drop(self.practice)
        return None

    def reveal(self) -> bool:
        """Show the answer."""
        self.practice = practices.reveal(self.practice)
        return True

    def upcoming(self) -> list[Placed]:
        """Return the card that comes next unless the current one does, its deck read."""
        return self._dealer.read_ahead(self.practice.rest[:1])

    def confirm(self) -> None:
        """Do nothing: no rating is written."""

    def rate(self, rating: Rating, *, sync: bool = True) -> None:
        """Rate the current card; `sync` means nothing. Raises: UsageError if the answer is not shown yet."""
        self.practice = practices.rate(self.practice, rating)

    def undo(self) -> Recall:
        """Undo the last rating; return it. Raises: NotFound if there was none."""
        self.practice, recall = practices.undo(self.practice)
        return recall

    def done_so_far(self) -> Tally:
        """Return the summary of the practice; `seconds` is the time since it began."""
        ratings: Counter[Rating] = Counter()
        again: Counter[CardId] = Counter()
        for recall in self.practice.recalls():
            ratings[recall.rating] += 1
            again[recall.card] += recall.rating is Rating.AGAIN
        hardest = tuple((card, count) for card, count in again.most_common(HARDEST) if count)
        seconds = (self._clock() - self._began).total_seconds()
        return Tally(ratings, max(0.0, seconds), 0, None, hardest=hardest, cards=len(again))
