"""A real session in a terminal, killed at any moment, keeps every rating that it had gone on from, once."""

from __future__ import annotations

import fcntl
import os
import pty
import random
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from learning.cards.workspace import open_desk, read_desk
from learning.pages.review_page import save_review_page
from vault.config.settings import Settings, render_settings
from vault.layout import REVIEW_PAGE
from vault.log.events import Rating, Review
from vault.log.review_log import LOG_PATH, read_log
from vault.vault import open_vault

RETAIN = (sys.executable, "-c", "import sys; from cli.main import main; sys.argv[0] = 'retain'; main()")
HERE = Path(__file__).resolve().parents[2]
CARDS = 3000
PATIENCE_S = 120.0
AHEAD = 100  # ratings typed that are not acknowledged: a screen is drawn only between keys
SEED = 20261122


@dataclass(frozen=True)
class Face:
    """How one of the two faces is started and typed at, and what its words acknowledge."""

    words: tuple[str, ...]
    keys: bytes  # shows the answer and says Easy
    left: re.Pattern[bytes]  # how many cards are to go, from the first card on
    acknowledged: Callable[[bytes], int]


def _done(seen: bytes) -> int:
    return max((int(n) for n in re.findall(rb"(\d+) done", seen)), default=0)


def _gone_on(seen: bytes) -> int:
    return max(0, len(re.findall(rb"^Q: ", seen, re.MULTILINE)) - 1)


FACES = {
    "the app": Face(("review",), b" 4", re.compile(rb"(\d+) left"), _done),
    "plain": Face(("review", "--plain"), b"\n4\n", re.compile(rb"\[(\d+) to go\]"), _gone_on),
}


def made(root: Path) -> Path:
    (root / "learning/flashcards").mkdir(parents=True)
    settings = Settings("01KB0000000000000000000000", "Mind", new_per_day=CARDS, rollover=0)
    (root / "retain.toml").write_text(render_settings(settings))
    blocks = [f"Q: What is {n}?\nA: It is {n}.\n<!-- card {n:010} -->\n" for n in range(CARDS)]
    (root / "learning/flashcards/numbers.md").write_text("# Numbers\n\n" + "\n".join(blocks))
    return root


def killed(root: Path, face: Face, after_s: float, least: int) -> tuple[bytes, int]:
    """(what the session showed, how often it was told Easy); it dies `after_s` after its first card was shown, and not
    before it has acknowledged `least` ratings."""
    terminal, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    fcntl.fcntl(terminal, fcntl.F_SETFL, os.O_NONBLOCK)
    environment = {**os.environ, "PYTHONPATH": str(HERE), "RETAIN_VAULT": str(root), "TERM": "xterm-256color"}
    command = [*RETAIN, *face.words]
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True, cwd=root
    )
    os.close(theirs)
    seen, typed = b"", 0
    try:
        seen = _until_first_card(terminal, face)
        began = time.monotonic()
        while (now := time.monotonic()) < began + after_s or (
            now < began + PATIENCE_S and face.acknowledged(seen) < least
        ):
            if typed < face.acknowledged(seen) + AHEAD:
                with suppress(BlockingIOError):
                    typed += os.write(terminal, face.keys) == len(face.keys)
            seen += _read(terminal, 0.002)
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE_S)
        while more := _read(terminal, 0.05):
            seen += more
        return seen, typed
    finally:
        process.kill()
        process.wait()
        os.close(terminal)


def _until_first_card(terminal: int, face: Face) -> bytes:
    seen, end = b"", time.monotonic() + PATIENCE_S
    while not face.left.search(seen):
        assert time.monotonic() < end, seen
        seen += _read(terminal, 0.1)
    return seen


def _read(terminal: int, wait_s: float) -> bytes:
    """What has come by then; nothing once the other side is closed."""
    if not select.select([terminal], [], [], wait_s)[0]:
        return b""
    with suppress(OSError):
        return os.read(terminal, 65536)
    return b""


@pytest.mark.parametrize(("name", "full", "part"), [("the app", 100, 1), ("plain", 100, 2)])
def test_every_rating_that_was_gone_on_from_is_in_the_log_once(
    tmp_path: Path, torture: Callable[[int, int], int], tally: Callable[..., None], name: str, full: int, part: int
) -> None:
    chance, face, runs = random.Random(SEED), FACES[name], torture(full, part)
    vaults, saved, acknowledged = [Mind(made(tmp_path / "mind-0"))], 0, 0
    for run in range(runs):
        if vaults[-1].saved > CARDS // 2:  # enough cards for a whole run have to be left
            vaults.append(Mind(made(tmp_path / f"mind-{run}")))
        told, more = one_run(vaults[-1], face, chance.uniform(0.0, 0.3), int(run == 0), f"seed {SEED}, run {run}")
        saved, acknowledged = saved + told + more, acknowledged + told
    assert acknowledged > 0
    for mind in vaults:
        page = rebuilt(mind.root)
        clean = made(mind.root.with_suffix(".clean"))
        (clean / LOG_PATH).write_bytes((mind.root / LOG_PATH).read_bytes())
        assert rebuilt(clean) == page
    words = f"{runs} kills, {acknowledged:,} acknowledged ratings, each there once ({saved - acknowledged} more saved)"
    tally(f"kill -9 in a real terminal: {name}", f"{words}; `_review.md` as after a clean run", page="memory")


@dataclass
class Mind:
    """A vault, and how many ratings its log held when it was last looked at."""

    root: Path
    saved: int = 0


def one_run(mind: Mind, face: Face, after_s: float, least: int, where: str) -> tuple[int, int]:
    """How many ratings a session acknowledged before it was killed, and how many more are in the log."""
    seen, typed = killed(mind.root, face, after_s, least)
    told, log = face.acknowledged(seen), read_log(mind.root)
    reviews = [event for event in log.events if isinstance(event, Review)]
    first = face.left.search(seen)
    assert first is not None and int(first[1]) == CARDS - mind.saved, where  # it went on where the dead one was
    new = len(reviews) - mind.saved
    assert told <= new <= typed, where
    assert max(Counter(event.card for event in reviews).values(), default=1) == 1, where
    assert all(event.rating is Rating.EASY for event in reviews), where
    assert all(d.code in ("log-torn-line", "log-bad-line") for d in log.diagnostics), where
    mind.saved = len(reviews)
    return told, new - told


def rebuilt(root: Path) -> bytes:
    """The page, once it was opened with what caches there are, and rendered."""
    vault = open_vault(str(root), None, root)
    last = max(event.at for event in read_log(root).events)
    open_desk(vault, last)
    save_review_page(read_desk(vault))
    return (root / REVIEW_PAGE).read_bytes()
