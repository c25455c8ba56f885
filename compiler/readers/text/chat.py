"""The reader of exported chats with an AI (Claude, ChatGPT), whose answers are hearsay.

A place is "title (day), message 4 (assistant)", messages counted from 1 as they are shown, the human's too. What the
human wrote is marked as asked, so that nothing of it counts as asserted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from compiler.readers.decode import as_list, as_mapping, decode
from compiler.readers.front_matter import iso_date_in
from compiler.readers.page import Page, label_of
from compiler.readers.text.markdown import read_markdown
from vault.errors import Unreadable
from vault.model.source import MarkKind, Problem
from vault.text.formatting import clean_line, normal

MAX_CONVERSATIONS = 50_000
MAX_MESSAGES = 5_000  # of one conversation
MAX_MESSAGE = 200_000  # characters; what was pasted beyond is left out
MAX_ALL = 6_000_000  # characters of all messages; later conversations are left out
_MARKERS = re.compile(
    "\\s*[\ue000-\uf8ff][^\n\ue000-\uf8ff]{0,200}(?=[\ue000-\uf8ff])|[\ue000-\uf8ff]|【[^【】\n]{1,60}】"
)
_UNTITLED = "Untitled chat"


@dataclass(frozen=True, slots=True)
class _Message:
    """One message of a conversation."""

    human: bool
    text: str


@dataclass(frozen=True, slots=True)
class _Conversation:
    """One conversation with its messages in order."""

    title: str
    date: str  # ISO, "" if unknown
    messages: tuple[_Message, ...]


def read(data: bytes, name: str, page: Page) -> tuple[dict[str, str], list[Problem]]:
    """Write the conversations of an export, or a single one, onto `page`; the property `kind` is "chat".

    Raises: Unreadable for what is no such export, or holds no message.
    """
    text, problems = decode(data)
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", "nested too deeply")
        raise Unreadable(f"a chat export whose JSON cannot be read ({reason})", hint="export it again") from None
    raw, maker = _conversations(loaded)
    properties = {"kind": "chat", "author": maker, "title": f"{maker} conversations"}
    first: _Conversation | None = None
    seen = written = 0
    for conversation in map(_of_claude if maker == "Claude" else _of_chatgpt, raw[:MAX_CONVERSATIONS]):
        if not conversation.messages:
            continue
        written += sum(len(m.text) for m in conversation.messages)
        if written > MAX_ALL and seen:
            message = f"only the first {seen} of {len(raw)} conversations were read"
            problems.append(Problem("chat-too-long", message))
            break
        first = first or conversation
        seen += 1
        _write(conversation, page)
    if first is None:
        raise Unreadable("a chat export with no messages")
    if len(raw) == 1:
        properties |= {"title": first.title, "date": first.date}
    return {key: value for key, value in properties.items() if value}, problems


def _conversations(loaded: object) -> tuple[list[dict[str, Any]], str]:
    """Return the conversations of an export, and "Claude" or "ChatGPT". Raises: Unreadable for other JSON."""
    if isinstance(loaded, dict) and isinstance(loaded.get("conversations"), list):
        loaded = loaded["conversations"]
    found = [c for c in (loaded if isinstance(loaded, list) else [loaded]) if isinstance(c, dict)]
    for key, maker in (("chat_messages", "Claude"), ("mapping", "ChatGPT")):
        of_kind = [c for c in found if key in c]
        if of_kind:
            return of_kind, maker
    raise Unreadable("unknown type of chat export", hint="Claude's and ChatGPT's conversations.json are supported")


def _write(conversation: _Conversation, page: Page) -> None:
    """Write one conversation onto the page."""
    start = page.add(conversation.title, (), MarkKind.HEADING, 1)
    when = f" ({conversation.date})" if conversation.date else ""
    name = f"{label_of(conversation.title)}{when}"
    page.place(start, name)
    if conversation.date:
        page.place(page.add(conversation.date, (), MarkKind.CAPTION), name)
    page.depth = 1
    try:
        for number, message in enumerate(conversation.messages, 1):
            label = f"{name}, message {number} ({'human' if message.human else 'assistant'})"
            page.label = lambda heading, line, label=label: label
            if message.human:
                page.begin(MarkKind.QUESTION)
            read_markdown(message.text, "message.md", page)
            if message.human:
                page.end()
    finally:
        page.depth, page.label = 0, None


def _title(value: object) -> str:
    """Return a conversation's title as one clean line."""
    return clean_line(normal(value))[:200] or _UNTITLED if isinstance(value, str) else _UNTITLED


def _day(value: object) -> str:
    """Return the UTC date of an instant in ISO form or in seconds since 1970; "" if it is neither."""
    if isinstance(value, str):
        return iso_date_in(value)
    try:
        seconds = float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else -1.0
        return datetime.fromtimestamp(seconds, UTC).date().isoformat() if seconds > 0 else ""
    except (ValueError, OverflowError, OSError):
        return ""


def _message(human: bool, parts: Iterator[str]) -> _Message | None:
    """Return a message of these parts, None if it has no words."""
    words = _MARKERS.sub("", normal("\n\n".join(parts)[:MAX_MESSAGE]))
    return _Message(human, words) if words.strip() else None


# --- Claude ---------------------------------------------------------------------------------------------------


def _of_claude(raw: Mapping[str, Any]) -> _Conversation:
    """Return a conversation of an export from Claude."""
    messages = [m for m in as_list(raw.get("chat_messages")) if isinstance(m, dict)]
    shown = _branch_of_claude(messages, raw.get("current_leaf_message_uuid"))
    made = (_message(m.get("sender") in ("human", "user"), _parts_of_claude(m)) for m in shown[:MAX_MESSAGES])
    return _Conversation(_title(raw.get("name")), _day(raw.get("created_at")), tuple(m for m in made if m is not None))


def _branch_of_claude(messages: list[dict[str, Any]], leaf: object) -> list[dict[str, Any]]:
    """Return the messages that lead to the last one shown; all of them if the export doesn't say which."""
    by_id = {m["uuid"]: m for m in messages if isinstance(m.get("uuid"), str)}
    path: list[dict[str, Any]] = []
    while isinstance(leaf, str) and leaf in by_id:
        message = by_id.pop(leaf)
        path.append(message)
        leaf = message.get("parent_message_uuid")
    return [m for m in (path[::-1] or messages) if m.get("sender") in ("human", "user", "assistant")]


def _parts_of_claude(message: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words of a message, without tool calls, tool results and the model's thinking."""
    blocks = [b for b in as_list(message.get("content")) if isinstance(b, dict)]
    texts = [b["text"] for b in blocks if b.get("type") == "text" and isinstance(b.get("text"), str)]
    if texts or blocks:
        yield from texts
    elif isinstance(message.get("text"), str):
        yield message["text"]


# --- ChatGPT --------------------------------------------------------------------------------------------------


def _of_chatgpt(raw: Mapping[str, Any]) -> _Conversation:
    """Return a conversation of an export from ChatGPT."""
    nodes = as_mapping(raw.get("mapping"))
    path: list[dict[str, Any]] = []
    seen: set[str] = set()
    at = raw.get("current_node")
    if not isinstance(at, str) or at not in nodes:
        at = next((key for key, node in reversed(nodes.items()) if not as_list(as_mapping(node).get("children"))), None)
    while isinstance(at, str) and at in nodes and at not in seen:
        seen.add(at)
        node = as_mapping(nodes[at])
        path.append(as_mapping(node.get("message")))
        at = node.get("parent")
    shown = [m for m in reversed(path) if _is_shown(m)][:MAX_MESSAGES]
    made = (_message(_role(m) == "user", _parts_of_chatgpt(m)) for m in shown)
    return _Conversation(
        _title(raw.get("title")), _day(raw.get("create_time")), tuple(m for m in made if m is not None)
    )


def _role(message: Mapping[str, Any]) -> str:
    """Return who wrote a message: "user", "assistant", "tool" or "system"."""
    return str(as_mapping(message.get("author")).get("role", ""))


def _is_shown(message: Mapping[str, Any]) -> bool:
    """Return whether the page shows a message: no system prompt, no tool's work, nothing hidden."""
    metadata = as_mapping(message.get("metadata"))
    hidden = metadata.get("is_visually_hidden_from_conversation") or metadata.get("is_user_system_message")
    kind = as_mapping(message.get("content")).get("content_type", "text")
    return (
        _role(message) in ("user", "assistant")
        and not hidden
        and message.get("recipient", "all") in ("all", None)
        and kind in ("text", "multimodal_text")
    )


def _parts_of_chatgpt(message: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words of a message from ChatGPT."""
    for part in as_list(as_mapping(message.get("content")).get("parts")):
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and part.get("content_type") == "audio_transcription":
            yield str(part.get("text", ""))
