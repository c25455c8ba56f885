"""A backup that an editor keeps beside a file is no source, whatever it is called and however its name sorts."""

from __future__ import annotations

from pathlib import Path

from tests.builders import make_vault
from tests.commands import Run

ROPE = "# Rope\n\nA halyard is a rope that hoists a sail.\n"


def test_a_backup_does_not_take_the_place_of_its_file(run: Run, tmp_path: Path) -> None:
    names = ("rope.md", "rope.md~", "#rope.md#", ".rope.md.swp")
    vault = make_vault(tmp_path / "vault", {f"raw/articles/{name}": ROPE for name in names}).root
    done = run("compile", "--json", cwd=vault).json()
    assert (done["sources"]["read"], done["sources"]["recorded"], done["sources"]["copies"]) == (1, 0, 0)
    assert [path.name for path in (vault / "wiki/summaries").iterdir()] == ["rope.md"]
    (vault / "raw/articles/rope.md").write_text(ROPE + "\nA sheet is a rope that trims a sail.\n")
    again = run("compile", "--json", cwd=vault).json()
    assert again["sources"]["read"] == 1 and again["claims"]["retracted"] == 0
    found = {each["code"] for each in run("lint", "--json", cwd=vault).json()["findings"]}
    assert "not-compiled" not in found


def test_a_folder_is_added_without_the_backups_in_it(run: Run, tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault", {}).root
    (tmp_path / "notes").mkdir()
    for name in ("rope.md", "rope.md~", "#rope.md#", "#1 rope.md"):
        (tmp_path / "notes" / name).write_text(f"{ROPE}{name}\n")
    told = run("add", str(tmp_path / "notes"), cwd=vault)
    assert told.stdout.split("\n")[:2] == ["raw/articles/#1 rope.md", "raw/articles/rope.md"]
    assert "rope.md~ (an editor's backup file)" in told.stderr


def test_a_conflicted_copy_of_a_sync_program_is_no_source_no_page_and_no_deck(run: Run, tmp_path: Path) -> None:
    copies = ("rope.sync-conflict-20260101-120000-ABCDEFG.md", "rope (Anna's conflicted copy 2026-01-01).md")
    vault = make_vault(tmp_path / "vault", {"raw/articles/rope.md": ROPE}).root
    for name in copies:
        (vault / "raw/articles" / name).write_text(ROPE + "\nA sheet is a rope that trims a sail.\n")
    done = run("compile", "--json", cwd=vault).json()
    assert done["sources"]["read"] == 1
    assert {each["path"] for each in done["notices"]} == {f"raw/articles/{name}" for name in copies}
    deck = vault / "learning/flashcards/mine.md"
    for name in ("mine.md", "mine.sync-conflict-20260101-120000-ABCDEFG.md"):
        deck.with_name(name).write_text("# Mine\n\nQ: What hoists a sail?\nA: A halyard.\n")
    assert len(run("due", "--json", cwd=vault).json()["new"]) == 1
    found = run("lint", "--json", cwd=vault).json()["findings"]
    marked = {each["path"] for each in found if each["code"] == "conflicted"}
    assert {f"raw/articles/{name}" for name in copies} < marked and len(marked) == 3
    assert not [each for each in found if each["path"] in marked and each["code"] != "conflicted"]
