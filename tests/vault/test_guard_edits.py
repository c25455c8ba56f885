"""An edit from outside, at any moment of a write, is what stands afterwards: Obsidian, git and sync tools write too."""

from __future__ import annotations

import errno
import fcntl
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from vault.errors import EditedMeanwhile
from vault.files import replace
from vault.files.folder import sha256_hex
from vault.files.guard import Guard, Scope
from vault.files.write_scopes import TEMP_PREFIX

OLD = b"the old words\n"
NEW = b"the new words\n"
PAGE = "wiki/concepts/kv-cache.md"
Watched = Callable[[Callable[[int, str], None]], AbstractContextManager[Any]]

EDITED = b"edited by the human\n"


def _saved_beside(path: Path) -> None:
    """As Obsidian sync, git and most editors save: a file of their own takes the name."""
    other = path.with_name("other")
    other.write_bytes(EDITED)
    other.replace(path)


def _saved_in_place(path: Path) -> None:
    path.write_bytes(EDITED)


def _deleted(path: Path) -> None:
    path.unlink(missing_ok=True)


def _create(root: Path) -> None:
    Guard(root, Scope.AGENT).write(PAGE, NEW, expect=None)


def _replace(root: Path) -> None:
    Guard(root, Scope.AGENT).write(PAGE, NEW, expect=sha256_hex(OLD))


def _remove(root: Path) -> None:
    Guard(root, Scope.AGENT).remove(PAGE, expect=sha256_hex(OLD))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "vault/wiki/concepts").mkdir(parents=True)
    return tmp_path / "vault"


def _reset(root: Path, before: bytes | None) -> None:
    if before is None:
        (root / PAGE).unlink(missing_ok=True)
    else:
        (root / PAGE).write_bytes(before)


def _found(root: Path) -> bytes | None:
    return (root / PAGE).read_bytes() if (root / PAGE).exists() else None


@pytest.mark.parametrize(
    ("action", "before", "edit", "edited"),
    [
        (_create, None, _saved_beside, EDITED),
        (_create, None, _saved_in_place, EDITED),
        (_replace, OLD, _saved_beside, EDITED),
        (_replace, OLD, _saved_in_place, EDITED),
        (_replace, OLD, _deleted, None),
        (_remove, OLD, _saved_beside, EDITED),
        (_remove, OLD, _saved_in_place, EDITED),
        (_remove, OLD, _deleted, None),
    ],
)
def test_an_edit_at_any_moment_is_what_stands(
    root: Path,
    watched: Watched,
    action: Callable[[Path], None],
    before: bytes | None,
    edit: Callable[[Path], None],
    edited: bytes | None,
) -> None:
    made: list[str] = []
    _reset(root, before)
    with watched(lambda n, name: made.append(name)):
        action(root)
    outcomes = set()
    for number, name in enumerate(made, 1):
        _reset(root, before)
        done: list[int] = []

        def step(n: int, name: str, number: int = number, done: list[int] = done) -> None:
            if n >= number and not done:
                done.append(n)
                edit(root / PAGE)

        error = None
        with watched(step):
            try:
                action(root)
            except EditedMeanwhile as found:
                error = found
        where = f"an edit before call {number} ({name})"
        assert done and _found(root) == edited, f"{where} is lost; the guard said {error!r}"
        assert not list(root.rglob(f"{TEMP_PREFIX}*")), f"{where} leaves a temporary file"
        outcomes.add(error is not None)
    assert outcomes == {True, False}, "some edits came in time to be noticed, and some when all was done"


@pytest.mark.parametrize("action", [_create, _replace])
def test_without_exchange_and_links_an_edit_is_noticed_up_to_the_rename(
    root: Path, watched: Watched, monkeypatch: pytest.MonkeyPatch, action: Callable[[Path], None]
) -> None:
    """A file system that has neither (FAT, some network shares): the edit lands while the new bytes are synced."""

    def step(n: int, name: str) -> None:
        if name == "link":
            raise OSError(errno.EPERM, "Operation not permitted")
        if name == "fsync":
            _saved_beside(root / PAGE)

    _reset(root, OLD if action is _replace else None)
    with watched(step), pytest.raises(EditedMeanwhile):
        monkeypatch.setattr(replace, "rename_call", lambda: None)
        action(root)
    assert _found(root) == EDITED


def test_a_line_goes_to_the_log_that_has_the_name_now(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process holds the log; before it lets go, git (or an editor) puts a new file in its place."""
    monkeypatch.setattr("vault.files.guard._LOG_WAIT_S", 300.0)
    log = root / "learning/reviews.jsonl"
    log.parent.mkdir()
    log.write_bytes(b"old\n")
    with log.open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        thread = threading.Thread(target=Guard(root, Scope.LOG).append, args=("learning/reviews.jsonl", b"new\n"))
        thread.start()
        time.sleep(0.05)
        assert log.read_bytes() == b"old\n", "it waits"
        log.with_name("pulled").write_bytes(b"pulled\n")
        log.with_name("pulled").replace(log)
    thread.join()
    assert log.read_bytes() == b"pulled\nnew\n"


# Saves a new version of the page whenever it reads a line: how long to wait, in millionths of a second.
_EDITOR = """
import os, sys, time
path = sys.argv[1]
for number, line in enumerate(sys.stdin):
    end = time.perf_counter() + int(line) / 1e6
    while time.perf_counter() < end:
        pass
    with open(path + ".new", "wb") as file:
        file.write(b"edit %d" % number)
    os.replace(path + ".new", path)
    print(number, flush=True)
"""


def test_edits_by_another_process_at_random_moments_are_never_overwritten(
    root: Path, torture: Callable[[int, int], int], tally: Callable[[str, str], None]
) -> None:
    seed = 20261121
    random_ = random.Random(seed)
    refused, tries, span = 0, torture(1_000, 200), 1_500.0
    with subprocess.Popen(
        [sys.executable, "-I", "-c", _EDITOR, str(root / PAGE)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as editor:
        assert editor.stdin is not None and editor.stdout is not None
        for number in range(tries):
            _reset(root, OLD)
            editor.stdin.write(f"{int(random_.random() * span)}\n")
            editor.stdin.flush()
            try:
                _replace(root)
            except EditedMeanwhile:
                refused += 1
                span = min(span * 1.1, 500_000)  # too early: as slow as the disk is today, half are to land after us
            else:
                span = max(span / 1.1, 1)
            editor.stdout.readline()
            assert _found(root) == b"edit %d" % number, f"edit {number} is lost (seed {seed})"
        editor.stdin.close()
    tally("Outside edits between read and write", f"{tries:,} tries, {refused} of them in between, 0 overwritten")
    assert 0 < refused < tries, f"the edits were all early or all late: {refused} of {tries} refused"


def test_an_update_takes_an_edit_made_meanwhile_into_account(tmp_path: Path) -> None:
    path = tmp_path / PAGE
    path.parent.mkdir(parents=True)
    path.write_bytes(OLD)
    seen: list[bytes | None] = []

    def made(old: bytes | None) -> bytes:
        seen.append(old)
        if len(seen) == 1:
            _saved_beside(path)
        return (old or b"") + NEW

    assert Guard(tmp_path, Scope.AGENT).update(PAGE, made, tries=2)
    assert seen == [OLD, EDITED] and path.read_bytes() == EDITED + NEW


def test_an_update_gives_up_after_its_tries_and_leaves_what_it_is_told_to(tmp_path: Path) -> None:
    path = tmp_path / PAGE
    path.parent.mkdir(parents=True)
    path.write_bytes(OLD)

    def made(old: bytes | None) -> bytes:
        path.write_bytes((old or b"") + EDITED)
        return NEW

    guard = Guard(tmp_path, Scope.AGENT)
    with pytest.raises(EditedMeanwhile):
        guard.update(PAGE, made, tries=2)
    assert path.read_bytes() == OLD + EDITED + EDITED
    assert not guard.update(PAGE, lambda old: None)
    assert path.read_bytes() == OLD + EDITED + EDITED
