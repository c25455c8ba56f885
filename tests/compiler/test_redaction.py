"""Whatever a server does, with the key in every field of it: the key leaves the process that holds it nowhere else."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cli import output
from compiler.engines.claude.client import Claude
from compiler.engines.claude.messages import ChatMessage, JsonPrompt
from compiler.engines.grading.grader import GradeReply
from compiler.protocol.requests import REQUESTS
from compiler.workers.model_process import _line_writer, rounds
from tests.compiler.messages_server import Batched, MessagesServer, Reply, message, serving, sse, stream_events
from vault.config.engine import EngineSettings, read_engine
from vault.errors import ModelUnavailable
from vault.files.exports import write_trace
from vault.text.redaction import protect, redact, redact_all

KEY = "sk-canary-redacted-31415926535"
_PARTS = [KEY[at : at + 12] for at in range(len(KEY) - 11)]
HEADERS = {
    "request-id": KEY,
    "retry-after": KEY,
    "location": f"/{KEY}",
    "x-echo": KEY,
    "anthropic-organization-id": KEY,
}
KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
MESSAGES = (
    f"the key {KEY} was refused",
    f"{'no ' * 95}{KEY}",  # cut off in the middle of it
    f"credit balance of {KEY} is used up",
    f"temperature, output_config, thinking, effort, cache_control: {KEY}",
)


def is_clean(text: str) -> bool:
    return not any(part in text for part in _PARTS)


def failing(status: int, kind: str, words: str) -> Reply:
    body = {"type": KEY, "error": {"type": kind, "message": words, "param": KEY, KEY: KEY}, "request_id": KEY, KEY: KEY}
    return Reply(json.dumps(body).encode(), status, headers=HEADERS)


def with_key(whole: Reply, **more: Any) -> Reply:
    body = json.loads(whole.body)
    return Reply(json.dumps({**body, "id": KEY, "model": KEY, "stop_sequence": KEY, **more}).encode(), headers=HEADERS)


def in_stream(_: dict[str, Any]) -> Reply:
    fault = {"type": "error", "error": {"type": "overloaded_error", "message": KEY}, "request_id": KEY}
    return Reply(sse([*stream_events(json.loads(message("A room.").body))[:4], fault]), kind="text/event-stream")


FAULTS: dict[str, Callable[[dict[str, Any]], Reply]] = {
    **{
        f"{status} {n}": (lambda _, s=status, k=kind, w=words: failing(s, k, w))  # type: ignore[misc]
        for status, kind in KINDS.items()
        for n, words in enumerate(MESSAGES if status in (400, 422) else MESSAGES[:1])
    },
    **{f"{status} of a kind": (lambda _, s=status: failing(s, KEY, KEY)) for status in (400, 418, 429, 500)},  # type: ignore[misc]
    "elsewhere": lambda _: Reply(KEY.encode(), 307, headers={"location": f"https://{KEY}.example/"}),
    "page": lambda _: Reply(f"<html>{KEY}</html>".encode(), 200, KEY, HEADERS),
    "page as a refusal": lambda _: Reply(f"<html>{KEY}</html>".encode(), 400, "text/html", HEADERS),
    "no JSON": lambda _: Reply(KEY.encode(), headers=HEADERS),
    "another shape": lambda _: Reply(json.dumps({KEY: KEY}).encode(), headers=HEADERS),
    "unknown stop": lambda _: with_key(message("{}"), stop_reason=KEY),
    "error in a stream": in_stream,
    "refusal": lambda _: with_key(message(KEY, stop="refusal")),
    "broken": lambda _: Reply(KEY.encode(), length=5_000),
}
ANSWERS = {
    "babble": f"Your key is {KEY}.",
    "lines": f"CONCEPT {KEY}\nIS {KEY} is a key.",
    "a value": json.dumps({KEY: KEY}),
}


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with serving(message("")) as found:
        yield found


def lines_of(server: MessagesServer, *, batch: bool = False) -> str:
    """What the process that speaks to models writes to the one that publishes."""
    settings = {"base_url": server.url, "concurrency": 1, "patience": 0.3}
    begin = {"settings": settings, "key": KEY, "systems": dict.fromkeys(REQUESTS, "Answer."), "cap": None}
    task = {"type": "read", "model": "m", "turns": ["Read."]}
    tasks = [{**task, "n": n, "name": str(n) * 20} for n in range(3)]  # as many as make a refusal one of everything
    out, into = os.pipe()
    with os.fdopen(out, encoding="utf-8") as lines:
        rounds(begin, _line_writer(into))({"tasks": tasks, "batch": batch, "open_batches": {}})
        said = ""
        for line in lines:
            said += line
            if "over" in json.loads(line):
                break
    os.close(into)
    return said


@pytest.mark.parametrize("name", FAULTS)
def test_no_fault_carries_the_key_out_of_the_speaking_process(server: MessagesServer, name: str) -> None:
    server.answer = FAULTS[name]
    said = lines_of(server)
    assert '"fault"' in said and is_clean(said), said
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("text", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_in_which_the_model_repeats_the_key_is_redacted(server: MessagesServer, text: str) -> None:
    server.answer = lambda _: with_key(message(text))
    said = lines_of(server)
    assert "[redacted]" in said and '"text"' in said and is_clean(said), said


@pytest.mark.parametrize("name", ["400 0", "400 1", "429 0", "page", "refusal", "401 0"])
def test_no_fault_carries_the_key_to_who_asked_in_this_process(server: MessagesServer, name: str) -> None:
    server.answer = FAULTS[name]
    asked = JsonPrompt("Answer.", (ChatMessage("user", "{}"),), reply=GradeReply)
    with pytest.raises(ModelUnavailable) as found:
        Claude(EngineSettings("claude", server.url), "m", KEY, time_limit=0.3).ask(asked, lambda: False)
    assert is_clean(str(found.value)), found.value


def test_a_value_in_which_the_model_repeats_the_key_is_redacted(server: MessagesServer) -> None:
    server.answer = lambda _: with_key(message(json.dumps({"points": [], "rating": "again", "why": f"It is {KEY}."})))
    asked = JsonPrompt("Answer.", (ChatMessage("user", "{}"),), reply=GradeReply)
    answer = Claude(EngineSettings("claude", server.url), "m", KEY, time_limit=60).ask(asked, lambda: False)
    assert answer.value.why == "It is [redacted]."


def test_a_batch_with_the_key_in_every_field_leaves_none(server: MessagesServer) -> None:
    server.batches = Batched()
    server.answer = lambda body: with_key(message(KEY, stop="refusal"))
    assert is_clean(lines_of(server, batch=True))
    server.batches = None
    server.answer = FAULTS["400 0"]
    assert is_clean(lines_of(server, batch=True))


def test_what_is_printed_and_every_trace_is_redacted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    settings = read_engine('[engine]\nkey_env = "MINE"\n', "config.toml")
    assert settings.key({"MINE": KEY}) == KEY
    told: dict[str, Callable[[], object]] = {
        "failed": lambda: output.failed(ModelUnavailable(KEY, where=KEY, hint=KEY)),
        "said": lambda: output.say(KEY),
        "shown": lambda: output.show(KEY),
        "data": lambda: output.show_json({KEY: [KEY]}),
        "event": lambda: output.event({"event": "wait", "words": KEY}),
        "progress": lambda: output.Progress("jsonl")({"event": "wait", "words": KEY}),
    }
    for name, tell in told.items():
        tell()
        out, err = capsys.readouterr()
        assert "[redacted]" in out + err and is_clean(out + err), name
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    trace = write_trace(f"Error: {KEY}\n")
    assert trace.read_text() == "Error: [redacted]\n"
    trace.unlink()


def test_parts_are_redacted_and_ordinary_words_are_not() -> None:
    protect("abc123def456ghi789")
    assert redact("x abc123def456ghi789 y abc123def456ghi789") == "x [redacted] y [redacted]"
    assert redact("abc123def456ghi78 and 3def456ghi789") == "[redacted] and [redacted]"
    assert redact("abc123def45, abc") == "abc123def45, abc"
    protect("pw-1234")
    assert redact("pw-1234!") == "[redacted]!"
    for word in ("ollama", "none", "a1", ""):
        protect(word)
        assert redact(f"{word} runs here") == f"{word} runs here"
    assert redact_all({"pw-1234": ["pw-1234", 1, None, ("x pw-1234",)]}) == {
        "[redacted]": ["[redacted]", 1, None, ["x [redacted]"]]
    }
