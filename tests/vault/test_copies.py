"""Copies come out as they went in, or with an error that names them; a damaged database costs only what was damaged."""

from __future__ import annotations

import os
import random
import resource
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.audit import database
from vault.audit.blobs import Copies
from vault.audit.database import newest, replace_damaged
from vault.config.user import state_folder
from vault.errors import Damaged, LockHeld, RetainError, SchemaTooNew, WriteFailed
from vault.files.folder import sha256_hex

ID = "01JD0000000000000000000000"


@given(st.lists(st.binary(max_size=300) | st.binary(max_size=3).map(lambda b: b * 5_000), max_size=6))
def test_what_goes_in_comes_out_and_is_kept_once(blocks: list[bytes]) -> None:
    with Copies.open(ID) as copies:
        digests = copies.put_all(blocks)
        assert digests == [sha256_hex(block) for block in blocks]
        assert [copies.get(digest) for digest in digests] == blocks
        assert copies.put_all(blocks) == digests
        rows = copies.database.rows("SELECT count(*), count(DISTINCT sha256) FROM blob")
        assert rows[0][0] == rows[0][1]


def test_nothing_is_made_before_something_is_kept() -> None:
    with Copies.open(ID) as copies:
        assert copies.get("0" * 64) is None
        assert copies.digests() == frozenset()
    assert not state_folder(ID).exists()


def test_file_and_folder_are_for_their_owner_alone() -> None:
    mask = os.umask(0o022)
    try:
        with Copies.open(ID) as copies:
            copies.put(b"mine")
    finally:
        assert os.umask(mask) == 0o022, "the mask of the process is as it was"
    assert stat.S_IMODE(newest(ID).stat().st_mode) == 0o600
    assert stat.S_IMODE(state_folder(ID).stat().st_mode) == 0o700


def test_a_failure_in_the_middle_keeps_nothing_of_the_step() -> None:
    def blocks() -> Iterator[bytes]:
        yield b"one"
        raise KeyboardInterrupt

    with Copies.open(ID) as copies:
        copies.put(b"before")
        with pytest.raises(KeyboardInterrupt):
            copies.put_all(blocks())
        assert copies.digests() == {sha256_hex(b"before")}
        assert copies.put(b"one") == sha256_hex(b"one")


def test_a_copy_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault.audit.blobs.LARGEST", 10)
    with Copies.open(ID) as copies:
        copies.put(b"x" * 10)
        with pytest.raises(WriteFailed):
            copies.put(b"x" * 11)


def test_a_copy_whose_bytes_were_altered_is_named_and_the_others_are_well() -> None:
    with Copies.open(ID) as copies:
        bad, good = copies.put_all([b"one " * 50, b"two " * 50])
        with sqlite3.connect(newest(ID)) as other:
            other.execute("UPDATE blob SET data = ? WHERE sha256 = ?", (b"\x78\x9c nonsense", bad))
        other.close()
        with pytest.raises(Damaged, match=bad[:12]):
            copies.get(bad)
        assert copies.get(good) == b"two " * 50


def _fill(count: int = 300) -> dict[str, bytes]:
    blocks = [random.Random(n).randbytes(700) for n in range(count)]
    with Copies.open(ID) as copies:
        return dict(zip(copies.put_all(blocks), blocks, strict=True))


def _truncate(data: bytearray, seed: int) -> bytes:
    return bytes(data[: random.Random(seed).randrange(1, len(data))])


def _garble(data: bytearray, seed: int) -> bytes:
    chance = random.Random(seed)
    start = chance.randrange(len(data))
    data[start : start + 3_000] = chance.randbytes(len(data[start : start + 3_000]))
    return bytes(data)


def _head(data: bytearray, seed: int) -> bytes:
    return b"this is no database" + bytes(data[19:])


@pytest.mark.parametrize(
    ("harm", "seed"), [(_head, 0), *((harm, n) for harm in (_truncate, _garble) for n in range(4))]
)
def test_a_damaged_database_is_named_left_and_replaced_by_a_new_one(harm: object, seed: int) -> None:
    assert callable(harm)
    kept = _fill()
    path = newest(ID)
    path.write_bytes(harm(bytearray(path.read_bytes()), seed))
    harmed = path.read_bytes()
    with Copies.open(ID) as copies:
        for digest in kept:
            try:
                assert copies.get(digest) in (kept[digest], None)
            except RetainError as error:
                assert isinstance(error, Damaged)
                assert str(path) in str(error)
    old, new = replace_damaged(ID)
    assert (old, new) == (path, newest(ID)) and new.name == "copies-2.sqlite3"
    assert path.read_bytes() == harmed
    with Copies.open(ID) as copies:
        assert not copies.digests()
        assert copies.put(b"new") == sha256_hex(b"new")
        assert copies.get(sha256_hex(b"new")) == b"new"


def test_a_second_damage_takes_the_next_number() -> None:
    _fill(3)
    replace_damaged(ID)
    newest(ID).write_bytes(b"garbage " * 1_000)
    with Copies.open(ID) as copies, pytest.raises(Damaged):
        copies.put(b"x")
    assert replace_damaged(ID)[1].name == "copies-3.sqlite3"


def test_a_database_of_a_newer_retain_is_not_touched() -> None:
    _fill(1)
    with sqlite3.connect(newest(ID)) as other:
        other.execute("PRAGMA user_version = 99")
    other.close()
    before = newest(ID).read_bytes()
    with Copies.open(ID) as copies, pytest.raises(SchemaTooNew):
        copies.put(b"x")
    assert newest(ID).read_bytes() == before


def test_a_lock_that_is_held_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    _fill(1)
    monkeypatch.setattr(database, "WAIT_S", 0.0)
    other = sqlite3.connect(newest(ID), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with Copies.open(ID) as copies, pytest.raises(LockHeld):
        copies.put(b"x")
    other.execute("ROLLBACK")
    other.close()
    with Copies.open(ID) as copies:
        copies.put(b"x")


@contextmanager
def _files_no_larger_than(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_told_and_what_was_kept_stays() -> None:
    kept = _fill(20)
    size = newest(ID).stat().st_size
    with Copies.open(ID) as copies:
        with _files_no_larger_than(size + 8_192), pytest.raises(WriteFailed):
            copies.put_all(random.Random(n).randbytes(50_000) for n in range(100))
        assert copies.digests() == kept.keys()
        assert all(copies.get(digest) == data for digest, data in kept.items())
        copies.put(b"again")


_WRITER = """
import sys
from vault.audit import database
database.WAIT_S = 600.0  # of what is kept, not of patience with a slow disk
from vault.audit.blobs import Copies
with Copies.open(sys.argv[1]) as copies:
    print("ready", flush=True)
    sys.stdin.readline()
    for n in range(40):
        copies.put(f"{sys.argv[2]} {n}".encode() * 50)
        copies.put(f"shared {n}".encode() * 50)
"""


def test_several_processes_keep_at_once_from_the_very_first_byte_on() -> None:
    root = Path(__file__).resolve().parents[2]
    children = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, ID, str(n)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=root,
            text=True,
        )
        for n in range(3)
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    threads = [threading.Thread(target=child.communicate, args=("go\n", 900)) for child in children]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [child.returncode for child in children] == [0, 0, 0]
    with Copies.open(ID) as copies:
        assert len(copies.digests()) == 40 * 4
