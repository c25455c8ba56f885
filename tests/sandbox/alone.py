"""Attacks that need a cage of their own: something was planted, inherited, or happens when the cage is gone."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import termios
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, NoReturn

from tests.sandbox import in_sandbox
from tests.sandbox.tree import restore

if TYPE_CHECKING:
    from tests.sandbox.attacks.registry import Attack
    from tests.sandbox.judge import Court

WAIT_S = 180.0
OF_A_WORKER = ("hard link planted", "personal link planted", "late")


@dataclass(slots=True)
class Start:
    """How the command is started. `terminal` is the other end of the terminal that it has for standard input."""

    stdin: int | None = None  # /dev/null
    stdout: int | None = None
    passed: list[int] = field(default_factory=list)
    terminal: int | None = None


def one(court: Court, attack: Attack) -> dict[str, str]:
    """What came of one such attack."""
    missing = court.missing(attack)
    if missing:
        return missing
    report = court.scene.work / "report.json"
    before = court.before
    with _prepared(court, attack.alone) as start:
        court.before = court.scanner.scan()
        done = _run(court, court.command("--alone", attack.theme, attack.name, str(report)), start)
        said = _said(done, report)
        if attack.alone == "late":
            _let_it_act(court.scene.work)
        if start.terminal is not None and b"forged" in _echo(start.terminal):
            said["word"] = "the human's shell was typed into"
        if attack.name == "outlive" and (court.scene.work / "late.md").exists():
            said["word"] = "it wrote after the end"
        verdict = court.verdict(attack, said, court.settle())
    court.before = restore(court.scanner, before, court.scanner.scan())  # what was planted is gone
    return verdict


@dataclass(frozen=True, slots=True)
class _Done:
    code: int
    errors: str


def _run(court: Court, command: list[str], start: Start) -> _Done:
    """Run it in a child that takes the place of whoever would call retain, and starts as they would."""
    with TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            _become(court, command, start, errors.fileno())
        code = _ended(child)
        errors.seek(0)
        return _Done(code, errors.read().decode(errors="replace").strip())


def _become(court: Court, command: list[str], start: Start, errors: int) -> NoReturn:
    code = 70
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for stream, given in enumerate((start.stdin, start.stdout, errors)):
            os.dup2(null if given is None else given, stream)
        for handle in {int(name) for name in os.listdir("/proc/self/fd")} - {0, 1, 2, *start.passed}:
            with suppress(OSError):  # the one that listed them
                os.close(handle)
        for handle in start.passed:
            os.set_inheritable(handle, True)
        if start.terminal is not None:  # a shell's own: the leader of a session that has it
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        os.environ.clear()
        os.environ.update(court.environment())
        os.chdir(court.scene.base)
        code = in_sandbox.start(court.level, str(court.spec), command)
    except BaseException:  # noqa: BLE001 (its words are all that is left of it)
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


def _ended(child: int) -> int:
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise RuntimeError("the attack did not end")


def _said(done: _Done, report: Path) -> dict[str, Any]:
    """The report; or that nothing was started, which has to be said in words."""
    if report.exists():
        said: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        return said
    if done.code == in_sandbox.REFUSED and "refused: " in done.errors:
        return {"error": done.errors.rpartition("refused: ")[2][:300], "loot": ""}
    raise RuntimeError(f"the attack left no report (code {done.code}): {done.errors[-2000:]}")


def _let_it_act(work: Path) -> None:
    """Tell whoever waits in there that the cage is gone, and wait until nobody is left who could do anything."""
    (work / "over").write_bytes(b"")
    handle = os.open(work / "alive", os.O_RDWR)
    deadline = time.monotonic() + WAIT_S
    try:
        while time.monotonic() < deadline:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                time.sleep(0.005)
        raise RuntimeError("a daemon neither acted nor ended")
    finally:
        os.close(handle)


def _echo(terminal: int) -> bytes:
    """What the terminal has shown: it echoes what is typed."""
    os.set_blocking(terminal, False)
    shown = b""
    with suppress(OSError):
        while block := os.read(terminal, 4096):
            shown += block
    return shown


@contextmanager
def _prepared(court: Court, kind: str) -> Iterator[Start]:
    """The special way to start; what was planted or opened for it is gone at the end."""
    scene, start = court.scene, Start()
    opened: list[int] = []
    planted: list[Path] = []
    if kind == "hard link planted":
        planted.append(scene.work / "planted.md")
        os.link(scene.note, planted[0])
    elif kind == "personal link planted":
        planted.append(scene.work / "planted.md")
        os.link(scene.personal / scene.secret, planted[0])
    elif kind in ("socket in the agent's folder", "pipe in the agent's folder"):
        what = kind.split()[0]
        planted.append(scene.work / ("helper.pipe" if what == "pipe" else "helper.sock"))
        court.settle(do="plant", what=what, path=str(planted[0]))
    elif kind == "folder descriptor":
        opened.append(os.open(scene.insights, os.O_RDONLY | os.O_DIRECTORY))
        start.passed = opened[:]
    elif kind == "file descriptor":
        opened.append(os.open(scene.note, os.O_RDWR))
        start.passed = opened[:]
    elif kind == "stdin is an insight":
        opened.append(os.open(scene.note, os.O_RDWR))
        start.stdin = opened[0]
    elif kind == "stdout is an insight":
        opened.append(os.open(scene.note, os.O_RDWR | os.O_APPEND))
        start.stdout = opened[0]
    elif kind == "terminal":
        master, slave = pty.openpty()
        opened += [master, slave]
        start.stdin, start.terminal = slave, master
    else:
        assert kind == "late", kind
        planted.append(scene.work / "alive")
        planted[0].write_bytes(b"")
    try:
        yield start
    finally:
        for handle in opened:
            os.close(handle)
        for path in planted:
            path.unlink(missing_ok=True)
