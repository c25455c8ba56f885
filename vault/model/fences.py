"""Code fences: which lines of a Markdown text are code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


def fence_after(fence: str, line: str) -> tuple[str, bool]:
    """Return (the fence open after `line`, whether `line` belongs to a fence)."""
    found = _FENCE.fullmatch(line)
    if fence:
        closes = found is not None and found[1][0] == fence[0] and len(found[1]) >= len(fence) and not found[2].strip()
        return ("" if closes else fence), True
    if found is not None and not (found[1][0] == "`" and "`" in found[2]):
        return found[1], True
    return "", False


def code_blocks(lines: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Yield the numbers of the first and last line of each code block, from 1; the last of an unclosed one is 0."""
    fence, first = "", 0
    for number, line in enumerate(lines, 1):
        before = fence
        fence, _ = fence_after(fence, line)
        if fence and not before:
            first = number
        elif before and not fence:
            yield first, number
    if fence:
        yield first, 0


def leaves_fence_open(text: str) -> bool:
    """Return whether a code fence in `text` is never closed: in a deck, it would swallow the cards after it."""
    return any(not last for _, last in code_blocks(text.splitlines()))
