"""What a process does with signals while another program has its terminal: the human's editor, or a `retain` anew."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_THEIRS = ("SIGINT", "SIGQUIT")  # what is typed is meant for the program that is in front
_LATER = ("SIGTERM", "SIGHUP")  # the end of this process, which takes what the other one leaves behind before


@contextmanager
def lent() -> Iterator[None]:
    """What is typed to stop the other program stops that one alone; what is to end this one does so afterwards.

    Handlers that do nothing, and not signals ignored: the other program would inherit that. An event loop is woken by
    signals through a pipe, which would be read afterwards: it is shut meanwhile.
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
    """Puts handlers in the place of those that are given back; what is ignored stays so."""
    held: dict[int, Any] = {}
    for name in (*_THEIRS, *_LATER):
        number = getattr(signal, name, None)
        handler = None if number is None else signal.getsignal(number)
        if number is not None and handler not in (None, signal.SIG_IGN):
            held[number] = handler
            signal.signal(number, (lambda n, _: came.append(n)) if name in _LATER else (lambda n, _: None))
    return held
