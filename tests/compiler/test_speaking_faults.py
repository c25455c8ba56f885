"""What servers do wrong in the middle of a compile: nothing half-saved, an end, words that help, nothing paid twice."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.query.verify import verify
from compiler.replies.asker import Waiting
from compiler.replies.journal import Journal
from tests.batteries import TORTURE
from tests.builders import copy_vault, vault_with_sources
from tests.compiler.messages_server import (
    MessagesServer,
    Reply,
    error,
    message,
    said,
    serving,
    sse,
    stream_events,
)
from tests.compiler.scripted_model import answering, type_of, value_for
from tests.compiler.test_build import silent
from tests.compiler.test_journaled import MITOSIS, MORNING
from tests.compiler.test_speaking import KEY, backend
from vault.vault import Vault

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
    return lambda body: message(json.dumps(value_for(body)), stop=reason)


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
    "400": Mode(lambda _: error(400, "invalid_request_error", f"no {KEY}"), r"refuses every question \(400\)"),
    "401": Mode(lambda _: error(401, "authentication_error", f"bad {KEY}"), "key was not accepted"),
    "402": Mode(lambda _: error(402, "billing_error", f"pay {KEY}"), "limit of spending"),
    "403": Mode(lambda _: error(403, "permission_error", KEY), "key was not accepted"),
    "404": Mode(lambda _: error(404, "not_found_error", f"model: {KEY}"), "no such model"),
    "413": Mode(lambda _: error(413, "request_too_large", KEY), r"refused \(413\)", waits=False),
    "429 for an hour": Mode(limited, r"busy or down \(429\)", patience=60),
    "429 until a date": Mode(lambda _: error(429, "rate_limit_error", "", {"retry-after": ODD}), "429", patience=60),
    "429 for what was spent": Mode(lambda _: error(429, "billing_error", f"limit {KEY}"), "limit of spending"),
    "500": Mode(lambda _: error(500, "api_error", KEY), r"\(500\)"),
    "529": Mode(lambda _: error(529, "overloaded_error", KEY), r"\(529\)"),
    "reset": Mode(lambda _: Reply(b"", length=500, reset=True), "broke off"),
    "stream cut short": Mode(part, "cut off"),
    "stream broken off": Mode(lambda body: part(body, reset=True), "broke off"),
    "error in a stream": Mode(spoilt, r"\(529\)"),
    "page": Mode(lambda _: Reply(HTML, kind="text/html"), "no answer of the Messages API"),
    "page that says it is JSON": Mode(lambda _: Reply(HTML), "no answer of the Messages API"),
    "JSON of another shape": Mode(lambda _: Reply(b'{"ok": true}'), "no answer of the Messages API"),
    "null": Mode(lambda _: Reply(b"null"), "no answer of the Messages API"),
    "nothing in it": Mode(empty, "another shape", waits=False),
    "babble": Mode(lambda _: message("Sure, here you are!"), "another shape", waits=False),
    "never long enough": Mode(stopped("max_tokens"), "longer than it may be", waits=False),
    "refusal": Mode(stopped("refusal"), "declined", waits=False),
    "context window": Mode(stopped("model_context_window_exceeded"), "too long for the model", waits=False),
    "unknown stop": Mode(tired, "cut off", waits=False),
    "dribble": Mode(lambda _: Reply(b"", length=10**7, dribble=True), "took too long"),
}


@pytest.fixture(scope="module")
def read_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault of which a model has read the sources, when its key was taken away."""
    vault = vault_with_sources(tmp_path_factory.mktemp("read") / "vault", {"mitosis.md": MITOSIS})

    def until_compose(body: dict[str, Any]) -> Reply:
        return answering(body) if type_of(body) == "extract" else error(401, "authentication_error", "no")

    with model(until_compose) as server, pytest.raises(Waiting):
        compiled(vault, server, 60)
    return vault.root


@pytest.fixture
def cells(read_once: Path, tmp_path: Path) -> Vault:
    return copy_vault(read_once, tmp_path / "vault")


@contextmanager
def model(reply: Callable[[dict[str, Any]], Reply]) -> Iterator[MessagesServer]:
    with serving(said({})) as server:
        server.answer = reply
        yield server


def compiled(vault: Vault, server: MessagesServer, patience: float, hours: int = 0) -> Any:
    with backend(server, patience=patience) as by:
        at = MORNING + timedelta(hours=hours)
        return compile_vault(vault, Options(engine="claude"), at, silent, backend=by)


def published(vault: Vault) -> list[Path]:
    return [*(vault.root / "wiki").rglob("*.md"), *(vault.root / "learning/flashcards").rglob("*.md")]


TRIED = list(MODES) if TORTURE else ["401", "stream cut short", "page", "nothing in it"]


@pytest.mark.parametrize("mode", [MODES[name] for name in TRIED], ids=TRIED)
def test_whatever_a_server_does_a_compile_ends_well(mode: Mode, cells: Vault) -> None:
    with model(mode.reply) as server:
        if mode.waits:
            with pytest.raises(Waiting, match=mode.words) as found:
                compiled(cells, server, mode.patience, 1)
            assert found.value.hint and found.value.requests and KEY not in str(found.value)
            assert published(cells) == []
        else:
            report = compiled(cells, server, mode.patience, 1)
            told = [notice.message for notice in report.notices if notice.code == "stood-in"]
            assert told and all(mode.words.replace("\\", "") in words for words in told)
        assert not [path for path in cells.root.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
        assert server.asked and not any(type_of(body) == "extract" for body in server.asked)
    if mode.waits:
        with model(answering) as server:
            compiled(cells, server, 60, 2)
            types = [type_of(body) for body in server.asked]
        assert "extract" not in types and {"compose", "cards"} <= set(types)
    assert published(cells) and verify(cells, silent).clean
    # What stood in before the server was known to refuse everything is asked again; what a model said is not.
    kept = [entry.rests for entry in Journal.of(cells)[0].entries if not entry.failed]
    assert len(kept) == len(set(kept))


def test_a_server_in_passing_trouble_is_asked_again_and_pays_off(cells: Vault) -> None:
    troubles = [
        error(529, "overloaded_error"),
        error(429, "rate_limit_error", headers={"retry-after": "1"}),
        Reply(b"", length=9, reset=True),
    ]

    def passing(body: dict[str, Any]) -> Reply:
        return troubles.pop() if troubles else answering(body)

    with model(passing) as server:
        report = compiled(cells, server, 120, 1)
    assert not troubles and published(cells) and not [n for n in report.notices if n.code == "stood-in"]


def test_nobody_is_followed_who_sends_a_compile_elsewhere(cells: Vault) -> None:
    with model(answering) as elsewhere:
        moved = Reply(b"", 307, headers={"location": f"{elsewhere.url}/v1/messages"})
        with model(lambda _: moved) as server, pytest.raises(Waiting, match="elsewhere"):
            compiled(cells, server, 60, 1)
        assert elsewhere.asked == [] and published(cells) == []


def test_a_server_that_says_nothing_is_not_waited_for_longer_than_the_user_says(cells: Vault) -> None:
    with model(answering) as server:
        server.hold = threading.Event()
        with pytest.raises(Waiting, match="took too long"):
            compiled(cells, server, 2, 1)
        server.hold.set()
    assert published(cells) == []


def test_a_server_that_is_not_there_ends_the_compile(cells: Vault) -> None:
    with model(answering) as server:
        pass
    with pytest.raises(Waiting, match="cannot be reached"):
        compiled(cells, server, 2, 1)
