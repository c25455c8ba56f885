"""Two versions of one file: git's conflict markers in it, or ours laid beside the human's under a name of its own."""

from __future__ import annotations

import re
from datetime import date

# What a file laid beside another has before the end of its name, as a pattern: `page.conflict-2026-11-22.md`.
BESIDE = r"\.conflict-[0-9]{4}-[0-9]{2}-[0-9]{2}(?:-[0-9]{1,3})?"
_BESIDE = re.compile(rf".+{BESIDE}(?:\.[^./]+)?")
_NAME_BYTES = 255

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


def beside(name: str, on: date, number: int = 1) -> str:
    """The file name for another version of the file `name`; with `number`, where those before it are taken."""
    stem, dot, ending = name.rpartition(".") if "." in name[1:] else (name, "", "")
    tail = f".conflict-{on.isoformat()}" + (f"-{number}" if number > 1 else "") + dot + ending
    while len((stem + tail).encode()) > _NAME_BYTES:
        stem = stem[:-1]
    return stem.rstrip(". ") + tail


def is_beside(path: str) -> bool:
    """Whether the file at `path` was laid beside another: it is for a human to look at, and no page or deck."""
    return ".conflict-" in path and _BESIDE.fullmatch(path.rpartition("/")[2]) is not None
