"""Writes of several files by a thread, which are finished before the program exits."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_PATIENCE_S = 30.0  # a disk may not answer

_writing = Lock()


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
