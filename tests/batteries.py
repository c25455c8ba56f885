"""Which tests are batteries, and which of them a run of pytest includes.

A battery is a test that has the mark `torture`, or that uses the fixture `torture` (how often to try) or `tally` (a row
of a table), or whose examples Hypothesis makes. `make test` runs those without the mark, with a part of their tries.
`make torture` runs every battery whole and nothing else; RETAIN_FIFTH=1 to 5 selects a fifth of them by a hash of the
test's id, and RETAIN_MINUTES ends such a run in time: batteries that would begin later are skipped, and the others make
a fifth of their tries.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Collection

import pytest

TORTURE = bool(os.environ.get("RETAIN_TORTURE"))
FIXTURES = frozenset(("torture", "tally"))
_FIFTH = int(os.environ.get("RETAIN_FIFTH") or 0)
_MINUTES = float(os.environ.get("RETAIN_MINUTES") or 0)
_STARTED = time.monotonic()


def tries(full: int, part: int) -> int:
    """Return how often a battery tries: `part` outside `make torture`; in it `full`, less where minutes are limited."""
    if not TORTURE:
        return part
    return max(part, full // 5) if _MINUTES and full > part else full


def examples(full: int) -> int:
    """Return how many examples Hypothesis makes for a test: `full` in `make torture`, else a quarter."""
    return tries(full, full // 4)


def fifth_of(nodeid: str) -> int:
    """Return which fifth, 1 to 5, the test with this id is in."""
    return hashlib.sha256(nodeid.encode()).digest()[0] % 5 + 1


def included(nodeid: str, *, marked: bool, fixtures: Collection[str], torture: bool, fifth: int = 0) -> bool:
    """Return whether a run includes a test, given whether it has the mark `torture`, and the fixtures that it uses."""
    if not torture:
        return not marked
    return (marked or not FIXTURES.isdisjoint(fixtures)) and fifth in (0, fifth_of(nodeid))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    chosen: list[pytest.Item] = []
    rest: list[pytest.Item] = []
    for item in items:
        marked = item.get_closest_marker("torture") is not None
        fixtures = set(getattr(item, "fixturenames", ()))
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            fixtures.add("torture")
        run = included(item.nodeid, marked=marked, fixtures=fixtures, torture=TORTURE, fifth=_FIFTH)
        (chosen if run else rest).append(item)
    if rest:
        config.hook.pytest_deselected(items=rest)
        items[:] = chosen


def pytest_runtest_setup(item: pytest.Item) -> None:
    if TORTURE and _MINUTES and time.monotonic() - _STARTED > _MINUTES * 60:
        pytest.skip(f"not begun: the {_MINUTES:g} minutes of this run are over")
