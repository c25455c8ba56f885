"""What a compile takes for unchanged: never a file that somebody may have changed since it was read."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from compiler.build import snapshot
from compiler.build.compile import Options, compile_vault
from compiler.build.snapshot import look, steady
from compiler.model.engine_names import VERSIONS
from compiler.model.report import Report
from vault.config.notes import NoteRules
from vault.vault import Vault, open_vault

MORNING = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
ENGINE = VERSIONS["extractive"]
WATCHED = ("raw/x.md", "wiki/concepts/x.md", "learning/flashcards/x.md", "learning/gaps.md", "ledger/ids.jsonl")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path in (*WATCHED, "retain.toml", "learning/reviews.jsonl", "learning/_review.md", "insights/x.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    return tmp_path


def compiled(vault: Vault, after: Callable[[dict[str, Any]], None] = lambda event: None) -> Report:
    return compile_vault(vault, Options(), MORNING, after)


def is_remembered(vault: Vault) -> bool:
    return snapshot.last_report(vault, ENGINE) is not None


@pytest.mark.parametrize("path", [*WATCHED, "retain.toml"])
def test_any_change_to_what_a_build_reads_or_writes_shows(folder: Path, path: str) -> None:
    before = steady(folder, NoteRules())
    assert before.settled and path in before.stamps and before.size(path) == 1
    status = (folder / path).stat()
    (folder / path).write_text("y")
    os.utime(folder / path, ns=(status.st_atime_ns, status.st_mtime_ns))  # as a tool does that keeps time stamps
    after = look(folder, NoteRules())
    assert after.changed_since(before) == {path}
    assert after.text(ENGINE) != before.text(ENGINE) != before.text("extractive/0")
    (folder / path).unlink()
    if path != "retain.toml":
        assert look(folder, NoteRules()).changed_since(before) == {path}


def test_what_no_build_depends_on_does_not_show(folder: Path) -> None:
    before = steady(folder, NoteRules())
    for path in ("learning/reviews.jsonl", "learning/reviews-2025.jsonl", "learning/_review.md", "insights/x.md"):
        (folder / path).write_text("another text")
    (folder / "raw/.hidden").write_text("hidden")
    (folder / "raw/link.md").symlink_to("x.md")
    assert look(folder, NoteRules()).changed_since(before) == set()


def test_a_file_changed_this_very_moment_is_waited_for(folder: Path) -> None:
    (folder / "raw/x.md").write_text("new")
    changed = (folder / "raw/x.md").stat().st_ctime_ns
    seen = steady(folder, NoteRules())
    assert seen.settled and seen.taken_ns > changed + int(snapshot.TICK_S * 1e9)


def test_the_next_compile_sees_that_nothing_changed(vault: Vault) -> None:
    compiled(vault)
    assert is_remembered(vault)
    page = vault.root / "wiki/_index.md"
    page.write_text(page.read_text() + "\n")
    assert not is_remembered(vault)
    compiled(vault)
    assert is_remembered(vault)


def test_a_source_edited_while_a_compile_runs_is_read_by_the_next_one(vault: Vault) -> None:
    source = next((vault.root / "raw/articles").glob("*.md"))
    told = "\n\nPorridge refers to oats that were cooked in water or milk until they thicken.\n"

    def edit(event: dict[str, Any]) -> None:
        if event["event"] == "save" and event["done"] == 1:
            source.write_text(source.read_text() + told)

    compiled(vault, edit)
    assert not is_remembered(vault)
    assert compiled(vault).articles["created"] == 1
    assert (vault.root / "wiki/concepts/porridge.md").exists() and is_remembered(vault)


def test_an_article_edited_just_after_it_was_written_is_seen_by_the_next_compile(vault: Vault) -> None:
    edited: list[Path] = []

    def edit(event: dict[str, Any]) -> None:
        if event["event"] == "save" and event["done"] == event["of"]:
            article = next((vault.root / "wiki/concepts").glob("*.md"))
            article.write_text(article.read_text() + "\nMy own words.\n")
            edited.append(article)

    compiled(vault, edit)
    assert edited and not is_remembered(vault)


def test_a_decision_made_while_a_compile_runs_is_seen_by_the_next_one(vault: Vault) -> None:
    def decide(event: dict[str, Any]) -> None:
        if event["event"] == "save" and event["done"] == 1:
            with (vault.root / "ledger/decisions.jsonl").open("a") as decisions:
                decisions.write('{"v":1,"type":"authority","path":"raw/x.md","authority":2,"at":"2026-11-21"}\n')

    compiled(vault, decide)
    assert not is_remembered(vault)


def test_a_vault_copied_elsewhere_is_looked_at_anew(vault: Vault, tmp_path: Path) -> None:
    compiled(vault)
    shutil.copytree(vault.root, tmp_path / "copy")
    assert not is_remembered(open_vault(str(tmp_path / "copy"), None, tmp_path))


def test_an_index_that_another_program_changed_counts_as_none(vault: Vault) -> None:
    compiled(vault)
    index = vault.root / ".retain/wiki.sqlite3"
    index.write_bytes(index.read_bytes()[:-1] + b"x")
    assert not is_remembered(vault)
    assert compiled(vault).articles["unchanged"] > 0 and is_remembered(vault)
