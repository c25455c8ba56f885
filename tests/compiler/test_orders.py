"""The desk of the work orders: leases among agents at once, what is remembered of open questions, and for how long."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from compiler.orders import board as orders
from compiler.orders.board import OrderDesk, open_board
from compiler.orders.leases import PATH, active_leases, end_leases, lease_orders
from compiler.orders.submit import Submission, submit
from tests.builders import vault_with_sources
from tests.compiler.test_journaled import MEIOSIS, MITOSIS
from vault.errors import LockHeld
from vault.locks import lock
from vault.vault import Vault

NOW = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)


@pytest.fixture
def cells(tmp_path: Path) -> Vault:
    return vault_with_sources(tmp_path / "vault", {"mitosis.md": MITOSIS, "meiosis.md": MEIOSIS})


def count_builds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one with every build that is run to find out what is open."""
    ran: list[int] = []
    real = orders.open_requests

    def counted(*given: Any) -> Any:
        ran.append(1)
        return real(*given)

    monkeypatch.setattr(orders, "open_requests", counted)
    return ran


def empty(place: OrderDesk, ids: list[str]) -> None:
    receipts, _ = submit(place, [Submission(i, {"claims": [], "terms": []}) for i in ids], "one", NOW)
    assert [r.state for r in receipts] == ["accepted"] * len(ids)


def test_no_two_of_many_agents_at_once_get_the_same_order(cells: Vault) -> None:
    wanted = [f"check-{n:012x}" for n in range(40)]
    got: list[list[str]] = []

    def agent(name: str) -> None:
        got.extend(lease_orders(cells, wanted, 2, name, 10, NOW) for _ in range(5))

    threads = [threading.Thread(target=agent, args=(f"agent-{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    taken = [id_ for ids in got for id_ in ids]
    assert sorted(taken) == wanted and len(active_leases(cells, NOW)) == 40


def test_a_lease_ends_with_its_time_or_when_it_is_given_back(cells: Vault) -> None:
    assert lease_orders(cells, ["a", "b"], 2, "one", 10, NOW) == ["a", "b"]
    assert lease_orders(cells, ["a", "b"], 2, "two", 10, NOW) == []
    end_leases(cells, ["a"], NOW)
    assert lease_orders(cells, ["a", "b"], 2, "two", 10, NOW) == ["a"]
    assert lease_orders(cells, ["a", "b"], 2, "three", 10, NOW + timedelta(minutes=11)) == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"a": 7}',
        '{"a": ["x", "y"]}',
        '{"a": ["one", 1e400]}',
        '{"a": ["one", 9e99]}',
        '{"a": ["\\u001b", 1]}',
    ],
)
def test_a_file_of_leases_that_somebody_spoilt_holds_nobody_up(cells: Vault, text: str) -> None:
    (cells.root / PATH).parent.mkdir(parents=True, exist_ok=True)
    (cells.root / PATH).write_text(text)
    assert active_leases(cells, NOW) == {}
    assert lease_orders(cells, ["a"], 1, "one", 10, NOW) == ["a"]


def test_what_is_open_is_found_out_once_and_again_only_when_something_changed(
    cells: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran, place = count_builds(monkeypatch), OrderDesk(cells)
    ids = open_board(place, NOW).open()
    assert len(ids) >= 2 and ran == [1]
    assert open_board(place, NOW).open() == ids and ran == [1]
    empty(place, ids[:1])
    assert open_board(place, NOW).open() == ids[1:] and ran == [1], "a reply only takes its order off the list"
    (cells.root / "raw/articles/more.md").write_text(
        "# Budding\n\nBudding is growth of a new cell out of an old one.\n"
    )
    assert len(open_board(place, NOW).open()) == len(ids) and ran == [1, 1]


def test_the_next_stage_opens_by_itself_and_the_end_is_remembered(
    cells: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran, place = count_builds(monkeypatch), OrderDesk(cells)
    empty(place, open_board(place, NOW).open())
    assert open_board(place, NOW).done and open_board(place, NOW).done and ran == [1, 1]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"v": 1}', '{"v": 1, "mark": "x", "sizes": [], "requests": 3}'])
def test_a_spoilt_list_of_questions_is_made_anew(cells: Vault, text: str) -> None:
    place = OrderDesk(cells)
    ids = open_board(place, NOW).open()
    (cells.root / place.cache).write_text(text)
    assert open_board(place, NOW).open() == ids


def test_a_journal_that_lost_lines_asks_again(cells: Vault) -> None:
    place = OrderDesk(cells)
    ids = open_board(place, NOW).open()
    empty(place, ids[:1])
    for file in (cells.root / "ledger/replies").iterdir():
        file.unlink()
    assert open_board(place, NOW).open() == ids


def test_replies_wait_for_a_compile_that_publishes(cells: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    from compiler.orders import submit as order_desk

    monkeypatch.setattr(order_desk, "_WAIT_S", 0.0)
    place = OrderDesk(cells)
    ids = open_board(place, NOW).open()
    with lock(cells.root, "publish", purpose="compiling"), pytest.raises(LockHeld, match="compiling"):
        submit(place, [Submission(ids[0], {"claims": [], "terms": []})], "one", NOW)
    assert not list((cells.root / "ledger/replies").glob("*"))


def test_a_reply_counts_after_those_before_it_though_the_clock_was_set_back(cells: Vault) -> None:
    place = OrderDesk(cells)
    ids = open_board(place, NOW).open()
    empty(place, ids[:1])
    (cells.root / place.cache).unlink()
    earlier = NOW - timedelta(days=2)
    open_board(place, earlier)
    submit(place, [Submission(ids[1], {"claims": [], "terms": []})], "one", earlier)
    files = sorted((cells.root / "ledger/replies").iterdir())
    instants = sorted(json.loads(line)["at"] for file in files for line in file.read_text().splitlines())
    assert len(instants) == 2 and instants[0] < instants[1] and instants[1].startswith("2026-11-23")
