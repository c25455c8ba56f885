"""Text of table rows: cells with whole sentences become prose, others data with their column's name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from compiler.language.detection import language_of
from compiler.readers.block import fold_block
from compiler.readers.html_elements import EXPLAINS
from compiler.readers.page import Page
from vault.model.source import MarkKind, Problem
from vault.text.formatting import clean_line, fold, normal

MAX_ROWS = 20_000  # of one document; the rest is left out, and the report says so
MAX_COLUMNS = 100
MAX_CELL = 20_000  # characters
MAX_HEAD = 60
_HEAD_WITHIN = 12  # rows; above the row of column names a sheet may have a title and remarks
MAX_UNNAMED = 3  # columns of a table without a column of explanations by name that may yet be a glossary
_SAMPLE = 500  # rows that tell what a column is
_MIN_SHARE = 0.6  # of a column's cells, for what is said of the column
_SENTENCE_END = re.compile(r"[.!?。！？][\"'”’»)\]]*$")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_SHORT_EXPLAINS = re.compile(r"\b(?:descr?|def|explan|gloss|note)s?\b", re.IGNORECASE)
_NUMBER = re.compile(r"[\s\d.,:;%+\-–−/()€$£¥eE°]+")


@dataclass(frozen=True, slots=True)
class Row:
    """One row: the label of its place, and its cells from the first column on, "" for empty ones."""

    label: str
    cells: tuple[str, ...]


@dataclass(slots=True)
class Budget:
    """How many rows of the document may still be read, and what was left out."""

    rows: int = MAX_ROWS
    problems: list[Problem] = field(default_factory=list)

    def take(self) -> bool:
        """Return whether one more row may be read, and count it."""
        self.rows -= 1
        return self.rows >= 0

    def left_out(self, what: str, line: int = 0) -> None:
        """Record what was not read, once for each wording."""
        problem = Problem("left-out", what, line)
        if problem not in self.problems:
            self.problems.append(problem)


def is_prose(cell: str) -> bool:
    """Return whether a cell holds a whole sentence."""
    text = cell.strip()
    if not _SENTENCE_END.search(text):
        return False
    if len(_CJK.findall(text)) >= 10:
        return True
    letters = sum(c.isalpha() for c in text)
    return len(text.split()) >= 5 and letters >= 0.6 * sum(not c.isspace() for c in text)


def _is_name(cell: str) -> bool:
    """Return whether a cell could be the name of what its row explains."""
    return 0 < len(cell) <= MAX_HEAD and len(cell.split()) <= 6 and not _NUMBER.fullmatch(cell) and not is_prose(cell)


def _explains(name: str) -> bool:
    """Return whether a column of this name explains another: "Definition", "english_descr"."""
    spelt = name.replace("_", " ")
    return EXPLAINS.search(spelt) is not None or _SHORT_EXPLAINS.search(spelt) is not None


def _is_explanation(cell: str) -> bool:
    """Return whether a cell could explain a term."""
    return is_prose(cell) or len(cell.split()) >= 4 or len(_CJK.findall(cell)) >= 8


@dataclass(frozen=True, slots=True)
class _Shape:
    """The columns of a table: their names, and which column explains which (-1 for none)."""

    head: int  # index of the row of column names, -1 if there is none
    names: tuple[str, ...] = ()
    term: int = -1
    explanation: int = -1
    foreign: frozenset[int] = frozenset()  # columns of prose in another language than the first such column


def write_rows(rows: Sequence[Row], page: Page, named: bool | None = None) -> None:
    """Write one table onto `page`, each row at its own place; `named` says whether the first row names columns.

    None: that is to be decided by the words.

    A row of data is one block, marked as table: "Year: 1843 | Pages: 12". A cell that is a sentence is a paragraph of
    its own. Where a column explains the first, the first cell is a term and the explanation the paragraph after it.
    """
    filled = [row for row in rows if any(cell.strip() for cell in row.cells)]
    shape = _shape([row.cells for row in filled], named)
    for index, row in enumerate(filled):
        cells = [_lines(cell) for cell in row.cells[:MAX_COLUMNS]]
        if index <= shape.head:
            _write_lines([lines for lines in cells if lines], row.label, page)
        else:
            _write_row(cells, row.label, shape, page)


def _lines(cell: str) -> list[str]:
    """Return the lines of a cell, each without white space at its ends."""
    return [line for raw in cell[:MAX_CELL].split("\n") if (line := fold(normal(raw)))]


def _write_lines(cells: list[list[str]], label: str, page: Page) -> None:
    """Write what is above the data: a title, a remark, the column names."""
    if len(cells) == 1 and is_prose(" ".join(cells[0])):
        _paragraphs(cells[0], label, page)
    else:
        _block(" | ".join(" ".join(lines) for lines in cells), label, page, MarkKind.TABLE)


def _write_row(cells: list[list[str]], label: str, shape: _Shape, page: Page) -> None:
    """Write one row as prose and data."""
    term = " ".join(cells[shape.term]) if 0 <= shape.term < len(cells) else ""
    explained = cells[shape.explanation] if 0 <= shape.explanation < len(cells) else []
    is_entry = bool(term and explained and _is_name(term))
    if is_entry:
        _block(term, label, page, MarkKind.TERM)
        # An explanation that names what it explains stands by itself; of another, no sentence does.
        stands = term.casefold() in " ".join(explained).casefold()
        _paragraphs(explained, label, page, None if stands else MarkKind.TABLE)
    done = {shape.term, shape.explanation} if is_entry else set()
    data: list[str] = []
    prose: list[list[str]] = []
    for column, lines in enumerate(cells):
        if column in done or not lines:
            continue
        if column not in shape.foreign and is_prose(" ".join(lines)):
            prose.append(lines)
        else:
            name = shape.names[column] if column < len(shape.names) else ""
            words = " ".join(lines)
            data.append(f"{name}: {words}" if name else words)
    if data:
        _block(" | ".join(data), label, page, MarkKind.TABLE)
    for lines in prose:
        _paragraphs(lines, label, page)


def _paragraphs(lines: list[str], label: str, page: Page, kind: MarkKind | None = None) -> None:
    """Write a cell as prose: a paragraph for each line, lines that only the width had broken joined."""
    joined: list[str] = []
    for line in lines:
        if joined and line[0].islower() and not _SENTENCE_END.search(joined[-1]):
            joined[-1] = f"{joined[-1]} {line}"
        else:
            joined.append(line)
    for words in joined:
        alone = len(joined) == 1 or is_prose(words)
        _block(words, label, page, kind if alone else MarkKind.TABLE)  # else it is a heading within the cell


def _block(words: str, label: str, page: Page, kind: MarkKind | None) -> None:
    """Write one block at a labelled place."""
    text, _ = fold_block(words, ())
    if text:
        page.place(page.add(text, (), kind), clean_line(label))


def _shape(rows: Sequence[tuple[str, ...]], named: bool | None) -> _Shape:
    """Return the shape of a table."""
    head = _head(rows) if named is None else 0 if named and len(rows) > 1 else -1
    body = rows[head + 1 :]
    names = tuple(fold(normal(cell)) for cell in rows[head]) if head >= 0 else ()
    term, explanation = _glossary(names, body)
    return _Shape(head, names, term, explanation, _foreign(body))


def _foreign(body: Sequence[tuple[str, ...]]) -> frozenset[int]:
    """Return the columns that translate the first column of prose."""
    words: dict[int, list[str]] = {}
    for row in body[:_SAMPLE]:
        for column, cell in enumerate(row[:MAX_COLUMNS]):
            if is_prose(cell):
                words.setdefault(column, []).append(cell[:500])
    languages = {column: language_of(" ".join(words[column])) for column in sorted(words)}
    main = next((language for language in languages.values() if language), "")
    return frozenset(column for column, language in languages.items() if language not in ("", main))


def _head(rows: Sequence[tuple[str, ...]]) -> int:
    """Return the index of the row that names the columns: the first as wide as the table, all short words."""
    widths = sorted(sum(bool(cell.strip()) for cell in row) for row in rows)
    if len(rows) < 2 or widths[len(widths) // 2] < 2:
        return -1
    usual = widths[len(widths) // 2]
    for index, row in enumerate(rows[:_HEAD_WITHIN]):
        cells = [cell.strip() for cell in row if cell.strip()]
        if len(cells) >= max(2, 0.7 * usual):
            named = all(
                len(c) <= MAX_HEAD and any(x.isalpha() for x in c) and not is_prose(c) and "://" not in c for c in cells
            )
            return index if named and len(set(cells)) == len(cells) and index + 1 < len(rows) else -1
    return -1


def _glossary(names: tuple[str, ...], body: Sequence[tuple[str, ...]]) -> tuple[int, int]:
    """Return (column of terms, column that explains them), (-1, -1) if there is none."""
    said = [i for i, name in enumerate(names) if i > 0 and _explains(name)]
    wide = max((len(row) for row in body), default=0)
    likely = range(wide - 1, 0, -1) if wide == 2 or (wide <= MAX_UNNAMED and not names) else ()
    candidates = said or likely
    for explanation in candidates:
        for term in range(explanation):
            pairs = [
                (row[term].strip(), row[explanation].strip())
                for row in body[:_SAMPLE]
                if len(row) > explanation and row[explanation].strip()
            ]
            named = sum(_is_name(name) for name, _ in pairs)
            explained = sum(_is_explanation(words) for _, words in pairs)
            columns = list(zip(*pairs, strict=True))[: 1 if said else 2]
            varied = min((len(set(column)) for column in columns), default=0)
            if pairs and min(named, explained) >= _MIN_SHARE * len(pairs) and varied > len(pairs) / 2:
                return term, explanation
    return -1, -1
