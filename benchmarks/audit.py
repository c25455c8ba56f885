"""`python -m benchmarks.audit`: looks at the human's files, beside `sha256sum` over the same tree in the same turn."""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from benchmarks.measure import RETAIN, Bench, Row, in_turns, machine, table
from vault.audit.watcher import Audit
from vault.vault import open_vault

NOTES = 10_000
ROUNDS = 5
MARK = 2.0  # times sha256sum, for every byte read again
_SHA256SUM = ("sh", "-c", 'find "$0" -type f -print0 | xargs -0 sha256sum >/dev/null')


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=NOTES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="retain-audit-"))
    try:
        bench = Bench(work, given.rounds, given.notes)
        print(machine(), "", table(_rows(bench, given.notes)), sep="\n")
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _rows(bench: Bench, notes: int) -> list[Row]:
    vault = bench.work / "vault"
    own = {"XDG_CONFIG_HOME": str(bench.work / "config"), "XDG_STATE_HOME": str(bench.work / "state")}
    bench.run([RETAIN, "init", str(vault), "--no-git"], own)
    size = _fill(vault / "insights", notes)
    what = f"{notes:,} notes, {size / 2**20:.0f} MiB"

    def first() -> float:
        shutil.rmtree(bench.work / "state", ignore_errors=True)
        return bench.run([RETAIN, "guard", "audit"], own, vault)

    def again(*options: str) -> float:
        return bench.run([RETAIN, "guard", "audit", *options], own, vault)

    def peer() -> float:
        return bench.run([*_SHA256SUM, str(vault / "insights")])

    taken, summed = in_turns(bench.rounds, first, peer)
    later, beside = in_turns(bench.rounds, again, peer)
    quick, against = in_turns(bench.rounds, lambda: again("--quick"), peer)
    return [
        Row(f"audit, {what}", later, "sha256sum", beside, MARK if notes >= NOTES else None, "every byte is read again"),
        Row("audit --quick", quick, "sha256sum", against, note="files whose inode, size and times stand are trusted"),
        Row("the first audit", taken, "sha256sum", summed, note="once: every file is copied outside the vault, synced"),
        Row("a quiet look at 1,000 notes, in process", _quiet(bench, own), "-", None),
    ]


def _quiet(bench: Bench, own: dict[str, str]) -> float:
    """What a look costs without a process around it."""
    import os

    os.environ.update(own)
    vault = bench.work / "small"
    bench.run([RETAIN, "init", str(vault), "--no-git"], own)
    _fill(vault / "insights", 1_000)
    opened = open_vault(str(vault), None, vault)

    def one() -> float:
        start = time.perf_counter()
        with Audit.open(opened) as audit:
            audit.scan(datetime.now(UTC), quick=True)
        return time.perf_counter() - start

    one()
    time.sleep(2.1)  # what changed within the last two seconds is not trusted
    one()
    return in_turns(bench.rounds, one)[0]


def _fill(folder: Path, notes: int) -> int:
    """Notes of 0.6 to 6 kB in forty folders; their bytes in all."""
    chance = Random(4)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 9))) for _ in range(5_000)]
    total = 0
    for number in range(notes):
        path = folder / f"{number % 40:02d}" / f"note-{number:05d}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        total += path.write_text(" ".join(chance.choices(words, k=chance.randint(100, 900))), encoding="utf-8")
    return total


if __name__ == "__main__":
    main()
