"""Processes that are killed, compete or run out of room in the middle of a write; each judged from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from vault.errors import WriteFailed
from vault.files.folder import sha256_hex
from vault.files.guard import Guard, Scope
from vault.files.write_scopes import TEMP_PREFIX

CHECKOUT = Path(__file__).resolve().parents[2]
PAGE = "wiki/concepts/kv-cache.md"
LOG = "learning/reviews.jsonl"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("insights", "wiki/concepts", "learning"):
        (tmp_path / "vault" / folder).mkdir(parents=True)
    return tmp_path / "vault"


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    """A process of its own that runs `script`, with the checkout's packages and nothing of ours in memory."""
    command = [sys.executable, "-c", _COMMON + script, *(str(a) for a in arguments)]
    return subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True)


def run(script: str, *arguments: object) -> Any:
    """What `script` printed, as JSON."""
    with start(script, *arguments) as process:
        out, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    return json.loads(out)


_COMMON = """
import json, os, random, signal, sys, time
from pathlib import Path
from vault.errors import RetainError
from vault.files.folder import sha256_hex
from vault.files.guard import Guard, Scope
root, PAGE, LOG = Path(sys.argv[1]), "wiki/concepts/kv-cache.md", "learning/reviews.jsonl"
OLD, NEW = b"old words\\n" * 9000, b"new words!\\n" * 9000
def found(path):
    return (root / path).read_bytes() if (root / path).exists() else None
"""

# For each call to the operating system that a write makes: a child that dies just before it, as if by SIGKILL or a
# power cut that loses nothing; then whether the file is whole, and whether the next write and a sweep make all good.
_DIE_AT_EACH_CALL = """
CALLS = "open write fsync rename link unlink mkdir fstat stat pread read ftruncate fchmod".split()
def die_at(number):
    seen = [0]
    def wrap(real):
        def call(*args, **kwargs):
            seen[0] += 1
            if seen[0] == number:
                os._exit(9)
            return real(*args, **kwargs)
        return call
    for name in CALLS:
        setattr(os, name, wrap(getattr(os, name)))
    os.supports_dir_fd.add(os.open)

def create(): Guard(root, Scope.AGENT).write(PAGE, NEW, expect=None)
def replace(): Guard(root, Scope.AGENT).write(PAGE, NEW, expect=sha256_hex(OLD))
def append(): Guard(root, Scope.LOG).append(LOG, b"new\\n")
def remove(): Guard(root, Scope.AGENT).remove(PAGE, expect=sha256_hex(OLD))

def before(path, data):
    (root / path).unlink(missing_ok=True)
    if data is not None:
        (root / path).write_bytes(data)

report = []
for action, path, old, new in [
    (create, PAGE, None, NEW),
    (replace, PAGE, OLD, NEW),
    (append, LOG, b"old\\n", b"old\\nnew\\n"),
    (append, LOG, b"o", b"o\\nnew\\n"),
    (remove, PAGE, OLD, None),
]:
    for number in range(1, 200):
        before(path, old)
        child = os.fork()
        if child == 0:
            die_at(number)
            action()
            os._exit(0)
        died = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        after = found(path)
        whole = after in (old, new) or (path == LOG and after == b"")
        Guard(root, Scope.AGENT).sweep()
        left = [str(p) for p in root.rglob(".retain-tmp-*")]
        if after != new:
            action()
        good = found(path) == new
        report.append([action.__name__, number, died, whole and (died or after == new) and good and not left])
        if not died:
            break
print(json.dumps(report))
"""


def test_a_process_that_dies_before_any_call_leaves_old_or_new_and_nothing_in_the_way(root: Path) -> None:
    report = run(_DIE_AT_EACH_CALL, root)
    bad = [line for line in report if not line[3]]
    assert not bad, f"action, call, exit code: {bad}"
    assert sum(1 for line in report if line[2]) > 80, "the deaths are real"
    assert [line[0] for line in report if not line[2]] == ["create", "replace", "append", "append", "remove"]


# A writer is killed at a random moment, thirty times; another appends and says which lines were acknowledged.
_KILLED = """
random.seed(20261121)
(root / PAGE).write_bytes(OLD)
report = {"versions": 0, "mixed": 0, "lost": 0, "acknowledged": 0, "killed": 0, "torn": 0}
for turn in range(30):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        guard, log = Guard(root, Scope.AGENT), Guard(root, Scope.LOG)
        for number in range(10**6):
            now = guard.read(PAGE)
            guard.write(PAGE, NEW if now == OLD else OLD, expect=sha256_hex(now))
            line = b'{"turn":%d,"n":%d}\\n' % (turn, number)
            log.append(LOG, line)
            os.write(writing, line)
    os.close(writing)
    said = os.read(reading, 100)  # it is at work
    time.sleep(random.random() / 40)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    said += os.read(reading, 10**7)
    os.close(reading)
    report["killed"] += 1
    report["mixed"] += found(PAGE) not in (OLD, NEW)
    log = found(LOG) or b""
    acknowledged = said.splitlines()
    report["acknowledged"] += len(acknowledged)
    report["lost"] += len(set(acknowledged) - set(log.splitlines()))
    report["torn"] += bool(log) and not log.endswith(b"\\n")
lines = (found(LOG) or b"").splitlines()
report["double"] = len(lines) - len(set(lines))
report["unreadable"] = 0
for line in lines:
    try:
        json.loads(line)
    except ValueError:
        report["unreadable"] += 1
print(json.dumps(report))
"""


def test_kill_9_at_random_moments_mixes_no_file_and_loses_no_acknowledged_line(root: Path) -> None:
    report = run(_KILLED, root)
    assert report["killed"] == 30 and report["acknowledged"] >= 30, report
    assert report["mixed"] == report["lost"] == report["double"] == 0, report
    assert report["unreadable"] <= report["torn"], report
    Guard(root, Scope.AGENT).sweep(older_than_s=-1)
    assert not list(root.rglob(f"{TEMP_PREFIX}*"))


_APPENDER = """
import vault.files.guard
vault.files.guard._LOG_WAIT_S = 600.0  # of whole lines, not of patience with a slow disk
guard = Guard(root, Scope.LOG)
for number in range(500):
    guard.append(LOG, b'{"from":%d,"n":%d,"pad":"%s"}\\n' % (int(sys.argv[2]), number, b"x" * 200))
"""


def test_four_processes_append_five_hundred_lines_each_and_all_are_whole(root: Path) -> None:
    (root / LOG).write_bytes(b'{"torn":')
    processes = [start(_APPENDER, root, number) for number in range(4)]
    assert [process.communicate(timeout=600) and process.returncode for process in processes] == [0] * 4
    torn, *lines = (root / LOG).read_bytes().splitlines()
    assert torn == b'{"torn":'
    seen = [(event["from"], event["n"]) for event in map(json.loads, lines)]
    assert sorted(seen) == [(process, n) for process in range(4) for n in range(500)]
    for process in range(4):
        assert [n for p, n in seen if p == process] == list(range(500)), "each one's lines are in its order"


_LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
log, agent, said, words = Guard(root, Scope.LOG), Guard(root, Scope.AGENT), 0, set()
for number in range(1000):
    try:
        log.append(LOG, b'{"n":%d,"pad":"%s"}\\n' % (number, b"x" * random.randrange(50, 90)))
        said += 1
    except RetainError as error:
        words.add(str(error))
        if number > 400:
            break
try:
    agent.write(PAGE, NEW, expect=sha256_hex(OLD))
except RetainError as error:
    words.add(str(error))
print(json.dumps([said, sorted(words)]))
"""


def test_past_the_size_limit_a_line_is_refused_and_those_acknowledged_are_all_there(root: Path) -> None:
    (root / PAGE).write_bytes(b"old words\n" * 9000)
    said, words = run(_LIMITED, root)
    lines = (root / LOG).read_bytes().splitlines()
    assert len(lines) == said > 100
    assert all(json.loads(line)["n"] >= 0 for line in lines)
    limit = "not written: file size limit of this process exceeded (raise it with `ulimit -f`)"
    assert words == [f"{LOG}: {limit}", f"{PAGE}: {limit}"]
    assert (root / PAGE).read_bytes() == b"old words\n" * 9000
    assert not list(root.rglob(f"{TEMP_PREFIX}*"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Any:
    """A disk of 128 KB; mounted for real, so only where the tests may."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=128k", "none", str(disk)]
    if sys.platform != "linux" or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk needs root on Linux")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_on_a_full_disk_every_acknowledged_line_is_there_and_no_page_is_half_written(small_disk: Path) -> None:
    (small_disk / "wiki/concepts").mkdir(parents=True)
    old = os.urandom(20_000)
    (small_disk / PAGE).write_bytes(old)
    log, agent = Guard(small_disk, Scope.LOG), Guard(small_disk, Scope.AGENT)
    said = 0
    with pytest.raises(WriteFailed, match="the disk is full"):
        for said in range(5000):
            log.append(LOG, b'{"n":%d,"pad":"%s"}\n' % (said, b"x" * 900))
    lines = (small_disk / LOG).read_bytes().splitlines()
    assert [json.loads(line)["n"] for line in lines] == list(range(said)) and said > 50
    with pytest.raises(WriteFailed, match=r"kv-cache\.md: not written: the disk is full"):
        agent.write(PAGE, os.urandom(30_000), expect=sha256_hex(old))
    assert (small_disk / PAGE).read_bytes() == old
    assert not list(small_disk.rglob(f"{TEMP_PREFIX}*"))
    (small_disk / LOG).unlink()  # with room again all goes on
    assert agent.write(PAGE, b"new\n", expect=sha256_hex(old))
    log.append(LOG, b"{}\n")
