"""How a prompt becomes the fields of a Messages API call, and what the resulting message holds.

The JSON schema of an answer that needs one is sent as `output_config`. A server that does not support that, or caching,
gets the plain format: the schema in the system prompt, without caching and effort.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from compiler.engines.claude.messages import JsonPrompt, Prompt
from compiler.engines.claude.prices import Tokens, most

if TYPE_CHECKING:
    from anthropic.types import Message, Usage

_OVERHEAD_TOKENS = 500  # that a server may add around the messages
_MAX_TOKENS = 1 << 32  # of one message; a larger number in a reply is invalid


def api_fields(prompt: Prompt, messages: list[dict[str, Any]], max_tokens: int, *, plain: bool) -> dict[str, Any]:
    """Return the fields of the call, without `model`."""
    fields: dict[str, Any] = {"max_tokens": max_tokens, "messages": messages, "system": prompt.system}
    schema = _schema(prompt) if isinstance(prompt, JsonPrompt) else None
    if plain:
        shape = f"\n\nAnswer with one JSON object of this schema and with nothing else:\n{json.dumps(schema)}"
        return fields | ({"system": prompt.system + shape} if schema is not None else {})
    config: dict[str, Any] = {"effort": prompt.effort} if prompt.effort else {}
    if schema is not None:
        config["format"] = {"type": "json_schema", "schema": schema}
    if config:
        fields["output_config"] = config
    if prompt.cached:
        control = {"type": "ephemeral", "ttl": prompt.cached}
        fields["system"] = [{"type": "text", "text": prompt.system, "cache_control": control}]
    return fields


def _schema(prompt: JsonPrompt[Any]) -> dict[str, Any]:
    from anthropic import transform_schema

    return transform_schema(prompt.reply.model_json_schema())


def api_messages(prompt: Prompt) -> list[dict[str, Any]]:
    """Return the prompt's messages as the API takes them."""
    return [{"role": m.role, "content": m.text} for m in prompt.messages]


def max_input_tokens(fields: dict[str, Any]) -> int:
    """Return an upper bound of the tokens of a call, whatever a server makes of it."""
    return most(json.dumps(fields, ensure_ascii=False)) + _OVERHEAD_TOKENS


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


def correction_messages(message: Message, problem: str) -> list[dict[str, Any]]:
    """Return the turns that show the model its invalid reply and ask for a correct one."""
    text = text_of(message).strip() or "(nothing)"
    again = f"That is not the JSON object that was asked for: {problem}. Answer with the object alone."
    return [{"role": "assistant", "content": text}, {"role": "user", "content": again}]
