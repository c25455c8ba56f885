"""Removal of running heads, running feet and page numbers from PDF pages."""

from __future__ import annotations

import re
from collections import Counter

from compiler.readers.pdf.lines import Document, Line
from compiler.readers.pdf.metrics import Measure

_DIGITS = re.compile(r"\d+|\b[ivxlc]{1,7}\b")
_NUMBER_ONLY = re.compile(r"[\W_]*(?:(?:page|seite|p)\.?\s*)?#[\W_]*(?:(?:of|von|/)[\W_]*#)?[\W_]*", re.IGNORECASE)


def remove_furniture(document: Document, usual: Measure) -> list[list[Line]]:
    """Return the pages without running heads, running feet and page numbers."""
    pages = [_rows(page) for page in document.pages]
    drop: set[int] = set()
    for outer in ([rows[:3] for rows in pages], [rows[::-1][:3] for rows in pages]):
        drop |= _repeated(outer, usual) | _same_place(outer, usual)
    return [[line for line in page if id(line) not in drop] for page in document.pages]


def _rows(page: list[Line]) -> list[list[Line]]:
    """Return the lines of a page grouped by baseline, from the top."""
    out: list[list[Line]] = []
    for line in sorted(page, key=lambda line: -line.y):
        if out and abs(out[-1][0].y - line.y) <= 2.5:
            out[-1].append(line)
        else:
            out.append([line])
    return out


def _key(row: list[Line]) -> str:
    """Return what is equal in a running head on each page: its letters without numbers."""
    return " ".join(_DIGITS.sub("#", line.text.lower()).strip() for line in sorted(row, key=lambda line: line.x0))


def _repeated(pages: list[list[list[Line]]], usual: Measure) -> set[int]:
    """Return the `id()` of the lines that recur at the edge of other pages, and of bare page numbers."""
    places: dict[str, list[float]] = {}
    for rows in pages:
        for row in rows[:2]:
            places.setdefault(_key(row), []).append(row[0].y)
    out: set[int] = set()
    for rows in pages:
        for depth, row in enumerate(rows[:2]):
            key = _key(row)
            again = sum(abs(y - row[0].y) <= 3 for y in places[key]) >= 2 and len(key) > 2
            at_edge = depth == 0 or id(rows[depth - 1][0]) in out
            if _NUMBER_ONLY.fullmatch(key) or (again and at_edge and _set_off(rows, depth, usual)):
                out |= {id(line) for line in row}
                continue
            break
    return out


def _set_off(rows: list[list[Line]], depth: int, usual: Measure) -> bool:
    """Return whether a row is apart from the text: by a gap, or in another size or face."""
    row = rows[depth]
    if depth + 1 < len(rows) and abs(row[0].y - rows[depth + 1][0].y) > 1.3 * usual.leading:
        return True
    return all(line.main.font.name != usual.font or abs(line.size - usual.size) > 0.6 for line in row)


def _same_place(pages: list[list[list[Line]]], usual: Measure) -> set[int]:
    """Return the `id()` of edge lines where most pages have one, set apart from the text, numbered or in
    another face."""
    heights = Counter(round(rows[0][0].y) for rows in pages if rows)
    if not heights:
        return set()
    height, count = heights.most_common(1)[0]
    if count < max(4, 0.3 * len(pages)):
        return set()
    out: set[int] = set()
    for rows in pages:
        if len(rows) < 2 or abs(rows[0][0].y - height) > 2.5:
            continue
        row = rows[0]
        words = " ".join(line.text.strip() for line in sorted(row, key=lambda line: line.x0))
        numbered = re.match(r"\d+\b", words) or re.search(r"\b(?:\d+|[ivxlc]+)$", words)
        styled = all(line.main.font.name != usual.font or abs(line.size - usual.size) > 0.6 for line in row)
        apart = abs(row[0].y - rows[1][0].y) > 1.4 * usual.leading
        if apart and (numbered or styled) and len(words) < 160:
            out |= {id(line) for line in row}
    return out
