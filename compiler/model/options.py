"""The options of one compile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Options:
    """`only` are vault paths of sources to look at (all if empty); `dry_run` writes nothing; `fresh` uses no cache.

    `wait_s` is how many seconds to wait for another compile of the vault to end; `part_bytes` are the bytes of
    documents that a model reads at a time; `renew` asks again what was answered to
    another prompt. With `keep_read`, a dry run keeps in the cache what was read of the sources.
    `decisions` are decisions that a dry run takes for made.
    """

    engine: str = "extractive"
    only: tuple[str, ...] = ()
    dry_run: bool = False
    fresh: bool = False
    command: str = "compile"
    wait_s: float = 0.0
    part_bytes: int = 40_000
    renew: bool = False
    keep_read: bool = False
    decisions: tuple[dict[str, Any], ...] = ()
