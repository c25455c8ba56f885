"""What a human asks of one compile."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """`only` are vault paths of sources to look at (all if empty); `dry_run` writes nothing; `fresh` uses no cache."""

    engine: str = "extractive"
    only: tuple[str, ...] = ()
    dry_run: bool = False
    fresh: bool = False
    command: str = "compile"
