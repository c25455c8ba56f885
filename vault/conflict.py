"""Files in which git left conflict markers: their two sides, told apart again."""

from __future__ import annotations

import re

_BLOCK = re.compile(
    r"^<{7} .*\n(?P<ours>(?:.*\n)*?)(?:\|{7}.*\n(?:.*\n)*?)?={7}\n(?P<theirs>(?:.*\n)*?)>{7} .*(?:\n|\Z)", re.MULTILINE
)


def sides(text: str) -> tuple[str, str] | None:
    """(ours, theirs): `text` with every conflict settled one way and the other; None without conflict markers."""
    if _BLOCK.search(text) is None:
        return None
    return _BLOCK.sub(lambda m: m["ours"], text), _BLOCK.sub(lambda m: m["theirs"], text)


def line_of(text: str) -> int:
    """The 1-based line of the first conflict marker; 0 if there is none."""
    found = _BLOCK.search(text)
    return text.count("\n", 0, found.start()) + 1 if found else 0
