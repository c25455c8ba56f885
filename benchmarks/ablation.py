"""What each signal of the engine contributes: the documents once with all of them, and once without each."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.concept_figures import Share, agreement
from benchmarks.concept_key import Key
from benchmarks.made_concepts import Document, documents, engine_without, run, signals


@dataclass(frozen=True, slots=True)
class Row:
    """One run; `without` is "" for the run with every signal. Precision is against the key alone."""

    without: str
    concepts: int
    recall: Share
    core: Share
    precision: Share
    cards: int
    seconds: float


def rows(key: Key, folder: Path) -> list[Row]:
    """The run with every signal, then one without each. Raises LookupError where the engine names no signals."""
    if not signals():
        raise LookupError("the engine of this version names no signals, so none can be left out")
    read = documents(folder)
    return [_row(key, read, signal) for signal in ("", *signals())]


def _row(key: Key, read: list[Document], signal: str) -> Row:
    start = time.perf_counter()
    made = run(read, engine_without(signal))
    spent = time.perf_counter() - start
    found = agreement(key, made.made)
    recalls = found.recalls()
    return Row(signal, len(made.made), recalls["all"], recalls["core"], found.precisions()["all"], made.cards, spent)


def table(found: list[Row]) -> str:
    """The rows as a Markdown table; differences are to the run with every signal."""
    whole = found[0]
    lines = [
        "| without | concepts | recall | core recall | precision (key) | cards | seconds |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [_line(row, whole) for row in found]
    return "\n".join(lines)


def _line(row: Row, whole: Row) -> str:
    cells = [
        row.without or "(nothing: every signal)",
        _count(row.concepts, whole.concepts, row),
        _ratio(row.recall, whole.recall, row),
        _ratio(row.core, whole.core, row),
        _ratio(row.precision, whole.precision, row),
        _count(row.cards, whole.cards, row),
        f"{row.seconds:.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def _count(now: int, whole: int, row: Row) -> str:
    return f"{now} ({now - whole:+d})" if row.without else str(now)


def _ratio(now: Share, whole: Share, row: Row) -> str:
    if now.ratio is None or whole.ratio is None:
        return "-"
    return f"{now.ratio:.3f} ({now.ratio - whole.ratio:+.3f})" if row.without else f"{now.ratio:.3f}"
