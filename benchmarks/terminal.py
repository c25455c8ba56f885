"""`python -m benchmarks.terminal`: the app at a hundred thousand cards, beside Anki and a bare Textual app.

Keys and starts are measured at a pseudo-terminal, from the key or the start of the process to the bytes that paint what
follows; `frames` measures how long the app's event loop is blocked.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import RETAIN, Bench, Row, in_turns, machine, table
from benchmarks.memory import FIRST_CARD, FULL, collection, vault
from benchmarks.pseudo_terminal import Terminal, seconds_to_paint

_ANSWERED = "Easy"  # what stands on the screen only while there is an answer to be rated
_FRAME = "shows the answer"  # what only the framework paints: the bar below the card
_KEYS = 200
_FRAME_S = 0.05  # no frame may take longer
# What a Textual app takes at least: one line of text, another at each key.
_BARE = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    done = 0
    def compose(self):
        yield Static("ready", markup=False)
    def on_key(self):
        self.done += 1
        self.query_one(Static).update(f"{self.done} done, and a line of words as long as a question is")
Bare().run()
"""


def _environment(bench: Bench) -> dict[str, str]:
    return bench.environment({"TERM": "xterm-256color", "COLORTERM": "truecolor"})


def start(bench: Bench, cards: int) -> list[Row]:
    """From the start of `retain review` to its first whole frame."""
    root = _copy(bench, cards, "started")
    anki = collection(bench, vault(bench, cards))
    environment, command = _environment(bench), [RETAIN, "--vault", str(root), "review"]
    with Terminal(command, environment) as app:  # what it leaves in the caches is what the next start reads
        app.until(_FRAME)
        app.press("\x03")
        app.left()

    def anki_first_card() -> float:
        return bench.run([sys.executable, "-c", FIRST_CARD, str(anki)])

    frame, theirs, bare = in_turns(
        bench.rounds,
        lambda: seconds_to_paint(command, _FRAME, environment),
        anki_first_card,
        lambda: seconds_to_paint([sys.executable, "-c", _BARE], "ready", environment),
    )
    full = cards >= FULL
    peer = "Anki: import, open, first card"
    return [
        Row(f"start to the first whole frame, {cards:,} cards", frame, peer, theirs, 1.0 if full else None),
        Row(f"start to the first whole frame, {cards:,} cards", frame, "Textual, one Static", bare),
    ]


def keys(bench: Bench, cards: int) -> list[Row]:
    """From the key of a rating until the next card is painted: that many are done, says the bar above it."""
    root = _copy(bench, cards, "pressed")
    environment = _environment(bench)
    ours: list[float] = []
    theirs: list[float] = []
    with (
        Terminal([RETAIN, "--vault", str(root), "review"], environment) as app,
        Terminal([sys.executable, "-c", _BARE], environment) as bare,
    ):
        app.until(_FRAME)
        bare.until("ready")
        for n in range(1, _KEYS + 1):
            app.press(" ")
            app.until(_ANSWERED)
            time.sleep(0.05)  # a human reads; meanwhile the app looks ahead
            app.forget()
            ours.append(app.timed("3", f"{n} done"))
            time.sleep(0.02)
            bare.forget()
            theirs.append(bare.timed("x", f"{n} done"))
            time.sleep(0.02)
            app.forget()
        app.press("\x03")
        app.left()
    full = cards >= FULL
    what, peer = f"key to the next card, {cards:,} cards", "Textual, one Static"
    return [
        Row(f"{what}, median", statistics.median(ours), peer, statistics.median(theirs), 1.5 if full else None),
        Row(f"{what}, p99", _p99(ours), peer, _p99(theirs), 1.0 if full else None),
    ]


def frames(bench: Bench, cards: int) -> list[Row]:
    """For how long the app's event loop is blocked at most, at Home, in Browse and by its search."""
    root = _copy(bench, cards, "looked-at")
    command = [sys.executable, "-m", "benchmarks.blocked_loop", str(root)]
    runs = [
        json.loads(subprocess.run(command, env=_environment(bench), capture_output=True, check=True).stdout)
        for _ in range(min(bench.rounds, 3))
    ]
    mark = 1.0 if cards >= FULL else None
    rows = []
    for step in runs[0]:
        longest, computing = (statistics.median(times) for times in zip(*(run[step] for run in runs), strict=True))
        note = f"{computing * 1e3:.0f} ms without what other programs took"
        rows.append(Row(f"{step}, {cards:,} cards", longest, "a frame", _FRAME_S, mark, note))
    return rows


def _p99(found: list[float]) -> float:
    return statistics.quantiles(found, n=100)[98]


def _copy(bench: Bench, cards: int, name: str) -> Path:
    """The made vault under another name, with room for every rating that is timed."""
    root = bench.work / name
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(vault(bench, cards), root)
    settings = (root / "retain.toml").read_text(encoding="utf-8")
    (root / "retain.toml").write_text(settings.replace("new_per_day = 20", "new_per_day = 9999"), encoding="utf-8")
    bench.run([RETAIN, "--vault", str(root), "due", "--json"])  # in a copy everything is read again, once
    os.sync()
    return root


PARTS = {"start": start, "keys": keys, "frames": frames}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=f"of: {', '.join(PARTS)}")
    parser.add_argument("--cards", type=int, default=FULL)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="2,000 cards, three rounds: a first look")
    parser.add_argument(
        "--work", type=Path, help="a folder that is kept from run to run; may be that of benchmarks.memory"
    )
    given = parser.parse_args()
    cards, rounds = (2_000, 3) if given.quick else (given.cards, given.rounds)
    work = given.work or Path(tempfile.mkdtemp(prefix="retain-bench-"))
    work.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    try:
        for part in given.parts:
            found = PARTS[part](Bench(work.resolve(), rounds, 0), cards)
            print(table(found), end="\n\n", file=sys.stderr)  # a run that is stopped has shown what it measured
            rows += found
    finally:
        if given.work is None:
            shutil.rmtree(work, ignore_errors=True)
    print(machine(), end="\n\n")
    print(table(rows))


if __name__ == "__main__":
    main()
