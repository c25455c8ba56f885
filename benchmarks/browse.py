"""How long the browser takes from a key to its repaint, beside a Textual app with nothing on its screen.

    python -m benchmarks.browse --cards 100000

Both run under a pseudo-terminal. A key is pressed, and the time is taken until the terminal has been quiet for a
moment: what counts is the last byte before that, and where the list has moved, the first. The empty app paints one
digit a key. What is printed are figures, and no judgement: the machine may be busy.
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
_OPEN = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from tui.app import run_app
from tui.context import Context
from vault.store import open_vault
run_app(Context(open_vault(sys.argv[1], None, Path("/")), lambda: datetime.now(UTC)), "browse")
"""
_EMPTY = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("ready", markup=False)
    def on_key(self):
        self.count = getattr(self, "count", 0) + 1
        self.query_one(Static).update(str(self.count))
Empty().run()
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
    """A program under a pseudo-terminal."""

    def __init__(self, terminal: int, process: subprocess.Popen[bytes]) -> None:
        self._terminal, self.process = terminal, process

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
        start, raw = time.perf_counter(), b""
        while time.perf_counter() < start + PATIENCE_S:
            if select.select([self._terminal], [], [], 1)[0]:
                raw += os.read(self._terminal, 1 << 16)
                if words in painted(raw):
                    return time.perf_counter() - start
        raise RuntimeError(f"never painted: {words}")

    def press(self, keys: bytes) -> tuple[float, float]:
        """As `settle`, after these keys."""
        os.write(self._terminal, keys)
        return self.settle()

    def kilobytes(self) -> int:
        """What the process holds in memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))


@contextmanager
def running(command: Sequence[str], lines: int, columns: int) -> Iterator[Screen]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    environment = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "TEXTUAL_ANIMATIONS": "none"}
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
    )
    os.close(theirs)
    try:
        yield Screen(ours, process)
    finally:
        process.terminate()
        with suppress(OSError):
            while process.poll() is None and select.select([ours], [], [], 5)[0]:
                os.read(ours, 1 << 16)
        process.wait(PATIENCE_S)
        os.close(ours)


def _row(name: str, took: Sequence[float], bare: Sequence[float]) -> str:
    median, most = statistics.median(took), max(took)
    ratio = median / statistics.median(bare)
    return f"| {name} | {len(took)} | {median * 1e3:.1f} | {most * 1e3:.1f} | {ratio:.2f} |"


def _scrolled(screen: Screen, count: int) -> list[tuple[float, float]]:
    keys = (b"\x1b[B", b"\x1b[B", b"\x1b[6~", b"\x1b[B", b"\x1b[A")  # down and up, and a page at times
    return [screen.press(keys[n % len(keys)]) for n in range(count)]


def _searched(screen: Screen) -> list[float]:
    screen.press(b"/")
    took = []
    for words in WORDS:
        took.append(screen.press(words.encode())[1])
        took.append(screen.press(b"\x15")[1])  # ctrl+u empties the line: all cards are listed again
    screen.press(b"\x1b")
    return took


def measure(vault: Path, cards: int, keys: int, tell: Callable[[str], None]) -> None:
    """Prints the table, and what the process holds."""
    with running([sys.executable, "-c", _EMPTY], 40, 120) as empty:
        empty.settle(1.0)
        before = empty.kilobytes()
        bare = [empty.press(b"x")[1] for _ in range(keys)]
    with running([sys.executable, "-c", _OPEN, str(vault)], 40, 120) as screen:
        opened = screen.wait_for(str(cards))
        screen.settle(1.0)
        tell("| key to repaint | keys | median ms | most ms | median / empty app |\n|---|---|---|---|---|")
        tell(_row("a Textual app with nothing on it", bare, bare))
        scrolled = _scrolled(screen, keys)
        tell(_row("scrolling: the list has moved", [first for first, _ in scrolled], bare))
        tell(_row("scrolling: the preview has followed", [last for _, last in scrolled], bare))
        tell(_row("searching", _searched(screen), bare))
        tell(_row("choose all, choose none", [screen.press(b"\x01")[1] for _ in range(6)], bare))
        tell(f"\nopened, and all can be searched, after {opened:.2f} s")
        tell(f"{screen.kilobytes() / 1024:.0f} MB; the empty app {before / 1024:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cards", type=int, default=100_000)
    parser.add_argument("--keys", type=int, default=200)
    given = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="retain-browse-"))
    try:
        vault = work / "vault"
        subprocess.run([RETAIN, "init", str(vault), "--no-git"], check=True, capture_output=True)
        write_decks(vault, given.cards, 2 * given.cards, seed=1)
        time.sleep(3)  # files younger than that are not believed by their stamps
        with running([sys.executable, "-c", _OPEN, str(vault)], 40, 120) as first:
            took = first.wait_for(str(given.cards))
            print(f"first time, with nothing in the cache: all can be searched after {took:.1f} s", flush=True)
        measure(vault, given.cards, given.keys, lambda line: print(line, flush=True))
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
