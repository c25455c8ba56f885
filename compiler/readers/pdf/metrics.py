"""Measures of a PDF: the usual font size and leading, columns, reading order, levels of the outline's headings."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from compiler.readers.pdf.lines import Document, Line, Style

_NO_LETTER = re.compile(r"[\W_]+")
_HEADING_NUMBER = re.compile(
    r"^(?:chapter|part|appendix|kapitel|teil)?\s*(?:[A-Z]|[\dIVXLC]+)?(?:\.\d+)*[.:]?\s+", re.IGNORECASE
)
_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class Column:
    """The left and right edge of a column, in points."""

    left: float
    right: float

    @property
    def width(self) -> float:
        return max(self.right - self.left, 1.0)


@dataclass(slots=True)
class Measure:
    """The usual size, face and line distance of the document's running text."""

    size: float
    font: str
    leading: float
    headings: dict[int, list[tuple[str, int]]] = field(default_factory=dict)  # page -> (letters of the title, level)
    outlined: bool = False
    levels: dict[float, int] = field(default_factory=dict)  # size -> level, of the headings that the outline names

    def is_body(self, line: Line) -> bool:
        """Return whether a line is set as the running text is."""
        return abs(line.size - self.size) <= 0.6


def letters(text: str) -> str:
    """Return the letters and digits of `text` in lower case, equal for one heading set in two ways."""
    return _NO_LETTER.sub("", text.lower())


def measure(document: Document) -> Measure:
    """Return the usual size, face and leading, by characters and lines."""
    sizes: Counter[float] = Counter()
    fonts: Counter[str] = Counter()
    for page in document.pages:
        for line in page:
            for run in line.runs:
                sizes[run.size] += len(run.text)
    size = sizes.most_common(1)[0][0] if sizes else 10.0
    leadings: Counter[float] = Counter()
    for page in document.pages:
        for before, line in itertools.pairwise(page):
            drop = before.y - line.y
            if abs(line.size - size) <= 0.6 and 0.8 * size < drop < 3 * size:
                leadings[round(drop * 2) / 2] += 1
            if abs(line.size - size) <= 0.6:
                fonts[line.main.font.name] += len(line.text)
    headings: dict[int, list[tuple[str, int]]] = {}
    for entry in document.outline:
        headings.setdefault(entry.page, []).append((letters(entry.title), entry.level))
    leading = leadings.most_common(1)[0][0] if leadings else 1.2 * size
    font = fonts.most_common(1)[0][0] if fonts else ""
    return Measure(size, font, leading, headings, len(document.outline) >= 5, _levels(document, headings))


def _levels(document: Document, headings: dict[int, list[tuple[str, int]]]) -> dict[float, int]:
    """Return font size -> level of the headings of this size that the outline names."""
    seen: dict[float, Counter[int]] = {}
    for number, entries in headings.items():
        for line in document.pages[number - 1] if number <= len(document.pages) else ():
            level = outlined_level(line, entries)
            if level and line.size > 0:
                seen.setdefault(line.size, Counter())[level] += 1
    return {size: levels.most_common(1)[0][0] for size, levels in seen.items()}


def outlined_level(line: Line, entries: list[tuple[str, int]]) -> int:
    """Return the level of the outline's entry whose title this line is or begins; 0 if there is none."""
    text = line.text.strip()
    key, bare = letters(text), letters(_HEADING_NUMBER.sub("", text))
    for title, level in entries:
        if title and (title in (key, bare) or (len(bare) > 12 and title.startswith(bare))):
            return min(level, 6)
    return 0


def columns_of(page: list[Line], usual: Measure) -> list[Column]:
    """Return the page's columns from the left; one if its lines run across."""
    body = [line for line in page if usual.is_body(line) and len(line.text) >= 20 and line.share(Style.MATH) < 0.3]
    if not body:
        return [Column(min((line.x0 for line in page), default=0), max((line.x1 for line in page), default=1))]
    middle = (min(line.x0 for line in body) + max(line.x1 for line in body)) / 2
    left = [line for line in body if line.x1 <= middle + 10]
    right = [line for line in body if line.x0 >= middle - 10]
    across = len(body) - len(left) - len(right)
    if len(left) >= 5 and len(right) >= 5 and across < 0.4 * len(body):
        return [_column(left), _column(right)]
    return [_column(body)]


def _column(lines: list[Line]) -> Column:
    """Return the column that these lines fill."""
    lefts = Counter(round(line.x0) for line in lines)
    rights = sorted(line.x1 for line in lines)
    return Column(float(lefts.most_common(1)[0][0]), rights[int(0.9 * (len(rights) - 1))])


def column_at(line: Line, columns: list[Column]) -> Column:
    """Return the column of a line; one across two has the width of both."""
    if len(columns) == 1:
        return columns[0]
    left, right = columns
    if line.x0 >= right.left - 12:
        return right
    return left if line.x1 <= right.left + 4 else Column(left.left, right.right)


def in_reading_order(page: list[Line], columns: list[Column]) -> list[Line]:
    """Return the lines in reading order: as written, unless the file jumps between columns row by row."""
    if len(columns) < 2:
        return page
    sides = [column_at(line, columns) is columns[1] for line in page]
    jumps = sum(a != b for a, b in itertools.pairwise(sides))
    if jumps < 0.3 * len(page):
        return page
    bands: list[list[Line]] = [[]]
    for line in sorted(page, key=lambda line: (-line.y, line.x0)):
        if column_at(line, columns) not in columns:
            bands += [[line], []]
        else:
            bands[-1].append(line)
    return [
        line
        for band in bands
        for side in columns
        for line in band
        if len(band) == 1 or column_at(line, columns) is side
    ]


def words(pages: list[list[Line]]) -> Iterator[str]:
    """Yield every word of the document that no line end breaks, in lower case."""
    broken = False
    for page in pages:
        for line in page:
            found = _WORDS.findall(line.text)
            yield from (word.lower() for word in found[broken : len(found) - line.hyphen])
            broken = line.hyphen
