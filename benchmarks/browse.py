"""How long the browser takes from a key to its repaint, beside a Textual app with nothing on its screen.

    python -m benchmarks.browse --cards 100000 [--work FOLDER]

Both run under a pseudo-terminal, the browser from home on, where `b` opens it. A key is pressed, and the time is taken
until the terminal has been quiet for a moment: what counts is the last byte before that, and where the list has moved,
the first. The empty app paints one digit a key. Meanwhile the event loop of each is asked every few milliseconds how
late it is: what it says at most is how long no key would have been heard. What is printed are figures, and no
judgement: the machine may be busy. With --work the made vault stays there for the next time.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import select
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.made_decks import write_decks
from benchmarks.measure import RETAIN
from benchmarks.pseudo_terminal import painted

QUIET_S = 0.12  # without a byte, after which a repaint counts as done
PATIENCE_S = 120.0
FRAME_S = 0.1  # that nothing painted shall take
_PROBED = """
import asyncio, sys, time
async def probed(app):
    async def probe():
        with open(sys.argv[1], "a", buffering=1) as told:
            while True:
                before = time.monotonic()
                await asyncio.sleep(0.004)
                told.write(f"{before:.6f} {time.monotonic() - before - 0.004:.6f}\\n")
    beside = asyncio.create_task(probe())
    await app.run_async()
"""
_HOME = f"""{_PROBED}
from datetime import UTC, datetime
from pathlib import Path
from tui.app import RetainApp
from tui.context import Context
from vault.vault import open_vault
asyncio.run(probed(RetainApp(Context(open_vault(sys.argv[2], None, Path("/")), lambda: datetime.now(UTC)), "home")))
"""
_EMPTY = f"""{_PROBED}
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("ready", markup=False)
    def on_key(self):
        self.count = getattr(self, "count", 0) + 1
        self.query_one(Static).update(str(self.count))
asyncio.run(probed(Empty()))
"""
WORDS = (
    "row",
    "concept 4711",
    "77",
    "state:due",
    "kind:applied row",
    "lapses>0",
    "ivl>30",
    '"long row"',
    "-row",
    "neigh",
)


class Screen:
    """A program under a pseudo-terminal, which writes to `told` how late its event loop is."""

    def __init__(self, terminal: int, process: subprocess.Popen[bytes], told: Path) -> None:
        self._terminal, self.process, self._told = terminal, process, told
        self._since = time.monotonic()

    def latest(self) -> float:
        """Seconds that its event loop was late at most since this was asked last."""
        since, self._since = self._since, time.monotonic()
        lines = [line.split() for line in self._told.read_text(encoding="ascii").splitlines()]
        return max((float(line[1]) for line in lines if len(line) == 2 and float(line[0]) >= since), default=0.0)

    def settle(self, quiet_s: float = QUIET_S) -> tuple[float, float]:
        """Seconds until the first byte, and until the last before it was quiet. Raises: RuntimeError if none came."""
        start = first = last = time.perf_counter()
        end, got = start + PATIENCE_S, 0
        while (now := time.perf_counter()) < end:
            wait = quiet_s if got else end - now
            ready, _, _ = select.select([self._terminal], [], [], wait)
            if not ready:
                break
            first = first if got else time.perf_counter()
            got += len(os.read(self._terminal, 1 << 16))
            last = time.perf_counter()
        if not got:
            raise RuntimeError("nothing was painted")
        return first - start, last - start

    def wait_for(self, words: str) -> float:
        """Seconds until `words` are painted, from now. Raises: RuntimeError if they are not."""
        start, raw, wanted = time.perf_counter(), b"", painted(words.encode())
        while time.perf_counter() < start + PATIENCE_S:
            if select.select([self._terminal], [], [], 1)[0]:
                raw += os.read(self._terminal, 1 << 16)
                if wanted in painted(raw):
                    return time.perf_counter() - start
        raise RuntimeError(f"never painted: {words}")

    def type(self, keys: bytes) -> None:
        os.write(self._terminal, keys)

    def press(self, keys: bytes) -> tuple[float, float]:
        """As `settle`, after these keys."""
        self.type(keys)
        return self.settle()

    def kilobytes(self) -> int:
        """What the process holds in memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))


@contextmanager
def running(program: str, work: Path, *given: str) -> Iterator[Screen]:
    """Runs a Python program on a terminal of 40 rows and 120 columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    environment = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "TEXTUAL_ANIMATIONS": "none"}
    told = work / "late"
    told.write_bytes(b"")
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(told), *given],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Screen(ours, process, told)
    finally:
        process.terminate()
        with suppress(OSError):
            while process.poll() is None and select.select([ours], [], [], 5)[0]:
                os.read(ours, 1 << 16)
        process.wait(PATIENCE_S)
        os.close(ours)


def _row(name: str, took: Sequence[float], bare: float, late: float) -> str:
    ordered = sorted(took)
    figures = [ordered[int(part * (len(ordered) - 1))] for part in (0.5, 0.95, 0.99, 1)]
    told = " | ".join(f"{each * 1e3:.0f}" for each in figures)
    over = sum(each > FRAME_S for each in took)
    return f"| {name} | {len(took)} | {told} | {over} | {figures[0] / bare:.2f} | {late * 1e3:.0f} |"


def _scrolled(screen: Screen, count: int) -> list[tuple[float, float]]:
    keys = (b"\x1b[B", b"\x1b[B", b"\x1b[6~", b"\x1b[B", b"\x1b[A")  # down and up, and a page at times
    return [screen.press(keys[n % len(keys)]) for n in range(count)]


def _searched(screen: Screen, count: int) -> list[tuple[float, float]]:
    """Words at once, and the line emptied again, so that all cards are listed."""
    screen.press(b"/")
    words = [keys for each in WORDS for keys in (each.encode(), b"\x15")]
    took = [screen.press(words[n % len(words)]) for n in range(count)]
    screen.press(b"\x1b")
    return took


def _opened(screen: Screen) -> tuple[float, float, float]:
    """From home: seconds until the browser stands there, until its first rows do, and how late the loop was."""
    screen.latest()
    start = time.perf_counter()
    screen.type(b"b")
    there = screen.wait_for("words, or state")
    screen.wait_for("side of concept")
    return there, time.perf_counter() - start, screen.latest()


def measure(vault: Path, work: Path, keys: int, tell: Callable[[str], None]) -> None:
    """Prints the table, and what the process holds."""
    with running(_EMPTY, work) as empty:
        empty.settle(1.0)
        empty.latest()
        before = empty.kilobytes()
        bare = [empty.press(b"x")[1] for _ in range(keys)]
        idle = empty.latest()
    median = statistics.median(bare)
    tell(
        "| key to repaint, ms | keys | median | p95 | p99 | most | over 100 | median / empty app | loop late at most |"
    )
    tell("|---|---|---|---|---|---|---|---|---|")
    tell(_row("a Textual app with nothing on it", bare, median, idle))
    with running(_HOME, work, str(vault)) as screen:
        screen.wait_for("to begin")
        screen.settle(2.0)
        opened = _opened(screen)
        screen.settle(2.0)
        rest = screen.latest()
        for name, keep in (("scrolling", _scrolled), ("searching", _searched)):
            took = keep(screen, keys)
            late = screen.latest()
            tell(_row(f"{name}: the first that is painted", [first for first, _ in took], median, late))
            tell(_row(f"{name}: all is painted", [last for _, last in took], median, late))
        chosen = [screen.press(b"\x01")[1] for _ in range(keys // 5)]
        tell(_row("choose all, choose none", chosen, median, screen.latest()))
        there, rows, late = opened
        tell(f"\nb at home: the browser after {there * 1e3:.0f} ms, its first rows after {rows * 1e3:.0f} ms;")
        tell(f"the loop was late by {late * 1e3:.0f} ms at most until then, and {rest * 1e3:.0f} ms until all was read")
        tell(f"{screen.kilobytes() / 1024:.0f} MB; the empty app {before / 1024:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cards", type=int, default=100_000)
    parser.add_argument("--keys", type=int, default=200)
    parser.add_argument("--work", type=Path, help="a folder that stays")
    given = parser.parse_args()
    work = given.work or Path(tempfile.mkdtemp(prefix="retain-browse-"))
    try:
        vault = _vault(work, given.cards)
        measure(vault, work, given.keys, lambda line: print(line, flush=True))
    finally:
        if given.work is None:
            shutil.rmtree(work, ignore_errors=True)


def _vault(work: Path, cards: int) -> Path:
    """A vault of that many cards, all in its caches; the one that is there already, if there is one."""
    vault = work / f"vault-{cards}"
    if not vault.exists():
        subprocess.run([RETAIN, "init", str(vault), "--no-git"], check=True, capture_output=True)
        write_decks(vault, cards, 2 * cards, seed=1)
        time.sleep(3)  # files younger than that are not believed by their stamps
        with running(_HOME, work, str(vault)) as first:
            first.wait_for("to begin")
            first.settle(2.0)
            first.type(b"b")
            took = first.wait_for("side of concept")
            first.settle(5.0)
            print(f"first time, with nothing in the cache: all is listed after {took:.1f} s", flush=True)
    return vault


if __name__ == "__main__":
    main()
