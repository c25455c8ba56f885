"""What has begun is done: writes of several files that a thread makes, which nobody waits for when the program ends."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_PATIENCE_S = 30.0  # for a disk that doesn't answer

_writing = Lock()


@contextmanager
def unbroken() -> Iterator[None]:
    """The end of the program waits for what is done within, by one thread at a time; later nothing is begun any more.

    A signal that nobody can wait for may still cut it off: what is written must be right after each file, too.
    """
    with _writing:
        yield


@atexit.register
def _wait() -> None:
    _writing.acquire(timeout=_PATIENCE_S)
