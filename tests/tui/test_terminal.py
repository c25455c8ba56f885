"""The real program in a real terminal: what it said on the screen, the log says afterwards."""

from __future__ import annotations

import json
import os
import pty
import select
import shlex
import shutil
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from vault.layout import REVIEW_PAGE
from vault.log.events import LogEvent, Rating, Review, Undo
from vault.log.review_log import live
from vault.vault import Vault

RETAIN = (sys.executable, "-c", "import sys; from cli.main import main; sys.argv[0] = 'retain'; main()")
HERE = Path(__file__).resolve().parents[2]
PATIENCE_S = 600.0
Logged = Callable[[], list[LogEvent]]


@dataclass
class Tmux:
    """A terminal of 80 by 24 that a test types into and looks at."""

    socket: Path

    def run(self, *words: str) -> str:
        command = ["tmux", "-S", str(self.socket), "-f", "/dev/null", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def start(self, *command: str, folder: Path) -> None:
        self.run("new-session", "-d", "-x", "80", "-y", "24", "-c", str(folder), *command)

    def type(self, *keys: str) -> None:
        self.run("send-keys", *keys)

    def see(self, words: str) -> str:
        """The screen, as soon as it shows `words`."""
        end = time.monotonic() + PATIENCE_S
        screen = ""
        while time.monotonic() < end:
            screen = self.run("capture-pane", "-p")
            if words in screen:
                return screen
            time.sleep(0.1)
        raise AssertionError(f"{words!r} did not show:\n{screen}")


@pytest.fixture
def tmux(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tmux]:
    if shutil.which("tmux") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("tmux is missing, and CI has to drive the real terminal")
        pytest.skip("tmux is not installed, so the real terminal is not driven")
    terminal = Tmux(tmp_path_factory.mktemp("t") / "s")
    yield terminal
    subprocess.run(["tmux", "-S", str(terminal.socket), "kill-server"], capture_output=True, check=False)


def environment(vault: Vault) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(HERE), "RETAIN_VAULT": str(vault.root), "TERM": "xterm-256color"}


def command(vault: Vault, *words: str) -> str:
    settings = [f"PYTHONPATH={HERE}", f"RETAIN_VAULT={vault.root}"]
    return shlex.join(["env", *settings, *RETAIN, *words]) + "; echo left with $?; sleep 600"


def test_a_sitting_in_a_real_terminal(tmux: Tmux, vault: Vault, logged: Logged, tmp_path: Path) -> None:
    tmux.start(command(vault, "review"), folder=tmp_path)
    tmux.see("What does the forgetting curve describe?")
    for done, key in enumerate(("4", "3", "4"), 1):
        tmux.see("space shows the answer")
        tmux.type("Space")
        tmux.see("2 Hard")
        tmux.type(key)
        tmux.see(f"{done} done")
    tmux.type("u")
    tmux.see("2 done")
    tmux.type("Escape")
    screen = tmux.see("cards reviewed today")
    assert "2 cards reviewed today" in screen
    tmux.type("q")
    tmux.see("left with 0")
    events = logged()
    assert [event.rating for event in events if isinstance(event, Review)] == [Rating.EASY, Rating.GOOD, Rating.EASY]
    assert isinstance(events[-1], Undo) and len(live(events)) == 2
    page = (vault.root / REVIEW_PAGE).read_text(encoding="utf-8")
    assert page.count("| review |") == 1 and page.count("| learning |") == 1


def test_a_killed_session_keeps_what_it_showed_as_done(
    tmux: Tmux, vault: Vault, logged: Logged, tmp_path: Path
) -> None:
    tmux.start(command(vault, "review"), folder=tmp_path)
    tmux.see("space shows the answer")
    tmux.type("Space", "4")
    tmux.see("1 done")
    holder = vault.root / ".retain/locks/review.lock"
    os.kill(int(json.loads(holder.read_bytes())["pid"]), signal.SIGKILL)
    tmux.see("left with 137")
    assert len(logged()) == 1
    tmux.run("respawn-pane", "-k", command(vault, "review"))
    assert "space shows the answer" in tmux.see("0 done · 3 left")
    tmux.type("C-c")
    tmux.see("left with 130")


def test_a_terminal_that_goes_away_without_a_signal_ends_the_app(vault: Vault) -> None:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    process = subprocess.Popen(
        [*RETAIN, "review"], stdin=theirs, stdout=theirs, stderr=theirs, env=environment(vault), start_new_session=True
    )
    try:
        seen, end = b"", time.monotonic() + PATIENCE_S
        while b"shows the answer" not in seen and time.monotonic() < end:
            if select.select([ours], [], [], 0.1)[0]:
                seen += os.read(ours, 65536)
        os.close(theirs)
        os.close(ours)
        assert process.wait(PATIENCE_S) == 129
    finally:
        process.kill()
        process.wait()


def test_no_byte_of_a_card_reaches_the_terminal_as_a_command(vault: Vault) -> None:
    deck = vault.root / "learning/flashcards/evil.md"
    words = "\x1b]52;c;UFdORUQ=\x07\x1b]8;;file:///etc/passwd\x07here\x1b]8;;\x07 \x1b]0;title\x07\x9b2J\x1b[?1049l"
    deck.write_text(
        f"# Evil {words}\n\n## Applied\n\nQ: Ask {words}\nA: Tell {words}\n<!-- card ccccccccc1 -->\n", "utf-8"
    )
    seen = _typed(vault, [b"Evil", b" ", b"Tell", b"\x03"], "review", "--tag", "evil")
    for escape in (b"\x1b]52", b"\x1b]8;", b"\x1b]0;", b"\x1b]2;", "\x9b".encode()):
        assert escape not in seen
    assert "Ask \ufffd]52;c;UFdORUQ=\ufffd\ufffd]8;;file:".encode() in seen


def test_something_is_shown_at_once_and_gone_when_the_app_is_there(vault: Vault) -> None:
    for words, shown in (((), b"Forecast"), (("review",), b"shows the answer")):
        seen = _typed(vault, [shown, b"\x03"], *words)
        before = seen[: seen.index(b"\x1b[?1049h")]
        assert before.startswith(b"retain: loading ...") and before.rstrip().endswith(b"\r\x1b[K")


def test_a_message_takes_the_place_of_the_line_that_is_shown_at_once(vault: Vault) -> None:
    with (vault.root / "retain.toml").open("a") as file:
        file.write("\nunheard_of = 1\n")
    seen = _typed(vault, [b"Forecast", b"\x03"])
    before = seen[: seen.index(b"\x1b[?1049h")]
    assert before.startswith(b"retain: loading ...\r\x1b[K  retain.toml:") and b"unheard_of" in before
    assert before.count(b"\x1b[K") == 1


def _typed(vault: Vault, script: list[bytes], *words: str) -> bytes:
    """Every byte that the program sent to its terminal while `script` ran: words to wait for, then a key, and so on."""
    terminal, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    process = subprocess.Popen(
        [*RETAIN, *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(vault),
        start_new_session=True,
    )
    os.close(theirs)
    seen = b""
    try:
        for expected, key in zip(script[::2], script[1::2], strict=True):
            end = time.monotonic() + PATIENCE_S
            while expected not in seen and time.monotonic() < end:
                seen += _read(terminal)
            assert expected in seen
            os.write(terminal, key)
        end = time.monotonic() + PATIENCE_S
        while process.poll() is None:
            assert time.monotonic() < end, seen[-2000:]
            seen += _read(terminal)
        return seen + _read(terminal)
    finally:
        process.kill()
        process.wait()
        os.close(terminal)


def _read(terminal: int) -> bytes:
    """What has come within a tenth of a second; nothing once the program has closed its side."""
    if not select.select([terminal], [], [], 0.1)[0]:
        return b""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""
