"""A vault of many cards, and a log as a learner of regular habits leaves it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from learning.cards.workspace import open_desk
from tests.builders import make_vault
from vault.config.settings import Settings
from vault.files.guard import Scope
from vault.ids import CardId, ulid
from vault.log.events import LogEvent, Rating, Review, Stamp
from vault.log.review_log import append, unix_ms
from vault.vault import Vault

FIRST = datetime(2026, 9, 1, 9, tzinfo=UTC)
EACH_MS = 8_000


def card_id(number: int) -> CardId:
    return CardId(f"b{number:09}".replace("l", "m"))


def deck(number: int, cards: Sequence[int]) -> str:
    blocks = [f"Q: What is number {n}?\nA: It is the answer {n}.\n<!-- card {card_id(n)} -->\n" for n in cards]
    return f"---\ntype: flashcards\n---\n\n# Subject {number}\n\n## Definitional\n\n" + "\n".join(blocks)


def vault_of(root: Path, cards: int, settings: Settings | None = None) -> Vault:
    """Write a vault of so many new cards, ten in a deck."""
    settings = settings or Settings("01KB0000000000000000000000", "mind", fuzz=False)
    decks = {
        f"learning/flashcards/subject-{n}.md": deck(n, range(n * 10, min(cards, n * 10 + 10)))
        for n in range(-(-cards // 10))
    }
    return make_vault(root, decks, settings)


def stamp(at: datetime, number: int) -> Stamp:
    at = at + timedelta(milliseconds=number)
    return Stamp(ulid(unix_ms(at), number.to_bytes(10, "big")), at)


def study(vault: Vault, day: datetime, *, new: int = 10, rating: Rating = Rating.GOOD) -> int:
    """Review all that is due on a day and so many new cards, each until it leaves the steps; return the reviews."""
    desk = open_desk(vault, day)
    due, fresh = list(desk.queue.due), list(desk.queue.new)[:new]
    events: list[LogEvent] = []
    for item in due:
        events.append(Review(stamp(day, len(events)), item.card, rating, EACH_MS))
    for item in fresh:
        for _ in range(2):
            events.append(Review(stamp(day, len(events)), item.card, Rating.GOOD, EACH_MS))
    append(vault.guard(Scope.LOG), *events)
    return len(due)


def after_days(vault: Vault, days: int, first: datetime = FIRST) -> datetime:
    """Study on so many days in a row; return the day after them."""
    for number in range(days):
        study(vault, first + timedelta(days=number))
    return first + timedelta(days=days)
