"""Measuring two things in turns, so that a busy machine slows both, and printing what came of it."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

Command = Sequence[str]
FULL = 2_000  # articles of the vault that the marks are set for
RETAIN = str(Path(sys.executable).with_name("retain"))
_LEFT_OUT = ("RETAIN_VAULT", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "PYTHONPROFILEIMPORTTIME")


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: medians of wall time in seconds. `mark` is the largest ratio that is good enough."""

    what: str
    ours: float
    peer: str
    theirs: float | None
    mark: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return self.ours / self.theirs if self.theirs else None

    @property
    def verdict(self) -> str:
        if self.mark is None:
            return "-"
        if self.ratio is None:
            return f"<= {self.mark:g}: not run"
        return f"<= {self.mark:g}: {'met' if self.ratio <= self.mark else 'MISSED'}"


@dataclass(frozen=True, slots=True)
class Bench:
    """Where a run may write, and how often each thing is measured."""

    work: Path
    rounds: int
    articles: int

    def mark(self, ratio: float) -> float | None:
        """`ratio`, where it was promised: for a vault of full size."""
        return ratio if self.articles >= FULL else None

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """What children see: bytecode is cached, as it is for everybody who runs a program twice."""
        kept = {k: v for k, v in os.environ.items() if k not in _LEFT_OUT}
        return kept | {"PYTHONPYCACHEPREFIX": str(self.work / "bytecode")} | dict(extra or {})

    def run(self, command: Command, extra: Mapping[str, str] | None = None, cwd: Path | None = None) -> float:
        """Wall seconds of a process from start to end. Raises RuntimeError with its words if it fails."""
        environment = self.environment(extra)
        start = time.perf_counter()
        done = subprocess.run(
            command, cwd=cwd or self.work, env=environment, capture_output=True, text=True, check=False
        )
        spent = time.perf_counter() - start
        if done.returncode not in (0, 1):  # 1: findings, such as a source that cannot be read
            raise RuntimeError(f"{' '.join(command)} left with {done.returncode}: {done.stderr.strip()[-500:]}")
        return spent


def in_turns(rounds: int, *subjects: Callable[[], float]) -> list[float]:
    """The median of what each subject gives, asked A B A B ...; a first round warms the caches and isn't counted."""
    found: list[list[float]] = [[] for _ in subjects]
    for turn in range(rounds + 1):
        for times, subject in zip(found, subjects, strict=True):
            spent = subject()
            if turn:
                times.append(spent)
    return [statistics.median(times) for times in found]


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = [("what", "retain", "beside", "takes", "ratio", "mark")]
    for row in rows:
        ratio = f"{row.ratio:.2f}" if row.ratio is not None else "-"
        theirs = seconds(row.theirs) if row.theirs is not None else "-"
        lines.append((row.what, seconds(row.ours), row.peer, theirs, ratio, row.verdict))
    widths = [max(len(line[n]) for line in lines) for n in range(6)]
    rule = tuple("-" * width for width in widths)
    formatted = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |"
        for line in (lines[0], rule, *lines[1:])
    ]
    notes = [f"- {row.what}: {row.note}" for row in rows if row.note]
    return "\n".join([*formatted, "", *notes] if notes else formatted)


def seconds(value: float) -> str:
    """A time for people: "1.9 s", "86 ms", "0.41 ms"."""
    if value >= 1:
        return f"{value:.1f} s"
    return f"{value * 1e3:.0f} ms" if value >= 0.01 else f"{value * 1e3:.2f} ms"


def machine() -> str:
    """Date, machine and versions, in a few lines."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("retain", "click", "textual", "msgspec"))
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return "\n".join(
        (
            f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {platform.system()} {platform.release()}, {_processor()}",
            f"{os.cpu_count()} cores{load}, Python {platform.python_version()}, {versions}",
        )
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())
