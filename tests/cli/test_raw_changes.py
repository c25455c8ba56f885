"""A burst of changes in raw/, however an editor or git makes it, is one; what a compile does not read is none."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli.build.raw_changes import bursts

QUIET_S = 0.2
TICKS = 10  # longer than the quiet time


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    folder = tmp_path / "vault/raw"
    (folder / "articles").mkdir(parents=True)
    (folder / "note.md").write_text("# Note\n")
    return folder


@pytest.fixture
def watching(raw: Path) -> Iterator[Iterator[bool]]:
    """The bursts of the vault, after the one of the start."""
    found = bursts(raw.parent, QUIET_S)
    assert next(found)
    yield found
    found.close()  # type: ignore[attr-defined]


def counted(found: Iterator[bool], ticks: int = TICKS) -> int:
    return sum(next(found) for _ in range(ticks))


def by_vim(raw: Path) -> None:
    """With its defaults: a swap file, a probe, the old file renamed to a backup, a new one written in its place."""
    (raw / ".note.md.swp").write_bytes(b"b0VIM")
    (raw / "4913").write_text("")
    (raw / "4913").unlink()
    (raw / "note.md").rename(raw / "note.md~")
    (raw / "note.md").write_text("# Note\n\nBy vim.\n")
    (raw / "note.md~").unlink()
    (raw / ".note.md.swp").unlink()


def by_rename(raw: Path) -> None:
    """As gedit, VS Code with its atomic saves, and Obsidian's sync do."""
    (raw / ".note.md.tmp").write_text("# Note\n\nWhole.\n")
    (raw / ".note.md.tmp").replace(raw / "note.md")


def by_truncation(raw: Path) -> None:
    """As Obsidian and nano do: the same file, emptied, then written in parts."""
    with (raw / "note.md").open("w") as file:
        for part in ("# No", "te\n\nIn ", "parts.\n"):
            file.write(part)
            file.flush()
            os.fsync(file.fileno())


def by_emacs(raw: Path) -> None:
    (raw / "#note.md#").write_text("# Note\n\nBy em")
    (raw / ".#note.md").symlink_to("me@here.1:2")
    shutil.copy(raw / "note.md", raw / "note.md~")
    (raw / "note.md").write_text("# Note\n\nBy emacs.\n")
    (raw / "#note.md#").unlink()
    (raw / ".#note.md").unlink()


def by_git(raw: Path) -> None:
    """A checkout of a branch with many files, in a repository below raw/."""
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-C", str(raw)]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"], ["checkout", "-qb", "two"]):
        subprocess.run([*git, *words], check=True)
    for number in range(100):
        (raw / f"articles/{number}.md").write_text(f"# {number}\n")
    for words in (["add", "."], ["commit", "-qm", "two"], ["checkout", "-q", "-"], ["checkout", "-q", "two"]):
        subprocess.run([*git, *words], check=True)


def by_moving_a_folder(raw: Path) -> None:
    (raw.parent / "elsewhere/inner").mkdir(parents=True)
    (raw.parent / "elsewhere/inner/x.md").write_text("# X\n")
    (raw.parent / "elsewhere").rename(raw / "moved-in")


def by_deleting(raw: Path) -> None:
    (raw / "note.md").unlink()


@pytest.mark.parametrize(
    "act",
    [by_vim, by_rename, by_truncation, by_emacs, by_git, by_moving_a_folder, by_deleting],
    ids=lambda f: f.__name__,
)
def test_whatever_way_a_file_is_saved_it_is_one_burst(
    raw: Path, watching: Iterator[bool], act: Callable[[Path], None]
) -> None:
    act(raw)
    assert counted(watching) == 1
    assert counted(watching) == 0


def test_files_in_a_folder_that_came_later_count_too(raw: Path, watching: Iterator[bool]) -> None:
    by_moving_a_folder(raw)
    assert counted(watching) == 1
    (raw / "moved-in/inner/x.md").write_text("# X\n\nChanged.\n")
    assert counted(watching) == 1


def test_what_a_compile_does_not_read_is_no_change(raw: Path, watching: Iterator[bool]) -> None:
    (raw / ".obsidian").mkdir()
    (raw / ".obsidian/workspace.json").write_text("{}")
    (raw / ".note.md.swp").write_text("x")
    (raw / "note.md~").write_text("x")
    (raw / "#note.md#").write_text("x")
    (raw / "node_modules").mkdir()
    (raw / "node_modules/x.md").write_text("x")
    (raw.parent / "wiki").mkdir()
    (raw.parent / "wiki/x.md").write_text("x")
    assert (raw / "note.md").read_text()  # to read is no change either
    assert counted(watching) == 0


def test_saves_that_follow_each_other_are_waited_for(raw: Path) -> None:
    found = bursts(raw.parent, 1.5)
    assert next(found)
    for number in range(3):
        (raw / "note.md").write_text(f"# Note\n\n{number} of a file that is still written.\n")
        assert not next(found)
    assert counted(found, 30) == 1


def test_what_changes_while_nobody_looks_is_seen_afterwards(raw: Path, watching: Iterator[bool]) -> None:
    """As during a compile."""
    (raw / "note.md").write_text("# Note\n\nOne.\n")
    while not next(watching):
        pass
    (raw / "note.md").write_text("# Note\n\nTwo.\n")
    assert counted(watching) == 1


def test_a_raw_folder_that_goes_and_comes_back_is_watched_again(raw: Path, watching: Iterator[bool]) -> None:
    shutil.move(raw, raw.parent / "away")
    assert counted(watching) <= 1
    raw.mkdir()
    (raw / "new.md").write_text("# New\n")
    assert counted(watching) >= 1
    (raw / "new.md").write_text("# New\n\nAgain.\n")
    assert counted(watching) == 1


def test_a_raw_folder_that_is_replaced_at_once_is_watched_again(raw: Path, watching: Iterator[bool]) -> None:
    """The new folder may have the number of the one that was removed."""
    shutil.rmtree(raw)
    raw.mkdir()
    assert counted(watching) >= 1
    (raw / "new.md").write_text("# New\n")
    assert counted(watching) == 1


def test_a_file_system_without_notifications_is_polled(raw: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "1")
    monkeypatch.setenv("WATCHFILES_POLL_DELAY_MS", "50")
    found = bursts(raw.parent, QUIET_S)
    assert next(found)
    (raw / "articles/new.md").write_text("# New\n")
    assert counted(found) == 1


def test_files_that_come_one_after_another_are_one_burst_where_they_are_polled(
    raw: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "1")
    monkeypatch.setenv("WATCHFILES_POLL_DELAY_MS", "50")
    found = bursts(raw.parent, 1.0)
    assert next(found)
    for number in range(8):
        (raw / f"{number}.md").write_text(f"# {number}\n")
        assert not next(found)
    assert counted(found, 30) == 1
    found.close()  # type: ignore[attr-defined]
