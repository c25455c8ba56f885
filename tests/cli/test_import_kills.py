"""An import killed at any moment leaves no file half-written, and the next completes it with each thing once."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from learning.cards.workspace import open_desk
from tests.learning.test_anki_import import clock, collection, give_out
from tests.learning.test_anki_import_strangers import GIF, add
from vault.config.settings import Settings, render_settings
from vault.log import ledger
from vault.log.events import Import
from vault.log.review_log import read_log
from vault.model.card import parse_deck
from vault.vault import open_vault

RETAIN = (sys.executable, "-c", "import sys; from cli.main import main; sys.argv[0] = 'retain'; main()")
HERE = Path(__file__).resolve().parents[2]
PAIRS, REVIEWS = 150, 24_000  # more than one batch of the log
SEED = 20261122


@dataclass(frozen=True)
class Held:
    """What a vault holds: words of each card, origin of each review with its card, keys of births, media."""

    cards: dict[str, tuple[str, str]]
    reviews: list[tuple[str, str]]
    births: list[str]
    media: dict[str, bytes]


def held(root: Path) -> Held:
    vault = open_vault(str(root), None, root)
    cards = {
        str(id_): (placed.card.question, placed.card.answer) for id_, placed in open_desk(vault, clock()).cards.items()
    }
    reviews = sorted((e.origin, str(e.card)) for e in read_log(root).events if isinstance(e, Import))
    births = sorted(str(event["key"]) for event in vault.ledger_events(ledger.IDS)[0] if event["type"] == "birth")
    return Held(dict(cards), reviews, births, files(root / "learning/media"))


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("[!.]*"))}


def large(folder: Path) -> Path:
    """A deck of pairs, pictures and years of reviews, as Anki exports it."""
    with collection(folder / "theirs") as col:
        for n in range(PAIRS):
            picture = f'<img src="{col.media.write_data(f"p{n}.gif", GIF + bytes([n]))}">' if n < 20 else ""
            add(col, "Basic (and reversed card)", [f"front {n} {picture}", f"back {n}"])
        numbers = col.find_cards("")
        first = int(time.time() * 1000) - 10 * REVIEWS * 1000
        rows = [(first + n * 9_000, numbers[n % len(numbers)], n % 4 + 1) for n in range(REVIEWS)]
        col.db.executemany("insert into revlog values (?, ?, -1, ?, 3, 1, 2500, 4000, 1)", rows)
        return give_out(col, folder / "large.apkg")


def started(root: Path, package: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    command = [*RETAIN, "import", "anki", str(package), "--json", "--vault", str(root)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def brought(root: Path, package: Path) -> dict[str, Any]:
    process = started(root, package)
    out, _ = process.communicate()
    assert process.returncode == 0
    found: dict[str, Any] = json.loads(out)
    return found


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    root = tmp_path / "empty"
    for folder in ("learning/flashcards", "ledger"):
        (root / folder).mkdir(parents=True)
    (root / "retain.toml").write_text(render_settings(Settings("01KB0000000000000000000000", "Mind")))
    return root


@pytest.mark.torture
def test_an_import_killed_at_any_moment_is_completed_by_the_next(
    empty: Path, tmp_path: Path, torture: Callable[[int, int], int], tally: Callable[..., None]
) -> None:
    package, whole = large(tmp_path), tmp_path / "whole"
    shutil.copytree(empty, whole)
    begin = time.monotonic()
    brought(whole, package)
    lasted = time.monotonic() - begin
    wanted, decks = held(whole), files(whole / "learning/flashcards")
    assert (len(wanted.cards), len(wanted.reviews), len(wanted.media)) == (2 * PAIRS, REVIEWS, 20)
    tries, drawn, cut, midway = torture(60, 1), random.Random(SEED), 0, 0
    for n in range(tries):
        root = tmp_path / f"killed-{n}"
        shutil.copytree(empty, root)
        process = started(root, package)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=lasted * (0.2 + 0.8 * (n + drawn.random() / 2) / tries))
        process.kill()
        process.communicate()
        there = files(root / "learning/flashcards")
        unfinished = there != decks or len(read_log(root).events) < REVIEWS
        cut += unfinished
        midway += unfinished and bool(there or files(root / "learning/media"))
        assert there.items() <= decks.items() and files(root / "learning/media").items() <= wanted.media.items()
        assert not any(parse_deck(data.decode(), name).diagnostics for name, data in there.items())
        brought(root, package)
        assert held(root) == wanted, f"try {n} of seed {SEED}"
        again = brought(root, package)
        assert (again["cards"]["created"], again["cards"]["updated"], again["reviews"]["added"]) == (0, 0, 0)
        shutil.rmtree(root)
    assert cut
    figures = f"{tries} of {tries} whole; {cut} were cut short, {midway} of them with something on disk"
    tally("Import killed at random moments, then repeated", figures, page="memory")
