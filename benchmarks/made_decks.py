"""A made-up learner: decks of flashcards as the compiler lays them out, and years of reviews in the log."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain, cycle, groupby
from pathlib import Path

from learning.memory.scheduler import Scheduler
from learning.memory.state import MemoryState, rules_of
from vault.ids import ALPHABET, CardId, ulid
from vault.log.events import Rating, Review, Stamp, encode
from vault.log.review_log import unix_ms
from vault.vault import open_vault

_KINDS = ("Definitional", "Mechanistic", "Relational", "Applied")
_DAYS = 280  # over which the reviews are spread, up to yesterday
_CHANCES = (6, 5, 80, 9)  # of Again, Hard, Good and Easy in the years of a made-up learner


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
        f"%% card {id_} 000000 %%\n"
        for n, (kind, id_) in enumerate(zip(cycle(_KINDS), ids, strict=False))
    ]
    head = f"---\nconcept: {ids[0]}\ntags:\n  - flashcards\n---\n\n# Concept {number}\n\n"
    return head + "\n".join(blocks)


def _review(dice: random.Random, at: datetime, card: str) -> bytes:
    at = at.replace(microsecond=0)
    rating = Rating(dice.choices((1, 2, 3, 4), (10, 10, 70, 10))[0])
    stamp = Stamp(ulid(int(at.timestamp() * 1000), dice.randbytes(10)), at, via="cli")
    return encode(Review(stamp, CardId(card), rating, 5_000))


def write_years(
    vault: Path, cards: int, *, years: int = 8, to_a_deck: int = 10, unseen: float = 0.002, seed: int, now: datetime
) -> int:
    """Writes decks and the log of one learner who met the cards evenly over `years` and did each day's reviews.

    Of the cards the part `unseen` was never met. What falls due on the day of `now` is still to do. Past years lie in
    files of their own. Gives the number of reviews, about ten a card over eight years.
    """
    dice = random.Random(seed)
    ids = ["".join(dice.choices(ALPHABET, k=10)) for _ in range(cards)]
    folder = vault / "learning/flashcards"
    folder.mkdir(parents=True, exist_ok=True)
    for number, first in enumerate(range(0, cards, to_a_deck)):
        deck = _deck(number, ids[first : first + to_a_deck])
        (folder / f"concept-{number:05}.md").write_text(deck, encoding="utf-8")
    met = ids[round(cards * unseen) :]
    scheduler = Scheduler(rules_of(open_vault(str(vault), None, vault).settings))
    learnt = (_life(dice, scheduler, card, now - timedelta(days=365 * years * dice.random()), now) for card in met)
    reviews = sorted(chain.from_iterable(learnt))
    zone = scheduler.calendar.zone
    for year, its in groupby(reviews, key=lambda review: review[0].astimezone(zone).year):
        name = "reviews.jsonl" if year == now.astimezone(zone).year else f"reviews-{year}.jsonl"
        with (vault / "learning" / name).open("wb") as log:
            log.writelines(_line(dice, *review) + b"\n" for review in its)
    return len(reviews)


def _life(
    dice: random.Random, scheduler: Scheduler, card: str, at: datetime, now: datetime
) -> Iterator[tuple[datetime, str, Rating]]:
    """(instant, card, rating) of every review of a card that is met on the day of `at`, up to the day before `now`."""
    state = MemoryState()
    end = scheduler.calendar.start(scheduler.calendar.day(now))
    at = at.replace(hour=8) + timedelta(milliseconds=dice.randrange(12 * 3_600_000))
    while at < end:
        rating = Rating(dice.choices((1, 2, 3, 4), _CHANCES)[0])
        yield at, card, rating
        state = scheduler.review(CardId(card), state, rating, at)
        assert state.due is not None
        at = state.due
        if state.interval_days:
            at = at.replace(hour=8) + timedelta(milliseconds=dice.randrange(12 * 3_600_000))


def _line(dice: random.Random, at: datetime, card: str, rating: Rating) -> bytes:
    at = at.replace(microsecond=at.microsecond // 1000 * 1000)
    stamp = Stamp(ulid(unix_ms(at), dice.randbytes(10)), at, via="tui")
    return encode(Review(stamp, CardId(card), rating, 2_000 + dice.randrange(9_000)))
