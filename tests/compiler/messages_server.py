"""A server of the Messages API for tests: written from the SDK's types, on loopback, saying what the test scripts.

Each request takes the next reply; the last one is said again and again. What a client may meet is here too: errors with
headers, pages of HTML, redirects, streams that break off or dribble, fields that an older server does not know.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from anthropic.types import Message, TextBlock, ToolUseBlock, Usage


@dataclass(frozen=True)
class Reply:
    """`length` is what Content-Length claims, if not the body's; `dribble` sends a byte at a time, without end."""

    body: bytes
    status: int = 200
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None
    dribble: bool = False


def message(text: str = "", *, tool: Mapping[str, Any] | None = None, stop: str | None = "end_turn") -> Reply:
    """A whole message: with a text, or with the use of the tool that was asked for."""
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
            "usage": Usage(input_tokens=100, output_tokens=20).model_dump(),
        }
    )
    return Reply(said.model_dump_json().encode())


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
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def next(self, body: dict[str, Any]) -> Reply:
        self.asked.append(body)
        strange = self.knows(body)
        if strange:
            return error(400, "invalid_request_error", f"{strange}: Extra inputs are not permitted")
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


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
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            reply = server.next(json.loads(body))
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

        def log_message(self, format: str, *args: object) -> None:
            pass

        def handle(self) -> None:
            with suppress(BrokenPipeError, ConnectionResetError):  # the client went away, as some tests want
                super().handle()

    return Handler
