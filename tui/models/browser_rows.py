"""The rows of the browser's table: what each cell says of a card or article."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from learning.memory.state import MemoryState, Phase
from learning.search.documents import shown_line
from learning.search.records import Record, Records
from learning.search.search import Found
from tui.strings import browse as said
from vault.errors import RetainError
from vault.layout import TOPICS


@dataclass(frozen=True, slots=True)
class Listed:
    """The results of a search, articles first. An item is a card's number, or -1 - n for article n."""

    records: Records
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

    def cells(self, row: int, names: Sequence[str]) -> list[str]:
        item = self.item(row)
        if item < 0:
            path, title = self.records.article(-1 - item)
            kind = said.TOPIC if path.startswith(TOPICS) else said.ARTICLE
            words = {"kind": kind, "question": title, "due": "" if "kind" in names else kind}
            return [words.get(name, "") for name in names]
        record = self.records.record(item)
        if record is None:
            return [said.GONE if name == "question" else "" for name in names]
        return [self._cell(name, record) for name in names]

    def _cell(self, name: str, record: Record) -> str:
        match name:
            case "kind":
                return record.kind
            case "concept":
                return record.title
            case "question":
                return self.question(record)
            case "topic":
                return self.records.topic(record.path)
            case "due":
                return self.due(record.state)
        return "" if record.state.phase is Phase.NEW else self._number(name, record.state)

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
        return self.records.desk.scheduler.chances(max(self.now, state.last_review or self.now))(state)

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
        calendar = self.records.desk.scheduler.calendar
        return said.due(calendar.day(state.due) - calendar.day(self.now), is_now=state.due <= self.now)

    def question(self, record: Record) -> str:
        """Return the card's question, read from its deck if its text has not been read yet."""
        if record.question is not None:
            return record.question
        try:
            placed = self.records.desk.cards.get(record.card)
        except RetainError:
            placed = None
        return shown_line(placed.card.question) if placed is not None else said.GONE
