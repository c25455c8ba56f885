"""How a prompt becomes the fields of a Messages API call, and what the resulting message holds.

The answer's JSON schema is sent as `output_config`. A server that does not support that gets the plain format: the
schema in the system prompt, without caching and effort.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from compiler.engines.claude.messages import Prompt, R, parse_reply
from compiler.engines.claude.prices import Tokens, most

if TYPE_CHECKING:
    from anthropic.types import Message, Usage

_OVERHEAD_TOKENS = 1_500  # that a server may add for the schema
_MAX_TOKENS = 1 << 32  # of one message; a larger number in a reply is invalid


def api_fields(prompt: Prompt[Any], messages: list[dict[str, Any]], max_tokens: int, *, plain: bool) -> dict[str, Any]:
    """Return the fields of the call, without `model`."""
    from anthropic import transform_schema

    schema = transform_schema(dict(prompt.schema or prompt.reply.model_json_schema()))
    fields: dict[str, Any] = {"max_tokens": max_tokens, "messages": messages, "system": prompt.system}
    if plain:
        shape = f"Answer with one JSON object of this schema and with nothing else:\n{json.dumps(schema)}"
        return fields | {"system": f"{prompt.system}\n\n{shape}"}
    fields["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    if prompt.effort:
        fields["output_config"]["effort"] = prompt.effort
    if prompt.cached:
        control = {"type": "ephemeral", "ttl": prompt.cached}
        fields["system"] = [{"type": "text", "text": prompt.system, "cache_control": control}]
    return fields


def api_messages(prompt: Prompt[Any]) -> list[dict[str, Any]]:
    """Return the prompt's messages as the API takes them; blocks precede the text."""
    return [
        {"role": m.role, "content": [*m.blocks, {"type": "text", "text": m.text}] if m.blocks else m.text}
        for m in prompt.messages
    ]


def max_input_tokens(fields: dict[str, Any]) -> int:
    """Return an upper bound of the tokens of a call, whatever a server makes of it; documents and images left out."""
    messages = []
    for message in fields["messages"]:
        content = message["content"]
        if isinstance(content, list):
            content = [block for block in content if "source" not in block]
        messages.append(message | {"content": content})
    return most(json.dumps(fields | {"messages": messages}, ensure_ascii=False)) + _OVERHEAD_TOKENS


def tokens_of(usage: Usage | None) -> Tokens:
    """Return the tokens that a message took; 0 for parts that a server leaves out or states as no valid number."""
    if usage is None:
        return Tokens()
    created = usage.cache_creation
    hour = _count(created.ephemeral_1h_input_tokens) if created is not None else 0
    return Tokens(
        input=_count(usage.input_tokens),
        output=_count(usage.output_tokens),
        cache_write=max(0, _count(usage.cache_creation_input_tokens) - hour),
        cache_write_1h=hour,
        cache_read=_count(usage.cache_read_input_tokens),
    )


def is_valid_usage(usage: Usage | None) -> bool:
    """Return whether a server states in whole numbers what a message took; else its cost is unknown."""
    counts: tuple[object, ...] = (usage.input_tokens, usage.output_tokens) if usage is not None else ()
    return any(n is not None for n in counts) and all(n is None or _count(n) == n for n in counts)


def _count(value: object) -> int:
    return value if type(value) is int and 0 <= value < _MAX_TOKENS else 0


def text_of(message: Message) -> str:
    """Return the text blocks of a message as one string."""
    return "".join(block.text or "" for block in message.content if block.type == "text")


def value_of(message: Message, shape: type[R]) -> R:
    """Return the message's JSON object as a value of `shape`. Raises: InvalidReply."""
    return parse_reply(text_of(message), shape)


def correction_messages(message: Message, problem: str) -> list[dict[str, Any]]:
    """Return the turns that show the model its invalid reply and ask for a correct one."""
    text = text_of(message).strip() or "(nothing)"
    again = f"That is not the JSON object that was asked for: {problem}. Answer with the object alone."
    return [{"role": "assistant", "content": text}, {"role": "user", "content": again}]
