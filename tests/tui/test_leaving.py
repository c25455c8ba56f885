"""However the app ends, the terminal is given back as it was, and what went wrong is said in a line."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from vault.layout import REVIEW_PAGE
from vault.log.review_log import read_log
from vault.vault import Vault

HERE = Path(__file__).resolve().parents[2]
RETAIN = (sys.executable, "-c", "import sys; from cli.main import main; sys.argv[0] = 'retain'; main()")
PATIENCE_S = 120.0
LEAVES_SCREEN = b"\x1b[?1049l"
NO_MOUSE = b"\x1b[?1000l"


class Terminal:
    """A terminal of 80 by 24 with the program in it; `seen` is every byte that came."""

    def __init__(self, vault: Vault, *words: str) -> None:
        self.ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (24, 80))
        self.modes = termios.tcgetattr(theirs)
        self.theirs = theirs
        environment = {**os.environ, "PYTHONPATH": str(HERE), "RETAIN_VAULT": str(vault.root), "TERM": "xterm-256color"}
        self.process = subprocess.Popen(
            [*RETAIN, *words], stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
        )
        self.seen = b""

    def see(self, words: bytes) -> None:
        end = time.monotonic() + PATIENCE_S
        while words not in self.seen:
            assert time.monotonic() < end, self.seen[-3000:]
            self._read()

    def type(self, keys: bytes) -> None:
        os.write(self.ours, keys)

    def left(self) -> int:
        """The exit code, once the program has ended."""
        end = time.monotonic() + PATIENCE_S
        while self.process.poll() is None and time.monotonic() < end:
            self._read()
        self._read()
        code = self.process.wait(timeout=PATIENCE_S)
        assert termios.tcgetattr(self.theirs)[:4] == self.modes[:4], "the terminal reads lines again, and echoes"
        os.close(self.theirs)
        os.close(self.ours)
        return code

    def _read(self) -> None:
        while select.select([self.ours], [], [], 0.05)[0]:
            self.seen += os.read(self.ours, 65536)


@pytest.mark.parametrize("keys", [b"\x03", b"\x1bq"], ids=["ctrl-c", "home-and-quit"])
def test_a_page_that_cannot_be_written_is_said_in_a_line_when_the_app_ends(vault: Vault, keys: bytes) -> None:
    (vault.root / REVIEW_PAGE).unlink(missing_ok=True)
    (vault.root / REVIEW_PAGE).mkdir()
    terminal = Terminal(vault, "review")
    terminal.see(b"space")
    terminal.type(b" ")
    terminal.see(b"Hard")
    terminal.type(b"4")
    terminal.see(b"1 done")
    terminal.type(keys[:1])
    if keys[1:]:
        terminal.see(b"reviewed today")
        terminal.type(keys[1:])
    assert terminal.left() == 3
    after = terminal.seen.rpartition(LEAVES_SCREEN)[2].decode()
    assert f"{REVIEW_PAGE}: " in after and "Traceback" not in after
    assert len(re.findall(r"retain:", after)) == 1
    assert len(read_log(vault.root).events) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_the_app_gives_the_terminal_back(vault: Vault, number: signal.Signals) -> None:
    terminal = Terminal(vault, "review")
    terminal.see(b"space")
    terminal.type(b" ")
    terminal.see(b"Hard")
    terminal.type(b"4")
    terminal.see(b"1 done")
    terminal.process.send_signal(number)
    assert terminal.left() == 128 + number
    assert LEAVES_SCREEN in terminal.seen and NO_MOUSE in terminal.seen
    assert b"Traceback" not in terminal.seen
    assert len(read_log(vault.root).events) == 1 and "| review |" in (vault.root / REVIEW_PAGE).read_text()


def test_a_terminal_that_is_closed_ends_the_app(vault: Vault) -> None:
    terminal = Terminal(vault, "review")
    terminal.see(b"space")
    os.close(terminal.theirs)
    os.close(terminal.ours)
    terminal.process.send_signal(signal.SIGHUP)
    terminal.process.wait(timeout=PATIENCE_S)
