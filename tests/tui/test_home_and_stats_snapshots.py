"""Home and the statistics as they look after a year: look at the difference before you accept one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

import pytest
from textual.pilot import Pilot

from tests.tui.test_stats_screen import TOPIC, a_year, log
from tui.app import RetainApp
from tui.context import Context
from vault.store import Vault

Compare = Callable[..., bool]
Settled = Callable[[Pilot[int]], Awaitable[None]]
COLOURS = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 45)], ids=["80x24", "140x45"])


@pytest.fixture
def lived(vault: Vault, clock: Callable[[], datetime]) -> Vault:
    log(vault, a_year(clock()))
    (vault.root / "wiki/topics").mkdir()
    (vault.root / "wiki/topics/memory.md").write_text(TOPIC, encoding="utf-8")
    return vault


def pressing(settled: Settled, *keys: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    async def press(pilot: Pilot[int]) -> None:
        await settled(pilot)
        for key in keys:
            await pilot.press(key)
            await settled(pilot)

    return press


@SIZES
def test_home_after_a_year(
    snap_compare: Compare, lived: Vault, clock: Callable[[], datetime], settled: Settled, size: tuple[int, int]
) -> None:
    assert snap_compare(
        RetainApp(Context(lived, clock, environment=COLOURS)), run_before=pressing(settled), terminal_size=size
    )


@SIZES
@pytest.mark.parametrize("section", ["1", "4", "8"], ids=["recall", "load", "mastery"])
def test_statistics(
    snap_compare: Compare,
    lived: Vault,
    clock: Callable[[], datetime],
    settled: Settled,
    size: tuple[int, int],
    section: str,
) -> None:
    app = RetainApp(Context(lived, clock, environment=COLOURS), "stats")
    assert snap_compare(app, run_before=pressing(settled, section), terminal_size=size)
