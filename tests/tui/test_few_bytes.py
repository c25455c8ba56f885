"""A key press sends few bytes over a slow line: what did not change is not painted again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

import pytest
from textual.pilot import Pilot
from textual.strip import Strip

from tui.app import RetainApp
from tui.context import Context
from tui.views.card_table import CardTable
from vault.vault import Vault

Settled = Callable[[Pilot[int]], Awaitable[None]]


async def test_a_move_in_the_browser_paints_the_row_it_leaves_and_the_row_it_reaches(
    vault: Vault, clock: Callable[[], datetime], settled: Settled, monkeypatch: pytest.MonkeyPatch
) -> None:
    painted: list[int] = []
    real = CardTable.render_line

    def spy(table: CardTable, y: int) -> Strip:
        painted.append(y)
        return real(table, y)

    app = RetainApp(Context(vault, clock), "browse")
    async with app.run_test(size=(140, 45)) as pilot:
        await settled(pilot)
        await settled(pilot)
        monkeypatch.setattr(CardTable, "render_line", spy)
        await pilot.press("j")
        await settled(pilot)
        assert set(painted) == {0, 1}
