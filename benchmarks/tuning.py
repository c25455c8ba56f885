"""`retain optimize` beside Anki's own optimiser: the same reviews, the same split, in turns. Needs a real history.

    python -m benchmarks.tuning HISTORY.csv     (card_id, review_rating, review_time, review_duration)

Anki works through its own `compute_fsrs_params` on a collection that holds these reviews. Time is from the log (for
Anki: its database, open) to parameters; losses are plain means over the last fifth, which neither has seen.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.measure import Row, in_turns, machine, table
from learning.memory.evaluation import Marks, marks_of
from learning.memory.fsrs import DEFAULTS, Parameters
from learning.memory.model import fit
from learning.memory.trials import elapsed_days, split_row, trials
from learning.study_day import StudyCalendar
from vault.ids import CardId, ulid
from vault.log.events import Rating, Review, Stamp, encode
from vault.log.review_columns import scan_log

_CALENDAR = StudyCalendar(UTC, 4)  # Anki's day in an empty profile under UTC begins at four, too
Raw = tuple[int, int, int, int]  # at (ms), card, rating, ms on screen


def history(path: Path, copies: int) -> list[Raw]:
    """The reviews of the file, each card `copies` times, in order of time and no two at the same millisecond."""
    with path.open(newline="", encoding="utf-8") as file:
        found = [
            (
                round(datetime.fromisoformat(row["review_time"]).timestamp() * 1000),
                int(row["card_id"]),
                int(row["review_rating"]),
                int(row["review_duration"]),
            )
            for row in csv.DictReader(file)
        ]
    rows, last = [], 0
    for at, card, rating, ms in sorted(found):
        for copy in range(copies):
            last = max(at, last + 1)
            rows.append((last, card * 10 + copy, rating, ms))
    return rows


def log_of(rows: Sequence[Raw]) -> bytes:
    """The review log that holds them."""
    lines = []
    for number, (at_ms, card, rating, ms) in enumerate(rows):
        at = datetime.fromtimestamp(at_ms // 1000, UTC).replace(microsecond=at_ms % 1000 * 1000)
        stamp = Stamp(ulid(at_ms, number.to_bytes(10, "big")), at)
        lines.append(encode(Review(stamp, CardId(str(card)), Rating(rating), ms)) + b"\n")
    return b"".join(lines)


def collection(folder: Path, rows: Sequence[Raw]) -> Any:
    """An Anki collection with these cards and reviews, written into its tables."""
    from anki.collection import Collection

    col = Collection(str(folder / f"c{len(rows)}.anki2"))
    kind = col.models.by_name("Basic")
    assert kind is not None and col.db is not None
    cards = sorted({row[1] for row in rows})
    notes = [(n, f"g{n}", kind["id"]) for n in range(1, len(cards) + 1)]
    col.db.executemany("insert into notes values(?,?,?,0,-1,'','a\x1fb','a',0,0,'')", notes)
    places = [(card, n) for n, card in enumerate(cards, 1)]
    col.db.executemany("insert into cards values(?,?,1,0,0,-1,2,2,100,10,2500,5,0,0,0,0,0,'{}')", places)
    seen: set[int] = set()
    logged = []
    for at, card, rating, ms in rows:
        logged.append((at, card, rating, ms, int(card in seen)))  # the first one is a learning step
        seen.add(card)
    col.db.executemany("insert into revlog values(?,?,-1,?,1,1,2500,?,?)", logged)
    return col


def theirs(col: Any) -> Parameters:
    """What Anki's optimiser finds."""
    answer = col._backend.compute_fsrs_params(
        search="", current_params=[], ignore_revlogs_before_ms=0, num_of_relearning_steps=1, health_check=False
    )
    return tuple(answer.params)


def ours(data: bytes, before: int | None = None) -> Parameters:
    """What `retain optimize` finds, from the bytes of the log."""
    columns = scan_log([("learning/reviews.jsonl", data)]).reviews
    return fit(columns, elapsed_days(columns, _CALENDAR), before=before)


def held_out(data: bytes, parameters: Sequence[float]) -> Marks:
    """The marks of `parameters` on the last fifth."""
    columns = scan_log([("learning/reviews.jsonl", data)]).reviews
    elapsed = elapsed_days(columns, _CALENDAR)
    return marks_of(trials(columns, elapsed, tuple(parameters), since=split_row(columns)))


def _shown(name: str, marks: Marks) -> str:
    return (
        f"| {name:28} | {marks.log_loss:.5f} | {marks.rmse_bins:.5f} | {marks.predicted:.4f} | {marks.recalled:.4f} |"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("history", type=Path)
    parser.add_argument("--copies", type=int, default=7, help="how often the history is taken for the speed (7)")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    print(machine(), end="\n\n")
    with tempfile.TemporaryDirectory(prefix="retain-tuning-") as temporary:
        _quality(history(asked.history, 1), Path(temporary))
        _speed(history(asked.history, asked.copies), Path(temporary), asked.rounds)


def _quality(rows: Sequence[Raw], work: Path) -> None:
    data = log_of(rows)
    columns = scan_log([("learning/reviews.jsonl", data)]).reviews
    row = split_row(columns)
    col = collection(work, rows[:row])
    anki, mine = theirs(col), ours(data, before=row)
    col.close()
    print(f"{len(rows):,} reviews; fitted to the first {row:,}, tried on those after them\n")
    print("| parameters                   | log loss | RMSE in bins | foretold | recalled |\n|---|---|---|---|---|")
    for name, parameters in (("FSRS-6's own", DEFAULTS), ("Anki's optimiser", anki), ("retain optimize", mine)):
        print(_shown(name, held_out(data, parameters)))
    apart = max(abs(a - b) for a, b in zip(anki, mine, strict=True))
    print(f"\nlargest difference of a parameter, Anki's and ours: {apart:.6f} (ours have four decimals)\n")


def _speed(rows: Sequence[Raw], work: Path, rounds: int) -> None:
    data, col = log_of(rows), collection(work, rows)

    def clock_ours() -> float:
        start = time.perf_counter()
        ours(data)
        return time.perf_counter() - start

    def clock_theirs() -> float:
        start = time.perf_counter()
        theirs(col)
        return time.perf_counter() - start

    mine, anki = in_turns(rounds, clock_ours, clock_theirs)
    apart = max(abs(a - b) for a, b in zip(theirs(col), ours(data), strict=True))
    note = f"largest difference of a parameter: {apart:.6f}"
    print(table([Row(f"fit to {len(rows):,} reviews", mine, "Anki's compute_fsrs_params", anki, 1.2, note)]))
    col.close()


if __name__ == "__main__":
    main()
