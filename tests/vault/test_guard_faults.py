"""Every call to the operating system fails once, or for good: the bytes are old or new, and the error has a name.

What fails here is the system, never our own code: `os` functions raise what a full, broken or read-only disk raises.
"""

from __future__ import annotations

import errno
import gc
import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from vault.errors import EditedMeanwhile, Refused, RetainError, Unreadable, WriteFailed
from vault.files import replace
from vault.files.exports import export_file
from vault.files.folder import sha256_hex
from vault.files.guard import Guard, Scope
from vault.files.write_scopes import TEMP_PREFIX
from vault.locks import lock

OLD = b"the old words\n" * 500
NEW = b"the new words\n" * 700
PAGE = "wiki/concepts/kv-cache.md"
LOG = "learning/reviews.jsonl"
ERRORS = [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EMFILE]


Watched = Callable[[Callable[[int, str], None]], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Action:
    """One thing the guard does: how the vault looks before, the call, the file it is about, and its bytes after."""

    name: str
    run: Callable[[Path], object]
    path: str
    before: bytes | None
    after: bytes | None


def _export(root: Path) -> None:
    with export_file(root / "output/deck.apkg") as path, path.open("wb") as file:
        file.write(NEW)


def _locked(root: Path) -> None:
    with lock(root, "publisher", purpose="compiling"):
        pass


def _copied(root: Path) -> None:
    Guard(root, Scope.ADD).copy_in(root.parent / "source.md", "raw/new/a.md")


ACTIONS = [
    Action("write a new file", lambda r: Guard(r, Scope.AGENT).write(PAGE, NEW, expect=None), PAGE, None, NEW),
    Action("replace a file", lambda r: Guard(r, Scope.AGENT).write(PAGE, NEW, expect=sha256_hex(OLD)), PAGE, OLD, NEW),
    Action("append to a log", lambda r: Guard(r, Scope.LOG).append(LOG, b"new\n"), LOG, b"old\n", b"old\nnew\n"),
    Action("append after a torn line", lambda r: Guard(r, Scope.LOG).append(LOG, b"new\n"), LOG, b"o", b"o\nnew\n"),
    Action("begin a log", lambda r: Guard(r, Scope.LOG).append(LOG, b"new\n"), LOG, None, b"new\n"),
    Action("remove a file", lambda r: Guard(r, Scope.AGENT).remove(PAGE, expect=sha256_hex(OLD)), PAGE, OLD, None),
    Action("copy a source in", _copied, "raw/new/a.md", None, NEW),
    Action("export a deck", _export, "output/deck.apkg", OLD, NEW),
    Action("take a lock", _locked, ".retain/locks/publisher.lock", None, b""),
]


def _fresh(tmp_path: Path, action: Action) -> Path:
    root = tmp_path / "vault"
    shutil.rmtree(root, ignore_errors=True)
    for folder in ("insights", "raw", "wiki", "output", "learning"):
        (root / folder).mkdir(parents=True)
    (tmp_path / "source.md").write_bytes(NEW)
    (root / "insights/mine.md").write_bytes(OLD)
    if action.before is not None:
        (root / action.path).parent.mkdir(parents=True, exist_ok=True)
        (root / action.path).write_bytes(action.before)
    return root


def _found(root: Path, path: str) -> bytes | None:
    return (root / path).read_bytes() if (root / path).exists() else None


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0


def _run(watched: Watched, root: Path, action: Action, before: Callable[[int, str], None]) -> RetainError | None:
    with watched(before):
        try:
            action.run(root)
        except RetainError as error:
            return error
    return None


@pytest.mark.parametrize("for_good", [False, True], ids=["once", "for good"])
@pytest.mark.parametrize("action", ACTIONS, ids=lambda a: a.name)
def test_whatever_fails_the_file_is_old_or_new_and_the_error_is_named(
    tmp_path: Path, watched: Watched, action: Action, for_good: bool
) -> None:
    made: list[str] = []
    error = _run(watched, _fresh(tmp_path, action), action, lambda n, name: made.append(name))
    assert error is None and _found(tmp_path / "vault", action.path) == action.after
    for number, failed in enumerate(made, 1):
        code = ERRORS[number % len(ERRORS)]

        def fail(n: int, name: str, number: int = number, code: int = code) -> None:
            if n == number or (for_good and n > number):
                raise OSError(code, os.strerror(code))

        root = _fresh(tmp_path, action)
        gc.collect()  # what an earlier test left is not counted
        files = _open_files()
        error = _run(watched, root, action, fail)
        _judge(root, action, error, f"{failed} (call {number}) with {errno.errorcode[code]}")
        assert _open_files() == files, f"{failed} leaks a file"
        if not for_good and failed != "unlink":
            assert not list(root.rglob(f"{TEMP_PREFIX}*")), f"{failed} leaves a temporary file"


def _judge(root: Path, action: Action, error: RetainError | None, what: str) -> None:
    found = _found(root, action.path)
    assert (root / "insights/mine.md").read_bytes() == OLD
    if action.name == "take a lock":  # what its file says is a courtesy; tests/vault/test_locks.py has the rest
        assert error is None or isinstance(error, WriteFailed), what
        return
    if error is None:
        assert found == action.after, f"{what}: said to be done, and is not"
        return
    assert isinstance(error, WriteFailed | Refused | Unreadable), f"{what}: {error!r}"
    assert error.where and error.where in (action.path, str(root / action.path), str(root.parent / "source.md")), what
    if action.path == LOG:
        unsure = "may or may not" in str(error)
        assert unsure or (found or b"") == (action.before or b""), f"{what}: refused, and yet in the log"
    else:
        assert found in (action.before, action.after), f"{what}: half written"


def test_a_line_whose_sync_failed_is_not_in_the_log_and_the_next_one_is(tmp_path: Path, watched: Watched) -> None:
    root = _fresh(tmp_path, ACTIONS[2])
    acknowledged: list[bytes] = []
    failed: list[int] = []

    def fail(n: int, name: str) -> None:
        if name == "fsync" and len(acknowledged) == 3 and not failed:
            failed.append(n)
            raise OSError(errno.EIO, "Input/output error")

    guard = Guard(root, Scope.LOG)
    with watched(fail):
        for n in range(10):
            line = b"%d\n" % n
            try:
                guard.append(LOG, line)
                acknowledged.append(line)
            except WriteFailed as error:
                assert "the disk reported an error" in str(error)
    assert len(acknowledged) == 9
    assert (root / LOG).read_bytes() == b"old\n" + b"".join(acknowledged)


def test_when_a_line_cannot_be_taken_back_that_is_said(tmp_path: Path, watched: Watched) -> None:
    root = _fresh(tmp_path, ACTIONS[2])

    def fail(n: int, name: str) -> None:
        if name in ("fsync", "ftruncate"):
            raise OSError(errno.EIO, "Input/output error")

    with watched(fail), pytest.raises(WriteFailed, match="may or may not have been saved"):
        Guard(root, Scope.LOG).append(LOG, b"new\n")


def test_short_writes_are_carried_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = _fresh(tmp_path, ACTIONS[1])
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, bytes(data)[:7]))
    Guard(root, Scope.AGENT).write(PAGE, NEW, expect=sha256_hex(OLD))
    Guard(root, Scope.LOG).append(LOG, b"a line of more than seven bytes\n")
    assert _found(root, PAGE) == NEW and _found(root, LOG) == b"a line of more than seven bytes\n"


def test_where_the_system_has_no_exchange_and_no_hard_links_files_are_still_written_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*args: object, **kwargs: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    monkeypatch.setattr(replace, "rename_call", lambda: None)
    for action in ACTIONS:
        root = _fresh(tmp_path, action)
        action.run(root)
        assert _found(root, action.path) == action.after
        assert not list(root.rglob(f"{TEMP_PREFIX}*"))
    root = _fresh(tmp_path, ACTIONS[1])
    for expect in (None, sha256_hex(NEW + b"x")):
        with pytest.raises(EditedMeanwhile):
            Guard(root, Scope.AGENT).write(PAGE, NEW, expect=expect)
    assert _found(root, PAGE) == OLD


def test_when_another_program_added_to_the_log_meanwhile_nothing_of_it_is_cut_off(
    tmp_path: Path, watched: Watched
) -> None:
    root = _fresh(tmp_path, ACTIONS[2])

    def fail(n: int, name: str) -> None:
        if name == "fsync":
            with (root / LOG).open("ab") as file:
                file.write(b"a line by a program that takes no lock\n")
            raise OSError(errno.EIO, "Input/output error")

    with watched(fail), pytest.raises(WriteFailed, match="may or may not have been saved"):
        Guard(root, Scope.LOG).append(LOG, b"new\n")
    assert (root / LOG).read_bytes() == b"old\nnew\na line by a program that takes no lock\n"


@pytest.mark.parametrize("action", ACTIONS[:8], ids=lambda a: a.name)
def test_bytes_are_on_disk_before_the_name_and_the_name_before_the_answer(
    tmp_path: Path, watched: Watched, action: Action
) -> None:
    """What a power cut may take: nothing, once the call has returned; and never the bytes without their name."""
    made: list[str] = []
    assert _run(watched, _fresh(tmp_path, action), action, lambda n, name: made.append(name)) is None
    order = "".join({"write": "w", "fsync": "s", "rename": "n", "link": "n", "exchange": "n"}.get(m, "") for m in made)
    wanted = {"append": "ws", "begin": "ws", "remove": "ns", "export": "sns"}.get(action.name.split()[0], "wsns")
    assert order.endswith(wanted), f"{action.name}: {order}"


def test_a_folder_made_on_the_way_is_on_disk_before_what_is_in_it(tmp_path: Path, watched: Watched) -> None:
    root = _fresh(tmp_path, ACTIONS[0])
    made: list[str] = []
    with watched(lambda n, name: made.append(name)):
        Guard(root, Scope.AGENT).makedirs("wiki/a/b")
    assert [m for m in made if m in ("mkdir", "fsync")] == ["mkdir", "fsync"] * 2
