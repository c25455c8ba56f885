"""Starting the first process of a cage, waiting for it as a shell would, and giving the terminal back as it was."""

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
from vault.sandbox.init_process import ENDED, FAILED, KEYS, LENGTH, PASSED_ON, READY, STOPPED


@dataclass(slots=True)
class _News:
    """What was heard from inside."""

    ready: bool = False
    code: int | None = None
    failures: list[str] = field(default_factory=list)
    continued_ns: int = 0  # when somebody last let this process go on


def ignored() -> list[int]:
    """The signals that this process was started to ignore (by nohup, or as a job in the background)."""
    return [number for number in (*KEYS, *PASSED_ON) if signal.getsignal(number) is signal.SIG_IGN]


def inherited() -> list[int]:
    """The descriptors past standard error that whoever started this process left open to it and its children."""
    found = []
    for name in os.listdir("/dev/fd"):
        with contextlib.suppress(OSError):  # the one that listed them is closed
            if int(name) > 2 and os.get_inheritable(int(name)):
                found.append(int(name))
    return found


def run(words: Sequence[str], environment: Mapping[str, str], orders: Mapping[str, Any]) -> int:
    """Start `words`, to which the numbers of two pipes are added, and give the exit code of what was ordered.

    Meanwhile, the keys of the terminal reach the command alone, other signals are passed on to it, and where it stops,
    so does this process. Raises: Refused where the command was never started.
    """
    orders_read, orders_write = os.pipe()
    news_read, news_write = os.pipe()
    news = _News()
    with _terminal_as_it_was(), _Signals(orders_write, news) as signals:
        try:
            theirs = (orders_read, news_write)
            child = _spawn([*words, *map(str, theirs)], environment, theirs, signals.mask)
        except BaseException:
            os.close(orders_write)
            os.close(news_read)
            raise
        finally:
            os.close(orders_read)
            os.close(news_write)
        try:
            data = marshal.dumps(dict(orders))
            with contextlib.suppress(BrokenPipeError):  # it ended before it read them: its news say why
                _write_all(orders_write, len(data).to_bytes(LENGTH, "big") + data)
            signals.pass_on()
            _listen(news_read, news)
        finally:
            os.close(news_read)
            signals.hold()
            os.close(orders_write)  # whoever is left in there ends by it
            _, status = os.waitpid(child, 0)
    return _outcome(news, status)


def _outcome(news: _News, status: int) -> int:
    if not news.ready:
        why = "; ".join(news.failures) or "the cage could not be built"
        raise Refused(f"nothing was started: {why}", hint="`retain doctor` tells what works here")
    if news.code is not None:
        return news.code
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


def _listen(handle: int, news: _News) -> None:
    """Take in what is told from inside, until nobody is left who could tell."""
    rest = b""
    while block := os.read(handle, 4096):
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            _hear(line[:1], line[1:], news)


def _hear(kind: bytes, words: bytes, news: _News) -> None:
    if kind == READY:
        news.ready = True
    elif kind == FAILED:
        news.failures.append(words.decode("utf-8", "replace"))
    elif kind == ENDED:
        news.code = int(words)
    elif kind == STOPPED and int(words) > news.continued_ns:
        os.kill(os.getpid(), signal.SIGSTOP)  # the shell takes the terminal back, until `fg`


class _Signals:
    """While the command lives, keys are its own and other signals are passed on to it.

    What is started before `pass_on` ignores them all: so does bubblewrap, which would else die of them first.
    """

    def __init__(self, orders: int, news: _News) -> None:
        self._orders, self._news = orders, news
        self._main = threading.current_thread() is threading.main_thread()  # signals are the main thread's alone
        self.mask: set[signal.Signals] = set()
        self._old: dict[int, Any] = {}

    def __enter__(self) -> _Signals:
        self.mask = {signal.Signals(n) for n in signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)}
        for number in (*KEYS, *PASSED_ON) if self._main else ():
            self._old[number] = signal.signal(number, signal.SIG_IGN)
        return self

    def pass_on(self) -> None:
        """From here on; what came in the meantime as well."""
        for number in PASSED_ON if self._main else ():
            signal.signal(number, self._send)
        signal.pthread_sigmask(signal.SIG_SETMASK, self.mask)

    def hold(self) -> None:
        """What comes from here on waits for the end."""
        signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)

    def __exit__(self, *_: object) -> None:
        for number, handler in self._old.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, self.mask)

    def _send(self, number: int, _: object) -> None:
        if number == signal.SIGCONT:
            self._news.continued_ns = time.monotonic_ns()
        with contextlib.suppress(OSError):
            os.write(self._orders, bytes([number]))


def _in_front(terminal: int) -> bool:
    """Whether this process is in the foreground of that terminal; of one that isn't its own, it never is."""
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False


@contextlib.contextmanager
def _terminal_as_it_was() -> Iterator[None]:
    """Puts the modes of the terminal back, and this process in its foreground if it was there."""
    import termios

    handle = next((each for each in (0, 2, 1) if os.isatty(each)), None)
    if handle is None or not _in_front(handle):
        yield
        return
    modes = termios.tcgetattr(handle)
    try:
        yield
    finally:
        # A program that took the terminal may have left it to nobody: taking it back mustn't stop this process.
        before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        with contextlib.suppress(OSError, termios.error):
            os.tcsetpgrp(handle, os.getpgrp())
            termios.tcsetattr(handle, termios.TCSADRAIN, modes)
        signal.signal(signal.SIGTTOU, before)
