"""The forms in which a question is put, from the strictest to the plainest, and what a message holds for each."""

from __future__ import annotations

import json
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

from compiler.engines.claude.messages import Ask, NotAsAsked, R, reply_in, shaped
from compiler.engines.claude.prices import Tokens, most

if TYPE_CHECKING:
    from anthropic.types import Message, Usage

SCHEMA, TOOL, TEXT = "schema", "tool", "text"
FORMS = (SCHEMA, TOOL, TEXT)
# What is only sent where a server knows it, by its field, and the words of a refusal that say it does not.
OPTIONAL = {
    "cache_control": ("cache_control", "system"),
    "effort": ("effort", "output_config"),
    "strict": ("strict",),
    "disable_parallel_tool_use": ("disable_parallel_tool_use",),
}
_TOOL = "reply"
_BESIDE = 1_500  # tokens that a server may add to what it is sent: what tools and schemas are told in


def words_for(
    form: str, asked: Ask[Any], said: list[dict[str, Any]], length: int, unknown: AbstractSet[str]
) -> dict[str, Any]:
    """What is sent beside the model's name; fields that the server was found not to know are left out."""
    from anthropic import transform_schema

    schema = transform_schema(dict(asked.schema or asked.reply.model_json_schema()))
    words: dict[str, Any] = {"max_tokens": length}
    system, config = asked.system, dict[str, Any]()
    if asked.effort and "effort" not in unknown:
        config["effort"] = asked.effort
    if form == SCHEMA:
        config["format"] = {"type": "json_schema", "schema": schema}
    elif form == TOOL:
        tool = {"name": _TOOL, "description": "Your reply.", "input_schema": schema, "strict": True}
        choice = {"type": "tool", "name": _TOOL, "disable_parallel_tool_use": True}
        words["tools"] = [{key: value for key, value in tool.items() if key not in unknown}]
        words["tool_choice"] = {key: value for key, value in choice.items() if key not in unknown}
    else:
        shape = f"Answer with one JSON object of this schema and with nothing else:\n{json.dumps(schema)}"
        system = f"{system}\n\n{shape}"
    if config:
        words["output_config"] = config
    if asked.cached and "cache_control" not in unknown:
        control = {"type": "ephemeral", "ttl": asked.cached}
        return words | {"system": [{"type": "text", "text": system, "cache_control": control}], "messages": said}
    return words | {"system": system, "messages": said}


def spoken(asked: Ask[Any]) -> list[dict[str, Any]]:
    """The messages of a question; documents and pictures stand before the words of theirs."""
    return [
        {"role": s.role, "content": [*s.blocks, {"type": "text", "text": s.words}] if s.blocks else s.words}
        for s in asked.said
    ]


def most_sent(words: dict[str, Any]) -> int:
    """How many tokens a question can be at most, whatever a server makes of it; what it shows is left out."""
    return most(json.dumps(_unshown(words), ensure_ascii=False)) + _BESIDE


def _unshown(words: dict[str, Any]) -> dict[str, Any]:
    said = []
    for message in words["messages"]:
        content = message["content"]
        if isinstance(content, list):
            content = [block for block in content if "source" not in block]
        said.append(message | {"content": content})
    return words | {"messages": said}


MOST_TOKENS = 1 << 32  # of one message; more is no count


def tokens_of(usage: Usage | None) -> Tokens:
    """What a message took. Servers that are not Anthropic's may leave any part of it out, or say what can't be."""
    if usage is None:
        return Tokens()
    made = usage.cache_creation
    hour = _count(made.ephemeral_1h_input_tokens) if made is not None else 0
    return Tokens(
        input=_count(usage.input_tokens),
        output=_count(usage.output_tokens),
        cache_write=max(0, _count(usage.cache_creation_input_tokens) - hour),
        cache_write_1h=hour,
        cache_read=_count(usage.cache_read_input_tokens),
    )


def credible(usage: Usage | None) -> bool:
    """Whether a server says in whole numbers what a message took: else it counts as all that was set aside for it."""
    told: tuple[object, ...] = (usage.input_tokens, usage.output_tokens) if usage is not None else ()
    return any(n is not None for n in told) and all(n is None or _count(n) == n for n in told)


def _count(value: object) -> int:
    """A number of tokens; 0 for what is none."""
    return value if type(value) is int and 0 <= value < MOST_TOKENS else 0


def text_of(message: Message) -> str:
    return "".join(block.text or "" for block in message.content if block.type == "text")


def value_of(message: Message, shape: type[R]) -> R:
    """What a message says, if it has that shape. Raises: NotAsAsked."""
    for block in message.content:
        if block.type == "tool_use" and block.name == _TOOL:
            return shaped(block.input, shape)
    return reply_in(text_of(message), shape)


def value_in(form: str, message: Message, shape: type[R]) -> R:
    """Raises: NotAsAsked."""
    if form == TOOL and not any(block.type == "tool_use" and block.name == _TOOL for block in message.content):
        raise NotAsAsked("the tool was not used")
    return value_of(message, shape)


def mending(message: Message, wrong: str) -> list[dict[str, Any]]:
    """The answer to a question, and what is wrong with it."""
    used = [json.dumps(block.input, ensure_ascii=False) for block in message.content if block.type == "tool_use"]
    text = text_of(message).strip() or "".join(used) or "(nothing)"
    again = f"That is not the JSON object that was asked for: {wrong}. Answer with the object alone."
    return [{"role": "assistant", "content": text}, {"role": "user", "content": again}]


def holds(words: dict[str, Any], field_: str) -> bool:
    return f'"{field_}":' in json.dumps({k: v for k, v in words.items() if k != "messages"})
