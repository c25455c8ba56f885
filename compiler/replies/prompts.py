"""Prompts, each in a file of `templates/prompts/` whose first line is its version.

A file of the same name in `prompts/` of the user's own configuration folder goes before it; never one of a vault.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NoReturn

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
    """Return the prompt of a name. Raises: Damaged where the user's own version of it cannot be used."""
    path = user.config_folder() / OWN / f"{name}.md"
    own = _own(path)
    return _ours(name) if own is None else _parsed(name, own, path)


@cache
def _ours(name: str) -> Prompt:
    """Return the prompt that comes with the product."""
    return _parsed(name, templates.read(f"prompts/{name}.md"), Path(f"templates/prompts/{name}.md"))


def _own(path: Path) -> str | None:
    """Return the user's own prompt at a path; None if there is none. Raises: Damaged."""
    try:
        data = path.read_bytes()
        if len(data) > _MOST:
            _wrong(path, f"more than {_MOST} bytes")
        return data.decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError:
        _wrong(path, "not UTF-8")
    except OSError as error:
        if isinstance(error, PermissionError) and os.environ.get("RETAIN_CAGED"):
            return None  # the user's configuration is hidden from agents
        _wrong(path, f"cannot be read: {os.strerror(error.errno or 0).lower()}")


def _parsed(name: str, text: str, path: Path) -> Prompt:
    """Return a prompt from the text of its file. Raises: Damaged."""
    head = _HEAD.match(text)
    words = text[head.end() :].strip() if head else ""
    if head is None or head[1].partition("/")[0] != name or not words:
        _wrong(path, f"its first line must be <!-- {name}/VERSION -->, and the prompt must follow")
    return Prompt(head[1], words)


def _wrong(path: Path, what: str) -> NoReturn:
    """Raise Damaged for a prompt that cannot be used, with what is wrong."""
    hint = "correct the file, or delete it to use retain's own prompt"
    raise Damaged(f"the prompt cannot be used: {what}", where=str(path), hint=hint)


def prompt_id(name: str) -> str:
    """Return the prompt's version and twelve hex digits of its words, by which replies name it."""
    found = prompt(name)
    return f"{found.version} {digest12(found.text)}"


def data(value: object) -> str:
    """Return untrusted words as one JSON value: nothing in it can look as if it were outside of it."""
    return json.dumps(value, ensure_ascii=False, indent=1).replace("</", "<\\/")
