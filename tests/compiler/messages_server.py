"""A server of the Messages API for tests: written from the SDK's types, on loopback, saying what the test scripts.

Each request takes the next reply; the last one is said again and again. What a client may meet is here too: errors with
headers, pages of HTML, redirects, streams that break off or dribble, fields that an older server does not know.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from anthropic.types import Message, TextBlock, ToolUseBlock, Usage
from anthropic.types.messages import MessageBatch


@dataclass(frozen=True)
class Reply:
    """`length` is what Content-Length claims, if not the body's; `dribble` sends a byte at a time, without end."""

    body: bytes
    status: int = 200
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None
    dribble: bool = False
    reset: bool = False  # the line is cut after the body, without an end


def message(
    text: str = "",
    *,
    tool: Mapping[str, Any] | None = None,
    stop: str | None = "end_turn",
    usage: tuple[int, int] = (100, 20),
) -> Reply:
    """A whole message: with a text, or with the use of the tool that was asked for. `usage`: tokens in and out."""
    block: Any = TextBlock(type="text", text=text, citations=None)
    if tool is not None:
        block = ToolUseBlock.model_validate({"id": "toolu_1", "name": "reply", "input": tool, "type": "tool_use"})
    said = Message.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "scripted",
            "content": [block.model_dump()],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": Usage(input_tokens=usage[0], output_tokens=usage[1]).model_dump(),
        }
    )
    return Reply(said.model_dump_json().encode())


def streamed(whole: Reply) -> Reply:
    """The message as the events of a stream."""
    events = stream_events(json.loads(whole.body))
    return Reply(sse(events), kind="text/event-stream")


def stream_events(body: dict[str, Any]) -> list[dict[str, Any]]:
    """What the API sends for that message, in its order: each a value of one of the SDK's raw event types."""
    usage = body["usage"]
    start = {**body, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for n, block in enumerate(body["content"]):
        is_tool = block["type"] == "tool_use"
        empty = {**block, "input": {}} if is_tool else {"type": "text", "text": ""}
        words = json.dumps(block["input"]) if is_tool else block["text"]
        events.append({"type": "content_block_start", "index": n, "content_block": empty})
        for part in (words[i : i + 40] for i in range(0, len(words), 40)):
            delta = (
                {"type": "input_json_delta", "partial_json": part} if is_tool else {"type": "text_delta", "text": part}
            )
            events.append({"type": "content_block_delta", "index": n, "delta": delta})
        events.append({"type": "content_block_stop", "index": n})
    delta = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": usage["output_tokens"]}})
    events.append({"type": "message_stop"})
    return events


def sse(events: list[dict[str, Any]]) -> bytes:
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()


def said(value: object) -> Reply:
    """A whole message whose text is that value as JSON."""
    return message(json.dumps(value))


def error(status: int, kind: str, words: str = "", headers: Mapping[str, str] | None = None) -> Reply:
    """An error as the API tells it."""
    body = {"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_1"}
    return Reply(json.dumps(body).encode(), status, headers=headers or {})


@dataclass
class MessagesServer:
    """`asked` are the bodies of the requests, `headers` what came with them."""

    replies: list[Reply]
    knows: Callable[[dict[str, Any]], str] = lambda _: ""  # what of a request it does not know: a 400 that says so
    port: int = 0
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    hold: threading.Event | None = None  # answers wait for it
    answer: Callable[[dict[str, Any]], Reply] | None = None  # in place of the replies
    counts: Callable[[dict[str, Any]], int] | None = None  # tokens of a question; None: it does not count
    batches: Batched | None = None  # None: it takes none
    lock: threading.Lock = field(default_factory=threading.Lock)
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def next(self, body: dict[str, Any]) -> Reply:
        with self.lock:
            self.asked.append(body)
        return self.answered(body)

    def answered(self, body: dict[str, Any]) -> Reply:
        strange = self.knows(body)
        if strange:
            return error(400, "invalid_request_error", f"{strange}: Extra inputs are not permitted")
        if self.answer is not None:
            return self.answer(body)
        with self.lock:
            return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    def at(self, method: str, path: str, body: dict[str, Any]) -> Reply:
        """The reply of the address at `path`."""
        if path == "/v1/messages":
            reply = self.next(body)
            whole = body.get("stream") and reply.status == 200 and reply.kind == "application/json"
            try:
                return streamed(reply) if whole and reply.length is None and not reply.dribble else reply
            except (ValueError, KeyError, TypeError, AttributeError):
                return reply
        if path == "/v1/messages/count_tokens" and self.counts is not None:
            return Reply(json.dumps({"input_tokens": self.counts(body)}).encode())
        if path.startswith("/v1/messages/batches") and self.batches is not None:
            return self.batches.at(method, path, body, self)
        return error(404, "not_found_error", "no such address")


@dataclass
class Batched:
    """What a server does with batches. `fate` is what becomes of a question, by its name: its result's type."""

    fate: Callable[[str], str] = lambda _: "succeeded"
    looks: int = 1  # how often it is still at work when somebody looks
    answer: Callable[[dict[str, Any]], Reply] | None = None  # in place of the server's own
    made: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    results: dict[str, bytes] = field(default_factory=dict)  # once made they stay as they are
    seen: dict[str, int] = field(default_factory=dict)
    when: dict[str, str] = field(default_factory=dict)  # each was made
    spoil: Callable[[str, Reply], Reply] = lambda _, reply: reply  # "give", "list", "look" or "fetch", and the reply

    def at(self, method: str, path: str, body: dict[str, Any], server: MessagesServer) -> Reply:
        parts = path.removeprefix("/v1/messages/batches").strip("/").split("/")
        act = "give" if method == "POST" else "list" if parts == [""] else "look" if len(parts) == 1 else "fetch"
        return self.spoil(act, self._at(method, parts, body, server))

    def _at(self, method: str, parts: list[str], body: dict[str, Any], server: MessagesServer) -> Reply:
        if method == "POST" and parts == [""]:
            id_ = f"msgbatch_{len(self.made) + 1}"
            self.when[id_] = datetime.now(UTC).isoformat()
            self.made[id_] = body["requests"]
            return self._told(id_, server, over=False)
        if parts == [""]:
            listed = [json.loads(self._told(id_, server, over=False).body) for id_ in self.made]
            told = {"data": listed, "has_more": False, "first_id": None, "last_id": None}
            return Reply(json.dumps(told).encode())
        if parts[0] not in self.made:
            return error(404, "not_found_error", "no such batch")
        if len(parts) == 1:
            self.seen[parts[0]] = self.seen.get(parts[0], 0) + 1
            return self._told(parts[0], server, over=self.seen[parts[0]] > self.looks)
        if parts[0] not in self.results:
            lines = [self._result(each, server) for each in reversed(self.made[parts[0]])]  # in an order of its own
            self.results[parts[0]] = "".join(json.dumps(line) + "\n" for line in lines).encode()
        return Reply(self.results[parts[0]], kind="application/x-jsonl")

    def _told(self, id_: str, server: MessagesServer, *, over: bool) -> Reply:
        count = len(self.made[id_])
        told = MessageBatch.model_validate(
            {
                "id": id_,
                "type": "message_batch",
                "processing_status": "ended" if over else "in_progress",
                "request_counts": {
                    "processing": 0 if over else count,
                    "succeeded": count if over else 0,
                    "errored": 0,
                    "canceled": 0,
                    "expired": 0,
                },
                "created_at": self.when[id_],
                "expires_at": "2026-11-24T00:00:00Z",
                "results_url": f"{server.url}/v1/messages/batches/{id_}/results" if over else None,
            }
        )
        return Reply(told.model_dump_json().encode())

    def _result(self, each: dict[str, Any], server: MessagesServer) -> dict[str, Any]:
        fate = self.fate(each["custom_id"])
        result: dict[str, Any] = {"type": fate}
        if fate == "succeeded":
            result["message"] = json.loads((self.answer or server.answered)(each["params"]).body)
        elif fate == "errored":
            said = {"type": "error", "error": {"type": "api_error", "message": "trouble"}, "request_id": None}
            result["error"] = said
        return {"custom_id": each["custom_id"], "result": result}


@contextmanager
def serving(*replies: Reply, knows: Callable[[dict[str, Any]], str] = lambda _: "") -> Iterator[MessagesServer]:
    """The server, until the block ends."""
    scripted = MessagesServer(list(replies), knows)
    http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(scripted))
    http.daemon_threads, http.block_on_close = True, False
    scripted.port = http.server_address[1]
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield scripted
    finally:
        scripted.over.set()
        http.shutdown()
        http.server_close()
        thread.join()


def _handler(server: MessagesServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self._answer("POST")

        def do_GET(self) -> None:
            self._answer("GET")

        def _answer(self, method: str) -> None:
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            reply = server.at(method, self.path.partition("?")[0], json.loads(body or b"{}"))
            if server.hold is not None:
                server.hold.wait(600)
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.kind)
            self.send_header("Content-Length", str(len(reply.body) if reply.length is None else reply.length))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if reply.dribble:
                while not server.over.wait(0.02):
                    self.wfile.write(b" ")
                    self.wfile.flush()
            self.wfile.write(reply.body)
            self.close_connection = True
            if reply.reset:
                self.wfile.flush()
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

        def log_message(self, format: str, *args: object) -> None:
            pass

        def handle(self) -> None:
            with suppress(BrokenPipeError, ConnectionResetError):  # the client went away, as some tests want
                super().handle()

    return Handler
