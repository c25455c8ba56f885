"""Reading beside the screen: nobody waits for it when the app is left, and the interpreter is as it was afterwards."""

from __future__ import annotations

import gc
import sys
import time
from threading import Event

import pytest
from textual.app import App

from tests.tui.conftest import PATIENCE_S, until
from tui.process.background import read_in_background, without_gc_pauses


class Reader(App[int]):
    """Begins to read something that takes until `end` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.end, self.ended = Event(), Event(), Event()

    def read(self) -> None:
        self.begun.set()
        self.end.wait()
        self.ended.set()

    def on_mount(self) -> None:
        self.run_worker(read_in_background(self.read))


@pytest.fixture(autouse=True)
def nobody_reads() -> None:
    """Apps of other tests were left while they read."""
    end = time.monotonic() + PATIENCE_S
    while not gc.isenabled():
        assert time.monotonic() < end, "something is still read"
        time.sleep(0.01)


async def test_the_app_is_left_while_something_is_still_read() -> None:
    app = Reader()
    try:
        async with app.run_test() as pilot:
            await until(pilot, app.begun.is_set, "the reading")
            app.exit(0)
        assert app.return_value == 0 and not app.ended.is_set()
    finally:
        app.end.set()
    assert app.ended.wait(PATIENCE_S)


async def test_what_was_read_is_waited_for_by_whoever_asked() -> None:
    found: list[int] = []
    await read_in_background(lambda: found.append(1))
    assert found == [1]


async def test_what_goes_wrong_is_raised_where_it_was_asked_for() -> None:
    def read() -> None:
        raise OSError("no such disk")

    with pytest.raises(OSError, match="no such disk"):
        await read_in_background(read)


def test_garbage_is_looked_for_again_only_when_all_have_read() -> None:
    usual = sys.getswitchinterval()
    with without_gc_pauses():
        with without_gc_pauses():
            assert not gc.isenabled()
        assert not gc.isenabled() and sys.getswitchinterval() < usual
    assert gc.isenabled() and sys.getswitchinterval() == usual


def test_a_reading_that_fails_leaves_no_trace_either() -> None:
    with pytest.raises(ZeroDivisionError), without_gc_pauses():
        _ = 1 // 0
    assert gc.isenabled()
