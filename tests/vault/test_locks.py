"""Locks name their holder, end with their process however that ends, and hold one process at a time."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from vault.errors import LockHeld, Refused, WriteFailed
from vault.files.guard import Guard, Scope
from vault.locks import Holder, holder_of, lock

CHECKOUT = Path(__file__).resolve().parents[2]
FILE = ".retain/locks/publisher.lock"
NOON = datetime(2026, 11, 21, 12, 0, 5, tzinfo=UTC)

_HOLD = """
import sys, time
from pathlib import Path
from vault.locks import lock
with lock(Path(sys.argv[1]), "publisher", purpose="compiling"):
    print("held", flush=True)
    sys.stdin.read()  # until its parent is done, or gone
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "vault" / "insights").mkdir(parents=True)
    return tmp_path / "vault"


def hold_elsewhere(root: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(root)],
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    return process


def test_the_holder_is_named_while_the_lock_is_held_and_nobody_afterwards(root: Path) -> None:
    assert holder_of(root, "publisher") is None
    with lock(root, "publisher", purpose="compiling", now=NOON) as holder:
        assert holder == Holder(os.getpid(), os.uname().nodename, "2026-11-21T12:00:05Z", "compiling")
        assert holder_of(root, "publisher") == holder
        assert json.loads((root / FILE).read_text())["pid"] == os.getpid()
    assert holder_of(root, "publisher") is None


def test_a_second_one_is_told_who_holds_it(root: Path) -> None:
    with (
        lock(root, "publisher", purpose="compiling", now=NOON),
        pytest.raises(LockHeld) as caught,
        lock(root, "publisher", purpose="compiling"),
    ):
        raise AssertionError("two hold one lock")
    who = f"process {os.getpid()} on {os.uname().nodename}, compiling since 2026-11-21T12:00:05Z"
    head, age, tail = re.split(r"(?:, for (\d+ (?:second|minute|hour|day)s?|a moment))? (?=\(wait)", str(caught.value))
    assert head == f"{FILE}: locked by {who}" and tail == "(wait until it has finished, or end that process)"
    assert age is not None or datetime.now(UTC) < NOON, "how long, unless this machine's clock is behind"
    with lock(root, "publisher", purpose="compiling"):
        pass


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "a moment"),
        (1, "1 second"),
        (59, "59 seconds"),
        (60, "1 minute"),
        (200, "3 minutes"),
        (3_600, "1 hour"),
        (7_300, "2 hours"),
        (86_400, "1 day"),
        (864_000, "10 days"),
    ],
)
def test_how_long_a_lock_is_held_is_told_in_words(seconds: int, words: str) -> None:
    holder = Holder(12, "shelf", "2026-11-21T12:00:05Z", "compiling")
    expected = f"process 12 on shelf, compiling since 2026-11-21T12:00:05Z, for {words}"
    assert holder.description(NOON + timedelta(seconds=seconds)) == expected


@pytest.mark.parametrize(
    "since", ["", "yesterday", "2026-11-21T12:00:05", "9999-99-99T00:00:00Z", "2026-11-22T12:00:00Z"]
)
def test_an_age_that_cannot_be_told_is_left_out(since: str) -> None:
    assert Holder(12, "shelf", since, "compiling").description(NOON) == f"process 12 on shelf, compiling since {since}"


def _words_of_another(root: Path, *, minutes_ago: float, boot: str = "another", host: str = "another-machine") -> None:
    since = (datetime.now(UTC) - timedelta(minutes=minutes_ago)).isoformat(timespec="seconds")
    (root / ".retain/locks").mkdir(parents=True, exist_ok=True)
    words = {"pid": 7, "host": host, "since": since, "purpose": "compiling", "started": f"{boot} 1"}
    (root / FILE).write_text(json.dumps(words))


@pytest.mark.parametrize("boot", ["another", ""])
def test_another_machine_that_shares_the_folder_but_no_lock_is_believed_for_a_while(root: Path, boot: str) -> None:
    _words_of_another(root, minutes_ago=3, boot=boot)
    before = (root / FILE).read_bytes()
    with pytest.raises(LockHeld) as caught, lock(root, "publisher", purpose="compiling"):
        pass
    assert "locked by process 7 on another-machine, compiling since" in str(caught.value)
    assert ", for 3 minutes (locked by another machine; expires after 10 minutes" in str(caught.value)
    assert (root / FILE).read_bytes() == before


def test_words_of_another_machine_are_never_believed_for_ever(root: Path) -> None:
    for minutes in (11, 60, 10**6):
        _words_of_another(root, minutes_ago=minutes)
        with lock(root, "publisher", purpose="compiling") as holder:
            assert holder_of(root, "publisher") == holder


def test_status_names_another_machine_as_long_as_it_is_believed(root: Path) -> None:
    _words_of_another(root, minutes_ago=3)
    named = holder_of(root, "publisher")
    assert named is not None and named.host == "another-machine"
    _words_of_another(root, minutes_ago=11)
    assert holder_of(root, "publisher") is None


def test_words_from_the_future_or_of_this_very_machine_stop_nobody(root: Path) -> None:
    """A clock that runs ahead must not lock for ever; a container that was killed is this machine by its boot."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    own = boot.read_text().strip() if boot.exists() else ""
    given = [(-60.0, "another", "another-machine"), (1.0, "before the restart", os.uname().nodename)]
    for minutes, boot_, host in [*given, *([(1.0, own, "a-container")] if own else [])]:
        _words_of_another(root, minutes_ago=minutes, boot=boot_, host=host)
        with lock(root, "publisher", purpose="compiling") as holder:
            assert holder.pid == os.getpid()


def test_whoever_waits_is_told_once_for_whom(root: Path) -> None:
    told: list[str] = []
    process = hold_elsewhere(root)

    def waiting(words: str) -> None:
        told.append(words)
        process.send_signal(signal.SIGKILL)

    try:
        with lock(root, "publisher", purpose="compiling", timeout_s=60, waiting=waiting) as holder:
            assert holder.pid == os.getpid()
    finally:
        process.kill()
        process.communicate()
    assert len(told) == 1 and told[0].startswith(
        f"waiting for process {process.pid} on {os.uname().nodename}, compiling"
    )


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL])
def test_on_a_disk_without_locks_nothing_is_written_and_that_is_said(
    root: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def no_locks(handle: int, operation: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    said = "this file system does not support locks"
    with pytest.raises(WriteFailed, match=said), lock(root, "publisher", purpose="compiling", timeout_s=60):
        pass
    (root / "learning").mkdir()
    with pytest.raises(WriteFailed, match=said):
        Guard(root, Scope.LOG).append("learning/reviews.jsonl", b"{}\n")
    assert (root / "learning/reviews.jsonl").read_bytes() == b""


def test_locks_of_different_names_do_not_meet(root: Path) -> None:
    with lock(root, "publisher", purpose="compiling"), lock(root, "review", purpose="reviewing"):
        assert holder_of(root, "review") != holder_of(root, "publisher")


def test_a_lock_ends_with_its_process_even_by_kill_9(root: Path) -> None:
    process = hold_elsewhere(root)
    try:
        told = pytest.raises(LockHeld, match=f"process {process.pid} on .*, compiling since 20")
        with told, lock(root, "publisher", purpose="compiling"):
            pass
        named = holder_of(root, "publisher")
        assert named is not None and named.pid == process.pid
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert f'"pid": {process.pid}' in (root / FILE).read_text(), "its words are still there"
    assert holder_of(root, "publisher") is None, "and mean nothing without the lock"
    with lock(root, "publisher", purpose="compiling") as holder:
        assert holder.pid == os.getpid()


@pytest.mark.parametrize(
    "words", ["", "{", '{"pid": "x"}', "[]", '{"pid": 1}', "\x00" * 100, '{"pid": 1e400}', "[" * 10**5]
)
def test_words_without_a_lock_and_words_that_are_not_ours_stop_nobody(root: Path, words: str) -> None:
    (root / ".retain/locks").mkdir(parents=True)
    (root / FILE).write_text(words)
    assert holder_of(root, "publisher") is None
    with lock(root, "publisher", purpose="compiling") as holder:
        assert holder_of(root, "publisher") == holder
        (root / FILE).write_text(words)
        with pytest.raises(LockHeld, match="locked by another process"), lock(root, "publisher", purpose="x"):
            pass


def test_a_holders_words_cannot_drive_the_terminal(root: Path) -> None:
    with lock(root, "publisher", purpose="compiling"):
        words = {"pid": os.getpid(), "host": "\x1b]0;owned\x07", "since": "a\nb", "purpose": "\u202egnihsif"}
        (root / FILE).write_text(json.dumps(words))
        with pytest.raises(LockHeld) as caught, lock(root, "publisher", purpose="compiling"):
            pass
    assert not set("\x1b\x07\n\u202e") & set(str(caught.value))


def test_waiting_gets_the_lock_once_it_is_free(root: Path) -> None:
    free = threading.Event()

    def hold() -> None:
        with lock(root, "publisher", purpose="compiling"):
            held.set()
            free.wait(60)

    held = threading.Event()
    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(60)
    began = time.monotonic()
    with pytest.raises(LockHeld), lock(root, "publisher", purpose="compiling", timeout_s=0.15):
        pass
    assert time.monotonic() - began >= 0.15
    threading.Timer(0.1, free.set).start()
    with lock(root, "publisher", purpose="compiling", timeout_s=60):
        assert free.is_set()
    thread.join()


def test_the_lock_is_there_again_when_its_folder_was_deleted(root: Path) -> None:
    for _ in range(2):
        with lock(root, "publisher", purpose="compiling"):
            assert (root / FILE).exists()
            shutil.rmtree(root / ".retain")
        with (
            lock(root, "publisher", purpose="compiling"),
            pytest.raises(LockHeld),
            lock(root, "publisher", purpose="compiling"),
        ):
            pass


def test_a_lock_file_that_is_a_note_of_the_humans_by_a_hard_link_is_not_written(root: Path) -> None:
    (root / "insights/mine.md").write_bytes(b"my own thought\n")
    (root / ".retain/locks").mkdir(parents=True)
    os.link(root / "insights/mine.md", root / FILE)
    with lock(root, "publisher", purpose="compiling") as holder:
        assert holder_of(root, "publisher") == holder
    assert (root / "insights/mine.md").read_bytes() == b"my own thought\n"


@pytest.mark.parametrize("place", [".retain", ".retain/locks", FILE])
def test_no_lock_is_made_through_a_link(root: Path, place: str) -> None:
    (root / "insights/mine.md").write_bytes(b"my own thought\n")
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    (root / place).symlink_to(root / ("insights/mine.md" if place == FILE else "insights"))
    with pytest.raises(Refused, match="link"), lock(root, "publisher", purpose="compiling"):
        pass
    assert [p.name for p in (root / "insights").iterdir()] == ["mine.md"]
    assert (root / "insights/mine.md").read_bytes() == b"my own thought\n"


@pytest.mark.parametrize("name", ["", "../x", "a/b", "A", "a b", "x.lock", "é"])
def test_a_lock_has_a_plain_name(root: Path, name: str) -> None:
    with pytest.raises(Refused), lock(root, name, purpose="compiling"):
        pass


_COUNT = """
import sys
from pathlib import Path
from vault.locks import lock
root = Path(sys.argv[1])
for _ in range(25):
    with lock(root, "publisher", purpose="counting", timeout_s=600):
        number = int((root / "count").read_text())
        (root / "count").write_text(str(number + 1))
"""


def test_of_many_processes_one_at_a_time_has_the_lock(root: Path) -> None:
    (root / "count").write_text("0")
    processes = [subprocess.Popen([sys.executable, "-c", _COUNT, str(root)], cwd=CHECKOUT) for _ in range(4)]
    assert [process.wait(600) for process in processes] == [0] * 4
    assert (root / "count").read_text() == "100"


def test_taking_a_lock_loads_nothing_heavy(root: Path) -> None:
    script = "import sys, vault.locks, vault.files.guard; print(sorted({'filelock', 'ctypes', 'asyncio'} & set(sys.modules)))"  # noqa: E501
    out = subprocess.run([sys.executable, "-c", script], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert out.stdout == "[]\n"
