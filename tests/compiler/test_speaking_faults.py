"""A compile by a model, and what servers do wrong in it: nothing half-saved, words that help, nothing paid twice."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.model.report import Report
from compiler.replies.asker import Waiting
from compiler.replies.journal import Journal
from compiler.verification.verify import verify
from compiler.workers.model_backend import ModelBackend, Spending
from tests.builders import copy_vault, vault_with_sources
from tests.compiler.messages_server import (
    Batched,
    MessagesServer,
    Reply,
    error,
    message,
    said,
    serving,
    sse,
    stream_events,
)
from tests.compiler.scripted_model import answering, text_for, tokens_in, type_of
from tests.compiler.test_build import silent, tree
from tests.compiler.test_speaking import BAD, KEY, Killed, backend
from vault.vault import Vault

MORNING = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
PARTS = ("halyard", "cleat", "capstan", "anchor", "mast", "keel", "rudder", "boom", "winch", "shroud", "tiller", "jib")
SHIP = "# Gear\n" + "".join(
    f"\n## The {part}\n\nA {part} is a part of a ship that sailors use for task {n} at sea. "
    f"Sailors oil a {part} every spring since salt water eats it. {part.capitalize()} number {n} is kept below deck.\n"
    for n, part in enumerate(PARTS, 2)
)
HTML = b"<html><body>Log in to the network</body></html>"
FAR = {"retry-after": "3600"}
ODD = format_datetime(MORNING + timedelta(days=3650))


def limited(_: dict[str, Any]) -> Reply:
    return error(429, "rate_limit_error", "slow down", FAR)


def events(body: dict[str, Any]) -> list[dict[str, Any]]:
    return stream_events(json.loads(answering(body).body))


def part(body: dict[str, Any], *, reset: bool = False) -> Reply:
    """The first half of a stream, after which it ends as if that were all, or the line is cut."""
    half = sse(events(body)[:5])
    return Reply(half, kind="text/event-stream", length=len(half) + 500 if reset else None, reset=reset)


def spoilt(body: dict[str, Any]) -> Reply:
    told = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    return Reply(sse([*events(body)[:4], told]), kind="text/event-stream")


def stopped(reason: str | None) -> Callable[[dict[str, Any]], Reply]:
    return lambda body: message(text_for(body), stop=reason)


def tired(body: dict[str, Any]) -> Reply:
    return Reply(answering(body).body.replace(b'"end_turn"', b'"tired"'))


def empty(_: dict[str, Any]) -> Reply:
    body = json.loads(message("").body)
    return Reply(json.dumps({**body, "content": []}).encode())


@dataclass(frozen=True)
class Mode:
    """What the server answers to everything. With `waits` the compile ends there; else our own engine stands in."""

    reply: Callable[[dict[str, Any]], Reply]
    words: str
    waits: bool = True
    patience: float = 3.0


MODES = {
    "400": Mode(lambda _: error(400, "invalid_request_error", f"no {KEY}"), "rejected the request (400)", waits=False),
    "401": Mode(lambda _: error(401, "authentication_error", f"bad {KEY}"), "key was not accepted"),
    "402": Mode(lambda _: error(402, "billing_error", f"pay {KEY}"), "spending limit"),
    "403": Mode(lambda _: error(403, "permission_error", KEY), "key was not accepted"),
    "404": Mode(lambda _: error(404, "not_found_error", f"model: {KEY}"), "no such model"),
    "413": Mode(lambda _: error(413, "request_too_large", KEY), "rejected the request (413)", waits=False),
    "429 for an hour": Mode(limited, r"busy or down \(429\)", patience=60),
    "429 until a date": Mode(lambda _: error(429, "rate_limit_error", "", {"retry-after": ODD}), "429", patience=60),
    "429 for what was spent": Mode(
        lambda _: error(429, "billing_error", f"limit {KEY}"), "spending limit", patience=60
    ),
    "500": Mode(lambda _: error(500, "api_error", KEY), r"\(500\)"),
    "529": Mode(lambda _: error(529, "overloaded_error", KEY), r"\(529\)"),
    "reset": Mode(lambda _: Reply(b"", length=500, reset=True), "was lost"),
    "stream cut short": Mode(part, "cut off"),
    "stream broken off": Mode(lambda body: part(body, reset=True), "was lost"),
    "error in a stream": Mode(spoilt, r"\(529\)"),
    "page": Mode(lambda _: Reply(HTML, kind="text/html"), "not a Messages API response"),
    "page that says it is JSON": Mode(lambda _: Reply(HTML), "not a Messages API response"),
    "JSON of another shape": Mode(lambda _: Reply(b'{"ok": true}'), "not a Messages API response"),
    "null": Mode(lambda _: Reply(b"null"), "not a Messages API response"),
    "nothing in it": Mode(empty, "not in the requested format", waits=False),
    "babble": Mode(lambda _: message("Sure, here you are!"), "not in the requested format", waits=False),
    "never long enough": Mode(stopped("max_tokens"), "exceeded the maximum length", waits=False),
    "refusal": Mode(stopped("refusal"), "declined", waits=False),
    "context window": Mode(stopped("model_context_window_exceeded"), "too long for the model", waits=False),
    "unknown stop": Mode(tired, "cut off", waits=False),
    "dribble": Mode(lambda _: Reply(b"", length=10**7, dribble=True), "took too long"),
}


@pytest.fixture(scope="module")
def read_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault of which a model has read the sources, when its key was taken away."""
    vault = vault_with_sources(tmp_path_factory.mktemp("read") / "vault", {"gear.md": SHIP})

    def until_writing(body: dict[str, Any]) -> Reply:
        return answering(body) if type_of(body) in READING else error(401, "authentication_error", "no")

    with model(until_writing) as server, pytest.raises(Waiting):
        compiled(vault, server)
    return vault.root


READING = ("read", "settle")


@pytest.fixture
def ship(read_once: Path, tmp_path: Path) -> Vault:
    return copy_vault(read_once, tmp_path / "vault")


@pytest.fixture
def fresh(tmp_path: Path) -> Vault:
    return vault_with_sources(tmp_path / "fresh", {"gear.md": SHIP})


@contextmanager
def model(reply: Callable[[dict[str, Any]], Reply]) -> Iterator[MessagesServer]:
    with serving(said({})) as server:
        server.answer = reply
        yield server


def compiled(vault: Vault, server: MessagesServer, patience: float = 60, hours: int = 0, **more: Any) -> Report:
    return compiled_by(vault, backend(server, patience=patience, **more), hours)


def compiled_by(vault: Vault, by: ModelBackend, hours: int = 0) -> Report:
    with by:
        at = MORNING + timedelta(hours=hours)
        return compile_vault(vault, Options(engine="claude"), at, silent, backend=by)


def published(vault: Vault) -> list[Path]:
    return [*(vault.root / "wiki").rglob("*.md"), *(vault.root / "learning/flashcards").rglob("*.md")]


def types_in(server: MessagesServer, first: int = 0) -> set[str]:
    return {type_of(body) for body in server.asked[first:]}


def holds_key(vault: Vault) -> list[Path]:
    return [path for path in vault.root.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


# --- a compile ---


def test_a_model_compiles_a_vault_that_verifies_and_its_bill_is_told(fresh: Vault) -> None:
    with model(answering) as server:
        report = compiled(fresh, server)
        assert {"read", "settle", "write", "check"} <= types_in(server)
        assert report.cost["input_tokens"] == sum(tokens_in(body) for body in server.asked)
        assert report.articles["created"] >= len(PARTS) and report.cards["created"] >= 1
        assert report.cost["usd"] > 0 and "unpriced" not in report.cost
        journal, _ = Journal.of(fresh)
        assert {entry.engine for entry in journal.entries} == {"claude/2 m"}
        assert len(journal.entries) == len(server.asked)
        total = sum(entry.usd or 0 for entry in journal.entries)
        assert total == pytest.approx(report.cost["usd"], abs=1e-5)
        assert verify(fresh, silent).clean and not holds_key(fresh)
        before, asked = tree(fresh), len(server.asked)
        assert compiled(fresh, server, hours=1).nothing_new and len(server.asked) == asked
        assert tree(fresh) == before


def test_the_requests_of_a_compile_are_few_and_short(fresh: Vault) -> None:
    with model(answering) as server:
        compiled(fresh, server)
        words = [turn["content"] for body in server.asked for turn in body["messages"]]
    assert len(server.asked) <= 8 and sum(map(len, words)) < 6 * len(SHIP)


def test_what_is_left_out_of_answers_is_paid_for_and_keeps_nothing_back(fresh: Vault) -> None:
    def careless(body: dict[str, Any]) -> Reply:
        return message(f"{text_for(body)}\n{BAD}") if type_of(body) == "read" else answering(body)

    with model(careless) as server:
        report = compiled(fresh, server)
        assert [len(body["messages"]) for body in server.asked if type_of(body) == "read"] == [1, 3]
    assert report.articles["created"] >= len(PARTS) and verify(fresh, silent).clean


def test_a_killed_compile_takes_up_its_batch_and_pays_once(fresh: Vault) -> None:
    def progress(event: dict[str, Any]) -> None:
        if event["event"] == "batch":
            raise Killed

    with model(answering) as server:
        server.batches = Batched(looks=10_000)
        by = backend(server, Spending(batch=True))
        by._progress = progress
        with pytest.raises(Killed):
            compiled_by(fresh, by)
        assert list(server.batches.made) == ["msgbatch_1"]
        server.batches.looks = 0
        report = compiled(fresh, server, hours=1)  # without --batch: what was given is fetched all the same
        assert report.articles["created"] >= 1 and "read" not in types_in(server)
        assert list(server.batches.made) == ["msgbatch_1"]
    notes = Journal.of(fresh)[0].notes
    assert [note["type"] for note in notes] == ["batch", "batch-end"] and verify(fresh, silent).clean


# --- money and refusals ---


def test_a_budget_that_is_used_up_ends_the_compile_and_more_goes_on_from_there(fresh: Vault) -> None:
    def dear(body: dict[str, Any]) -> Reply:
        return message(text_for(body), usage=(tokens_in(body), 5_000))

    with model(dear) as server:
        first = backend(server, Spending(budget=0.25), concurrency=1)
        with pytest.raises(Waiting, match="budget"):
            compiled_by(fresh, first)
        assert server.asked and published(fresh) == []
        assert 0.05 < (first.paid.usd or 0) <= 0.25
        compiled(fresh, server, hours=1)
        bodies = [json.dumps([body["system"], body["messages"]]) for body in server.asked]
    assert len(set(bodies)) == len(bodies)


def test_an_account_without_credit_ends_the_compile_at_once(fresh: Vault) -> None:
    words = "Your credit balance is too low to access the API. Please go to Plans & Billing."
    with model(lambda _: error(400, "invalid_request_error", words)) as server:
        with pytest.raises(Waiting, match="spending limit"):
            compiled(fresh, server, concurrency=1)
        assert len(server.asked) == 1 and not Journal.of(fresh)[0].entries


def test_what_stood_in_for_a_model_is_asked_again_once_by_each_compile(fresh: Vault) -> None:
    def declines(body: dict[str, Any]) -> Reply:
        return message("", stop="refusal", usage=(0, 0)) if type_of(body) == "read" else answering(body)

    with model(declines) as server:
        assert any(n.code == "stood-in" for n in compiled(fresh, server).notices)
        lines, count = len(Journal.of(fresh)[0].entries), len(server.asked)
        assert any(n.code == "stood-in" for n in compiled(fresh, server, hours=1).notices)
        assert types_in(server, count) == {"read"} and len(Journal.of(fresh)[0].entries) == lines
        server.answer = answering
        assert not any(n.code == "stood-in" for n in compiled(fresh, server, hours=2).notices)
        before, count = tree(fresh), len(server.asked)
        compile_vault(fresh, Options("journal", fresh=True, command="rebuild"), MORNING, silent)
        assert compiled(fresh, server, hours=3).nothing_new and len(server.asked) == count
    assert {p: b for p, b in tree(fresh).items() if p.startswith(("wiki", "learning"))} == {
        p: b for p, b in before.items() if p.startswith(("wiki", "learning"))
    }


# --- whatever a server does ---

ALWAYS = ("401", "stream cut short", "page", "nothing in it")
TRIED = [pytest.param(m, id=name, marks=() if name in ALWAYS else pytest.mark.torture) for name, m in MODES.items()]


@pytest.mark.parametrize("mode", TRIED)
def test_whatever_a_server_does_a_compile_ends_well(mode: Mode, ship: Vault) -> None:
    with model(mode.reply) as server:
        if mode.waits:
            with pytest.raises(Waiting, match=mode.words) as found:
                compiled(ship, server, mode.patience, 1)
            assert found.value.hint and found.value.requests and KEY not in str(found.value)
            assert published(ship) == []
        else:
            report = compiled(ship, server, mode.patience, 1)
            told = [notice.message for notice in report.notices if notice.code == "stood-in"]
            assert told and all(mode.words in words for words in told)
        assert not holds_key(ship)
        assert server.asked and types_in(server).isdisjoint(READING)
    if mode.waits:
        with model(answering) as server:
            compiled(ship, server, 60, 2)
        assert types_in(server).isdisjoint(READING) and {"write", "check"} <= types_in(server)
    assert published(ship) and verify(ship, silent).clean
    # What stood in before the server was known to refuse everything is asked again; what a model said is not.
    kept = [entry.request for entry in Journal.of(ship)[0].entries if not entry.failed]
    assert len(kept) == len(set(kept))


def test_a_server_in_passing_trouble_is_asked_again_and_pays_off(ship: Vault) -> None:
    troubles = [
        error(529, "overloaded_error"),
        error(429, "rate_limit_error", headers={"retry-after": "1"}),
        Reply(b"", length=9, reset=True),
    ]

    def passing(body: dict[str, Any]) -> Reply:
        return troubles.pop() if troubles else answering(body)

    with model(passing) as server:
        report = compiled(ship, server, 120, 1)
    assert not troubles and published(ship) and not [n for n in report.notices if n.code == "stood-in"]


def test_nobody_is_followed_who_sends_a_compile_elsewhere(ship: Vault) -> None:
    with model(answering) as elsewhere:
        moved = Reply(b"", 307, headers={"location": f"{elsewhere.url}/v1/messages"})
        with model(lambda _: moved) as server, pytest.raises(Waiting, match="another address"):
            compiled(ship, server, 60, 1)
        assert elsewhere.asked == [] and published(ship) == []


def test_a_server_that_says_nothing_is_not_waited_for_longer_than_the_user_says(ship: Vault) -> None:
    with model(answering) as server:
        server.hold = threading.Event()
        with pytest.raises(Waiting, match="took too long"):
            compiled(ship, server, 2, 1)
        server.hold.set()
    assert published(ship) == []


def test_a_server_that_is_not_there_ends_the_compile(ship: Vault) -> None:
    with model(answering) as server:
        pass
    with pytest.raises(Waiting, match="cannot be reached"):
        compiled(ship, server, 2, 1)
