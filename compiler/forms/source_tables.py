"""The tables of a source as rows of cells, and the columns of numbers in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from compiler.claims.number_conflicts import year
from compiler.forms.material import Source
from compiler.forms.measurements import Point, Series, series, value_of
from compiler.language.quantities import Number, quantities
from compiler.protocol.passages import cells
from vault.model.source import Mark, MarkKind, SourceText
from vault.text.formatting import clean_line

_UNIT = re.compile(r"[(\[]([^()\[\]]{1,20})[)\]]\s*$")
_NUMERIC = re.compile(r"\s*[$€£≈~<>≤≥+−-]?\s*\d[\d.,  ]*\s*(?:[^\W\d_]{1,12}\.?|%|°\s?[CF]?|[$€£])?\s*")
_MOSTLY = 0.8  # of a column's cells that have to be numbers
_BEFORE = 300  # characters of the text before a table that say what it is about


@dataclass(frozen=True, slots=True)
class SourceTable:
    """A table: its column names, its rows with the place of each, and the words before it."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    places: tuple[str, ...]
    before: str


def tables_of(text: SourceText) -> list[SourceTable]:
    """Return the tables of a source that have column names and at least two rows."""
    found = []
    for marks in _together(text):
        lines = [(cells(line), text.locate(at)) for mark in marks for line, at in _lines(text.text, mark)]
        names = [clean_line(cell) for cell in lines[0][0]]
        rows = [(_values(row, names), place) for row, place in lines[1:]]
        if len(rows) > 1 and len(names) > 1 and not any(_NUMERIC.fullmatch(name) for name in names):
            start = marks[0].start
            before = _about(text, start)
            each = tuple(zip(*rows, strict=True))
            found.append(SourceTable(tuple(names), each[0], each[1], clean_line(before)))
    return found


def _together(text: SourceText) -> Iterator[list[Mark]]:
    """Yield the marks of each table: one, or one for each of its rows."""
    run: list[Mark] = []
    for mark in sorted((m for m in text.marks if m.kind is MarkKind.TABLE), key=lambda m: m.start):
        if run and text.text[run[-1].end : mark.start].strip():
            yield run
            run = []
        run.append(mark)
    if run:
        yield run


def _lines(text: str, mark: Mark) -> Iterator[tuple[str, int]]:
    """Yield the lines of a mark with where they begin."""
    at = mark.start
    for line in text[mark.start : mark.end].split("\n"):
        yield line, at
        at += len(line) + 1


def _values(row: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return the cells of a row in the order of the columns; a cell that begins with a column's name is of that one."""
    values = [""] * len(names)
    for n, cell in enumerate(row):
        named = next((m for m, name in enumerate(names) if name and cell.startswith(f"{name}: ")), None)
        if named is not None:
            values[named] = clean_line(cell[len(names[named]) + 2 :])
        elif n < len(values):
            values[n] = clean_line(cell)
    return tuple(values)


def _about(text: SourceText, at: int) -> str:
    """Return the words that say what is at an offset: the heading above it, or the title, and the text between."""
    segment = next((each for each in text.segments if each.start <= at < each.end), None)
    heading = segment.headings[-1] if segment and segment.headings else text.title
    begin = max(segment.start if segment else 0, at - _BEFORE)
    return f"{heading} {text.text[begin:at]}"


def series_of(table: SourceTable, path: str, source: SourceText) -> list[Series]:
    """Return a series for each column of numbers with one unit; the labels are the first column that is none."""
    columns = list(zip(*table.rows, strict=True))
    numeric = [n for n, column in enumerate(columns) if _is_numeric(column)]
    years = next((n for n in numeric if _are_years(columns[n])), None)
    labels = next((n for n in range(len(columns)) if n not in numeric), 0)
    if years is not None and (len(set(columns[years])) == len(table.rows) or labels == years):
        labels = years
    found = []
    for n in numeric:
        points = [] if n in (labels, years) else list(_points(table, n, labels, years, path, source))
        if len(points) > 1:
            found.append(series(table.names[n] or _UNNAMED, table.names[labels], points))
    return found


_UNNAMED = "value"


def _points(
    table: SourceTable, column: int, labels: int, years: int | None, path: str, source: SourceText
) -> Iterator[Point]:
    """Yield the numbers of a column, unless their cells have several units."""
    found = [(number, row, place) for row, place in zip(table.rows, table.places, strict=True)
             if (number := _number(row[column])) is not None]  # fmt: skip
    if len({number.unit for number, _, _ in found}) > 1:
        return
    for number, row, place in found:
        value = value_of(number, source.language)
        if value is None:
            continue
        words = " | ".join(f"{name}: {cell}" if name else cell for name, cell in zip(table.names, row, strict=True))
        when = _number(row[years]) if years is not None else None
        from_ = Source(words, path, clean_line(place), clean_line(source.title))
        yield Point(row[labels] or _UNNAMED, float(value), row[column], from_, year(when) if when else None)


def _number(cell: str) -> Number | None:
    """Return the number that a cell is, None where it is none or says more."""
    if not _NUMERIC.fullmatch(cell):
        return None
    found = [n for n in quantities(cell).numbers if any(isinstance(v, Fraction) for v in n.values)]
    return found[0] if len(found) == 1 else None


def _is_numeric(column: Sequence[str]) -> bool:
    filled = [cell for cell in column if cell]
    return bool(filled) and sum(_number(cell) is not None for cell in filled) >= _MOSTLY * len(filled)


def _are_years(column: Sequence[str]) -> bool:
    return all((number := _number(cell)) is not None and year(number) is not None for cell in column)
