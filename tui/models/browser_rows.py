"""The rows of the browser's table: what each cell says of a card or article."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from learning.memory.state import MemoryState, Phase
from learning.search.card_table import CardColumns
from learning.search.documents import shown_line
from learning.search.index import View
from learning.search.search import Found
from tui.strings import browse as said
from vault.errors import RetainError
from vault.layout import TOPICS


@dataclass(frozen=True, slots=True)
class Listed:
    """The results of a search, articles first. An item is a card's number, or -1 - n for article n."""

    columns: CardColumns
    view: View
    found: Found
    now: datetime
    marked: Collection[int] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self.found)

    def item(self, row: int) -> int:
        articles = self.found.articles
        return -1 - articles[row] if row < len(articles) else self.found.cards[row - len(articles)]

    def row(self, item: int) -> int | None:
        """Return the row of an item in the list."""
        articles, cards = self.found.articles, self.found.cards
        try:
            return articles.index(-1 - item) if item < 0 else len(articles) + cards.index(item)
        except ValueError:
            return None

    def is_marked(self, row: int) -> bool:
        return self.item(row) in self.marked

    def tint(self, row: int) -> str:
        item = self.item(row)
        kind = self.columns.kind(item) if item >= 0 else ""
        return f"$kind-{kind}" if kind else "$secondary"

    def cells(self, row: int, names: Sequence[str]) -> list[str]:
        item = self.item(row)
        if item < 0:
            path = self.view.articles[-1 - item]
            words = {
                "kind": said.TOPIC if path.startswith(TOPICS) else said.ARTICLE,
                "question": self.view.title(-1 - item),
            }
            return [words.get(name, "") for name in names]
        state = self.columns.state(item)
        return [self._cell(name, item, state) for name in names]

    def _cell(self, name: str, card: int, state: MemoryState) -> str:
        columns = self.columns
        match name:
            case "kind":
                return columns.kind(card)
            case "concept":
                return columns.concept(card)
            case "question":
                return self.question(card)
            case "topic":
                return columns.topic(card)
            case "due":
                return self.due(state)
        return "" if state.phase is Phase.NEW else self._number(name, state)

    def _number(self, name: str, state: MemoryState) -> str:
        match name:
            case "ivl":
                return said.interval(state.interval_days)
            case "difficulty":
                return f"{state.difficulty:.1f}"
            case "lapses":
                return str(state.lapses) if state.lapses else ""
        return f"{self.recall(state):.0%}"

    def recall(self, state: MemoryState) -> float:
        return self.columns.desk.scheduler.chances(max(self.now, state.last_review or self.now))(state)

    def due(self, state: MemoryState) -> str:
        """Return when the card is due, or why it is not."""
        if state.retracted:
            return said.RETRACTED
        if state.suspended:
            return said.SUSPENDED
        if state.buried_until is not None and self.now < state.buried_until:
            return said.BURIED
        if state.due is None or state.phase is Phase.NEW:
            return said.NEW
        calendar = self.columns.desk.scheduler.calendar
        return said.due(calendar.day(state.due) - calendar.day(self.now), is_now=state.due <= self.now)

    def question(self, card: int) -> str:
        """Return the card's question, read from its deck if the search index does not have it yet."""
        known = self.view.question(card)
        if known is not None:
            return known

        try:
            placed = self.columns.desk.cards.get(self.columns.card(card))
        except RetainError:
            placed = None
        return shown_line(placed.card.question) if placed is not None else said.GONE
