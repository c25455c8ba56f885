"""What home tells of the past and the coming days is what the whole log gives, by another way."""

from __future__ import annotations

import csv
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.cards.workspace import Desk, open_desk
from learning.history.due import next_due
from learning.stats.material import material_of
from learning.stats.news import News, news
from learning.stats.overview import coming, daybook
from learning.stats.stats import stats_of
from tests.builders import make_vault
from vault.ids import CardId, ulid
from vault.log import ledger
from vault.log.events import Bury, LogEvent, Rating, Review, Stamp, Suspend, encode
from vault.log.ledger import Event
from vault.log.review_log import unix_ms
from vault.vault import Vault

HISTORY = "revlogs/py-fsrs-japanese-12580.csv"
NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
CARDS = [f"{letter * 10}" for letter in "abcdefgh"]


def made(root: Path, cards: list[str], events: list[LogEvent]) -> Vault:
    """A vault with these cards, a deck each, and this log."""
    decks = {f"learning/flashcards/{c}.md": f"# {c}\n\nQ: What is {c}?\nA: This.\n<!-- card {c} -->\n" for c in cards}
    log = b"".join(encode(event) + b"\n" for event in events)
    return make_vault(root, {**decks, "learning/reviews.jsonl": log.decode()})


def stamp(at: datetime, dice: random.Random) -> Stamp:
    return Stamp(ulid(unix_ms(at), dice.randbytes(10)), at)


def history(seed: int, count: int) -> list[LogEvent]:
    """Reviews over 120 days, of a card that stands in no deck, too; some cards are put aside."""
    dice = random.Random(seed)
    instants = sorted(NOW - timedelta(minutes=dice.randrange(120 * 24 * 60)) for _ in range(count))
    events: list[LogEvent] = []
    for at in instants:
        card, what = CardId(dice.choice([*CARDS, "z" * 10])), dice.random()
        if what < 0.03:
            events.append((Suspend if what < 0.02 else Bury)(stamp(at, dice), card))
        else:
            events.append(Review(stamp(at, dice), card, Rating(dice.choice((1, 2, 3, 3, 3, 4))), 4_000))
    return events


def assert_as_the_whole_log_says(desk: Desk) -> None:
    found, whole = daybook(desk, 30), stats_of(material_of(desk), desk.scheduler, desk.now)
    assert found.reviews == {day.day.toordinal(): day.reviews for day in whole.activity.days}
    assert (found.streak, found.longest) == (whole.activity.streak, whole.activity.longest_streak)
    assert found.month == next(row for row in whole.retention if row.days == 30)
    assert list(found.coming) == [day.reviews for day in whole.forecast]
    assert coming(desk, 14) == found.coming[:14]
    known = [desk.state(card) for card in desk.cards]
    asked = [s for s in known if s.due and not (s.suspended or s.retracted)]
    assert next_due(desk.cards) == min((max(s.due, s.buried_until or s.due) for s in asked if s.due), default=None)


@given(st.integers(0, 10_000), st.sampled_from([0, 1, 7, 80, 700]))
def test_the_daybook_of_a_made_history_is_that_of_the_whole_log(
    tmp_path_factory: pytest.TempPathFactory, seed: int, count: int
) -> None:
    vault = made(tmp_path_factory.mktemp("vault"), CARDS, history(seed, count))
    assert_as_the_whole_log_says(open_desk(vault, NOW))


@pytest.mark.real_data
def test_the_daybook_of_a_real_history_is_that_of_the_whole_log(tmp_path: Path, shared_data: Path) -> None:
    path, dice = shared_data / HISTORY, random.Random(1)
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    numbers = {card: f"{number:010}" for number, card in enumerate(dict.fromkeys(row["card_id"] for row in rows))}
    events: list[LogEvent] = []
    for row in rows:
        at = datetime.fromisoformat(row["review_time"]).astimezone(UTC)
        events.append(Review(stamp(at, dice), CardId(numbers[row["card_id"]]), Rating(int(row["review_rating"]))))
    events.sort(key=lambda event: (event.at, event.id))
    vault = made(tmp_path, list(numbers.values())[:500], events)
    assert_as_the_whole_log_says(open_desk(vault, events[-1].at))


def told(at: datetime, type_: str, of: str, id_: str, **more: object) -> Event:
    return {"v": 1, "type": type_, "of": of, "id": id_, "at": ledger.instant(at), **more}


def test_the_news_are_what_the_ledger_says_between_two_instants(tmp_path: Path) -> None:
    vault = made(tmp_path, CARDS[:1], [])
    old, new = NOW - timedelta(days=40), NOW - timedelta(hours=20)
    events = [
        told(old, "birth", "concept", "c1", name="Old"),
        told(old, "birth", "card", "k1"),
        told(old, "birth", "dispute", "d1", winner="", concepts=["c1"]),
        told(new, "birth", "concept", "c2", name="New\u202e one"),
        told(new, "birth", "card", "k2"),
        told(new, "change", "card", "k2", how="fact"),
        told(new, "change", "card", "k1", how="fact"),
        told(new, "change", "card", "k3", how="reworded"),
        told(new, "change", "card", "k5", how="cosmetic"),
        told(new, "retire", "card", "k4"),
        told(new, "birth", "dispute", "d2", winner="", concepts=["c2"]),
        told(new, "change", "dispute", "d1", winner="x", concepts=["c1"]),
        told(NOW + timedelta(days=1), "birth", "card", "k9"),
    ]
    (tmp_path / ledger.IDS).write_bytes(b"".join(map(ledger.encode, events)))
    assert news(vault, NOW - timedelta(days=1), NOW) == News(("New\ufffd one",), 1, 1, 1, 1, 1, 1)
    assert news(vault, NOW - timedelta(hours=1), NOW) == News()
