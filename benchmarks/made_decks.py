"""A made-up learner: decks of flashcards as the compiler lays them out, and years of reviews in the log."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

from vault.ids import ALPHABET, CardId, ulid
from vault.log_event import Rating, Review, Stamp, encode

_KINDS = ("Definitional", "Mechanistic", "Relational", "Applied")
_DAYS = 280  # over which the reviews are spread, up to yesterday


def write_decks(vault: Path, cards: int, reviews: int, *, seed: int) -> None:
    """Writes `cards` cards, four to a deck, and `reviews` reviews of them; nothing else of the vault is needed."""
    dice = random.Random(seed)
    ids = ["".join(dice.choices(ALPHABET, k=10)) for _ in range(cards)]
    folder = vault / "learning/flashcards"
    folder.mkdir(parents=True, exist_ok=True)
    for number, first in enumerate(range(0, cards, 4)):
        (folder / f"concept-{number:05}.md").write_text(_deck(number, ids[first : first + 4]), encoding="utf-8")
    start = datetime.now(UTC).replace(microsecond=0) - timedelta(days=_DAYS + 1)
    step = timedelta(days=_DAYS) / reviews
    lines = b"".join(_review(dice, start + n * step, ids[n % len(ids)]) + b"\n" for n in range(reviews))
    (vault / "learning/reviews.jsonl").write_bytes(lines)


def _deck(number: int, ids: list[str]) -> str:
    blocks = [
        f"## {kind}\n\nQ: What is the {kind.casefold()} side of concept {number}?\n"
        f"A: It is number {number * 7 + n} of a long row, which nobody confuses with its neighbours.\n"
        f"<!-- card {id_} 000000 -->\n"
        for n, (kind, id_) in enumerate(zip(_KINDS, ids, strict=False))
    ]
    head = f"---\nconcept: {ids[0]}\ntags:\n  - flashcards\n---\n\n# Concept {number}\n\n"
    return head + "\n".join(blocks)


def _review(dice: random.Random, at: datetime, card: str) -> bytes:
    at = at.replace(microsecond=0)
    rating = Rating(dice.choices((1, 2, 3, 4), (10, 10, 70, 10))[0])
    stamp = Stamp(ulid(int(at.timestamp() * 1000), dice.randbytes(10)), at, via="cli")
    return encode(Review(stamp, CardId(card), rating, 5_000))
