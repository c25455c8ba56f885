"""The budget is a hard cap: whatever prices, answers and failures are, the server's own bill stays below it."""

from __future__ import annotations

import json
import random
import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.engines.claude import prompts_to_messages
from compiler.engines.claude.budget import Budget, BudgetUsedUp
from compiler.engines.claude.costs import Estimate, Paid, estimate
from compiler.engines.claude.output_formats import max_input_tokens
from compiler.engines.claude.prices import PRICES, Price, Tokens, guessed, most, price_of
from compiler.engines.claude.scheduler import RunSettings, Scheduler, Task
from compiler.replies.asker import Answered, Failed
from compiler.workers.model_backend import ROLES, Spending
from tests.compiler.messages_server import Batched, MessagesServer, Reply, error, message, said, serving
from tests.compiler.scripted_model import tokens_in, value_for
from tests.compiler.test_speaking import backend, checks, texts
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


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.floats(0, 10), st.integers(1, 20))
def test_shares_add_up_to_what_was_paid(sent: int, received: int, usd: float, among: int) -> None:
    shares = Paid((sent, received), usd).shared(among)
    assert len(shares) == among and sum(s.tokens[0] for s in shares) == sent
    assert sum(s.tokens[1] for s in shares) == received and sum(s.usd or 0 for s in shares) == pytest.approx(usd)
    assert Paid((sent, received), None).shared(among)[0].usd is None


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
            text = "no" if self.dice.random() < 0.3 else json.dumps(value_for(body))
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
            text = json.dumps(value_for(body))
            if chance < 0.3:
                self._bill(sent, longest)
                return message(text[:10], stop="max_tokens", usage=(sent, longest))
            self._bill(sent, received)
            if chance < 0.4:
                return message("Sure!", usage=(sent, received))
            if chance < 0.5:
                return message('{"claims": 5, "verdicts": 5}', usage=(sent, received))
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
        told = EngineSettings(
            base_url=server.url,
            models=dict.fromkeys(ROLES, "m"),
            prices={"m": row},
            concurrency=concurrency,
            patience=2,
        )
        lines: list[dict[str, Any]] = []
        systems = {of: prompts_to_messages.system(of) for of in prompts_to_messages.SHAPES}
        scheduler = Scheduler(RunSettings(told, "k", systems, cap), lines.append)
        asked = list(prompts_to_messages.questions([*texts(4), *checks(25)]))
        scheduler.answer([Task(n, f"q{n}", q.type, "m", q.text) for n, q in enumerate(asked)], batch=batch)
    assert till.usd <= cap + 1e-6
    assert sum(line.get("usd") or 0 for line in lines) <= cap + 1e-6


def test_an_attempt_that_may_have_been_billed_is_paid_for_before_the_next() -> None:
    prices = {"m": {"input": 1.0, "output": 10.0}}
    broken = Reply(b'{"id":', length=5_000, reset=True)
    for budget, asked, lost in ((0.05, 1, 1), (0.5, 3, 2)):
        with serving(broken, broken, said({"verdicts": []})) as server:
            with backend(server, Spending(budget=budget), concurrency=1, prices=prices) as by:
                list(by.answers(checks(1)))
            first = by.lost / lost
        assert len(server.asked) >= asked and 0.04 < first < 0.05


def test_where_the_server_counts_the_budget_goes_further() -> None:
    def asked(server: MessagesServer) -> list[Answered | Failed]:
        prices = {"m": {"input": 20.0, "output": 1.0}}
        with backend(server, Spending(budget=0.1), concurrency=1, prices=prices) as by:
            return [answer for _, answer in by.answers(texts(1))]

    with serving(message(json.dumps({"claims": [], "terms": []}))) as server:
        assert isinstance(asked(server)[0], Failed) and not server.asked
        server.counts = tokens_in
        assert isinstance(asked(server)[0], Answered) and len(server.asked) == 1


def test_what_is_set_aside_bounds_what_is_sent() -> None:
    words = {"system": "s" * 100, "messages": [{"role": "user", "content": "語" * 50}]}
    assert max_input_tokens(words) > 250


# --- before anything is asked ---


def test_an_estimate_asks_nobody_and_names_a_range() -> None:
    told = EngineSettings()
    found = estimate([*texts(3), *checks(45)], told)
    assert found.questions == {"extract": 3, "check": 45} and found.sent > 3_000
    assert found.usd is not None and 0 < found.usd[0] < found.usd[1] < 0.1
    half = estimate([*texts(3), *checks(45)], told, batch=True)
    assert half.usd is not None and half.usd[1] == pytest.approx(found.usd[1] / 2)
    own = EngineSettings(base_url="http://127.0.0.1:9", models=dict.fromkeys(ROLES, "m"))
    assert estimate(texts(1), own).usd is None and estimate([], own) == Estimate()


@pytest.mark.parametrize(
    "wrong",
    [
        "concurrency = 0",
        "concurrency = true",
        "patience = 1e9",
        'pages = "yes"',
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
    with pytest.raises(ModelUnavailable, match="extract"):
        EngineSettings(base_url="http://127.0.0.1:9").compiling("extract")
    read = read_engine(
        '[engine]\ncompile = "claude"\nconcurrency = 2\npatience = 5\n[engine.prices.m]\ninput = 1\noutput = 2\n', "c"
    )
    assert (read.compile, read.concurrency, read.patience) == ("claude", 2, 5.0) and read.prices["m"]["output"] == 2.0
