"""The state of the browser: what was read, searched and selected, kept between two visits."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from weakref import WeakKeyDictionary

from textual.app import App

from learning.cards.actions import Action
from learning.cards.delete import Deleted
from learning.cards.new import Added
from learning.memory.state import MemoryState
from learning.search.records import Records
from learning.search.search import Found, Order
from learning.store.placed import Placed, concept_of
from vault.evidence.evidence import Evidence, EvidenceReader
from vault.ids import CardId
from vault.log import ledger
from vault.log.card_history import Version, history
from vault.log.events import Rating
from vault.log.review_log import at_of


@dataclass(slots=True)
class Browsing:
    """The state of the browser: its items as in `browser_rows.Listed`, and what undo reverses: actions, cards that
    were made or deleted.
    """

    records: Records | None = None
    found: Found = field(default_factory=Found)
    words: str = ""
    scope: str = "cards"
    order: Order = field(default_factory=Order)
    marked: set[int] = field(default_factory=set)
    at: int | None = None
    done: list[Action | Added | Deleted] = field(default_factory=list)
    asked: deque[Callable[[], None]] = field(default_factory=deque)  # actions that wait, in order
    turn: Lock = field(default_factory=Lock)  # who holds it does the next of them; only then `done` changes

    def take(self, records: Records) -> None:
        """Use newly read records; what was selected stays selected if it still exists."""
        self.records = records
        self.marked = {item for item in self.marked if item < 0 or records.record(item) is not None}
        if self.at is not None and self.at >= 0 and records.record(self.at) is None:
            self.at = None


@dataclass(frozen=True, slots=True)
class Seen:
    """A card as its file has it now, or the text of an article; `reviews` and `versions` only if asked for."""

    item: int
    path: str = ""
    card: Placed | None = None
    state: MemoryState | None = None
    article: str = ""
    evidence: tuple[Evidence, ...] = ()
    reviews: tuple[tuple[datetime, str], ...] = ()
    versions: tuple[Version, ...] = ()


_OPEN: WeakKeyDictionary[App[int], Browsing] = WeakKeyDictionary()


def browsing(app: App[int]) -> Browsing:
    """Return the state that this app's browser had when it was closed; a new one the first time."""
    found = _OPEN.get(app)
    if found is None:
        found = _OPEN[app] = Browsing()
    return found


def seen(records: Records, item: int, *, fully: bool = False) -> Seen:
    """Read the current text of an item from its file. Raises: RetainError."""
    vault = records.desk.vault
    if item < 0:
        article, _ = records.article(-1 - item)
        return Seen(item, article, article=(vault.read_text(article) if article else None) or "")
    record = records.record(item)
    if record is None:
        return Seen(item)
    path, card, state = record.path, record.card, record.state
    placed = _placed(records, path, card)
    if placed is None or not fully:
        return Seen(item, path, placed, state)

    return Seen(
        item,
        path,
        placed,
        state,
        evidence=tuple(EvidenceReader(vault).of(placed.card.support)),
        reviews=tuple(_reviews(records, card)),
        versions=history(vault.read_bytes(ledger.IDS) or b"", card),
    )


def _placed(records: Records, path: str, card: CardId) -> Placed | None:
    deck = records.desk.cards.deck(path)
    found = next((each for each in deck.cards if each.id == card), None) if deck is not None else None
    return None if found is None or deck is None else Placed(card, found, deck, concept_of(path))


def _reviews(records: Records, card: CardId) -> list[tuple[datetime, str]]:
    """Return when the card was reviewed and how it was rated, the latest first."""
    reviews = records.desk.past.reviews([card])
    ratings = [(at_of(at), Rating(rating)) for at, rating in zip(reviews.at_ms, reviews.rating, strict=True)]
    return [(at, rating.name.capitalize()) for at, rating in reversed(ratings)]
