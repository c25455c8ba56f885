"""Long reading in a thread, without slowing keys and repaints."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from threading import Lock, Thread

_TURN_S = 0.0005  # after which the screen has its turn, if it waits for one: each key takes several

_lock = Lock()
_reading = 0
_usual_s = 0.0


async def read_in_background(read: Callable[[], None]) -> None:
    """Run `read` in a daemon thread and wait for it; it must not write, as leaving the app does not wait for it.

    Raises: whatever `read` raises.
    """
    loop, context = asyncio.get_running_loop(), copy_context()
    done: asyncio.Future[None] = loop.create_future()

    def tell(error: Exception | None) -> None:
        if not done.done():  # else nobody waits any more
            done.set_exception(error) if error is not None else done.set_result(None)

    def work() -> None:
        error = None
        try:
            with without_gc_pauses():
                context.run(read)
        except Exception as raised:  # noqa: BLE001 (it is raised where it was asked for)
            error = raised
        with suppress(RuntimeError):  # the app has gone
            loop.call_soon_threadsafe(tell, error)

    Thread(target=work, daemon=True).start()
    await done


@contextmanager
def without_gc_pauses() -> Iterator[None]:
    """Switch off garbage collection while any thread is inside, and freeze what is loaded already.

    A hundred thousand cards are as many objects that are made and stay. The interpreter's search for garbage, which
    they set off time and again, would find none and stop the screen for a fifth of a second each time: it rests until
    all have read. What had been there before the first of them, which is the framework above all, it passes over from
    then on.
    """
    _begin()
    try:
        yield
    finally:
        _end()


def _begin() -> None:
    global _reading, _usual_s
    with _lock:
        if not _reading:
            if not gc.get_freeze_count():
                gc.freeze()
            gc.disable()
            _usual_s = sys.getswitchinterval()
            sys.setswitchinterval(_TURN_S)
        _reading += 1


def _end() -> None:
    global _reading
    with _lock:
        _reading -= 1
        if not _reading:
            sys.setswitchinterval(_usual_s)
            gc.enable()
