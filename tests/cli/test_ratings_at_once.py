"""Any number of processes rate cards of one vault at once: sessions and single commands."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

from learning.cards.workspace import read_desk
from vault.config.settings import Settings, render_settings
from vault.log.events import Review
from vault.log.review_log import LOG_PATH, read_log
from vault.vault import open_vault

RETAIN = (sys.executable, "-c", "import sys; from cli.main import main; sys.argv[0] = 'retain'; main()")
HERE = Path(__file__).resolve().parents[2]
CARDS = 40
MANY = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from learning.cards.workspace import open_desk, rate
from learning.review.study_session import StudySession
from vault.log.events import Rating
from vault.vault import open_vault

kind, times = sys.argv[2], int(sys.argv[3])
clock = lambda: datetime.now(UTC)
vault = open_vault(sys.argv[1], None, Path.cwd())
sys.stdin.readline()  # until all have started
desk = open_desk(vault, clock())
sitting = StudySession(desk, clock, "plain")
for number in range(times):
    if kind == "sitting":
        while sitting.table() is None or not sitting.reveal():  # another process may rate the card just then
            if sitting.session.current is None:
                sitting = StudySession(open_desk(vault, clock()), clock, "plain")
                if sitting.session.current is None:
                    sys.exit()  # the others have left nothing for now: no waiting for minutes until a card is due again
        sitting.rate(Rating.AGAIN)
        print(sitting.session.past[1].id)
    else:
        if kind == "opened anew":
            desk = open_desk(vault, clock())
        desk, event = rate(desk, f"{number % 40:010}", Rating.GOOD, via="cli")
        print(event.id)
"""
KINDS = ("sitting", "opened anew", "one desk")


def made(root: Path) -> Path:
    (root / "learning/flashcards").mkdir(parents=True)
    (root / "retain.toml").write_text(
        render_settings(Settings("01KB0000000000000000000000", "Mind", new_per_day=CARDS))
    )
    blocks = [f"Q: What is {n}?\nA: It is {n}.\n<!-- card {n:010} -->\n" for n in range(CARDS)]
    (root / "learning/flashcards/numbers.md").write_text("# Numbers\n\n" + "\n".join(blocks))
    return root


def test_all_ratings_of_many_processes_are_there_once_and_in_order(
    tmp_path: Path, torture: Callable[[int, int], int], tally: Callable[..., None]
) -> None:
    root, processes, times = made(tmp_path / "mind"), torture(12, 3), torture(100, 10)
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", MANY, str(root), KINDS[n % 3], str(times)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )
        for n in range(processes)
    ]  # fmt: skip
    for process in running:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    with ThreadPoolExecutor(processes) as pool:
        done = list(pool.map(lambda p: p.communicate(), running))
    assert [error for _, error in done] == [""] * processes
    written = [said.split() for said, _ in done]
    log = read_log(root)
    at = {event.id: event.at for event in log.events}
    assert Counter(id_ for ids in written for id_ in ids) == Counter(at.keys())
    total = sum(map(len, written))
    assert len(log.events) == total >= processes * times * 2 // 3 and log.diagnostics == ()
    assert (root / LOG_PATH).read_bytes().count(b"\n") == total
    for ids in written:
        assert all(at[one] < at[next_] for one, next_ in pairwise(ids))
    desk = read_desk(open_vault(str(root), None, root))
    assert sum(desk.state(card).reps for card in desk.cards) == total
    tally("Processes that rate at once", f"{processes} processes, {len(at):,} of {len(at):,} ratings there once, each "
          "process's own in order", page="memory")  # fmt: skip


def test_single_commands_at_once_are_all_there(tmp_path: Path, torture: Callable[[int, int], int]) -> None:
    root, commands = made(tmp_path / "mind"), torture(60, 4)
    environment = {**os.environ, "PYTHONPATH": str(HERE), "RETAIN_VAULT": str(root)}

    def one(number: int) -> subprocess.CompletedProcess[str]:
        words = [*RETAIN, "rate", f"{number % CARDS:010}", "good", "--json"]
        return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(one, range(commands)))
    assert [d.returncode for d in done] == [0] * commands, [d.stderr for d in done]
    reviews = [event for event in read_log(root).events if isinstance(event, Review)]
    assert Counter(r.card for r in reviews) == Counter(f"{n % CARDS:010}" for n in range(commands))
    assert len({r.id for r in reviews}) == commands
