"""Orders among several agents: what one has is shown again or given back, and its words are judged by others first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from compiler.model.requests import CheckRequest, ClaimView, ComposeReply, ComposeRequest, Section, Sentence
from compiler.orders import take
from compiler.orders.board import OrderDesk
from compiler.orders.checks import count_soft_items
from compiler.orders.submit import Receipt, Submission, submit
from compiler.orders.take import order_status, orders_of, release_orders, request_for_agent, take_orders
from tests.builders import vault_with_sources
from tests.compiler.test_journaled import MEIOSIS, MITOSIS
from vault.errors import UsageError
from vault.model.claim import ClaimKind

NOW = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)
QUOTE = "Chromosomes line up because spindle fibres pull them to the middle of the cell."
SAID = "Chromosomes gather in the centre of the cell since the fibres of the spindle draw them there."


@pytest.fixture
def place(tmp_path: Path) -> OrderDesk:
    return OrderDesk(vault_with_sources(tmp_path / "vault", {"mitosis.md": MITOSIS, "meiosis.md": MEIOSIS}))


def ids(told: dict[str, Any]) -> list[str]:
    return [order["id"] for order in told["orders"]]


def test_what_an_agent_has_is_shown_again_word_for_word_and_nothing_new_is_taken(place: OrderDesk) -> None:
    first = take_orders(place, 1, "", "", "one", 10, NOW)
    other = take_orders(place, 1, "", "", "two", 10, NOW)
    again = orders_of(place, "one", NOW)
    assert again["orders"] == first["orders"] and again["how"] == first["how"] and again["yours"] == 1
    assert "how" not in orders_of(place, "one", NOW, brief=True)
    assert [each["id"] for each in order_status(place, NOW, "one")["mine"]] == ids(first)
    assert ids(orders_of(place, "two", NOW)) == ids(other) and orders_of(place, "three", NOW)["orders"] == []


def test_who_has_orders_is_told_so_and_the_others_that_all_are_with_somebody(place: OrderDesk) -> None:
    everything = take_orders(place, 200, "", "", "one", 10, NOW)
    assert everything["free"] == 0 and "--mine" in everything["next"]
    assert "with others" in take_orders(place, 1, "", "", "two", 10, NOW)["next"]


def test_an_order_is_given_back_by_whoever_has_it_alone(place: OrderDesk) -> None:
    (mine,) = ids(take_orders(place, 1, "", "", "one", 10, NOW))
    assert release_orders(place, [mine], "two", NOW)["not_yours"] == [mine]
    assert release_orders(place, [mine, mine], "one", NOW)["released"] == [mine]
    assert ids(take_orders(place, 1, "", "", "two", 10, NOW)) == [mine]
    with pytest.raises(UsageError, match="not the id of an order"):
        release_orders(place, ["\x1b[2J"], "one", NOW)


def test_of_long_requests_there_come_as_many_as_there_is_room_for_and_one_at_least(
    place: OrderDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(take, "ROOM", 10)
    first = take_orders(place, 200, "", "", "one", 10, NOW)
    assert len(first["orders"]) == 1 and first["free"] >= 1
    take_orders(place, 1, "", "", "one", 10, NOW)
    again = orders_of(place, "one", NOW)
    assert len(again["orders"]) == 1 and len(again["more"]) == 1


def test_a_claim_that_says_its_quote_is_handed_out_once() -> None:
    claims = tuple(
        ClaimView(id="0000000001", kind=ClaimKind.FACT, words=words, quote=QUOTE, source="Mitosis")
        for words in (QUOTE, SAID)
    )
    told = request_for_agent(ComposeRequest(title="Mitosis", aliases=(), language="en", claims=claims))
    assert ["words" in claim for claim in told["claims"]] == [False, True]


# --- checks ---------------------------------------------------------------------------------------------------------


def extracted(request: dict[str, Any]) -> dict[str, Any]:
    """One claim in other words where the text has that sentence, and nothing else."""
    if QUOTE not in request["text"]:
        return {"claims": [], "terms": []}
    claim = {"kind": "mechanism", "quote": QUOTE, "statement": SAID, "about": ["mitosis"]}
    return {"claims": [claim], "terms": [{"name": "mitosis", "signal": "heading"}]}


def hand_in(place: OrderDesk, name: str, orders: Sequence[dict[str, Any]], at: datetime) -> list[Receipt]:
    replies = [Submission(order["id"], extracted(order["request"])) for order in orders]
    receipts, _ = submit(place, replies, name, at)
    assert {receipt.state for receipt in receipts} == {"accepted"}, receipts
    return receipts


def at_check(place: OrderDesk) -> None:
    """Agent "one" answers all of the first stage, in words that need a check."""
    receipts = hand_in(place, "one", take_orders(place, 200, "", "", "one", 10, NOW)["orders"], NOW)
    assert sum(receipt.to_check for receipt in receipts) == 1
    assert any("check" in str(receipt.as_json().get("hint")) for receipt in receipts)


def test_a_check_of_own_words_goes_to_somebody_else_first(place: OrderDesk) -> None:
    at_check(place)
    later = NOW + timedelta(minutes=1)
    assert [i.partition("-")[0] for i in ids(take_orders(place, 5, "", "", "two", 10, later))] == ["check"]
    assert take_orders(place, 5, "", "", "one", 10, later)["orders"] == []


def test_whoever_is_alone_judges_the_own_words(place: OrderDesk) -> None:
    at_check(place)
    assert len(take_orders(place, 5, "", "", "one", 10, NOW + timedelta(minutes=1))["orders"]) == 1


def test_own_words_wait_only_while_others_have_something_to_judge(place: OrderDesk) -> None:
    at_check(place)
    later = NOW + timedelta(minutes=1)
    (order,) = ids(take_orders(place, 5, "", "", "two", 10, later))
    release_orders(place, [order], "two", later)
    assert ids(take_orders(place, 5, "", "", "one", 10, later)) == [order], (
        "nothing else is open: nobody waits for ever"
    )


def test_a_verdict_that_keeps_words_out_says_so(place: OrderDesk) -> None:
    at_check(place)
    (order,) = ids(take_orders(place, 5, "", "", "two", 10, NOW))
    receipts, _ = submit(place, [Submission(order, {"entailed": "unsure"})], "two", NOW)
    assert "stay out" in receipts[0].as_json()["hint"]


def test_the_authors_of_words_survive_the_list_of_questions(place: OrderDesk) -> None:
    at_check(place)
    (order,) = ids(take_orders(place, 1, "check", "", "two", 10, NOW))
    assert json.loads((place.vault.root / place.cache).read_text())["writers"] == {order: "one"}


def test_sentences_in_the_words_of_a_claim_need_no_check() -> None:
    claim = ClaimView(id="0000000001", kind=ClaimKind.MECHANISM, words=QUOTE, quote=QUOTE, source="Mitosis")
    request = ComposeRequest(title="Mitosis", aliases=(), language="en", claims=(claim,))

    def count(*texts: str) -> int:
        run = tuple(Sentence(text=text, cites=(claim.id,)) for text in texts)
        return count_soft_items(request, ComposeReply(sections=(Section(heading="", paragraphs=(run,)),)))

    assert (count(QUOTE), count(QUOTE, SAID)) == (0, 1)
    assert count_soft_items(CheckRequest(words=SAID, evidence=(QUOTE,)), ComposeReply(sections=())) == 0
