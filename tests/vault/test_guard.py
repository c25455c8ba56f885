"""The guard at work: writing, appending, removing, copying in, exporting, cleaning up."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vault.errors import EditedMeanwhile, Refused, Unreadable, WriteFailed
from vault.files.folder import sha256_hex
from vault.files.guard import Guard, Scope
from vault.files.write_scopes import TEMP_PREFIX

OLD = b"the old words\n"
NEW = b"the new words\n"
PAGE = "wiki/concepts/kv-cache.md"
LOG = "learning/reviews.jsonl"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault with something of the human's in each of the human's folders."""
    vault = tmp_path / "vault"
    for folder in ("insights", "raw/articles", "wiki/concepts", "output", "learning/flashcards", "ledger"):
        (vault / folder).mkdir(parents=True)
    (vault / "retain.toml").write_text("[vault]\n")
    (vault / "insights" / "mine.md").write_bytes(b"my own thought\n")
    (vault / "raw" / "articles" / "a.md").write_bytes(b"a source\n")
    return vault


@pytest.fixture
def guard(root: Path) -> Guard:
    return Guard(root, Scope.PUBLISHER)


Watched = Callable[[Callable[[int, str], None]], AbstractContextManager[Any]]


def leftovers(root: Path) -> list[str]:
    return [p.name for p in root.rglob(f"{TEMP_PREFIX}*")]


def test_a_new_file_is_written_with_its_folders_and_the_usual_mode(guard: Guard, root: Path) -> None:
    previous = os.umask(0o027)
    try:
        assert guard.write("wiki/topics/deep/a.md", NEW, expect=None)
    finally:
        os.umask(previous)
    path = root / "wiki/topics/deep/a.md"
    assert path.read_bytes() == NEW
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert path.stat().st_nlink == 1
    assert not leftovers(root)


def test_a_file_is_replaced_when_it_is_what_was_read(guard: Guard, root: Path) -> None:
    (root / PAGE).write_bytes(OLD)
    assert guard.write(PAGE, NEW, expect=sha256_hex(OLD))
    assert guard.read(PAGE) == NEW
    assert not leftovers(root)


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o755])
def test_replacing_keeps_the_mode(guard: Guard, root: Path, mode: int) -> None:
    (root / PAGE).write_bytes(OLD)
    (root / PAGE).chmod(mode)
    guard.write(PAGE, NEW, expect=sha256_hex(OLD))
    assert stat.S_IMODE((root / PAGE).stat().st_mode) == mode


def test_replacing_keeps_the_owner(guard: Guard, root: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives files to others, and may take them by mistake")
    (root / PAGE).write_bytes(OLD)
    os.chown(root / PAGE, 1234, 4321)
    guard.write(PAGE, NEW, expect=sha256_hex(OLD))
    assert ((root / PAGE).stat().st_uid, (root / PAGE).stat().st_gid) == (1234, 4321)


def test_equal_bytes_are_not_written_again(guard: Guard, root: Path) -> None:
    (root / PAGE).write_bytes(NEW)
    before = (root / PAGE).stat()
    assert guard.write(PAGE, NEW, expect=None) is False
    assert guard.write(PAGE, NEW, expect="0" * 64) is False
    after = (root / PAGE).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.parametrize("expect", [None, sha256_hex(OLD)])
def test_what_was_edited_meanwhile_stays(guard: Guard, root: Path, expect: str | None) -> None:
    (root / PAGE).write_bytes(b"edited by hand\n")
    with pytest.raises(EditedMeanwhile, match="kv-cache"):
        guard.write(PAGE, NEW, expect=expect)
    assert (root / PAGE).read_bytes() == b"edited by hand\n"
    assert not leftovers(root)


def test_what_was_deleted_meanwhile_is_not_brought_back(guard: Guard, root: Path) -> None:
    with pytest.raises(EditedMeanwhile):
        guard.write(PAGE, NEW, expect=sha256_hex(OLD))
    with pytest.raises(EditedMeanwhile):
        guard.write("wiki/gone/a.md", NEW, expect=sha256_hex(OLD))
    assert not (root / PAGE).exists() and not (root / "wiki/gone").exists()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(st.lists(st.binary(max_size=200), min_size=1, max_size=5))
def test_what_was_written_is_what_is_read(guard: Guard, versions: list[bytes]) -> None:
    for data in versions:
        old = guard.read(PAGE)
        assert guard.write(PAGE, data, expect=sha256_hex(old) if old is not None else None) is (old != data)
        assert guard.read(PAGE) == data


def test_a_hard_link_is_broken_not_written_through(guard: Guard, root: Path) -> None:
    os.link(root / "insights/mine.md", root / PAGE)
    assert guard.write(PAGE, NEW, expect=sha256_hex(b"my own thought\n"))
    assert (root / "insights/mine.md").read_bytes() == b"my own thought\n"
    assert (root / PAGE).read_bytes() == NEW


def test_the_vault_may_be_reached_by_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    assert Guard(tmp_path / "link", Scope.AGENT).write(PAGE, NEW, expect=None)
    assert (root / PAGE).read_bytes() == NEW
    assert (tmp_path / "link").is_symlink()


def test_a_vault_that_was_exchanged_for_another_folder_is_noticed(guard: Guard, root: Path) -> None:
    assert guard.read("retain.toml")
    root.rename(root.with_name("moved"))
    root.mkdir()
    with pytest.raises(Refused, match="the vault's folder was replaced"):
        guard.write(PAGE, NEW, expect=None)
    assert list(root.iterdir()) == []


def test_adding_and_making_a_vault_never_replace(root: Path) -> None:
    for scope, path, old in [
        (Scope.ADD, "raw/articles/a.md", b"a source\n"),
        (Scope.INIT, "retain.toml", b"[vault]\n"),
    ]:
        guard = Guard(root, scope)
        with pytest.raises(Refused):
            guard.write(path, NEW, expect=sha256_hex(old))
        with pytest.raises(EditedMeanwhile):
            guard.write(path, NEW, expect=None)
        with pytest.raises(Refused):
            guard.remove(path, expect=sha256_hex(old))
        with pytest.raises(Refused):
            guard.append("raw/articles/data.jsonl", b"{}\n")
        assert (root / path).read_bytes() == old
    assert not (root / "raw/articles/data.jsonl").exists()


def test_a_vault_is_made_where_no_folder_was(tmp_path: Path) -> None:
    guard = Guard(tmp_path / "new" / "vault", Scope.INIT)
    guard.makedirs("raw/articles")
    guard.makedirs("insights")
    assert guard.write("retain.toml", NEW, expect=None)
    assert (tmp_path / "new/vault/retain.toml").read_bytes() == NEW
    assert (tmp_path / "new/vault/insights").is_dir()


@pytest.mark.parametrize("scope", [Scope.AGENT, Scope.PUBLISHER, Scope.LOG, Scope.ADD])
def test_no_other_command_makes_a_vault(tmp_path: Path, scope: Scope) -> None:
    place = {Scope.LOG: LOG, Scope.ADD: "raw/a.md"}.get(scope, PAGE)
    with pytest.raises(Refused):
        Guard(tmp_path / "nothing", scope).write(place, NEW, expect=None)
    assert not (tmp_path / "nothing").exists()


def test_removing_takes_the_file_only_as_it_was_read(guard: Guard, root: Path) -> None:
    (root / PAGE).write_bytes(OLD)
    with pytest.raises(EditedMeanwhile):
        guard.remove(PAGE, expect=sha256_hex(NEW))
    assert (root / PAGE).read_bytes() == OLD
    guard.remove(PAGE, expect=sha256_hex(OLD))
    assert not (root / PAGE).exists()
    with pytest.raises(EditedMeanwhile):
        guard.remove(PAGE, expect=sha256_hex(OLD))
    assert not leftovers(root)


@pytest.mark.parametrize(("scope", "path"), [(Scope.LOG, LOG), (Scope.PUBLISHER, "ledger/ids.jsonl")])
def test_logs_only_grow(root: Path, scope: Scope, path: str) -> None:
    guard = Guard(root, scope)
    guard.append(path, b"one\n")
    guard.append(path, b"two\nthree\n")
    digest = sha256_hex(b"one\ntwo\nthree\n")
    with pytest.raises(Refused):
        guard.write(path, b"", expect=digest)
    with pytest.raises(Refused):
        guard.remove(path, expect=digest)
    assert (root / path).read_bytes() == b"one\ntwo\nthree\n"


@pytest.mark.parametrize("torn", [b'{"v":1,"id', b"x", b"\xff\xfe", b"one\r\ntwo\r"])
def test_appending_ends_a_torn_line_first(root: Path, torn: bytes) -> None:
    (root / LOG).write_bytes(b"whole\n" + torn)
    Guard(root, Scope.LOG).append(LOG, b"next\n")
    assert (root / LOG).read_bytes() == b"whole\n" + torn + b"\nnext\n"


def test_only_whole_lines_are_appended_and_only_to_logs(root: Path) -> None:
    guard = Guard(root, Scope.LOG)
    for path, lines in [(LOG, b""), (LOG, b"half"), ("learning/gaps.md", b"line\n")]:
        with pytest.raises(Refused):
            guard.append(path, lines)
    assert not (root / LOG).exists()


def test_a_log_that_is_also_something_else_gets_a_file_of_its_own(root: Path) -> None:
    (root / "insights/mine.md").chmod(0o600)
    os.link(root / "insights/mine.md", root / LOG)
    Guard(root, Scope.LOG).append(LOG, b"line\n")
    assert (root / "insights/mine.md").read_bytes() == b"my own thought\n"
    assert (root / LOG).read_bytes() == b"my own thought\nline\n"
    assert stat.S_IMODE((root / LOG).stat().st_mode) == 0o600


def test_the_humans_file_is_copied_in_under_its_own_name(root: Path, tmp_path: Path) -> None:
    data = os.urandom(3_000_000)
    source = tmp_path / "#hash [brackets] | pipe.md"
    source.write_bytes(data)
    link = tmp_path / "by a link.md"
    link.symlink_to(source)
    guard = Guard(root, Scope.ADD)
    assert guard.copy_in(source, "raw/articles/#hash [brackets] | pipe.md") == sha256_hex(data)
    assert guard.copy_in(link, "raw/new folder/by a link.md") == sha256_hex(data)
    assert (root / "raw/articles/#hash [brackets] | pipe.md").read_bytes() == data
    assert not (root / "raw/new folder/by a link.md").is_symlink()
    assert not leftovers(root)


def test_copying_in_never_replaces_a_source(root: Path, tmp_path: Path) -> None:
    source = tmp_path / "a.md"
    source.write_bytes(b"another source\n")
    guard = Guard(root, Scope.ADD)
    with pytest.raises(Refused, match="another file has that name"):
        guard.copy_in(source, "raw/articles/a.md")
    source.write_bytes(b"a source\n")
    assert guard.copy_in(source, "raw/articles/a.md") == sha256_hex(b"a source\n")
    assert (root / "raw/articles/a.md").read_bytes() == b"a source\n"
    assert not leftovers(root)


def test_a_source_that_changes_while_it_is_copied_is_not_taken(root: Path, tmp_path: Path, watched: Watched) -> None:
    source = tmp_path / "a.md"
    source.write_bytes(b"the first half")

    def step(n: int, name: str) -> None:
        if name == "write":
            with source.open("ab") as file:
                file.write(b" and more")

    with watched(step), pytest.raises(EditedMeanwhile, match="changed while it was being read"):
        Guard(root, Scope.ADD).copy_in(source, "raw/new.md")
    assert not (root / "raw/new.md").exists() and not leftovers(root)


def test_what_is_no_file_is_not_copied_in(root: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for source in ("pipe", "missing", "."):
        with pytest.raises(Unreadable):
            Guard(root, Scope.ADD).copy_in(tmp_path / source, "raw/x.md")
    assert not (root / "raw/x.md").exists() and not leftovers(root)


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "folder"])
def test_only_regular_files_are_read_or_written(root: Path, kind: str) -> None:
    for path in (PAGE, LOG):
        place = root / path
        if kind == "link":
            place.symlink_to(root / "insights/mine.md")
        elif kind == "dangling":
            place.symlink_to(root / "insights/new.md")
        elif kind == "pipe":
            os.mkfifo(place)
        else:
            place.mkdir()
    guard = Guard(root, Scope.PUBLISHER)
    for expect in (None, sha256_hex(b"my own thought\n")):
        with pytest.raises(Refused):
            guard.write(PAGE, NEW, expect=expect)
    with pytest.raises(Refused):
        guard.remove(PAGE, expect=sha256_hex(b"my own thought\n"))
    with pytest.raises(Refused):
        guard.read(PAGE)
    with pytest.raises(Refused):
        Guard(root, Scope.LOG).append(LOG, b"line\n")
    assert (root / "insights/mine.md").read_bytes() == b"my own thought\n"
    assert not (root / "insights/new.md").exists()
    assert not leftovers(root)


def test_a_file_where_a_folder_should_be_is_named(guard: Guard, root: Path) -> None:
    (root / "wiki/topics").write_bytes(b"")
    with pytest.raises(Refused, match=r"wiki/topics/a\.md: a file exists where a folder is needed"):
        guard.write("wiki/topics/a.md", NEW, expect=None)


def test_what_a_killed_process_left_is_swept_and_nothing_else(root: Path) -> None:
    for folder in ("wiki/concepts", "ledger", "learning", "insights", "raw"):
        (root / folder / f"{TEMP_PREFIX}0123456789abcdef").write_bytes(b"half")
    (root / "wiki/concepts/young.md").write_bytes(b"")
    (root / "wiki" / f"{TEMP_PREFIX}folder").mkdir()
    (root / "output/sub").mkdir()
    (root / "output/sub" / f"{TEMP_PREFIX}0123456789abcdef").write_bytes(b"half")
    for name in ("0", "9", "a", "z"):
        (root / "output" / name).symlink_to(root / "insights")
    guard = Guard(root, Scope.PUBLISHER)
    with (root / "ledger" / f"{TEMP_PREFIX}fedcba9876543210").open("wb") as at_work:
        fcntl.flock(at_work, fcntl.LOCK_EX)
        found = guard.sweep()
        assert (root / "ledger" / f"{TEMP_PREFIX}fedcba9876543210").exists()
    assert guard.sweep() == [f"ledger/{TEMP_PREFIX}fedcba9876543210"]
    assert found == [
        f"{folder}/{TEMP_PREFIX}0123456789abcdef" for folder in ("learning", "ledger", "output/sub", "wiki/concepts")
    ]
    assert len(leftovers(root / "insights")) == len(leftovers(root / "raw")) == 1
    assert (root / "wiki/concepts/young.md").exists()


def test_on_a_disk_without_locks_the_age_of_a_leftover_counts_from_its_last_change(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_lock(handle: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_lock)
    left = root / "wiki" / f"{TEMP_PREFIX}0123456789abcdef"
    left.write_bytes(b"half")
    os.utime(left, (0, 0))
    guard = Guard(root, Scope.AGENT)
    assert guard.sweep(older_than_s=60) == []
    time.sleep(0.02)
    assert guard.sweep(older_than_s=0.01) == [f"wiki/{left.name}"]


def test_errors_are_in_words_and_name_the_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(WriteFailed) as caught:
        Guard(root, Scope.PUBLISHER).write(PAGE, NEW, expect=None)
    assert str(caught.value) == (
        "wiki/concepts/kv-cache.md: not written: the disk is full (free some disk space, then try again)"
    )
    assert not (root / PAGE).exists() and not leftovers(root)


def test_where_links_cannot_be_kept_out_nothing_is_opened(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "supports_dir_fd", set())
    with pytest.raises(Refused, match="WSL2"):
        Guard(root, Scope.AGENT)


@pytest.mark.parametrize("scope", [Scope.INSIGHT, Scope.PERSONAL])
def test_a_hand_that_only_adds_takes_back_only_what_it_has_just_laid_there_unchanged(root: Path, scope: Scope) -> None:
    (root / "insights").mkdir(exist_ok=True)
    theirs, ours, edited = ("insights/theirs.md", "insights/ours.md", "insights/edited.md")
    (root / theirs).write_bytes(NEW)
    guard = Guard(root, scope)
    guard.write(ours, NEW, expect=None)
    guard.write(edited, NEW, expect=None)
    (root / edited).write_bytes(OLD)
    assert not guard.write(theirs, NEW, expect=None)
    for path, digest in ((theirs, sha256_hex(NEW)), (edited, sha256_hex(NEW)), (edited, sha256_hex(OLD))):
        with pytest.raises(Refused):
            guard.remove(path, expect=digest)
    with pytest.raises(Refused):
        Guard(root, scope).remove(ours, expect=sha256_hex(NEW))
    guard.remove(ours, expect=sha256_hex(NEW))
    assert (root / theirs).read_bytes() == NEW
    assert not (root / ours).exists() and (root / edited).read_bytes() == OLD
