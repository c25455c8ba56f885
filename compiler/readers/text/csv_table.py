"""The reader of CSV and TSV; a place is the row as a spreadsheet counts it, the header being row 1."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from pathlib import PurePosixPath

from compiler.readers.decode import decode
from compiler.readers.page import Page
from compiler.readers.tables import MAX_CELL, MAX_COLUMNS, MAX_ROWS, Budget, Row, write_rows
from vault.errors import Unreadable
from vault.model.source import Problem
from vault.text.formatting import normal

_DELIMITERS = ",;\t|"
_SAMPLE = 100  # rows that tell the delimiter
_SAMPLE_CHARS = 200_000
_DECLARED = re.compile(r'"?sep=(.)"?\n', re.IGNORECASE)  # a first line that spreadsheets write for themselves
MAX_LINE = 2_000_000
MAX_WESTERN = 0.1  # of the bytes: more that is not ASCII is no table of names and numbers in Western Europe


def read(data: bytes, name: str, page: Page) -> tuple[dict[str, str], list[Problem]]:
    """Write the table's rows onto `page`; it has no properties.

    Raises: Unreadable if it is no text, or not laid out in columns and rows.
    """
    decoded, problems = _decoded(data)
    text = normal(decoded)
    declared = _DECLARED.match(text)
    if declared:
        text = text[declared.end() :]
    is_tsv = PurePosixPath(name.lower()).suffix == ".tsv"
    delimiter = declared[1] if declared else _delimiter(text, "\t," if is_tsv else _DELIMITERS)
    budget = Budget()
    try:
        rows = _rows(text, delimiter, budget)
    except csv.Error:  # a quote that is opened and never closed
        budget = Budget()
        try:
            rows = _rows(text, delimiter, budget, quoted=False)
        except csv.Error as error:
            raise Unreadable("one of its cells is too long for a table", hint="check that it is a table") from error
        message = "unclosed quotation mark: quotation marks were read as plain text"
        problems.append(Problem("quotes-unbalanced", message))
    write_rows(rows, page)
    return {}, problems + budget.problems


def _decoded(data: bytes) -> tuple[str, list[Problem]]:
    """Return the characters; names and numbers in Windows-1252, which a guess can't recognize, are read as that."""
    try:
        return decode(data, MAX_LINE)
    except Unreadable as error:
        high = sum(byte > 0x7F for byte in data[:_SAMPLE_CHARS])
        if b"\x00" in data or not 0 < high <= MAX_WESTERN * min(len(data), _SAMPLE_CHARS):
            raise
        try:
            return data.decode("cp1252"), [Problem("encoding-guessed", "not UTF-8: read as Windows-1252")]
        except UnicodeDecodeError:
            raise error from None


def _delimiter(text: str, candidates: str) -> str:
    """Return the sign that splits most rows into the same number of cells; the first candidate if none does."""
    sample = text[:_SAMPLE_CHARS]
    if len(text) > len(sample):
        sample = sample[: sample.rfind("\n") + 1] or sample

    def quality(delimiter: str) -> tuple[float, int]:
        try:
            rows = csv.reader(io.StringIO(sample), delimiter=delimiter)
            widths = Counter(len(row) for row, _ in zip(rows, range(_SAMPLE), strict=False) if row)
        except csv.Error:
            return 0.0, 0
        width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        return (count / sum(widths.values()), width) if width > 1 else (0.0, 0)

    return max(candidates, key=quality)


def _rows(text: str, delimiter: str, budget: Budget, quoted: bool = True) -> list[Row]:
    """Return all rows that have a place. Raises: csv.Error."""
    out: list[Row] = []
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)
    for number, cells in enumerate(reader, 1):
        if not any(cell.strip() for cell in cells):
            continue
        if not budget.take():
            budget.left_out(f"only the first {MAX_ROWS:,} rows were read", reader.line_num)
            break
        if len(cells) > MAX_COLUMNS:
            budget.left_out(f"only the first {MAX_COLUMNS} columns were read")
        out.append(Row(f"row {number}", tuple(cell[:MAX_CELL] for cell in cells[:MAX_COLUMNS])))
    return out
