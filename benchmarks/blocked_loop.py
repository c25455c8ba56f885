"""`python -m benchmarks.blocked_loop VAULT`: how long the app's event loop is blocked at most, by what is done.

As JSON, in seconds. The app runs without a terminal (Textual's Pilot); a task in its loop that sleeps for a millisecond
notes by how much it comes late. Whatever blocks the loop longer than a frame is seen by the user as a stall.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from tui.app import RetainApp
from tui.context import Context
from vault.vault import open_vault

_TICK_S = 0.001
_BETWEEN_KEYS_S = 0.03  # as a key that is held down repeats
_QUIET_S = 0.5  # after the last worker has ended, its result is shown
_QUERY = "memory rate of is:due"
# What is done, by keys: `home` is its first showing.
STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Home, read and shown", ()),
    ("Browse, read and shown", ("b",)),
    ("Browse, 60 moves of the cursor", ("j",) * 60),
    ("Browse, 10 pages", ("pagedown",) * 10),
    ("Browse, to the end and back", ("end", "home")),
    ("search in Browse, typed letter by letter", ("slash", *("space" if c == " " else c for c in _QUERY))),
    ("search in Browse, deleted letter by letter", ("backspace",) * len(_QUERY)),
    ("Home again", ("escape", "escape", "escape")),
)


class Ticker:
    """The longest time in which the event loop that runs `tick` did nothing else.

    `computing_s` is the same of the time in which this process had a processor: without what other programs took.
    """

    def __init__(self) -> None:
        self.longest_s = self.computing_s = 0.0

    async def tick(self) -> None:
        """Measure until cancelled."""
        while True:
            before, computed = time.perf_counter(), time.process_time()
            await asyncio.sleep(_TICK_S)
            late = time.perf_counter() - before - _TICK_S
            self.longest_s = max(self.longest_s, late)
            self.computing_s = max(self.computing_s, min(late, time.process_time() - computed))


async def longest(root: Path) -> dict[str, tuple[float, float]]:
    """Return the longest time that each step blocked the loop, and the longest without other programs."""
    app = RetainApp(Context(open_vault(str(root), None, root), lambda: datetime.now(UTC)))
    found: dict[str, tuple[float, float]] = {}
    async with app.run_test(size=(140, 45)):
        ticker = Ticker()
        task = asyncio.create_task(ticker.tick())
        for name, keys in STEPS:
            ticker.longest_s = ticker.computing_s = 0.0
            for key in keys:
                app.simulate_key(key)  # Pilot's own presses wait until the process is idle, which the ticker never is
                await asyncio.sleep(_BETWEEN_KEYS_S)
            await _rest(app)
            found[name] = ticker.longest_s, ticker.computing_s
        task.cancel()
    app.end_session()
    return found


async def _rest(app: RetainApp) -> None:
    """Wait until nothing is read or searched any more."""
    await asyncio.sleep(_QUIET_S)
    while any(worker.is_running for worker in app.workers):
        await asyncio.sleep(_QUIET_S)


def main() -> None:
    print(json.dumps(asyncio.run(longest(Path(sys.argv[1])))))


if __name__ == "__main__":
    main()
