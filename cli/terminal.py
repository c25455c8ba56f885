"""What a terminal shows beyond plain text: rows broken between words at its width, and bold or red words."""

from __future__ import annotations

import os
import re
import shutil
import unicodedata
from typing import TextIO

LEAST_WIDTH = 40  # columns; on a narrower terminal rows are broken by the terminal itself
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
_PIECE = re.compile(r"\S+\s*")
_TABLE = "|"  # a row of a Markdown table is unreadable once it is broken
_BOLD, _RED = "1", "1;31"


def is_dumb() -> bool:
    """Return whether the terminal can only print lines."""
    return os.environ.get("TERM") == "dumb"


def is_styled(stream: TextIO) -> bool:
    """Return whether text on this stream may be bold or coloured: on a terminal, without NO_COLOR."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and not is_dumb()


def bold(text: str, stream: TextIO) -> str:
    """Return `text` in bold type where the stream may have it."""
    return _styled(text, _BOLD, stream)


def red(text: str, stream: TextIO) -> str:
    """Return `text` in bold red where the stream may have it."""
    return _styled(text, _RED, stream)


def _styled(text: str, style: str, stream: TextIO) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if is_styled(stream) else text


def fitted(text: str, stream: TextIO) -> str:
    """Return `text` with its lines broken between words at the terminal's width; as it is where nobody looks at it."""
    if not stream.isatty():
        return text
    return wrapped(text, shutil.get_terminal_size().columns)


def wrapped(text: str, columns: int) -> str:
    """Return `text` with lines of more than `columns` cells broken between words.

    A row that continues a line is indented by two more than it. Escapes for bold and colour take no room; words longer
    than a row, and rows of tables, stay whole.
    """
    if columns < LEAST_WIDTH:
        return text
    return "\n".join(_wrapped_line(line, columns) for line in text.split("\n"))


def _wrapped_line(line: str, columns: int) -> str:
    if len(line) <= columns // 2 or _cells(line) <= columns or line.lstrip().startswith(_TABLE):
        return line
    start = line[: len(line) - len(line.lstrip())]
    hang = " " * min(len(start.expandtabs()) + 2, columns // 2)
    rows, row = [], start
    for piece in _PIECE.finditer(line):
        word = piece[0].rstrip()
        if row.strip() and _cells(row) + _cells(word) > columns:
            rows.append(row.rstrip())
            row = hang
        row += piece[0]
    return "\n".join([*rows, row.rstrip()])


def _cells(text: str) -> int:
    """Return how many cells of a terminal the text takes."""
    bare = _ESCAPE.sub("", text).expandtabs()
    if bare.isascii():
        return len(bare)
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in bare)
