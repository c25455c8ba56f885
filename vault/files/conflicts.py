"""Two versions of one file: git's conflict markers, and names for a version beside a file that the user edited."""

from __future__ import annotations

import re
from datetime import date

# The part of a conflict version's name before its suffix, as a pattern: `page.conflict-2026-11-22.md`.
BESIDE = r"\.conflict-[0-9]{4}-[0-9]{2}-[0-9]{2}(?:-[0-9]{1,3})?"
_BESIDE = re.compile(rf".+{BESIDE}(?:\.[^./]+)?")
_NAME_BYTES = 255

_BLOCK = re.compile(
    r"^<{7} .*\n(?P<ours>(?:.*\n)*?)(?:\|{7}.*\n(?:.*\n)*?)?={7}\n(?P<theirs>(?:.*\n)*?)>{7} .*(?:\n|\Z)", re.MULTILINE
)


def sides(text: str) -> tuple[str, str] | None:
    """Return `text` with every conflict resolved to (ours, theirs); None without conflict markers."""
    if _BLOCK.search(text) is None:
        return None
    return _BLOCK.sub(lambda m: m["ours"], text), _BLOCK.sub(lambda m: m["theirs"], text)


def line_of(text: str) -> int:
    """Return the 1-based line of the first conflict marker; 0 if there is none."""
    found = _BLOCK.search(text)
    return text.count("\n", 0, found.start()) + 1 if found else 0


def beside(name: str, on: date, number: int = 1) -> str:
    """Return the file name for another version of the file `name`; `number` if earlier names are taken."""
    stem, dot, ending = name.rpartition(".") if "." in name[1:] else (name, "", "")
    tail = f".conflict-{on.isoformat()}" + (f"-{number}" if number > 1 else "") + dot + ending
    while len((stem + tail).encode()) > _NAME_BYTES:
        stem = stem[:-1]
    return stem.rstrip(". ") + tail


def is_beside(path: str) -> bool:
    """Return whether the file at `path` is a version beside another, so neither a page nor a deck."""
    return ".conflict-" in path and _BESIDE.fullmatch(path.rpartition("/")[2]) is not None
