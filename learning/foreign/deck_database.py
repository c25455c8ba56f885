"""The databases of hashcards (`hashcards.db`) and repeater (`cards.db`): what they know of each card, by its digest."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from learning.foreign.cards import Learnt, PastReview, Schedule, bounded
from learning.foreign.tree import Tree, read_bytes
from vault.errors import Unreadable
from vault.log.events import Rating
from vault.text.formatting import clean_line

NAME = "hashcards.db"
_MAX_BYTES = 512 * 1024**2
_GRADES = {"forgot": Rating.AGAIN, "hard": Rating.HARD, "good": Rating.GOOD, "easy": Rating.EASY}
_CARDS = (
    "SELECT card_hash, last_reviewed_at, due_date, stability, difficulty, review_count FROM cards"
    " WHERE review_count > 0 AND due_date IS NOT NULL"
)


@dataclass(frozen=True, slots=True)
class Past:
    """What a database knows of cards, by digest."""

    cards: Mapping[str, Learnt] = field(default_factory=dict)

    def of(self, digest: str) -> Learnt | None:
        """Return what is known of the card with that digest."""
        return self.cards.get(digest)


def past_of(tree: Tree, database: Path | None, zone: tzinfo) -> Past:
    """Return what is known of the decks in `tree`: by the database that was named, else by the one beside them.

    hashcards writes the clock of its machine; that is taken for the vault's `zone`. Raises: Unreadable.
    """
    path = database or tree.folder / NAME
    if database is None and not path.is_file():
        return Past()
    data = read_bytes(path, _MAX_BYTES)
    shown = clean_line(str(path))
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.deserialize(_without_journal(data))
            connection.execute("PRAGMA trusted_schema = OFF")
            return Past(_cards(connection, zone))
    except (sqlite3.Error, ValueError, TypeError, OverflowError) as error:
        hint = "give the path of the hashcards.db or cards.db file for these decks"
        raise Unreadable("not a hashcards or repeater database", where=shown, hint=hint) from error


def _without_journal(data: bytes) -> bytes:
    """Return the database with its write-ahead mode off, in which it cannot be opened in memory."""
    return data[:18] + b"\x01\x01" + data[20:] if data[18:20] == b"\x02\x02" else data


def _cards(connection: sqlite3.Connection, zone: tzinfo) -> dict[str, Learnt]:
    """Return what is known of every card that was reviewed."""
    reviews: dict[str, list[PastReview]] = {}
    with suppress(sqlite3.OperationalError):  # repeater has no such table
        rows = connection.execute(
            "SELECT card_hash, reviewed_at, grade, interval_days FROM reviews ORDER BY reviewed_at"
        )
        for digest, at, grade, days in rows:
            when, rating = _instant(at, zone), _GRADES.get(grade)
            if when is not None and rating is not None:
                name = f"{digest}:{when.isoformat()}"
                reviews.setdefault(digest, []).append(PastReview(when, rating, name, interval_days=max(0, int(days))))
    return {
        digest: Learnt(_schedule(last, due, stability, difficulty, count, zone), reviews.get(digest, ()))
        for digest, last, due, stability, difficulty, count in connection.execute(_CARDS)
    }


def _schedule(
    last: object, due: object, stability: float, difficulty: float, count: int, zone: tzinfo
) -> Schedule | None:
    """Return the schedule of a row; None where it cannot be read."""
    reviewed, until = _instant(last, zone), _instant(due, zone)
    if reviewed is None or until is None:
        return None
    first, last_day = reviewed.astimezone(zone).date(), until.astimezone(zone).date()
    return bounded(first, last_day, float(stability), float(difficulty), int(count))


def _instant(text: object, zone: tzinfo) -> datetime | None:
    """Return an instant in UTC; a time without a zone is of `zone`, and a day begins there."""
    try:
        at = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return (at if at.tzinfo is not None else at.replace(tzinfo=zone)).astimezone(UTC)
