"""Prompts, each in a file of its own in `templates/prompts/`, with the version that stands in its first line."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache

import templates
from vault.ids import digest12

_HEAD = re.compile(r"<!-- ([a-z]+/\d+) -->\n")


@dataclass(frozen=True, slots=True)
class Prompt:
    """`version` ("grade/1") changes with every change of the words."""

    version: str
    text: str


@cache
def prompt(name: str) -> Prompt:
    """The prompt of that name."""
    text = templates.read(f"prompts/{name}.md")
    head = _HEAD.match(text)
    assert head is not None, f"the prompt {name} has no version"
    return Prompt(head[1], text[head.end() :].strip())


def prompt_id(name: str) -> str:
    """The prompt's version and twelve hex of its words: what a kept reply was an answer to."""
    found = prompt(name)
    return f"{found.version} {digest12(found.text)}"


def data(value: object) -> str:
    """Words of strangers as one JSON value: nothing in it can look as if it stood outside of it."""
    return json.dumps(value, ensure_ascii=False, indent=1).replace("</", "<\\/")
