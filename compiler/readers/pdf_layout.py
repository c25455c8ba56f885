"""Lines of PDF pages -> blocks in reading order, without running heads and page numbers."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum, auto

from compiler.readers.pdf_lines import Document, Line, Style, is_computer_modern

_DIGITS = re.compile(r"\d+|\b[ivxlc]{1,7}\b")
_NUMBER_ONLY = re.compile(r"[\W_]*(?:(?:page|seite|p)\.?\s*)?#[\W_]*(?:(?:of|von|/)[\W_]*#)?[\W_]*", re.IGNORECASE)
_CAPTION = re.compile(
    r"(?:figure|fig\.|table|tab\.|algorithm|listing|scheme|plate|chart|abbildung|abb\.|tabelle|figura|tabla|tableau|図|表|图)"
    r"\s*[A-Z]?\d+(?:\.\d+)*[a-z]?\s*(?:[.:|)—–]|$)",
    re.IGNORECASE,
)
_BULLET = re.compile(
    r"\s*(?:[•◦‣▪■●○∙⋄⁃*∗–—]\s+|[•◦‣▪■●○∙](?=\w)|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]\s+|\[\w{1,12}\]\s+)"
)
_NUMBERED = re.compile(r"((?:[A-Z]|\d+)(?:\.\d+)*)\.?\s+\S")
_EQUATION_NUMBER = re.compile(r"[(\[]\s*[A-Z]?\d+(?:\.\d+)*[a-z]?\s*[)\]]")
_WORD = re.compile(r"[^\W\d_]{3,}")
_SENTENCE_END = re.compile(r"[.!?:;。！？：；][\"'”’)\]»]*\s*$")
_KNOWN_HEADING = re.compile(
    r"(?:\d+\.?\s+)?(?:abstract|references|bibliography|works cited|acknowledge?ments?|keywords|index|contents"
    r"|literaturverzeichnis|literatur|zusammenfassung|referenzen|danksagung|bibliographie|références|参考文献)",
    re.IGNORECASE,
)


class Kind(Enum):
    PARAGRAPH = auto()
    HEADING = auto()
    FORMULA = auto()
    CODE = auto()
    CAPTION = auto()
    ITEM = auto()
    TABLE = auto()  # cells and labels: of a table or inside a figure


@dataclass(slots=True)
class Block:
    kind: Kind
    lines: list[Line]
    level: int = 0  # of a heading
    right: float = 0.0  # the right edge of its column


@dataclass(frozen=True, slots=True)
class Column:
    left: float
    right: float

    @property
    def width(self) -> float:
        return max(self.right - self.left, 1.0)


@dataclass(slots=True)
class Measure:
    """What is usual in the document: the size and face of its running text, the distance of its lines."""

    size: float
    font: str
    leading: float
    headings: dict[int, list[tuple[str, int]]] = field(default_factory=dict)  # page -> (letters of the title, level)
    outlined: bool = False

    def is_body(self, line: Line) -> bool:
        return abs(line.size - self.size) <= 0.6


def letters(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())


def measure(document: Document) -> Measure:
    """The usual size, face and leading, by characters and lines."""
    sizes: Counter[float] = Counter()
    fonts: Counter[str] = Counter()
    for page in document.pages:
        for line in page:
            for run in line.runs:
                sizes[run.size] += len(run.text)
    size = sizes.most_common(1)[0][0] if sizes else 10.0
    leadings: Counter[float] = Counter()
    for page in document.pages:
        for before, line in zip(page, page[1:], strict=False):
            drop = before.y - line.y
            if abs(line.size - size) <= 0.6 and 0.8 * size < drop < 3 * size:
                leadings[round(drop * 2) / 2] += 1
            if abs(line.size - size) <= 0.6:
                fonts[line.main.font.name] += len(line.text)
    headings: dict[int, list[tuple[str, int]]] = {}
    for entry in document.outline:
        headings.setdefault(entry.page, []).append((letters(entry.title), entry.level))
    leading = leadings.most_common(1)[0][0] if leadings else 1.2 * size
    return Measure(size, fonts.most_common(1)[0][0] if fonts else "", leading, headings, len(document.outline) >= 5)


# --- furniture ------------------------------------------------------------------------------------------------------


def without_furniture(document: Document, usual: Measure) -> list[list[Line]]:
    """The pages without running heads, running feet and page numbers."""
    tops, bottoms = zip(*(_outer_rows(page) for page in document.pages), strict=True) if document.pages else ((), ())
    drop: set[int] = set()
    for rows_of_pages in (tops, bottoms):
        drop |= _repeated(rows_of_pages) | _same_place(rows_of_pages, usual)
    return [[line for line in page if id(line) not in drop] for page in document.pages]


def _rows(page: list[Line]) -> list[list[Line]]:
    """The lines of a page by baseline, from the top."""
    out: list[list[Line]] = []
    for line in sorted(page, key=lambda line: -line.y):
        if out and abs(out[-1][0].y - line.y) <= 2.5:
            out[-1].append(line)
        else:
            out.append([line])
    return out


def _outer_rows(page: list[Line]) -> tuple[list[list[Line]], list[list[Line]]]:
    """(the three uppermost rows from the top, the three lowest from the bottom)."""
    rows = _rows(page)
    return rows[:3], rows[::-1][:3]


def _key(row: list[Line]) -> str:
    return " ".join(_DIGITS.sub("#", line.text.lower()).strip() for line in sorted(row, key=lambda line: line.x0))


def _repeated(pages: tuple[list[list[Line]], ...]) -> set[int]:
    """Outer rows that come back on other pages at the same height, and rows of nothing but a page number."""
    places: dict[str, list[float]] = {}
    for rows in pages:
        for row in rows[:2]:
            places.setdefault(_key(row), []).append(row[0].y)
    out: set[int] = set()
    for rows in pages:
        for depth, row in enumerate(rows[:2]):
            key = _key(row)
            again = sum(abs(y - row[0].y) <= 3 for y in places[key])
            if _NUMBER_ONLY.fullmatch(key) or (again >= 2 and len(key) > 2 and _at_edge(rows, depth, out)):
                out |= {id(line) for line in row}
                continue
            break
    return out


def _at_edge(rows: list[list[Line]], depth: int, dropped: set[int]) -> bool:
    return depth == 0 or id(rows[depth - 1][0]) in dropped


def _same_place(pages: tuple[list[list[Line]], ...], usual: Measure) -> set[int]:
    """Outer rows at the height where most pages have one, set off from the text, with a number or in another face."""
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
        apart = abs(row[0].y - rows[1][0].y) > 1.4 * usual.leading
        words = " ".join(line.text.strip() for line in sorted(row, key=lambda line: line.x0))
        numbered = re.match(r"\d+\b", words) or re.search(r"\b(?:\d+|[ivxlc]+)$", words)
        styled = all(line.main.font.name != usual.font or abs(line.size - usual.size) > 0.6 for line in row)
        if apart and (numbered or styled) and len(words) < 160:
            out |= {id(line) for line in row}
    return out


# --- columns --------------------------------------------------------------------------------------------------------


def columns_of(page: list[Line], usual: Measure) -> list[Column]:
    """The page's columns from the left; one if its lines run across."""
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
    lefts = Counter(round(line.x0) for line in lines)
    rights = sorted(line.x1 for line in lines)
    return Column(float(lefts.most_common(1)[0][0]), rights[int(0.9 * (len(rights) - 1))])


def column_at(line: Line, columns: list[Column]) -> Column:
    """The column in which a line stands; a line across two has the width of both."""
    if len(columns) == 1:
        return columns[0]
    left, right = columns
    if line.x0 >= right.left - 12:
        return right
    return left if line.x1 <= right.left + 4 else Column(left.left, right.right)


def in_order(page: list[Line], columns: list[Column]) -> list[Line]:
    """The lines in reading order: as written, unless the file jumps between the columns row by row."""
    if len(columns) < 2:
        return page
    sides = [column_at(line, columns) is columns[1] for line in page]
    jumps = sum(a != b for a, b in zip(sides, sides[1:], strict=False))
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


# --- blocks ---------------------------------------------------------------------------------------------------------


def blocks_of(page: list[Line], usual: Measure, first: bool) -> list[Block]:
    """One page's blocks in reading order; `first` for page 1, where a title and names stand above the text."""
    columns = columns_of(page, usual)
    out: list[Block] = []
    before: Line | None = None
    lines = in_order(page, columns)
    for i, line in enumerate(lines):
        column = column_at(line, columns)
        following = lines[i + 1] if i + 1 < len(lines) else None
        kind, level = _kind(line, before, following, column, usual, out[-1] if out else None)
        if out and before is not None and _goes_on(out[-1], before, line, kind, level, column, usual):
            out[-1].lines.append(line)
        else:
            out.append(Block(kind, [line], level, column.right))
        before = line
    return out


def _is_formula(line: Line, column: Column, usual: Measure, last: Block | None) -> bool:
    """Whether a line is a displayed formula or a piece of one."""
    text = line.text.strip()
    foreign = sum(
        len(run.text)
        for run in line.runs
        if Style.MATH in run.font.style or (is_computer_modern(run.font.name) and not is_computer_modern(usual.font))
    ) / max(len(line.text), 1)
    prose = sum(len(_WORD.findall(run.text)) for run in line.runs if Style.MATH not in run.font.style)
    beside = last is not None and last.kind is Kind.FORMULA and abs(last.lines[-1].y - line.y) < 2.5 * usual.size
    if _EQUATION_NUMBER.fullmatch(text):
        return beside
    inside = line.x0 > column.left + 0.6 * usual.size
    if foreign >= 0.3 and prose <= 2 + foreign * 4 and (inside or beside) and len(text) < 200:
        return prose <= 2 or beside
    return beside and prose == 0 and len(text) < 30 and inside


def _kind(
    line: Line, before: Line | None, following: Line | None, column: Column, usual: Measure, last: Block | None
) -> tuple[Kind, int]:
    text = line.text.strip()
    level = heading_level(line, before, following, column, usual, last)
    if level:
        return Kind.HEADING, level
    if line.share(Style.MONO) >= 0.8:
        return Kind.CODE, 0
    if _is_formula(line, column, usual, last):
        return Kind.FORMULA, 0
    if _CAPTION.match(text):
        return Kind.CAPTION, 0
    if _is_label(line, before, following, column, usual):
        return Kind.TABLE, 0
    if _BULLET.match(text) and len(text) > 3:
        return Kind.ITEM, 0
    return Kind.PARAGRAPH, 0


def _is_label(line: Line, before: Line | None, following: Line | None, column: Column, usual: Measure) -> bool:
    """Whether a line is a cell of a table or a label in a figure: beside another on its baseline, or short and loose."""
    text = line.text.strip()
    for other in (before, following):
        if other is not None and abs(other.y - line.y) <= 2 and len(other.text.strip()) < 80 and len(text) < 80:
            return True
    if usual.is_body(line) and (line.x0 <= column.left + 2 or len(text) >= 40):
        return False
    if len(text) >= 60 or _SENTENCE_END.search(text):
        return False
    after = [
        o
        for o in (before, following)
        if o is not None and usual.is_body(o) and 0 < abs(o.y - line.y) < 1.5 * usual.leading
    ]
    return not any(o.x0 <= column.left + 2 and len(o.text) >= 40 for o in after)


def heading_level(
    line: Line, before: Line | None, following: Line | None, column: Column, usual: Measure, last: Block | None
) -> int:
    """1 to 6 for a heading's line, 0 for another: by the document's outline, else by size, weight and number."""
    text = line.text.strip()
    key = letters(text)
    if len(key) < 2 or len(text) > 160:
        return 0
    if last is not None and last.kind is Kind.HEADING and _same_heading(last, line, usual):
        return last.level
    for title, level in usual.headings.get(line.page, ()):
        bare = letters(re.sub(r"^(?:chapter|part|appendix|kapitel|teil)?\s*[A-Z\d.]*\s+", "", text, flags=re.I))
        if title and (title in (key, bare) or (len(bare) > 12 and title.startswith(bare))):
            return min(level, 6)
    return _level_by_face(line, before, following, usual)


def _same_heading(last: Block, line: Line, usual: Measure) -> bool:
    """Whether a line goes on a heading that takes two lines."""
    before = last.lines[-1]
    same = before.main.font == line.main.font and abs(before.size - line.size) < 0.3
    set_apart = abs(line.size - usual.size) > 0.6 or Style.BOLD in line.main.font.style
    return same and set_apart and 0 < before.y - line.y < 1.5 * line.size + 2 and not _NUMBERED.match(line.text.strip())


def _level_by_face(line: Line, before: Line | None, following: Line | None, usual: Measure) -> int:
    text = line.text.strip()
    number = _NUMBERED.match(text)
    depth = min(number[1].count(".") + 1, 6) if number else 0
    bold = line.share(Style.BOLD) > 0.9
    apart = before is None or before.y - line.y > 1.25 * usual.leading or before.y < line.y
    if _KNOWN_HEADING.fullmatch(text) and (bold or line.size > usual.size + 0.6 or text.isupper() or apart):
        return 1
    if usual.outlined or not apart or _SENTENCE_END.search(text) or _CAPTION.match(text):
        return 0
    if following is not None and abs(following.y - line.y) <= 2:
        return 0
    if line.size >= 1.15 * usual.size and len(_WORD.findall(text)) >= 1:
        return depth or (1 if line.size >= 1.4 * usual.size else 2)
    if bold and line.size >= 0.95 * usual.size and len(text) < 100 and _WORD.search(text):
        return depth or 3
    return depth if depth and text[len(number[1]) :].strip(". ").isupper() and len(text) < 80 else 0 if number else 0


def _goes_on(block: Block, before: Line, line: Line, kind: Kind, level: int, column: Column, usual: Measure) -> bool:
    """Whether a line belongs to the block of the line before it."""
    drop = before.y - line.y
    if kind is Kind.HEADING or block.kind is Kind.HEADING:
        return kind is block.kind and level == block.level and _same_heading(block, line, usual)
    if kind in (Kind.FORMULA, Kind.CODE, Kind.TABLE):
        return kind is block.kind and abs(drop) < 4 * usual.leading
    if kind in (Kind.CAPTION, Kind.ITEM) or block.kind in (Kind.FORMULA, Kind.CODE, Kind.TABLE):
        return False
    size = max(before.size, line.size)
    if not 0 < drop <= max(1.45 * usual.leading * (size / usual.size if size > usual.size else 1.0), 1.3 * size):
        return False
    if abs(before.size - line.size) > 0.16 * size or not _overlap(before, line):
        return False
    if block.kind is Kind.PARAGRAPH and line.x0 > before.x0 + 0.7 * size and before.x0 <= column.left + 2:
        return False
    if block.kind is Kind.ITEM and line.x0 < block.lines[0].x0 - 2:
        return False
    short = before.x1 < column.right - max(0.12 * column.width, 3 * size)
    return not (short and _SENTENCE_END.search(before.text) and not before.text.rstrip().endswith((",", ";")))


def _overlap(a: Line, b: Line) -> bool:
    return min(a.x1, b.x1) - max(a.x0, b.x0) > 0


# --- across columns and pages -----------------------------------------------------------------------------------------


def with_joins(blocks: list[Block], usual: Measure) -> list[Block]:
    """Paragraphs that a column's or page's end had cut are whole again; what stood between comes after them."""
    out = list(blocks)
    i = 0
    while i < len(out):
        block = out[i]
        if block.kind in (Kind.PARAGRAPH, Kind.ITEM) and _is_cut(block):
            j = _continuation(out, i, usual)
            if j:
                block.lines += out.pop(j).lines
                continue
        i += 1
    return out


def _is_cut(block: Block) -> bool:
    last = block.lines[-1]
    return last.hyphen or not _SENTENCE_END.search(last.text)


def _continuation(blocks: list[Block], at: int, usual: Measure) -> int:
    """The index of the block that goes on the cut paragraph at `at`; 0 if there is none near."""
    last = blocks[at].lines[-1]
    for j in range(at + 1, min(at + 16, len(blocks))):
        block = blocks[j]
        first = block.lines[0]
        if block.kind is Kind.HEADING or first.page > last.page + 1:
            return 0
        if block.kind is not Kind.PARAGRAPH or abs(first.size - last.size) > 0.3:
            continue
        if first.page == last.page and first.y < last.y and abs(first.x0 - blocks[at].lines[0].x0) < 100:
            return 0  # the same column goes on with another paragraph
        begins = first.text.lstrip()[:1]
        full = last.x1 > blocks[at].right - 2 * usual.size and len(blocks[at].lines) > 1
        return j if last.hyphen or begins.islower() or (full and begins not in "•–") else 0
    return 0
