"""What must not be cut short by a signal or the exit of the program: another program that has the terminal (the user's
editor, or another `retain`), and writes of several files by a thread."""

from __future__ import annotations

import atexit
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

_THEIRS = ("SIGINT", "SIGQUIT")  # typed keys are meant for the other program
_LATER = ("SIGTERM", "SIGHUP")  # handled after the other program has ended
_PATIENCE_S = 30.0  # a disk may not answer
_writing = Lock()


@contextmanager
def lent() -> Iterator[None]:
    """Leave Ctrl-C and Ctrl-\\ to the other program, and handle signals that end this process after the block.

    The handlers do nothing; ignored signals would be inherited by the other program. An event loop's wakeup pipe is
    disconnected meanwhile.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    wakes, held = signal.set_wakeup_fd(-1), _held(came)
    try:
        yield
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
        for number in came:
            signal.raise_signal(number)


def _held(came: list[int]) -> dict[int, Any]:
    """Replace the handlers and return the old ones; ignored signals stay ignored."""
    held: dict[int, Any] = {}
    for name in (*_THEIRS, *_LATER):
        number = getattr(signal, name, None)
        handler = None if number is None else signal.getsignal(number)
        if number is not None and handler not in (None, signal.SIG_IGN):
            held[number] = handler
            signal.signal(number, (lambda n, _: came.append(n)) if name in _LATER else (lambda n, _: None))
    return held


@contextmanager
def ending_as_interrupt() -> Iterator[None]:
    """Let a request to end (SIGTERM, SIGHUP) raise KeyboardInterrupt in the block, as Ctrl-C does."""
    with _handled(_LATER, signal.default_int_handler):
        yield


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ignore Ctrl-C and requests to end in the block, which must be short."""
    with _handled((*_THEIRS, *_LATER), signal.SIG_IGN):
        yield


@contextmanager
def _handled(names: tuple[str, ...], handler: Any) -> Iterator[None]:
    """Exchange the handlers of signals that are not ignored, in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [number for name in names if (number := getattr(signal, name, None)) is not None]
    before = {n: signal.getsignal(n) for n in numbers if signal.getsignal(n) not in (None, signal.SIG_IGN)}
    for number in before:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


@contextmanager
def unbroken() -> Iterator[None]:
    """Have the exit of the program wait for the block, one thread at a time.

    A signal such as SIGKILL may still interrupt it, so the files must be valid after each single write.
    """
    with _writing:
        yield


@atexit.register
def _wait() -> None:
    _writing.acquire(timeout=_PATIENCE_S)
