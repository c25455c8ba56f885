"""Whether a JSON Canvas that an agent left does anything but be looked at: its texts, files, pages and pictures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from compiler.agents.addresses import address_fault

_NODE = frozenset("id type x y width height color text file subpath label backgroundStyle".split())
_EDGE = frozenset("id fromNode fromSide fromEnd toNode toSide toEnd color label".split())
_WORDS = ("text", "label", "subpath")  # which may hold Markdown


def canvas_fault(text: str, words_fault: Callable[[str], tuple[int, str] | None]) -> str:
    """Return the first thing in a canvas that acts; "" if nothing does. `words_fault` judges Markdown."""
    try:
        canvas = json.loads(text)
        parts = list(_parts(canvas))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return "not a JSON Canvas file"
    for part, keys in parts:
        if strange := sorted(set(part) - keys):
            return f"a canvas that shows external content or has an unknown key: {strange[0][:40]}"
        if part.get("type") not in (None, "text", "file", "group"):
            return "a canvas that embeds an external web page"
        if why := address_fault(str(part.get("file", "")), picture=True):
            return f"a canvas that shows a file outside the vault: {why}"
        for key in _WORDS:
            if key in part and (found := words_fault(str(part[key]))) is not None:
                return f"in a canvas: {found[1]}"
    return ""


def _parts(canvas: dict[str, Any]) -> Iterator[tuple[dict[str, Any], frozenset[str]]]:
    """Yield the nodes and edges, each with the properties that it may have."""
    if set(canvas) - {"nodes", "edges"}:
        raise ValueError
    yield from ((dict(node), _NODE) for node in canvas.get("nodes", []))
    yield from ((dict(edge), _EDGE) for edge in canvas.get("edges", []))
