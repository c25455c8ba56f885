"""A review made here, once it was sent to a running Anki: the buttons there lead where those here lead."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from learning.anki_connect.client import connected
from learning.anki_connect.sync import sync
from learning.cards.workspace import open_desk, rate
from learning.memory.scheduler import fuzz_range
from tests.learning.connect_server import ConnectServer, serving
from vault.ids import CardId
from vault.log.events import Rating
from vault.vault import Vault

A1 = CardId("aaaaaaaaa1")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ConnectServer]:
    from anki.collection import Collection

    col = Collection(str(tmp_path / "collection.anki2"))
    col.set_config("fsrs", True)
    with serving(ConnectServer(col, imports=True)) as listening:
        yield listening
    col.close()


def test_anki_with_fsrs_plans_as_this_vault_does(vault: Vault, server: ConnectServer) -> None:
    now = datetime.now(UTC)
    for days, rating in ((60, Rating.EASY), (45, Rating.HARD), (30, Rating.GOOD), (2, Rating.GOOD)):
        rate(open_desk(vault, now - timedelta(days=days)), A1, rating, via="cli", ms=1_000)
    assert sync(open_desk(vault, now), connected(server.url)).sent == 4
    desk, (number,) = open_desk(vault, now), server.col.find_cards(f"CardId:{A1}")
    card = server.col.get_card(number)
    assert (card.type, card.reps, card.lapses, card.ivl) == (2, 4, 0, desk.state(A1).interval_days)
    states, before = server.col._backend.get_scheduling_states(number), 0
    for rating, theirs in ((Rating.HARD, states.hard), (Rating.GOOD, states.good), (Rating.EASY, states.easy)):
        ours = desk.scheduler.review(A1, desk.state(A1), rating, now)
        # Anki puts each answer at least a day after the one before it, then fuzzes.
        least, most = fuzz_range(max(desk.scheduler.planned(A1, ours.stability), before + 1), 36_500)
        assert least - 1 <= theirs.normal.review.scheduled_days <= most + 1
        before = theirs.normal.review.scheduled_days
        memory = theirs.normal.review.memory_state
        assert memory.stability == pytest.approx(ours.stability, rel=0.02)
        assert memory.difficulty == pytest.approx(ours.difficulty, rel=0.02)
    assert sync(open_desk(vault, now), connected(server.url)).sent == 0
