"""Records `retain.cast` beside this file: the real program, driven key by key, on a vault made from the example.

usage: python docs/tour/record.py   (from a checkout, with retain installed; `asciinema play docs/tour/retain.cast`)

The pauses are those of STEPS, however long the machine took. Dates on the screen are those of the day of recording.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from docs.tour.made import PROGRAM, environment, made_vault  # noqa: E402

COLUMNS, ROWS = 100, 30
QUIET_S, PATIENCE_S = 0.6, 8.0
ESCAPES = re.compile(r"\x1b(\[[0-9;?<>=$]*[a-zA-Z~]|\][^\x07\x1b]*(\x07|\x1b\\)|[()][A-Z0-9]|.)")
ESC, CTRL_S = "\x1b", "\x13"
# What is pressed, the words to wait for, and how long the tour stays there, in seconds.
STEPS = (
    ("", "Press", 4.0),  # home
    ("\r", "shows the answer", 2.5),  # the first card
    (" ", "Hard", 2.5),
    ("s", "Source", 4.0),  # the words behind the answer
    ("a", "Article", 4.0),  # the article, and back
    (ESC, "Hard", 1.5),
    ("3", "shows the answer", 1.5),
    ("t", "own words", 1.5),  # an answer in writing
    *((letter, "", 0.09) for letter in "I think that it helps memory"),
    (CTRL_S, "Hard", 4.0),
    ("2", "shows the answer", 1.0),
    ("u", "Undid the rating", 2.5),  # and undone
    ("2", "shows the answer", 1.0),
    (ESC, "Press", 2.0),
    ("b", "Browse", 2.0),  # every card
    ("/", "", 0.5),
    *((letter, "", 0.12) for letter in "spacing"),
    ("", "", 2.5),
    (ESC, "", 0.4),
    (ESC, "", 0.4),
    (ESC, "Press", 1.0),
    ("g", "open gaps", 4.0),  # what is missing
    (ESC, "Press", 1.0),
    ("s", "Statistics", 2.5),
    ("3", "", 3.0),
    (ESC, "Press", 1.0),
    ("q", "", 1.0),
)


@dataclass
class Terminal:
    """A program in a terminal of its own, and what it has painted."""

    process: subprocess.Popen[bytes]
    handle: int
    painted: list[bytes] = field(default_factory=list)

    def until(self, words: str) -> str:
        """What it paints until `words` are there and it has come to rest."""
        seen, end = b"", time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            if select.select([self.handle], [], [], QUIET_S if words else 0.15)[0]:
                try:
                    seen += os.read(self.handle, 65536)
                except OSError:  # it has ended
                    break
            elif words in ESCAPES.sub("", seen.decode(errors="replace")):
                break
        else:
            print(f"{words!r} was not painted anew; look whether the tour is right", file=sys.stderr)
        return seen.decode(errors="replace")

    def press(self, keys: str) -> None:
        os.write(self.handle, keys.encode())


def started(folder: Path, root: Path) -> Terminal:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(
        PROGRAM, stdin=theirs, stdout=theirs, stderr=theirs, cwd=root, env=environment(folder), start_new_session=True
    )
    os.close(theirs)
    return Terminal(process, ours)


def recorded(terminal: Terminal) -> list[tuple[float, str, str]]:
    """The events of the cast: each step's paint at once, then its pause."""
    events, at = [], 0.5
    for keys, words, pause_s in STEPS:
        if keys:
            terminal.press(keys)
        painted = terminal.until(words)
        if painted:
            events.append((round(at, 2), "o", painted))
        at += pause_s
    return events


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        vault = made_vault(folder, datetime.now(UTC))
        terminal = started(folder, vault.root)
        try:
            events = recorded(terminal)
        finally:
            terminal.process.kill()
            terminal.process.wait()
    head = {
        "version": 2,
        "width": COLUMNS,
        "height": ROWS,
        "title": "A day with retain",
        "env": {"TERM": "xterm-256color"},
    }
    lines = [json.dumps(head), *(json.dumps(event, ensure_ascii=False) for event in events)]
    (HERE / "retain.cast").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
