"""An edit that lands while a compile writes: it stays, ours is laid beside it, and that copy is no page and no deck."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.model.report import Report
from compiler.verification.verify import verify
from vault.files.guard import Scope
from vault.files.write_scopes import TEMP_PREFIX, is_conflict_copy
from vault.vault import Vault

MORNING = datetime(2026, 11, 21, 9, tzinfo=UTC)
MINE = "# Mine\n\nI wrote this while the machine was at work.\n"
TESTING = "# Retrieval practice\n\nRetrieval practice is the act of recalling an answer from memory.\n"
MORE = TESTING + "\nRetrieval practice strengthens memory more than rereading does.\n"


def silent(event: dict[str, Any]) -> None:
    pass


def compiled(vault: Vault, at: datetime = MORNING, meanwhile: Callable[[dict[str, Any]], None] = silent) -> Report:
    return compile_vault(vault, Options(), at, meanwhile)


def editing(vault: Vault, chosen: Callable[[str], bool]) -> tuple[Callable[[dict[str, Any]], None], list[str]]:
    """A human who saves every chosen page in the moment before it is written; and what they saved."""
    saved: list[str] = []

    def meanwhile(event: dict[str, Any]) -> None:
        path = str(event.get("path", ""))
        if event["event"] == "save" and chosen(path):
            saved.append(path)
            (vault.root / path).parent.mkdir(parents=True, exist_ok=True)
            (vault.root / path).write_text(MINE)

    return meanwhile, saved


def lying_beside(vault: Vault) -> list[str]:
    found = (p.relative_to(vault.root).as_posix() for p in vault.root.rglob("*") if is_conflict_copy(p.name))
    return sorted(found)


@pytest.mark.parametrize(
    "folder", ["wiki/concepts/", "wiki/summaries/", "learning/flashcards/", "wiki/_", "learning/gaps"]
)
def test_an_edit_in_the_moment_of_writing_stays_and_ours_lies_beside_it(vault: Vault, folder: str) -> None:
    reference = compiled(vault)
    expected = {p: (vault.root / p).read_bytes() for p in reference.written if p.startswith(folder)}
    for path in reference.written:
        (vault.root / path).unlink()
    meanwhile, saved = editing(vault, lambda path: path.startswith(folder))
    report = compiled(vault, MORNING + timedelta(days=1), meanwhile)
    assert saved and set(saved) <= set(expected)
    assert all((vault.root / path).read_text() == MINE for path in saved), "every edit stands"
    assert len(lying_beside(vault)) == len(saved)
    notices = {d.path: d.hint for d in report.notices if d.code == "edited-meanwhile"}
    for path in saved:
        beside = f"{path.removesuffix('.md')}.conflict-2026-11-22.md"
        assert beside in notices[path] and (vault.root / beside).is_file()
        if folder not in ("wiki/_",):  # the chronicle tells of another day
            assert (vault.root / beside).read_bytes() == expected[path]
    assert not list(vault.root.rglob(f"{TEMP_PREFIX}*"))
    assert (vault.root / "insights/mine.md").read_text() == "mine alone\n"


def test_what_lies_beside_is_no_page_no_deck_and_no_card_and_verify_names_it(vault: Vault) -> None:
    first = compiled(vault)
    (vault.root / "raw/articles/testing.md").write_text(MORE)
    chosen = ("wiki/concepts/", "wiki/summaries/", "learning/flashcards/")
    meanwhile, saved = editing(vault, lambda path: path.startswith(chosen))
    compiled(vault, MORNING + timedelta(days=1), meanwhile)
    beside = lying_beside(vault)
    assert saved and beside and sorted(vault.conflict_copies()) == beside
    for folder in ("wiki/concepts", "wiki/summaries", "learning/flashcards"):
        assert not set(vault.paths(folder, ".md")) & set(beside)
    assert not {deck.path for deck in vault.decks()} & set(beside)
    assert [found["path"] for found in verify(vault, silent).conflicts] == vault.conflict_copies()
    kept = {path: (vault.root / path).read_bytes() for path in (*beside, *saved)}
    again = compiled(vault, MORNING + timedelta(days=2))
    assert {path: (vault.root / path).read_bytes() for path in beside} == {p: kept[p] for p in beside}
    assert not set(again.written) & set(beside), "no later compile takes them for pages of its own"
    for path in beside:
        (vault.root / path).unlink()
    assert not verify(vault, silent).conflicts and first.failures == []


def test_a_second_edit_of_the_day_gets_a_number_and_equal_bytes_get_no_second_copy(vault: Vault) -> None:
    lying: list[list[str]] = []
    compiled(vault)
    for _ in range(2):
        (vault.root / "raw/articles/testing.md").write_text(MORE)
        meanwhile, saved = editing(vault, lambda path: path.startswith("wiki/concepts/"))
        for path in vault.paths("wiki/concepts", ".md"):
            (vault.root / path).unlink()
        compiled(vault, MORNING + timedelta(days=1), meanwhile)
        lying.append(lying_beside(vault))
        assert saved
    assert lying[0] == lying[1], "the same bytes lie there already"
    guard = vault.guard(Scope.PUBLISHER)
    day = (MORNING + timedelta(days=1)).date()
    path = lying[0][0].replace(".conflict-2026-11-22", "")
    numbered = [guard.lay_beside(path, b"another %d\n" % n, day) for n in (1, 2)]
    stem = path.removesuffix(".md")
    assert numbered == [f"{stem}.conflict-2026-11-22-{n}.md" for n in (2, 3)]


def test_a_page_that_the_human_deleted_in_that_moment_stays_away_and_nothing_is_laid_down(vault: Vault) -> None:
    compiled(vault)
    (vault.root / "raw/articles/testing.md").write_text(MORE)
    gone: list[Path] = []

    def meanwhile(event: dict[str, Any]) -> None:
        path = vault.root / str(event.get("path", ""))
        if event["event"] == "save" and path.parent.name == "concepts" and path.exists():
            path.unlink()
            gone.append(path)

    report = compiled(vault, MORNING + timedelta(days=1), meanwhile)
    assert gone and not any(path.exists() for path in gone) and not lying_beside(vault)
    assert [d.path for d in report.notices if d.code == "edited-meanwhile"] == sorted(
        p.relative_to(vault.root).as_posix() for p in gone
    )
