"""A model behind the Messages API that answers a compile's questions by rule, as `Scripted` does; it bills for them."""

from __future__ import annotations

import json
from typing import Any

from compiler.engines.claude import prompts_to_messages
from compiler.model.requests import REQUESTS, Request
from tests.compiler.messages_server import Reply, message
from tests.compiler.scripted import Scripted

_RULES = Scripted()


def type_of(body: dict[str, Any]) -> str:
    """The type of question that a request puts, by its prompt."""
    system = body["system"]
    text = system if isinstance(system, str) else "".join(block["text"] for block in system)
    # The longest first: the prompt for several checks begins as that for one.
    return max(
        (of for of in prompts_to_messages.SHAPES if text.startswith(prompts_to_messages.system(of))),
        key=lambda of: len(prompts_to_messages.system(of)),
    )


def words_of(body: dict[str, Any]) -> Any:
    """The JSON value that a request asks about."""
    content = body["messages"][0]["content"]
    text = content if isinstance(content, str) else content[-1]["text"]
    return json.loads(text.replace("<\\/", "</"))


def value_for(body: dict[str, Any]) -> Any:
    """What the rules answer."""
    of, words = type_of(body), words_of(body)
    if of == prompts_to_messages.CHECKS:
        return {"verdicts": [{"n": each["n"], "entailed": "yes", "why": ""} for each in words["requests"]]}
    for claim in words.get("claims", ()):
        claim.setdefault("words", claim["quote"])
    if of == "extract":
        words = {"headings": (), "standing": (), **words, "known": ()}
        words["standing"] = ()
    if of in ("compose", "cards"):
        words = {"aliases": (), **words}
    request: Request = REQUESTS[of].model_validate(words)
    return _RULES.reply(request).model_dump(mode="json")


def tokens_in(body: dict[str, Any]) -> int:
    """What the server counts: more than a token for three characters, and something for the tools."""
    return len(json.dumps(body, ensure_ascii=False)) // 3 + 300


def answering(body: dict[str, Any]) -> Reply:
    """The message that answers, with its bill."""
    text = json.dumps(value_for(body))
    return message(text, usage=(tokens_in(body), len(text) // 3))
