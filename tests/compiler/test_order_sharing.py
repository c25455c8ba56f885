"""Orders among several agents: who gets which, what is given back, and who checks whose words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from compiler.orders.board import OrderDesk
from compiler.orders.submit import submit
from compiler.orders.take import Work, order_status, release_orders, take_orders
from compiler.protocol import forms
from compiler.protocol.requests import Request
from tests.builders import vault_with_sources
from tests.compiler.scripted_model import answer_for
from tests.compiler.test_orders import MEIOSIS, MITOSIS
from vault.errors import UsageError

NOW = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)


@pytest.fixture
def desk(tmp_path: Path) -> OrderDesk:
    return OrderDesk(vault_with_sources(tmp_path / "vault", {"mitosis.md": MITOSIS, "meiosis.md": MEIOSIS}))


def take(desk: OrderDesk, name: str, at: datetime = NOW, of: str = "", count: int = 1) -> tuple[list[str], Work]:
    requests, work = take_orders(desk, name, of, count, 10, at)
    return [request.id for request in requests], work


def answer_all(desk: OrderDesk, name: str, requests: Sequence[Request]) -> None:
    for request in requests:
        assert submit(desk, request.id, answer_for(request.type, forms.render(request)), name, NOW).is_complete


def at_check(desk: OrderDesk) -> list[str]:
    """Agent "one" answers everything up to the checks of what it wrote; returns their ids."""
    while True:
        requests, _ = take_orders(desk, "one", "", 200, 10, NOW)
        if requests[0].type == "check":
            release_orders(desk, [r.id for r in requests], "one", NOW)
            return [r.id for r in requests]
        answer_all(desk, "one", requests)


def test_who_has_an_order_gets_it_again_and_the_others_are_told_where_it_is(desk: OrderDesk) -> None:
    first, work = take(desk, "one")
    assert len(first) == 1 and work.yours == tuple(first)
    assert take(desk, "one")[0] == first
    nothing, work = take(desk, "two")
    assert nothing == [] and "other agents have all" in work.next
    work, agents, replies = order_status(desk, "one", NOW)
    assert ([*agents], replies, work.yours) == (["one"], 0, tuple(first))


def test_an_order_is_given_back_by_whoever_has_it_alone(desk: OrderDesk) -> None:
    (mine,), _ = take(desk, "one")
    assert release_orders(desk, [mine], "two", NOW) == []
    assert release_orders(desk, [mine, mine], "one", NOW) == [mine]
    assert take(desk, "two")[0] == [mine]
    with pytest.raises(UsageError, match="not the id of a work order"):
        release_orders(desk, ["\x1b[2J"], "one", NOW)


def test_orders_of_one_type_are_taken(desk: OrderDesk) -> None:
    assert take(desk, "one", of="check")[0] == []
    assert take(desk, "one", of="read")[0]
    with pytest.raises(UsageError, match="no work order type 'extract'"):
        take(desk, "one", of="extract")


def test_a_check_of_own_words_goes_to_somebody_else_first(desk: OrderDesk) -> None:
    checks = at_check(desk)
    assert take(desk, "two", LATER)[0] == checks[:1]
    release_orders(desk, checks, "two", LATER)
    assert take(desk, "two", LATER, count=200)[0] == checks


def test_whoever_is_alone_checks_the_own_words(desk: OrderDesk) -> None:
    checks = at_check(desk)
    assert take(desk, "one", LATER)[0] == checks[:1]


def test_own_words_wait_only_while_others_have_something_to_do(desk: OrderDesk) -> None:
    checks = at_check(desk)
    others, _ = take(desk, "two", LATER)
    assert others == checks[:1]
    release_orders(desk, others, "two", LATER)
    assert take(desk, "one", LATER)[0] == checks[:1], "nothing but own words is open: nobody waits for ever"
