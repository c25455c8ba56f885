"""The caches of the scanned log never change what is said of it: they only save time."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from learning.store import past_reviews
from learning.store.past_reviews import REVIEWS, SINCE, whole_log
from tests.builders import make_vault
from vault.cache.cache import FOLDER
from vault.ids import CardId, ulid
from vault.index import stamps
from vault.log.events import Flag, LogEvent, Rating, Resume, Review, Stamp, Suspend, Undo, encode
from vault.log.review_columns import scan_log
from vault.log.review_log import LOG_PATH, log_files, unix_ms
from vault.vault import Vault

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamps, "RACY_NS", -1_000_000_000)  # no two changes here leave the size as it was
    monkeypatch.setattr(past_reviews, "_LEAST", 4)
    monkeypatch.setattr(past_reviews, "_MOST", 12)


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return make_vault(tmp_path, {})


def events_of(chance: random.Random) -> Iterator[LogEvent]:
    """Events in order, some at the same instant; undos void what came shortly before, an undo among it."""
    at = NOON
    ids: list[str] = []
    while True:
        at += timedelta(milliseconds=chance.choice([0, 1, 90_000]))
        clock = at - timedelta(days=chance.randrange(9)) if chance.random() < 0.2 else None
        stamp = Stamp(ulid(unix_ms(at), len(ids).to_bytes(10, "big")), at, "Z", "tui", clock)
        card = CardId(f"card{chance.randrange(9):06}")
        kind = chance.random()
        if kind < 0.1 and ids:
            yield Undo(stamp, chance.choice(ids[-3:]))
        elif kind < 0.3:
            yield chance.choice([Suspend, Resume])(stamp, card) if kind < 0.2 else Flag(stamp, card, "why")
        else:
            yield Review(stamp, card, Rating(chance.randint(1, 4)), chance.randrange(9))
        ids.append(stamp.id)


def told(vault: Vault) -> list[object]:
    log = whole_log(vault)
    return [getattr(log, field.name) for field in fields(log)]


def scanned(vault: Vault) -> list[object]:
    log = scan_log(log_files(vault.root))
    return [getattr(log, field.name) for field in fields(log)]


@pytest.mark.parametrize("seed", range(6))
def test_a_log_that_grows_in_any_way_is_told_as_if_it_were_scanned_each_time(vault: Vault, seed: int) -> None:
    chance = random.Random(seed)
    log, made = vault.root / LOG_PATH, events_of(chance)
    kept = 0
    for _ in range(60):
        lines = [encode(next(made)) for _ in range(chance.choice([0, 1, 2, 9]))]
        data = log.read_bytes() if log.exists() else b""
        harm = chance.random()
        if harm < 0.04 and lines:
            lines[0] = lines[0].replace(b'"v":1', b'"v" 1')
        elif harm < 0.08 and data:
            lines.append(chance.choice(data.split(b"\n")[:-1]))
        elif harm < 0.12:
            data = data.replace(b'"rating":3', b'"rating":4', 1)
        elif harm < 0.16:
            shutil.rmtree(vault.root / FOLDER, ignore_errors=True)
        elif harm < 0.2:
            (vault.root / "learning/reviews-2020.jsonl").write_bytes(b"\n".join(data.split(b"\n")[:3]) + b"\n")
        elif harm < 0.24:
            late = Review(Stamp(ulid(unix_ms(NOON), b"late" + bytes(6)), NOON), CardId("card000001"), Rating.GOOD)
            lines.append(encode(late))
        if harm < 0.24:
            log.write_bytes(data)
        with log.open("ab") as file:
            file.write(b"".join(line + b"\n" for line in lines))
        assert told(vault) == scanned(vault)
        kept += past_reviews._cached(vault) is not None
    assert kept > 8


def test_a_rating_more_is_taken_from_the_end_of_the_log_and_the_rest_from_the_cache(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = (event for event in events_of(random.Random(7)) if isinstance(event, Review))
    log = vault.root / LOG_PATH
    log.write_bytes(b"".join(encode(next(made)) + b"\n" for _ in range(30)))
    whole_log(vault)
    with log.open("ab") as file:
        file.write(encode(next(made)) + b"\n")
    wanted = scanned(vault)
    monkeypatch.delattr(past_reviews, "scan_log")
    assert told(vault) == wanted
    assert told(vault) == wanted


@pytest.mark.parametrize("name", [REVIEWS, SINCE])
def test_a_cache_that_was_harmed_or_is_of_another_log_is_no_cache(vault: Vault, name: str) -> None:
    made = events_of(random.Random(3))
    log, cache = vault.root / LOG_PATH, vault.root / FOLDER / name
    log.write_bytes(b"".join(encode(next(made)) + b"\n" for _ in range(30)))
    whole_log(vault)
    data = cache.read_bytes()
    for harmed in (b"", data[:-1], data[:200] + b"x" + data[201:]):
        cache.write_bytes(harmed)
        assert told(vault) == scanned(vault)
    log.write_bytes(b"".join(encode(next(made)) + b"\n" for _ in range(40)))
    whole_log(vault)
    cache.write_bytes(data)
    assert told(vault) == scanned(vault)
