"""The budget is a hard cap: whatever prices, answers and failures are, the server's own bill stays below it."""

from __future__ import annotations

import random
import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.engines.claude.budget import Budget, BudgetUsedUp
from compiler.engines.claude.costs import Estimate, Paid, estimate, estimate_following, rows
from compiler.engines.claude.output_formats import max_input_tokens
from compiler.engines.claude.prices import PRICES, Price, Tokens, guessed, most, price_of
from compiler.protocol.forms import render
from compiler.protocol.requests import (
    AnswerRequest,
    ConceptTask,
    NameLine,
    PairView,
    ReadRequest,
    ReconcileRequest,
    Request,
    SettleRequest,
    Side,
    WriteRequest,
)
from compiler.replies.asker import Answered, Failed
from compiler.replies.journal import entry_of
from compiler.workers.model_backend import ROLES, Spending
from tests.compiler.messages_server import Batched, MessagesServer, Reply, error, message, said, serving
from tests.compiler.scripted_model import answering, text_for, tokens_in
from tests.compiler.test_speaking import BAD, backend, checks, reads
from vault.config.engine import EngineSettings, read_engine

USD = st.floats(0.01, 100)


@given(USD, USD, st.integers(0, 300_000), st.integers(0, 50_000), st.booleans())
def test_no_call_costs_more_than_was_set_aside(
    sent_usd: float, received_usd: float, sent: int, received: int, batch: bool
) -> None:
    for price in (*PRICES.values(), Price(sent_usd, received_usd, sent_usd * 1.25, sent_usd * 2, sent_usd / 10)):
        most_usd = price.at_most(sent, received, batch=batch)
        for split in ((sent, 0, 0, 0), (0, sent, 0, 0), (0, 0, sent, 0), (0, 0, 0, sent), (sent // 2, 0, 0, sent // 2)):
            plain, write, write_1h, read = split
            tokens = Tokens(plain, received, write, write_1h, read)
            assert price.of(tokens, batch=batch) <= most_usd + 1e-9


def test_a_dated_model_costs_what_its_family_does_and_the_users_own_price_goes_before() -> None:
    assert price_of("claude-haiku-4-5-20251001", {}) == PRICES["claude-haiku-4-5"]
    own = {"claude-haiku-4-5": {"input": 3.0, "output": 4.0}}
    assert price_of("claude-haiku-4-5", own) == Price(3, 4, 3, 3, 3)
    assert price_of("claude-haiku-4-5", {}, usual=False) is None and price_of("llama", {}) is None


def test_a_long_question_to_a_model_with_two_prices_costs_the_higher_for_all_of_it() -> None:
    price = PRICES["claude-haiku-5-5"]
    assert price.of(Tokens(100_000, 1_000)) == pytest.approx(0.0105)
    assert price.of(Tokens(50_000, 1_000, cache_read=50_001)) == pytest.approx(0.025 + 0.0025 + 0.00250005)


@given(st.text(max_size=300))
def test_a_text_is_never_more_tokens_than_bytes(text: str) -> None:
    assert 0 <= guessed(text) <= max(2, 2 * most(text)) and most(text) >= len(text)


def test_what_was_paid_adds_up_and_an_unknown_price_stays_unknown() -> None:
    assert Paid((1, 2), 0.5) + Paid((10, 20), 0.25) == Paid((11, 22), 0.75)
    assert (Paid((1, 2), 0.5) + Paid((10, 20), None)).usd is None


def test_a_budget_waits_for_what_may_come_back_and_no_longer() -> None:
    budget = Budget(1.0)
    budget.reserve(0.8)
    got = threading.Event()

    def late() -> None:
        budget.reserve(0.7)
        got.set()

    thread = threading.Thread(target=late)
    thread.start()
    budget.finish(0.8, 0.1)
    assert got.wait(600)
    thread.join()
    budget.finish(0.7, None)
    assert budget.lost == pytest.approx(0.7)
    with pytest.raises(BudgetUsedUp):
        budget.reserve(0.3)


# --- the server's own bill ---


class Till:
    """A server that bills what it answers, and some of what it does not; what it takes is never told to anybody."""

    def __init__(self, seed: int, price: Price) -> None:
        self.dice, self.price, self.usd = random.Random(seed), price, 0.0
        self.lock = threading.Lock()

    def _bill(self, sent: int, received: int, *, batch: bool = False) -> None:
        self.usd += self.price.of(Tokens(sent, received), batch=batch)

    def spoilt(self, act: str, reply: Reply) -> Reply:
        """The line breaks off while a batch is given, at times though the server made it; or a page comes."""
        chance = self.dice.random()
        if chance < 0.2 and act in ("give", "list"):
            return Reply(b'{"id":', length=400, reset=True)
        return Reply(b"<html>", kind="text/html") if chance < 0.3 else reply

    def batched(self, body: dict[str, Any]) -> Reply:
        with self.lock:
            sent, received = tokens_in(body), self.dice.randint(1, int(body["max_tokens"]))
            self._bill(sent, received, batch=True)
            chance = self.dice.random()
            text = "no" if chance < 0.3 else f"{text_for(body)}\n{BAD}" if chance < 0.5 else text_for(body)
            return message(text, usage=(sent, received))

    def __call__(self, body: dict[str, Any]) -> Reply:
        with self.lock:
            sent, longest = tokens_in(body), int(body["max_tokens"])
            chance = self.dice.random()
            received = self.dice.randint(1, longest)
            if chance < 0.1:
                return error(529, "overloaded_error")
            if chance < 0.2:
                self._bill(sent, received)  # billed, though the line breaks off
                return Reply(b'{"id":', length=5_000, reset=True)
            text = text_for(body)
            if chance < 0.3:
                self._bill(sent, longest)
                return message(text[:10], stop="max_tokens", usage=(sent, longest))
            self._bill(sent, received)
            if chance < 0.4:
                return message("Sure!", usage=(sent, received))
            if chance < 0.5:
                return message(f"{text}\n{BAD}", usage=(sent, received))
            if chance < 0.55:
                return message(text, stop="refusal", usage=(sent, received))
            return message(text, usage=(sent, received))


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), USD, USD, st.floats(0.001, 3), st.integers(1, 8), st.booleans(), st.booleans())
def test_the_cap_is_never_passed(
    seed: int, sent_usd: float, received_usd: float, cap: float, concurrency: int, counts: bool, batch: bool
) -> None:
    row = {"input": sent_usd, "output": received_usd}
    price = price_of("m", {"m": row})
    assert price is not None
    till = Till(seed, price)
    with serving(said({})) as server:
        server.answer = till
        server.counts = tokens_in if counts else None
        server.batches = Batched(answer=till.batched, looks=0, spoil=till.spoilt) if batch and seed % 2 else None
        spending = Spending(budget=cap, batch=batch)
        with backend(server, spending, prices={"m": row}, concurrency=concurrency, patience=2) as by:
            answers = [answer for _, answer in by.answers([*reads(4), checks(5), checks(5, 5)])]
    assert till.usd <= cap + 1e-6
    assert len(answers) == 6 and by.paid.usd is not None and by.paid.usd + by.lost <= cap + 1e-6
    assert sum(answer.usd or 0 for answer in answers) == pytest.approx(by.paid.usd)
    assert sum(answer.tokens[1] for answer in answers) == by.paid.tokens[1]


def test_an_attempt_that_may_have_been_billed_is_paid_for_before_the_next() -> None:
    prices = {"m": {"input": 1.0, "output": 10.0}}
    broken = Reply(b'{"id":', length=5_000, reset=True)
    for budget, asked, lost in ((0.1, 1, 1), (0.5, 3, 2)):
        with serving(broken, broken, message("OK")) as server:
            with backend(server, Spending(budget=budget), concurrency=1, prices=prices) as by:
                list(by.answers([checks(1)]))
            first = by.lost / lost
        assert len(server.asked) == asked and 0.08 < first < 0.09  # 8,000 tokens may come, at 10 USD for a million


def test_where_the_server_counts_the_budget_goes_further() -> None:
    def asked(server: MessagesServer) -> list[Answered | Failed]:
        prices = {"m": {"input": 20.0, "output": 1.0}}
        with backend(server, Spending(budget=0.06), concurrency=1, prices=prices) as by:
            return [answer for _, answer in by.answers(reads(1))]

    with serving(said({})) as server:
        server.answer = answering
        assert isinstance(asked(server)[0], Failed) and not server.asked
        server.counts = tokens_in
        assert isinstance(asked(server)[0], Answered) and len(server.asked) == 1


def test_what_is_set_aside_bounds_what_is_sent() -> None:
    words = {"system": "s" * 100, "messages": [{"role": "user", "content": "語" * 50}]}
    assert max_input_tokens(words) > 250


# --- before anything is asked ---


OWN = EngineSettings(base_url="http://127.0.0.1:9", models=dict.fromkeys(ROLES, "m"))


def writing(read: Request) -> WriteRequest:
    assert isinstance(read, ReadRequest)
    task = ConceptTask(title="Halyard", passages=("1:1",))
    return WriteRequest(language="en", concepts=(task,), documents=read.documents)


def every_type() -> list[Request]:
    side = Side(words="A mast has two shrouds.", source="Gear")
    return [
        *reads(3),
        writing(reads(1)[0]),
        SettleRequest(names=(NameLine(title="Mast"),)),
        checks(45),
        ReconcileRequest(pairs=(PairView(key="0" * 12, about="Mast", a=side, b=side),)),
        AnswerRequest(question="What is a mast?", claims=()),
    ]


def test_an_estimate_asks_nobody_and_names_a_range() -> None:
    told = EngineSettings()
    found = estimate(every_type(), told)
    assert found.questions == {"read": 3, "write": 1, "settle": 1, "check": 1, "reconcile": 1, "answer": 1}
    assert found.sent > sum(guessed(render(request)) for request in every_type())
    assert found.received[0] < found.received[1]
    assert found.usd is not None and 0 < found.usd[0] < found.usd[1] < 0.1
    half = estimate(every_type(), told, batch=True)
    assert half.usd is not None and half.usd[1] == pytest.approx(found.usd[1] / 2)
    assert estimate(reads(1), OWN).usd is None and estimate([], OWN) == Estimate()


def test_an_estimate_fits_what_a_server_counts() -> None:
    prices = {"m": {"input": 2.0, "output": 10.0}}
    with serving(said({})) as server:
        server.answer = answering
        with backend(server, prices=prices) as by:
            found = estimate(reads(5), by.settings)
            list(by.answers(reads(5)))
            sent, _ = by.paid.tokens
    assert 0.5 * sent < found.sent < 2 * sent


def test_what_follows_is_estimated_from_the_documents_that_are_read() -> None:
    read = reads(40)
    later = estimate_following(read, EngineSettings(), batch=False)
    text = sum(guessed(render(request)) for request in read)
    assert text < later.sent < 3 * text and 0.4 * text < later.received[0] < later.received[1] < 1.5 * text
    assert later.usd is not None and 0 < later.usd[0] < later.usd[1]
    half = estimate_following(read, EngineSettings(), batch=True)
    assert half.usd is not None and half.usd[0] == pytest.approx(later.usd[0] / 2)
    checked = estimate_following([writing(each) for each in read], EngineSettings(), batch=False)
    assert 0 < checked.sent < later.sent and estimate_following([checks(5)], EngineSettings(), batch=False).sent == 0
    assert estimate_following(read, OWN, batch=False).usd is None


def test_costs_are_grouped_by_any_name_and_the_dearest_comes_first() -> None:
    with serving(said({})) as server:
        server.answer = answering
        with backend(server) as by:
            requests = [*reads(2), checks(3)]
            found = dict(by.answers(requests))
    assert all(isinstance(answer, Answered) for answer in found.values())
    entries = [
        entry_of(requests[n], a.reply, a.engine, "p/1", "2026", tokens=a.tokens, usd=a.usd)
        for n, a in found.items()
        if isinstance(a, Answered)
    ]
    unpriced = entry_of(requests[0], entries[0].value() or pytest.fail(), "x", "p/1", "2026", tokens=(1, 1), usd=None)
    first, second = rows([*entries, unpriced], lambda entry: entry.of)
    assert (first.name, first.questions, first.unpriced) == ("read", 3, True) and not second.unpriced
    assert first.usd + second.usd == pytest.approx(by.paid.usd) and first.sent + second.sent == by.paid.tokens[0] + 1
    assert rows(entries, lambda entry: "") == []


@pytest.mark.parametrize(
    "wrong",
    [
        "concurrency = 0",
        "concurrency = true",
        "patience = 1e9",
        'compile = "gpt"',
        'key_keyring = "alone"',
        "prices = 3",
        'prices = {"m" = 3}',
        'prices = {"m" = {"input" = 1}}',
        'prices = {"m" = {"input" = -1, "output" = 1}}',
        'prices = {"m" = {"input" = 1, "output" = nan}}',
        'prices = {"m" = {"input" = 1, "output" = 1, "gold" = 1}}',
    ],
)
def test_a_setting_about_money_or_time_that_makes_no_sense_is_an_error(wrong: str) -> None:
    from vault.errors import Damaged

    with pytest.raises(Damaged):
        read_engine(f"[engine]\n{wrong}\n", "config.toml")


def test_models_have_defaults_at_anthropic_alone() -> None:
    from vault.errors import ModelUnavailable

    assert EngineSettings().compiling("write") == "claude-sonnet-5-5"
    assert EngineSettings(models={"write": "x"}).compiling("write") == "x"
    with pytest.raises(ModelUnavailable, match="read"):
        EngineSettings(base_url="http://127.0.0.1:9").compiling("read")
    read = read_engine(
        '[engine]\ncompile = "claude"\nconcurrency = 2\npatience = 5\n[engine.prices.m]\ninput = 1\noutput = 2\n', "c"
    )
    assert (read.compile, read.concurrency, read.patience) == ("claude", 2, 5.0) and read.prices["m"]["output"] == 2.0
