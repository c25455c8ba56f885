"""What commands say does not depend on the index: without it, damaged, another vault's or of another version."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.commands import Run

COMMANDS = (("due", "--json"), ("stats", "--json"), ("search", "the", "--json"), ("search", "is:new", "--json"))
INDEX = ".retain/learning.sqlite3"


@pytest.fixture
def rated(run: Run, compiled: Path) -> Path:
    """A vault with a few ratings, one of them undone."""
    cards = [item["id"] for item in run("due", "--json", cwd=compiled).json()["new"]]
    for card, rating in zip(cards, ("good", "again", "easy", "hard"), strict=False):
        assert run("rate", card, rating, cwd=compiled).code == 0
    assert run("undo", cwd=compiled).code == 0
    return compiled


def said(run: Run, vault: Path) -> Iterator[object]:
    """What each of the commands prints, but for the time."""
    for command in COMMANDS:
        found = run(*command, cwd=vault).json()
        found.pop("as_of", None)
        for item in found.get("due", ()):
            item.pop("retrievability")
        yield found


def _lost(path: Path) -> None:
    path.unlink()


def _flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for place in range(100, len(data), 4096):
        data[place] ^= 0xFF
    path.write_bytes(data)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def _of_another_version(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()
    stamp = path.lstat()
    Path(f"{path}.stamp").write_text(f"{stamp.st_size} {stamp.st_ctime_ns} {stamp.st_ino}")


def _without_a_stamp(path: Path) -> None:
    Path(f"{path}.stamp").unlink()


@pytest.mark.parametrize("harm", [_lost, _flipped, _cut, _of_another_version, _without_a_stamp])
def test_commands_say_the_same_whatever_happened_to_the_index(
    run: Run, rated: Path, harm: Callable[[Path], None]
) -> None:
    before = list(said(run, rated))
    harm(rated / INDEX)
    assert list(said(run, rated)) == before == list(said(run, rated))


def test_the_index_of_another_vault_counts_for_nothing(run: Run, rated: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(rated, other)
    before = list(said(run, other))
    cards = [item["id"] for item in run("due", "--json", cwd=rated).json()["new"]]
    run("rate", cards[-1], "good", cwd=rated)
    for file in (rated / ".retain").glob("learning.sqlite3*"):
        shutil.copy2(file, other / ".retain" / file.name)
    assert list(said(run, other)) == before
