"""Exports appear whole where the human says, and not in a part of a vault that has an owner."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from vault.errors import Refused, WriteFailed
from vault.files.exports import export_file
from vault.files.write_scopes import TEMP_PREFIX

OLD = b"the old deck"
NEW = b"the new deck"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault = tmp_path / "vault"
    for folder in ("insights", "raw/articles", "wiki", "output", "learning/flashcards", "ledger"):
        (vault / folder).mkdir(parents=True)
    (vault / "retain.toml").write_text("[vault]\n")
    (vault / "insights/mine.md").write_bytes(b"my own thought\n")
    return vault


def leftovers(root: Path) -> list[str]:
    return [p.name for p in root.rglob(f"{TEMP_PREFIX}*")]


def test_an_export_appears_whole_where_the_human_says(root: Path, tmp_path: Path) -> None:
    for place in (tmp_path / "deck.apkg", root / "output/deck.apkg", root / "deck.apkg"):
        for data in (OLD, NEW):
            with export_file(place) as path:
                assert path.parent == place.parent
                path.write_bytes(data)
                assert not place.exists() or place.read_bytes() == OLD
            assert place.read_bytes() == data
    assert not leftovers(tmp_path)


def test_an_export_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    place = tmp_path / "deck.apkg"
    place.write_bytes(OLD)
    with pytest.raises(ZeroDivisionError), export_file(place) as path:
        path.write_bytes(NEW)
        raise ZeroDivisionError
    with pytest.raises(WriteFailed, match="disk is full"), export_file(place) as path:
        raise OSError(28, "No space left on device")
    assert place.read_bytes() == OLD and not leftovers(tmp_path)


def test_an_export_keeps_the_mode_and_goes_through_no_link(tmp_path: Path) -> None:
    (tmp_path / "synced").mkdir()
    real = tmp_path / "synced" / "deck.apkg"
    real.write_bytes(OLD)
    real.chmod(0o640)
    (tmp_path / "deck.apkg").symlink_to(real)
    with pytest.raises(Refused, match="link"), export_file(tmp_path / "deck.apkg") as path:
        path.write_bytes(NEW)
    assert (tmp_path / "deck.apkg").is_symlink() and real.read_bytes() == OLD
    (tmp_path / "folder").symlink_to(tmp_path / "synced")
    with export_file(tmp_path / "folder/deck.apkg") as path:
        path.write_bytes(NEW)
    assert real.read_bytes() == NEW and stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_file_that_may_not_be_replaced_stays_unless_it_is_empty(tmp_path: Path) -> None:
    place = tmp_path / "deck.apkg"
    place.write_bytes(OLD)
    with pytest.raises(Refused, match="not an earlier export"), export_file(place, replaces=lambda _: False) as path:
        path.write_bytes(NEW)
    assert place.read_bytes() == OLD
    place.write_bytes(b"")
    with export_file(place, replaces=lambda _: False) as path:
        path.write_bytes(NEW)
    assert place.read_bytes() == NEW


@pytest.mark.parametrize(
    "place",
    [
        "insights/deck.apkg",
        "insights/mine.md",
        "raw/articles/deck.apkg",
        "wiki/deck.apkg",
        "ledger/ids.jsonl",
        "learning/reviews.jsonl",
        "learning/flashcards/a.md",
        ".git/hooks/pre-commit",
        "retain.toml",
        "AGENTS.md",
        ".gitignore",
        "by-link/deck.apkg",
        "output/../insights/deck.apkg",
        "output",
        "missing/deck.apkg",
        "personal/deck.apkg",
        "personal/deep/deck.apkg",
    ],
)
def test_an_export_goes_into_no_part_of_the_vault_that_has_an_owner(root: Path, place: str) -> None:
    (root / ".git/hooks").mkdir(parents=True)
    (root / "personal/deep").mkdir(parents=True)
    (root / "by-link").symlink_to(root / "insights")
    before = sorted(p for p in root.rglob("*"))
    with pytest.raises(Refused), export_file(root / place, forbidden=[root / "personal"]) as path:
        path.write_bytes(NEW)
    assert sorted(p for p in root.rglob("*")) == before
    assert (root / "insights/mine.md").read_bytes() == b"my own thought\n"
