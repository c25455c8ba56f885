"""Front matter -> the body below it and what it says of the document."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vault.clean import clean_line
from vault.note import read_properties
from vault.source import Problem

MAX_PROPERTY = 2_000  # characters of one property's text
_FOREIGN_FRONT = re.compile(r"---[ \t]+\S.*\n(?:(?!---).*\n){0,200}?---[ \t]*(?:\n|\Z)")
_EMPTY_FRONT = re.compile(r"---[ \t]*\n---[ \t]*(?:\n|\Z)")


@dataclass(frozen=True, slots=True)
class Front:
    """`text[body:]` is the document below its front matter; `first_line` is the raw file's line where it begins."""

    properties: dict[str, str]
    problems: list[Problem]
    body: int
    first_line: int


def read_front(text: str) -> Front:
    """The YAML front matter of a document; what is no YAML is named and left out."""
    front = read_properties(text)
    problems = list(front.problems)
    body = front.body
    foreign = None if front.problems or body else _FOREIGN_FRONT.match(text)
    if foreign is not None:
        problems.append(Problem("front-matter-foreign", "the front matter is not YAML: left out", 1))
        body = foreign.end()
    elif _EMPTY_FRONT.match(text):
        problems.append(Problem("front-matter-empty", "nothing stands between the two --- of the front matter", 1))
    properties = {clean_line(key)[:200]: _words(value) for key, value in front.values.items()}
    return Front(properties, problems, body, text.count("\n", 0, body) + 1)


def _words(value: object) -> str:
    """A front matter value as one string; the items of a list parted by commas."""
    if isinstance(value, str):
        return clean_line(value)[:MAX_PROPERTY]
    if isinstance(value, list):
        return ", ".join(filter(None, map(_words, (v for v in value[:100] if isinstance(v, str)))))[:MAX_PROPERTY]
    return ""
