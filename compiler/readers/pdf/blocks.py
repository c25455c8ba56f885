"""Grouping of a PDF page's lines into blocks: paragraphs, headings, formulas, captions, items, tables, code."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from compiler.readers.pdf.lines import Line, Style, is_computer_modern
from compiler.readers.pdf.metrics import (
    Column,
    Measure,
    column_at,
    columns_of,
    in_reading_order,
    letters,
    outlined_level,
)

MAX_HEADING = 250  # characters
_CAPTION = re.compile(
    r"(?:figure|fig\.|table|tab\.|algorithm|listing|scheme|plate|chart|abbildung|abb\.|tabelle|figura|tabla|tableau|図|表|图)"
    r"\s*[A-Z]?\d+(?:\.\d+)*[a-z]?\s*(?:[.:|)—–]|$)|algorithm \d+(?:\.\d+)*\s",
    re.IGNORECASE,
)
_CAPTION_LABEL = re.compile(r"(?:figure|fig\.|table|tab\.|listing|abbildung|abb\.|tabelle)\s*\d+(?:[.-]\d+)*", re.I)
_BULLET = re.compile(
    r"\s*(?:[•◦‣▪■●○∙⋄⁃*∗–—]\s+|[•◦‣▪■●○∙—](?=\w)|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]\s+|\[\w{1,12}\]\s+)"
)
_LEADERS = re.compile(r"(?:\s?\.){5,}")
_SPACED = re.compile(r"(?:\S\s+){8,}\S?\s*")
_LISTING = re.compile(r"[✞✝☎✆\s|]+")
_NUMBERED = re.compile(r"((?:[A-Z]|\d+)(?:\.\d+)*)\.?\s+\S")
_EQUATION_NUMBER = re.compile(r"[(\[]\s*[A-Z]?\d+(?:\.\d+)*[a-z]?\s*[)\]]")
_WORD = re.compile(r"[^\W\d_]{3,}")
_ABSTRACT = re.compile(r"\s*(?:abstract|summary|zusammenfassung|résumé|resumen)\s*(?:$|[.:—–-])", re.IGNORECASE)
_KNOWN_HEADING = re.compile(
    r"(?:\d+\.?\s+)?(?:abstract|references|bibliography|works cited|acknowledge?ments?|keywords|index|contents"
    r"|literaturverzeichnis|literatur|zusammenfassung|referenzen|danksagung|bibliographie|références|参考文献)",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"[.!?:;。！？：；][\"'”’)\]»]*\s*$")


class Kind(Enum):
    """What a block is."""

    PARAGRAPH = auto()
    HEADING = auto()
    FORMULA = auto()
    CODE = auto()
    CAPTION = auto()
    ITEM = auto()
    TABLE = auto()  # cells and labels: of a table or inside a figure
    TITLE = auto()
    NOTE = auto()  # at the foot of a column


@dataclass(slots=True)
class Block:
    """Lines of one kind that belong together; `level` is that of a heading."""

    kind: Kind
    lines: list[Line]
    level: int = 0  # of a heading
    left: float = 0.0  # the edges of its column
    right: float = 0.0


def blocks_of(page: list[Line], usual: Measure, first: bool) -> list[Block]:
    """Return one page's blocks in reading order; `first` for page 1, where title and names precede the text."""
    columns = columns_of(page, usual)
    lines = in_reading_order(page, columns)
    out: list[Block] = []
    if first:
        out, lines = _front_matter(lines, usual)
    before: Line | None = None
    for i, line in enumerate(lines):
        column = column_at(line, columns)
        following = lines[i + 1] if i + 1 < len(lines) else None
        kind, level = _kind(line, before, following, column, usual, out[-1] if out else None)
        if out and before is not None and _continues_block(out[-1], before, line, kind, level, column, usual):
            out[-1].lines.append(line)
        else:
            out.append(Block(kind, [line], level, column.left, column.right))
        before = line
    for block in out:
        if block.kind is Kind.HEADING and sum(len(line.text) for line in block.lines) > MAX_HEADING:
            block.kind = Kind.PARAGRAPH
    return out


def _front_matter(lines: list[Line], usual: Measure) -> tuple[list[Block], list[Line]]:
    """Return (blocks, other lines) of page 1: the title in the largest print and the names are the blocks."""
    abstract = next((i for i, line in enumerate(lines) if _ABSTRACT.match(line.text)), 0)
    begin = abstract or next((i for i, line in enumerate(lines) if _begins_text(line, usual)), len(lines))
    while not abstract and 1 < begin < len(lines) and _may_head(lines[begin - 1], lines[begin], usual):
        begin -= 1
    top = lines[:begin]
    sizes = [line.size for line in top if len(letters(line.text)) >= 3]
    if not sizes or max(sizes) < 1.15 * usual.size:
        return [], lines
    title = [line for line in top if line.size >= max(sizes) - 0.3]
    if sum(len(line.text) for line in title) > 300:
        return [], lines
    rest = [line for line in top if line not in title]
    blocks = [Block(Kind.TITLE, title)]
    return blocks + ([Block(Kind.TABLE, rest)] if rest else []), lines[begin:]


def _begins_text(line: Line, usual: Measure) -> bool:
    """Return whether the running text of page 1 begins with this line."""
    text = line.text.strip()
    if _KNOWN_HEADING.fullmatch(text):
        return True
    return usual.is_body(line) and len(text) >= 60 and len(_WORD.findall(text)) >= 6 and "," not in text[:12]


def _may_head(line: Line, text: Line, usual: Measure) -> bool:
    """Return whether the last line above the text is its first heading, and no name, date or place."""
    words = line.text.strip()
    strong = line.share(Style.BOLD) > 0.9 or line.size >= 1.15 * usual.size
    even = len({(run.font, run.size) for run in line.runs}) == 1  # no raised number after a name
    plain = even and not re.search(r"[,@]|\d{2}", words) and len(words) < 80
    in_line = abs(line.x0 - text.x0) < 2 or _NUMBERED.match(words) is not None
    return strong and plain and in_line and not SENTENCE_END.search(words)


def _is_formula(line: Line, column: Column, usual: Measure, last: Block | None) -> bool:
    """Return whether a line is a displayed formula or a piece of one."""
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
    """Return the kind of a line, and its level if it is a heading."""
    text = line.text.strip()
    level = heading_level(line, before, following, usual, last)
    if level:
        return Kind.HEADING, level
    if _LEADERS.search(text):
        return Kind.TABLE, 0
    if _is_code(line, before, column, last):
        return Kind.CODE, 0
    if _is_formula(line, column, usual, last):
        return Kind.FORMULA, 0
    labelled = _CAPTION_LABEL.match(text) and line.runs[0].font.style & (Style.BOLD | Style.ITALIC)
    if (_CAPTION.match(text) or labelled) and not _is_inside(line, before, column, usual, last):
        return Kind.CAPTION, 0
    if _is_cell(line, before, following):
        return Kind.TABLE, 0
    if _BULLET.match(text) and len(text) > 3 and _may_begin(line, before, column, usual, last):
        return Kind.ITEM, 0
    return (Kind.TABLE if _is_label(line, before, following, column, usual) else Kind.PARAGRAPH), 0


def _is_code(line: Line, before: Line | None, column: Column, last: Block | None) -> bool:
    """Return whether a line is of a listing: in a typewriter face, or letterspaced, or a listing's frame."""
    text = line.text
    if _SPACED.fullmatch(text) or _LISTING.fullmatch(text):
        return True
    if line.share(Style.MONO) < 0.8 or Style.MONO not in line.runs[0].font.style:
        return False
    in_prose = last is not None and last.kind in (Kind.PARAGRAPH, Kind.ITEM, Kind.CAPTION) and before is not None
    return not (in_prose and before is not None and line.x0 <= column.left + 2 and not _ends(before, column))


def _ends(line: Line, column: Column) -> bool:
    """Return whether a paragraph may end with this line: it ends a sentence or stops short of the edge."""
    short = line.x1 < column.right - max(0.12 * column.width, 3 * line.size)
    return short or SENTENCE_END.search(line.text) is not None


def _may_begin(line: Line, before: Line | None, column: Column, usual: Measure, last: Block | None) -> bool:
    """Return whether a block may begin with this line: the one before is not in the middle of a sentence."""
    if before is None or last is None or last.kind not in (Kind.PARAGRAPH, Kind.ITEM):
        return True
    first = last.lines[0]
    if last.kind is Kind.ITEM and abs(first.x0 - line.x0) < 2 and first.text.strip()[:1] == line.text.strip()[:1]:
        return True
    return before.y < line.y or before.y - line.y > 1.3 * usual.leading or _ends(before, column)


def _is_inside(line: Line, before: Line | None, column: Column, usual: Measure, last: Block | None) -> bool:
    """Return whether a line continues a sentence of the running text from the full line above it."""
    if before is None or last is None or last.kind not in (Kind.PARAGRAPH, Kind.ITEM):
        return False
    near = 0 < before.y - line.y <= 1.3 * usual.leading and usual.is_body(before) and usual.is_body(line)
    full = before.x1 > column.right - 2 * usual.size and abs(line.x0 - column.left) < 2
    return near and full and not SENTENCE_END.search(before.text)


def _is_cell(line: Line, before: Line | None, following: Line | None) -> bool:
    """Return whether a line is beside another on its baseline, as the cells of a table are."""
    beside = [o for o in (before, following) if o is not None and abs(o.y - line.y) <= 2]
    return len(line.text.strip()) < 80 and any(len(other.text.strip()) < 80 for other in beside)


def _is_label(line: Line, before: Line | None, following: Line | None, column: Column, usual: Measure) -> bool:
    """Return whether a line is a label in a figure or a single table cell: short and loose."""
    text = line.text.strip()
    if usual.is_body(line) and (line.x0 <= column.left + 2 or len(text) >= 40):
        return False
    if len(text) >= 60 or SENTENCE_END.search(text):
        return False
    after = [
        o
        for o in (before, following)
        if o is not None and usual.is_body(o) and 0 < abs(o.y - line.y) < 1.5 * usual.leading
    ]
    return not any(o.x0 <= column.left + 2 and len(o.text) >= 40 for o in after)


def heading_level(line: Line, before: Line | None, following: Line | None, usual: Measure, last: Block | None) -> int:
    """Return 1 to 6 for a heading's line, by the document's outline, else by size, weight and number; else 0."""
    text = line.text.strip()
    key = letters(text)
    if len(key) < 2 or len(text) > 160:
        return 0
    if last is not None and last.kind is Kind.HEADING and _same_heading(last, line, usual):
        return last.level
    apart = before is None or before.y - line.y > 1.25 * usual.leading or before.y < line.y
    if not apart:
        return 0
    return outlined_level(line, usual.headings.get(line.page, [])) or _level_by_face(line, following, usual)


def _same_heading(last: Block, line: Line, usual: Measure) -> bool:
    """Return whether a line continues a heading that takes two lines."""
    before = last.lines[-1]
    same = before.main.font == line.main.font and abs(before.size - line.size) < 0.3
    set_apart = abs(line.size - usual.size) > 0.6 or Style.BOLD in line.main.font.style
    return same and set_apart and 0 < before.y - line.y < 1.5 * line.size + 2 and not _NUMBERED.match(line.text.strip())


def _level_by_face(line: Line, following: Line | None, usual: Measure) -> int:
    """Return the level of a heading by its font alone; 0 if it is none."""
    text = line.text.strip()
    number = _NUMBERED.match(text)
    depth = min(number[1].count(".") + 1, 6) if number else 0
    bold = line.share(Style.BOLD) > 0.9
    if _KNOWN_HEADING.fullmatch(text):
        return 1
    if SENTENCE_END.search(text) or _CAPTION.match(text):
        return 0
    if following is not None and abs(following.y - line.y) <= 2:
        return 0
    if line.size in usual.levels and bold and line.size >= usual.size + 0.6 and _WORD.search(text):
        return depth or usual.levels[line.size]
    if usual.outlined:
        return 0
    if line.size >= 1.15 * usual.size and len(_WORD.findall(text)) >= 1:
        return depth or (1 if line.size >= 1.4 * usual.size else 2)
    if bold and line.size >= 0.95 * usual.size and len(text) < 100 and _WORD.search(text):
        return depth or 3
    shouted = number is not None and text[number.end(1) :].strip(". ").isupper() and len(text) < 80
    return depth if shouted else 0


def _continues_block(
    block: Block, before: Line, line: Line, kind: Kind, level: int, column: Column, usual: Measure
) -> bool:
    """Return whether a line belongs to the block of the line before it."""
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
    indented = line.x0 > before.x0 + 0.7 * size and before.x0 <= column.left + 2
    if block.kind is Kind.PARAGRAPH and indented and _ends(before, column):
        return False
    if block.kind is Kind.ITEM and line.x0 < block.lines[0].x0 - 2:
        return False
    hanging = len(block.lines) > 1 and block.lines[1].x0 > block.lines[0].x0 + 0.7 * size
    if hanging and line.x0 < before.x0 - 0.7 * size:
        return False
    short = before.x1 < column.right - max(0.12 * column.width, 3 * size)
    return not (short and SENTENCE_END.search(before.text))


def _overlap(a: Line, b: Line) -> bool:
    """Return whether two lines overlap horizontally."""
    return min(a.x1, b.x1) - max(a.x0, b.x0) > 0
