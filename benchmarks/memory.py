"""`python -m benchmarks.memory`: years of reviews at a hundred thousand cards, beside Anki on an equal collection."""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import made_decks
from benchmarks.measure import RETAIN, Bench, Row, in_turns, machine, table

FULL = 100_000  # cards that the marks are set for
_RATINGS = 200

FIRST_CARD = """
import sys
from anki.collection import Collection
col = Collection(sys.argv[1])
card = col.sched.getCard()
assert card is not None
card.render_output()
col.close(downgrade=False)
"""


def vault(bench: Bench, cards: int) -> Path:
    root = bench.work / f"years-{cards}"
    if not root.exists():  # under this name it is whole
        unfinished = bench.work / f"unfinished-{cards}"
        shutil.rmtree(unfinished, ignore_errors=True)
        bench.run([RETAIN, "init", str(unfinished), "--no-git"])
        print(f"making {cards:,} cards and eight years of reviews ...", file=sys.stderr)
        unseen = max(0.002, 2 * _RATINGS / cards)  # enough for every rating that is timed
        made_decks.write_years(unfinished, cards, unseen=unseen, seed=1, now=datetime.now(UTC))
        unfinished.rename(root)
    return root


def collection(bench: Bench, root: Path) -> Path:
    """An Anki collection of the same cards, due on the same days, with the same reviews."""
    from benchmarks.made_collection import write_collection

    path = bench.work / f"{root.name}.anki2"
    if not path.exists():
        print("making Anki's collection of the same ...", file=sys.stderr)
        write_collection(path, root)
    return path


def due(bench: Bench, cards: int) -> list[Row]:
    """`retain due --json` as a whole process, after a rating."""
    made = vault(bench, cards)
    anki = collection(bench, made)
    root = bench.work / "asked"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(made, root)
    ask = [RETAIN, "--vault", str(root), "due", "--json"]
    waiting = iter(_cards_due(root))

    def settled() -> None:
        """No file is so young that it must be read again."""
        time.sleep(2.5)

    def after_a_rating() -> float:
        bench.run([RETAIN, "--vault", str(root), "rate", next(waiting), "good"])
        settled()
        return bench.run(ask)

    def first_card() -> float:
        return bench.run([sys.executable, "-c", FIRST_CARD, str(anki)])

    bench.run(ask)
    changed, first = in_turns(bench.rounds, after_a_rating, first_card)
    full = cards >= FULL
    what, peer = f"due --json, {cards:,} cards, after a rating", "Anki: import, open, first card"
    return [Row(what, changed, peer, first, 0.25 if full else None)]


def _cards_due(root: Path) -> list[str]:
    from learning.cards.workspace import open_desk
    from vault.vault import open_vault

    return [item.card for item in open_desk(open_vault(str(root), None, root), datetime.now(UTC)).queue.due]


def rating(bench: Bench, cards: int) -> list[Row]:
    """From the call of a rating until it is on disk and the next card is there with its four previews.

    Both sides lie on one disk and sync it once a rating: Anki at its commit, as strace shows, with what SQLite does by
    itself in a new collection (WAL, synchronous FULL). What the bare sync of a line takes is in the note.
    """
    import anki.collection  # first: Anki's modules load each other in a circle
    from anki.cards import Card
    from anki.scheduler.v3 import CardAnswer, Scheduler

    from learning.review.study_session import StudySession
    from vault.log.events import Rating
    from vault.vault import open_vault

    made = vault(bench, cards)
    rated = bench.work / "rated.anki2"
    shutil.copy(collection(bench, made), rated)
    root = bench.work / "rated"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(made, root)
    settings = (root / "retain.toml").read_text(encoding="utf-8").replace("new_per_day = 20", "new_per_day = 9999")
    (root / "retain.toml").write_text(settings, encoding="utf-8")
    os.sync()  # what was copied is nobody's to write during a rating
    time.sleep(2.5)  # and no file is young
    study_session = StudySession.at(open_vault(str(root), None, root), lambda: datetime.now(UTC), None)
    col = anki.collection.Collection(str(rated))
    assert study_session.table() is not None
    scheduler = col.sched
    assert isinstance(scheduler, Scheduler)
    queued = [scheduler.get_queued_cards(fetch_limit=1).cards[0]]

    def ours() -> float:
        study_session.reveal()
        study_session.upcoming()  # as the app does while the answer is read
        start = time.perf_counter()
        study_session.rate(Rating.GOOD)
        assert study_session.table() is not None, "cards enough for every round"
        study_session.previews()
        return time.perf_counter() - start

    def theirs() -> float:
        card = Card(col, backend_card=queued[0].card)
        card.start_timer()
        start = time.perf_counter()
        answer = scheduler.build_answer(card=card, states=queued[0].states, rating=CardAnswer.GOOD)
        scheduler.answer_card(answer)
        queued[0] = scheduler.get_queued_cards(fetch_limit=1).cards[0]
        following = Card(col, backend_card=queued[0].card)
        following.render_output()
        scheduler.describe_next_states(queued[0].states)
        return time.perf_counter() - start

    bare_log = os.open(bench.work / "bare.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def bare() -> float:
        start = time.perf_counter()
        os.write(bare_log, b"." * 170 + b"\n")
        os.fsync(bare_log)
        return time.perf_counter() - start

    mine, other, synced = _each(_RATINGS, ours, theirs, bare)
    os.close(bare_log)
    col.close(downgrade=False)
    full = cards >= FULL // 10
    what, peer = f"a rating and the next card, {cards:,} cards", "Anki: answer, next card rendered"
    return [
        Row(
            f"{what}, median",
            statistics.median(mine),
            peer,
            statistics.median(other),
            0.65 if full else None,
            f"a line and its sync alone: {statistics.median(synced) * 1e3:.3f} ms",
        ),
        Row(
            f"{what}, p99",
            _p99(mine),
            peer,
            _p99(other),
            0.40 if full else None,
            f"a line and its sync alone: {_p99(synced) * 1e3:.3f} ms",
        ),
    ]


def _each(rounds: int, *subjects: Callable[[], float]) -> list[list[float]]:
    """Every time that each subject gives, asked A B A B ...; the first ten rounds warm up and are not counted."""
    found: list[list[float]] = [[] for _ in subjects]
    for turn in range(rounds + 10):
        for times, subject in zip(found, subjects, strict=True):
            spent = subject()
            if turn >= 10:
                times.append(spent)
    return found


def _p99(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.99)]


_REBUILD = """
import sys, time
from pathlib import Path
from learning.memory.fold import scheduler_for
from learning.memory.state import rules_of
from learning.history.history import open_past
from learning.store.index import open_index
from vault.vault import open_vault
root = Path(sys.argv[1])
for path in (root / ".retain").glob("learning.sqlite3*"):
    path.unlink()
vault = open_vault(str(root), None, root)
start = time.perf_counter()
with open_index(vault) as index:
    past = open_past(vault, index, lambda events: scheduler_for(rules_of(vault.settings), events))
    states = len(past.states)
    spent = time.perf_counter() - start
peak = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]  # getrusage has the parent's, too
print(spent, states, peak)
"""
_PARSE = """
import json, sys, time
from pathlib import Path
paths = sorted(Path(sys.argv[1]).glob("learning/reviews*.jsonl"))
start = time.perf_counter()
count = 0
for path in paths:
    for line in path.read_bytes().split(b"\\n"):
        if line:
            json.loads(line)
            count += 1
print(time.perf_counter() - start, count, 0)
"""


def rebuild(bench: Bench, cards: int) -> list[Row]:
    """The states of all cards from the log alone."""
    from benchmarks.made_collection import seconds_to_recompute

    root = vault(bench, cards)
    anki = collection(bench, root)
    peaks: list[int] = []

    def told(code: str, path: Path) -> float:
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)], env=bench.environment(), capture_output=True, text=True, check=True
        )
        spent, _, peak = done.stdout.split()
        peaks.append(int(peak))
        return float(spent)

    ours, parsed, recomputed = in_turns(
        min(bench.rounds, 3),
        lambda: told(_REBUILD, root),
        lambda: told(_PARSE, root),
        lambda: seconds_to_recompute(anki),
    )
    what = f"all states of {cards:,} cards, no cache"
    note = f"peak memory {max(peaks) / 1024:.0f} MiB"
    full = cards >= FULL
    return [
        Row(what, ours, "split and json.loads of the log", parsed, 3 if full else None, note),
        Row(what, ours, "Anki: recompute of memory states", recomputed, 1.5 if full else None),
    ]


def stats(bench: Bench, cards: int) -> list[Row]:
    """`retain stats` as a whole process: with the sums of all days in the index, and as the first to need them."""
    made = vault(bench, cards)
    root = bench.work / "asked"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(made, root)
    ask = [RETAIN, "--vault", str(root), "stats"]

    def log_only() -> float:
        """The index of the log alone."""
        code = [sys.executable, "-c", _REBUILD, str(root)]
        done = subprocess.run(code, env=bench.environment(), capture_output=True, text=True, check=True)
        return float(done.stdout.split()[0])

    def cold() -> float:
        return log_only() + bench.run(ask)

    rebuilt, first = in_turns(min(bench.rounds, 3), log_only, cold)
    bench.run(ask)
    (warm,) = in_turns(bench.rounds, lambda: bench.run(ask))
    what, full = f"stats, {cards:,} cards", cards >= FULL
    return [
        Row(f"{what}, nothing known", first, "the states of all cards from the log", rebuilt, 1.5 if full else None),
        Row(f"{what}, again", warm, "half a second", 0.5, 1 if full else None),
    ]


PARTS = {"due": due, "rating": rating, "rebuild": rebuild, "stats": stats}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=f"of: {', '.join(PARTS)}")
    parser.add_argument("--cards", type=int, default=FULL)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="2,000 cards, three rounds: a first look")
    parser.add_argument("--work", type=Path, help="a folder that is kept from run to run")
    given = parser.parse_args()
    cards, rounds = (2_000, 3) if given.quick else (given.cards, given.rounds)
    work = given.work or Path(tempfile.mkdtemp(prefix="retain-bench-"))
    work.mkdir(parents=True, exist_ok=True)
    try:
        rows = _rows(Bench(work.resolve(), rounds, 0), given.parts, cards)
    finally:
        if given.work is None:
            shutil.rmtree(work, ignore_errors=True)
    print(machine(), end="\n\n")
    print(table(rows))


def _rows(bench: Bench, parts: list[str], cards: int) -> list[Row]:
    rows: list[Row] = []
    for part in parts:
        for size in sorted({cards // 10, cards}) if part == "rating" else [cards]:
            found = PARTS[part](bench, size)
            print(table(found), end="\n\n", file=sys.stderr)  # a run that is stopped has shown what it measured
            rows += found
    return rows


if __name__ == "__main__":
    main()
