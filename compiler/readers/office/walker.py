"""The walk through a tree without line numbers: places are paragraphs and table rows under a heading."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compiler.readers.html_elements import BLOCKS, EXPLAINS, SILENT, holds_data, words_of
from compiler.readers.html_walker import TreeWalker
from compiler.readers.page import Page, label_of
from compiler.readers.tables import MAX_COLUMNS, Budget, Row, write_rows
from vault.model.source import MarkKind

_AT = "data-at"
NAMED = "data-place"  # the name of a block's place, where it is not a paragraph in the count: "footnote 3"
_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
MAX_SPAN = 1_000  # rows that one cell may reach over


class CountedWalker(TreeWalker):
    """Walks trees and labels blocks "heading, paragraph 12" and table rows "heading, table 1, row 3".

    Only blocks with words in them count, from 1 after each heading. A `chapter` stands in front of the heading.
    """

    def __init__(self, page: Page, budget: Budget, hidden: set[str] | None = None) -> None:
        super().__init__(page, lambda element: int(element.get(_AT) or 0), hidden)
        self.chapter = ""
        self._budget = budget
        self._heading = ""
        self._paragraphs = self._tables = 0
        self._labels: list[str] = [""]
        self._above: list[tuple[int, str]] = []  # the headings round this place, by level
        self._seen: set[str] = set()
        self._data_tables: set[Any] = set()
        page.label = lambda heading, number: self._labels[number] if number < len(self._labels) else self._joined()

    def begin_chapter(self, name: str) -> None:
        """Start the chapter of this name, which places name from here on."""
        self.chapter, self._heading = label_of(name), ""
        self._paragraphs = self._tables = 0
        self._above, self._seen = [], set()

    def walk(self, root: Any) -> None:
        """Read the whole tree."""
        self._number(root)
        super().walk(root)

    def _joined(self, *last: str) -> str:
        """Return the label of a place in the current chapter and section."""
        above = [name for name in (self.chapter, self._heading) if name]
        if len(above) == 2 and any(a.casefold() in b.casefold() for a, b in (above, above[::-1])):
            above = [max(above, key=len)]  # "Memory" and "Chapter 3: Memory"
        return ", ".join((*above, *last)) or "beginning"

    def _number(self, root: Any) -> None:
        """Set the label of every block, in the order of the document."""
        self._data_tables = {table for table in root.iter("table") if holds_data(table)}
        for element in root.iter():
            label = self._label(element)
            if label:
                element.set(_AT, str(len(self._labels)))
                self._labels.append(label)

    def _begin_section(self, level: int, words: str) -> None:
        """Restart the count below a heading; one that occurs twice is named with the one above it."""
        self._above = [(depth, name) for depth, name in self._above if depth < level]
        again = words in self._seen and self._above
        self._heading = f"{self._above[-1][1]}, {words}" if again else words
        self._seen.add(words)
        self._above.append((level, words))
        self._paragraphs = self._tables = 0

    def _label(self, element: Any) -> str:
        """Return the name of the place of a block of words, "" for other elements."""
        if element.tag in _HEADINGS and (words := label_of(words_of(element))):
            self._begin_section(int(element.tag[1]), words)
            return self._joined()
        if element in self._data_tables:
            self._tables += 1
            return self._joined(f"table {self._tables}")
        if element.tag not in BLOCKS or element.tag in ("td", "th", "tr") or not _has_words(element):
            return ""
        if element.get(NAMED):
            return self._joined(element.get(NAMED))
        if next(element.iterancestors("table"), None) in self._data_tables:
            return ""
        self._paragraphs += 1
        return self._joined(f"paragraph {self._paragraphs}")

    def _enter(self, element: Any) -> bool:
        """Begin an element at its label; return False if it is skipped."""
        if element in self._data_tables and self._table is None and not self._outer:
            self._flush()
            self._line = int(element.get(_AT) or 0)
            self._write_table(element)
            return False
        return super()._enter(element)

    def _write_table(self, table: Any) -> None:
        """Write a table row by row."""
        label = self._labels[self._line]
        caption = next(table.iterchildren("caption"), None)
        if caption is not None and (words := words_of(caption)):
            self._block.text(words)
            self._flush(MarkKind.CAPTION)
        rows = [
            Row(f"{label}, row {number}", cells) for number, cells in enumerate(_grid(table), 1) if self._budget.take()
        ]
        if self._budget.rows < 0:
            self._budget.left_out(f"{label}: not all of its rows were read")
        write_rows(rows, self._page, _names_columns(table))


def _has_words(element: Any) -> bool:
    """Return whether the block has words of its own, not only in blocks within it."""
    if (element.text or "").strip():
        return True
    for inner in element:
        if (inner.tail or "").strip():
            return True
        if inner.tag not in BLOCKS | SILENT and any(t.strip() for t in inner.itertext()):
            return True
    return False


def _grid(table: Any) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each row by column; a cell over several rows is repeated in each."""
    reaching: dict[int, tuple[int, str]] = {}  # column -> (rows it still reaches over, words)
    for row in table.iter("tr"):
        cells: list[str] = []
        for cell in (*row.iterchildren("td", "th"), None):
            while len(cells) in reaching and len(cells) < MAX_COLUMNS:
                left, words = reaching.pop(len(cells))
                if left > 1:
                    reaching[len(cells)] = (left - 1, words)
                cells.append(words)
            if cell is None:
                break
            words = _cell_words(cell)
            down, across = _span(cell, "rowspan"), _span(cell, "colspan")
            for i in range(min(across, MAX_COLUMNS - len(cells))):
                if down > 1:
                    reaching[len(cells)] = (down - 1, words if i == 0 else "")
                cells.append(words if i == 0 else "")
        yield tuple(cells)


def _span(cell: Any, name: str) -> int:
    """Return how many rows or columns a cell covers."""
    value = (cell.get(name) or "1").strip()
    return max(1, min(int(value), MAX_SPAN)) if value.isascii() and value.isdigit() and len(value) < 9 else 1


def _cell_words(cell: Any) -> str:
    """Return the words of a cell, one line for each block in it, formulas in dollars."""
    out: list[str] = []
    for element in cell.iter():
        if element.tag in BLOCKS or element.tag == "br":
            out.append("\n")
        fence = {"x-math": "$", "x-math-block": "$$"}.get(element.tag, "")
        out += (fence, element.text or "" if element.tag not in SILENT else "", fence)
        if element is not cell:
            out.append(element.tail or "")
    return "".join(out).strip()


def _names_columns(table: Any) -> bool | None:
    """Return whether the first row names the columns; None where its markup doesn't say."""
    first = next(table.iter("tr"), None)
    cells = list(first.iterchildren("td", "th")) if first is not None else []
    if not cells:
        return None
    if all(c.tag == "th" for c in cells):
        return True
    if len(cells) > 2 or next(table.iter("th"), None) is not None:
        return None
    words = [words_of(c) for c in cells]
    bold = [" ".join(words_of(b) for b in c.iter("strong", "b")) for c in cells]
    return words == bold or EXPLAINS.search(words[-1]) is not None  # else two columns are a list of pairs
