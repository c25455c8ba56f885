"""Starts the first process of a sandbox, waits for it as a shell would, and restores the terminal."""

from __future__ import annotations

import contextlib
import marshal
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vault.errors import Refused
from vault.sandbox.init_process import ENDED, FAILED, FORWARDED, KEYS, LENGTH, READY, STOPPED


@dataclass(slots=True)
class _Report:
    """What the first process has reported so far."""

    ready: bool = False
    code: int | None = None
    failures: list[str] = field(default_factory=list)
    continued_ns: int = 0  # when this process was last continued (SIGCONT)


def ignored() -> list[int]:
    """Return the signals that this process ignores since its start (by nohup, or as a background job)."""
    return [number for number in (*KEYS, *FORWARDED) if signal.getsignal(number) is signal.SIG_IGN]


def inherited() -> list[int]:
    """Return the inheritable descriptors above standard error that this process was started with."""
    found = []
    for name in os.listdir("/dev/fd"):
        with contextlib.suppress(OSError):  # the one that listed them is closed
            if int(name) > 2 and os.get_inheritable(int(name)):
                found.append(int(name))
    return found


def run(words: Sequence[str], environment: Mapping[str, str], config: Mapping[str, Any]) -> int:
    """Start `words` with the numbers of two pipes added, and return the exit code of the command in `config`.

    Meanwhile terminal keys reach the command alone, other signals are forwarded to it, and where it stops, so does
    this process. Raises: Refused where the command was never started.
    """
    control_read, control_write = os.pipe()
    status_read, status_write = os.pipe()
    report = _Report()
    with _restored_terminal(), _Signals(control_write, report) as signals:
        try:
            theirs = (control_read, status_write)
            child = _spawn([*words, *map(str, theirs)], environment, theirs, signals.mask)
        except BaseException:
            os.close(control_write)
            os.close(status_read)
            raise
        finally:
            os.close(control_read)
            os.close(status_write)
        try:
            data = marshal.dumps(dict(config))
            with contextlib.suppress(BrokenPipeError):  # it ended before it read them: its report say why
                _write_all(control_write, len(data).to_bytes(LENGTH, "big") + data)
            signals.forward()
            _listen(status_read, report)
        finally:
            os.close(status_read)
            signals.hold()
            os.close(control_write)  # its end terminates what is left in the sandbox
            _, status = os.waitpid(child, 0)
    return _outcome(report, status)


def _outcome(report: _Report, status: int) -> int:
    if not report.ready:
        why = "; ".join(report.failures) or "the sandbox could not be set up"
        raise Refused(f"nothing was started: {why}", hint="`retain doctor` shows what works here")
    if report.code is not None:
        return report.code
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def _spawn(words: list[str], environment: Mapping[str, str], passed: Sequence[int], mask: set[signal.Signals]) -> int:
    actions = [(os.POSIX_SPAWN_CLOSE, each) for each in inherited()]
    for handle in passed:
        os.set_inheritable(handle, True)
    try:
        return os.posix_spawn(words[0], words, environment, file_actions=actions, setsigmask=mask)
    except OSError as error:
        raise Refused(f"cannot be started: {error.strerror}", where=words[0]) from error


def _write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


def _listen(handle: int, report: _Report) -> None:
    """Read the reports from inside until the pipe is closed."""
    rest = b""
    while block := os.read(handle, 4096):
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            _handle(line[:1], line[1:], report)


def _handle(kind: bytes, words: bytes, report: _Report) -> None:
    if kind == READY:
        report.ready = True
    elif kind == FAILED:
        report.failures.append(words.decode("utf-8", "replace"))
    elif kind == ENDED:
        report.code = int(words)
    elif kind == STOPPED and int(words) > report.continued_ns:
        os.kill(os.getpid(), signal.SIGSTOP)  # the shell takes the terminal back, until `fg`


class _Signals:
    """While the command runs, terminal keys are left to it and other signals are forwarded.

    What is started before `forward` ignores them all: so does bubblewrap, which would otherwise die of them first.
    """

    def __init__(self, control_fd: int, report: _Report) -> None:
        self._control_fd, self._report = control_fd, report
        self._main = threading.current_thread() is threading.main_thread()  # signals are the main thread's alone
        self.mask: set[signal.Signals] = set()
        self._old: dict[int, Any] = {}

    def __enter__(self) -> _Signals:
        self.mask = {signal.Signals(n) for n in signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)}
        for number in (*KEYS, *FORWARDED) if self._main else ():
            self._old[number] = signal.signal(number, signal.SIG_IGN)
        return self

    def forward(self) -> None:
        """Forward signals from now on, and those that arrived in the meantime."""
        for number in FORWARDED if self._main else ():
            signal.signal(number, self._send)
        signal.pthread_sigmask(signal.SIG_SETMASK, self.mask)

    def hold(self) -> None:
        """Block signals until the end."""
        signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)

    def __exit__(self, *_: object) -> None:
        for number, handler in self._old.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, self.mask)

    def _send(self, number: int, _: object) -> None:
        if number == signal.SIGCONT:
            self._report.continued_ns = time.monotonic_ns()
        with contextlib.suppress(OSError):
            os.write(self._control_fd, bytes([number]))


def _in_front(terminal: int) -> bool:
    """Return whether this process is in the foreground of its own terminal."""
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False


@contextlib.contextmanager
def _restored_terminal() -> Iterator[None]:
    """Restore the terminal's modes and foreground process group at the end."""
    import termios

    handle = next((each for each in (0, 2, 1) if os.isatty(each)), None)
    if handle is None or not _in_front(handle):
        yield
        return
    modes = termios.tcgetattr(handle)
    try:
        yield
    finally:
        # A program may have left the terminal without a foreground group: taking it back must not stop this process.
        before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        with contextlib.suppress(OSError, termios.error):
            os.tcsetpgrp(handle, os.getpgrp())
            termios.tcsetattr(handle, termios.TCSADRAIN, modes)
        signal.signal(signal.SIGTTOU, before)
