"""The rows and cells of AsciiDoc tables."""

from __future__ import annotations

import csv
import re

from compiler.readers.asciidoc.lines import COMMENT

MAX_CELLS = 50_000
MAX_COLUMNS = 200
_CELL = re.compile(
    r"(?:(?<=\s)|^)(?:(?P<times>\d{1,3})(?P<sign>[*+]))?(?:\.\d{1,3}\+)?[<^>]?(?:\.[<^>])?[aehlmsdv]?(?<!\\)\|", re.M
)
_COLUMNS = re.compile(r"cols\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s,\]]+))")
_MARKER = re.compile(r"^[ \t]*(?:\*{1,5}|-|\.{1,5})[ \t]+", re.MULTILINE)


def rows_of(lines: list[str], sign: str, style: str) -> tuple[list[list[str]], bool]:
    """Return (the rows of a table, whether the first names the columns); `style` is the line in brackets above it."""
    lines = ["" if line == COMMENT else line for line in lines]
    first = next((n for n, line in enumerate(lines) if line.strip()), 0)
    head = bool(re.search(r"header|%\w*h\b", style))
    if sign in ",:":
        rows = list(csv.reader((line for line in lines if line.strip()), delimiter=sign))[: MAX_CELLS // 2]
        return rows, head
    text = "\n".join(lines).replace("!", "|") if sign == "!" else "\n".join(lines)
    cells, width = _cells(text)
    width = _stated(style) or width
    head = head or (first == 0 and len(lines) > 1 and not lines[1].strip() and "noheader" not in style)
    if not cells or not width:
        return [], False
    return [cells[at : at + width] for at in range(0, len(cells), width)], head and len(cells) > width


def _cells(text: str) -> tuple[list[str], int]:
    """Return (the cells in order, how many of them are on the first line)."""
    cells: list[str] = []
    on_first = 0
    marks = list(_CELL.finditer(text))[:MAX_CELLS]
    if not marks:
        return [], 0
    line_end = text.find("\n", marks[0].start())
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        words = text[mark.end() : after.start() if after else len(text)].replace("\\|", "|")
        words = _MARKER.sub("", words).strip()
        count = min(int(mark["times"]), MAX_COLUMNS) if mark["sign"] == "*" else 1
        cells += [words] * count
        if mark["sign"] == "+" and mark["times"]:
            cells += [""] * min(int(mark["times"]) - 1, MAX_COLUMNS)
        if line_end < 0 or mark.start() < line_end:
            on_first = len(cells)
    return cells[:MAX_CELLS], on_first


def _stated(style: str) -> int:
    """Return the number of columns that the line above a table states, 0 if it states none."""
    found = _COLUMNS.search(style)
    if found is None:
        return 0
    stated = (found[1] or found[2] or found[3] or "").strip()
    total = 0
    for column in re.split(r"[,;]", stated):
        times = re.match(r"\s*(\d{1,3})\*", column)
        total += int(times[1]) if times else 1
    if re.fullmatch(r"\d{1,3}", stated):
        total = 1
    return min(total, MAX_COLUMNS)
