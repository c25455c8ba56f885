"""Prompts, each in a file of its own in `templates/prompts/`, with the version that stands in its first line.

A file of the same name in `prompts/` of the user's own configuration folder goes before it; never one of a vault.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import templates
from vault.config import user
from vault.errors import Damaged
from vault.ids import digest12

OWN = "prompts"  # in the user's configuration folder
_HEAD = re.compile(r"<!-- ([a-z]+/[a-z0-9.-]{1,40}) -->\r?\n")
_MOST = 100_000  # bytes of a prompt of the user's own


@dataclass(frozen=True, slots=True)
class Prompt:
    """`version` ("grade/1") changes with every change of the words."""

    version: str
    text: str


def prompt(name: str) -> Prompt:
    """The prompt of that name. Raises: Damaged where the user's own version of it cannot be used."""
    path = user.config_folder() / OWN / f"{name}.md"
    own = _own(path)
    return _ours(name) if own is None else _parsed(name, own, path)


@cache
def _ours(name: str) -> Prompt:
    return _parsed(name, templates.read(f"prompts/{name}.md"), Path(f"templates/prompts/{name}.md"))


def _own(path: Path) -> str | None:
    try:
        data = path.read_bytes()
        return data.decode() if len(data) <= _MOST else _wrong(path, f"more than {_MOST} bytes")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError:
        return _wrong(path, "not UTF-8")
    except OSError as error:
        if isinstance(error, PermissionError) and os.environ.get("RETAIN_CAGED"):
            return None  # the user's configuration is hidden from agents
        return _wrong(path, f"cannot be read: {os.strerror(error.errno or 0).lower()}")


def _parsed(name: str, text: str, path: Path) -> Prompt:
    head = _HEAD.match(text)
    words = text[head.end() :].strip() if head else ""
    if head is None or head[1].partition("/")[0] != name or not words:
        _wrong(path, f"its first line must be <!-- {name}/VERSION -->, and the prompt must follow")
    assert head is not None
    return Prompt(head[1], words)


def _wrong(path: Path, what: str) -> str:
    hint = "mend the file, or take it away: then retain's own prompt counts"
    raise Damaged(f"no prompt: {what}", where=str(path), hint=hint)


def prompt_id(name: str) -> str:
    """The prompt's version and twelve hex of its words: what a kept reply was an answer to."""
    found = prompt(name)
    return f"{found.version} {digest12(found.text)}"


def data(value: object) -> str:
    """Words of strangers as one JSON value: nothing in it can look as if it stood outside of it."""
    return json.dumps(value, ensure_ascii=False, indent=1).replace("</", "<\\/")
