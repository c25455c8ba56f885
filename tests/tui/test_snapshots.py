"""Every screen as it looks, narrow and wide: look at the difference before you accept one (`--snapshot-update`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

import pytest
from textual.pilot import Pilot

from tui.app import RetainApp
from tui.context import Context
from vault.review_log import LOG_PATH
from vault.store import Vault

Compare = Callable[..., bool]
Settled = Callable[[Pilot[int]], Awaitable[None]]
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])


def pressing(settled: Settled, *keys: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    """What is done before the picture is taken."""

    async def press(pilot: Pilot[int]) -> None:
        await settled(pilot)
        for key in keys:
            await pilot.press(key)
            await settled(pilot)

    return press


@SIZES
def test_home(snap_compare: Compare, home: RetainApp, settled: Settled, size: tuple[int, int]) -> None:
    assert snap_compare(home, run_before=pressing(settled), terminal_size=size)


@SIZES
def test_front(snap_compare: Compare, review: RetainApp, settled: Settled, size: tuple[int, int]) -> None:
    assert snap_compare(review, run_before=pressing(settled), terminal_size=size)


@SIZES
def test_back_with_source(snap_compare: Compare, review: RetainApp, settled: Settled, size: tuple[int, int]) -> None:
    run = pressing(settled, "space", "s")
    assert snap_compare(review, run_before=run, terminal_size=size)


@SIZES
def test_gaps(snap_compare: Compare, home: RetainApp, settled: Settled, size: tuple[int, int]) -> None:
    assert snap_compare(home, run_before=pressing(settled, "g", "p"), terminal_size=size)


def test_end(snap_compare: Compare, review: RetainApp, settled: Settled) -> None:
    run = pressing(settled, *("space", "4") * 4)
    assert snap_compare(review, run_before=run, terminal_size=(80, 24))


def test_empty_vault(snap_compare: Compare, bare: Vault, clock: Callable[[], datetime], settled: Settled) -> None:
    app = RetainApp(Context(bare, clock))
    assert snap_compare(app, run_before=pressing(settled), terminal_size=(80, 24))


def test_light(snap_compare: Compare, review: RetainApp, settled: Settled) -> None:
    run = pressing(settled, "ctrl+t", "space")
    assert snap_compare(review, run_before=run, terminal_size=(80, 24))


def test_refused_rating(snap_compare: Compare, review: RetainApp, vault: Vault, settled: Settled) -> None:
    async def run(pilot: Pilot[int]) -> None:
        await settled(pilot)
        (vault.root / LOG_PATH).mkdir()
        await pilot.press("space", "3")

    assert snap_compare(review, run_before=run, terminal_size=(80, 24))
