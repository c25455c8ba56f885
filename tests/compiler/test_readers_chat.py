"""Exported chats: what a machine said is hearsay, what a human asked is not asserted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compiler.readers.formats import kind_of
from compiler.readers.read import read_source
from vault.errors import Unreadable
from vault.model.source import MarkKind, SourceText

UUID = "01234567-89ab-cdef-0123-456789abcdef"


def claude(*messages: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {
        "uuid": UUID,
        "name": "Softmax explained",
        "summary": "",
        "created_at": "2024-05-01T10:00:00.000Z",
        "account": {"uuid": "x"},
        "chat_messages": list(messages),
        **rest,
    }


def said(sender: str, text: str, **rest: Any) -> dict[str, Any]:
    return {"uuid": text, "text": text, "content": [{"type": "text", "text": text}], "sender": sender, **rest}


def node(key: str, parent: str | None, role: str, *parts: Any, **rest: Any) -> dict[str, Any]:
    content = {"content_type": rest.pop("content_type", "text"), "parts": list(parts)}
    message = {"author": {"role": role}, "content": content, "metadata": {}, "recipient": "all", **rest}
    return {"id": key, "parent": parent, "children": [], "message": message}


def chatgpt(*nodes: dict[str, Any], current: str) -> dict[str, Any]:
    mapping = {"root": {"id": "root", "message": None, "parent": None, "children": []}} | {n["id"]: n for n in nodes}
    return {"title": "Dropout", "create_time": 1714557600.5, "mapping": mapping, "current_node": current}


def read(*conversations: dict[str, Any]) -> SourceText:
    return read_source(json.dumps(list(conversations)).encode(), "conversations.json")


def questions(source: SourceText) -> list[str]:
    return [source.text[m.start : m.end] for m in source.marks if m.kind is MarkKind.QUESTION]


def test_claudes_turns_have_places_and_the_humans_are_questions() -> None:
    source = read(
        claude(
            said("human", "What is the softmax?\n\nI believe it is a max."),
            said("assistant", "# Answer\nThe *softmax* is a function.\n\n```python\nx = 1\n```"),
        )
    )
    assert questions(source) == ["What is the softmax?\n\nI believe it is a max."]
    assert source.locate(source.text.index("What is")) == "Softmax explained (2024-05-01), message 1 (human)"
    assert source.locate(source.text.index("The softmax is")) == "Softmax explained (2024-05-01), message 2 (assistant)"
    headings = [(source.text[m.start : m.end], m.level) for m in source.marks if m.kind is MarkKind.HEADING]
    assert headings == [("Softmax explained", 1), ("Answer", 2)]
    assert source.properties["kind"] == "chat" and source.properties["published"] == "2024-05-01"


def test_tools_and_thoughts_are_not_shown_and_the_branch_on_screen_is() -> None:
    thought = said("assistant", "b", parent_message_uuid="a")
    thought["content"] = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "tool_use"},
        {"type": "text", "text": "Yes."},
    ]
    source = read(
        claude(
            said("human", "a"),
            thought,
            said("assistant", "Another branch.", parent_message_uuid="a"),
            current_leaf_message_uuid="b",
        )
    )
    assert source.text.split("\n\n")[2:] == ["a", "Yes."]


def test_chatgpts_tree_is_followed_from_the_last_message_on_screen() -> None:
    source = read(
        chatgpt(
            node("s", "root", "system", "You are a machine."),
            node("h", "s", "user", "hidden", metadata={"is_visually_hidden_from_conversation": True}),
            node(
                "u",
                "h",
                "user",
                "What is dropout?",
                {"content_type": "image_asset_pointer"},
                content_type="multimodal_text",
            ),
            node("t", "u", "assistant", "search()", recipient="browser"),
            node("r", "t", "tool", "found"),
            node("x", "u", "assistant", "Another branch."),
            node("a", "r", "assistant", "Dropout disables neurons \ue200cite\ue202turn0\ue201. It helps【12†source】."),
            current="a",
        )
    )
    assert source.text.split("\n\n") == [
        "Dropout",
        "2024-05-01",
        "What is dropout?",
        "Dropout disables neurons. It helps.",
    ]
    assert source.locate(len(source.text) - 1) == "Dropout (2024-05-01), message 2 (assistant)"


def test_a_tree_that_bites_its_tail_ends() -> None:
    source = read(chatgpt(node("a", "b", "user", "one"), node("b", "a", "assistant", "two"), current="a"))
    assert source.text.endswith("two\n\none")


def test_markup_in_a_message_does_not_act() -> None:
    source = read(claude(said("assistant", "Safe <script>alert(1)</script> <b hidden>no</b>words.\n\n<!-- obey -->")))
    assert (
        "alert" not in source.text.split("<script>")[0]
        and "obey" not in source.text
        and "no" not in source.text.split()
    )


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (json.dumps([claude(summary="s" * 5_000)]), "chat"),
        (json.dumps([claude()], indent=2), "chat"),
        (json.dumps(claude()), "chat"),
        (json.dumps([chatgpt(current="x")], indent=1), "chat"),
        ('{"mapping": {"a": {"id": "a", "message": null}}}', "chat"),
        (json.dumps([{"uuid": UUID, "name": "P", "description": "a project", "is_private": True}]), "unsupported"),
        (json.dumps([{"uuid": UUID, "full_name": "Ann", "email_address": "x"}]), "unsupported"),
        ('{"name": "package", "mapping": {"a": 1}, "title": "x"}', "unsupported"),
    ],
)
def test_an_export_is_told_by_how_it_begins(head: str, kind: str) -> None:
    assert kind_of("conversations.json", head.encode()[:4096]) == kind


@pytest.mark.parametrize("data", ['{"chat_messages": [', '{"chat_messages": []}', '{"chat_messages": ' + "[" * 50_000])
def test_what_holds_no_message_is_named_in_one_line(data: str) -> None:
    with pytest.raises(Unreadable) as refused:
        read_source(data.encode(), "conversations.json")
    assert "\n" not in str(refused.value)


def test_a_very_long_export_is_read_as_far_as_it_may_be_and_says_so() -> None:
    long = [said("assistant", f"{i} " + "word " * 39_000) for i in range(31)]
    source = read(claude(said("assistant", "Short.")), claude(*long))
    assert [p.code for p in source.problems] == ["chat-too-long"]
    assert "1 of 2" in source.problems[0].message and source.text.endswith("Short.")
