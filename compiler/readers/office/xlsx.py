"""The reader of Excel workbooks: visible sheets, rows and columns; formulas by the values last computed."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from pathlib import PurePosixPath
from typing import Any

from compiler.readers.office.package import local, main_part, packed, properties, relationships
from compiler.readers.page import Page, label_of
from compiler.readers.tables import MAX_CELL, MAX_COLUMNS, Budget, Row, write_rows
from compiler.readers.zip_archive import Archive, open_archive, refuse_doctype
from vault.errors import Unreadable
from vault.model.source import MarkKind, Problem
from vault.text.formatting import clean_line, normal

MAX_SHEETS = 100
MAX_SHEET = 64 * 1024**2  # bytes of one sheet, which is read as a stream
MAX_STRINGS = 48 * 1024**2  # bytes of the words that sheets share
MAX_STRING_COUNT = 250_000
MAX_ROW_TAGS = 200_000  # of one row: twelve for each column that Excel knows
MAX_BLANKS = 100_000  # rows passed over without a word in them
_DEFAULT_NAME = re.compile(
    r"(?:sheet|tabelle|feuil|feuille|hoja|foglio|planilha|blad|ark|лист|工作表|シート)\s*\d*", re.I
)
_ROW = re.compile(rb"<(?:\w+:)?row\s[^>]*>")
_COLUMN = re.compile(rb"<(?:\w+:)?col\s[^>]*>")
_ROW_END = re.compile(rb"</(?:\w+:)?row>|<(?:\w+:)?row\b[^>]*/>")
_SHEET = re.compile(rb"<(\w+:)?worksheet\b[^>]*[^>/]>")
_FACT = re.compile(rb'\b(r|min|max|hidden)\s*=\s*["\']([^"\']*)["\']')
_NO_VALUE = re.compile(r"#(?:N/A|REF!|VALUE!|DIV/0!|NAME\?|NUM!|NULL!|SPILL!|CALC!|GETTING_DATA)")
_NEEDED = ("officeDocument", "worksheet", "sharedStrings", "styles")


def read(data: bytes, name: str, page: Page) -> tuple[dict[str, str], list[Problem]]:
    """Write the workbook's sheets onto `page`; return its properties and problems.

    Raises: Unreadable if it is no workbook that can be opened, or is protected.
    """
    import openpyxl

    archive = open_archive(data, "xlsx")
    book_part = main_part(archive, "xl/workbook.xml")
    targets = {target for kind, target in relationships(archive, book_part).values() if kind == "worksheet"}
    budget = Budget()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(
                _reduced_workbook(archive, book_part, targets), read_only=True, data_only=True
            )
            _write_sheets(book, archive, page, budget)
    except (Unreadable, RecursionError, MemoryError):
        raise
    except Exception as error:  # the library raises whatever a damaged file leads it to
        raise Unreadable("the Excel workbook is damaged", hint="open it and save it again") from error
    out = properties(archive)
    out.setdefault("title", clean_line(PurePosixPath(name).stem))
    return out, budget.problems


def _reduced_workbook(archive: Archive, book_part: str, sheets: set[str]) -> Any:
    """Return an archive of the workbook without pictures, macros, charts and links, its parts checked to be
    plain XML."""
    parts: dict[str, bytes] = {}
    keep = {book_part, "[Content_Types].xml", *sheets}
    keep |= {t for k, t in relationships(archive, book_part).values() if k in _NEEDED}
    folder, _, base = book_part.rpartition("/")
    keep |= {"_rels/.rels", f"{folder}/_rels/{base}.rels"}
    for name in sorted(keep & archive.parts.keys()):
        limit = MAX_SHEET if name in sheets else MAX_STRINGS
        parts[name] = archive.read(name, limit)
        refuse_doctype(parts[name], "xlsx")
        if name in sheets:
            parts[name] = _sized(parts[name])
        elif parts[name].count(b"<si") > MAX_STRING_COUNT:
            raise Unreadable("it has more text than can be read at once", hint="save the sheets you need as CSV")
    parts[book_part] = _plain_book(archive, book_part)
    return packed(parts)


def _sized(xml: bytes) -> bytes:
    """Return the sheet with a size stated before its cells, since the library would read all of it to find one.

    Raises: Unreadable if a row is wider than any program makes one; the library holds a whole row in memory.
    """
    before = 0
    for end in _ROW_END.finditer(xml):
        if xml.count(b"<", before, end.start()) > MAX_ROW_TAGS:
            break
        before = end.end()
    if xml.count(b"<", before) > MAX_ROW_TAGS:
        raise Unreadable("the Excel workbook is damaged", hint="open it and save it again")
    root = _SHEET.search(xml)
    if root is None or b"dimension" in xml[root.end() : xml.find(b"sheetData", root.end())]:
        return xml
    return xml[: root.end()] + b"<" + (root[1] or b"") + b'dimension ref="A1"/>' + xml[root.end() :]


def _plain_book(archive: Archive, book_part: str) -> bytes:
    """Return the list of sheets without what only a calculating program needs."""
    from lxml import etree

    root = archive.xml(book_part)
    for element in list(root):
        if local(element) not in ("workbookPr", "sheets", "bookViews"):
            root.remove(element)
    sheets = next((e for e in root if local(e) == "sheets"), None)
    if sheets is None or not len(sheets):
        raise Unreadable("the workbook has no sheets")
    return bytes(etree.tostring(root, encoding="UTF-8", xml_declaration=True))


def _write_sheets(book: Any, archive: Archive, page: Page, budget: Budget) -> None:
    """Write the visible sheets onto `page`."""
    sheets = [s for s in book.worksheets if getattr(s, "sheet_state", "visible") == "visible"]
    if len(sheets) > MAX_SHEETS:
        budget.left_out(f"only the first {MAX_SHEETS} sheets were read")
    for sheet in sheets[:MAX_SHEETS]:
        rows = list(_rows(sheet, archive.read(sheet._worksheet_path, MAX_SHEET), budget))
        if not rows:
            continue
        title = clean_line(normal(sheet.title))
        if title and not _DEFAULT_NAME.fullmatch(title):
            page.place(page.add(title, (), MarkKind.HEADING, 1), label_of(title) or "sheet")
        write_rows(rows, page)


def _rows(sheet: Any, xml: bytes, budget: Budget) -> Iterator[Row]:
    """Yield the sheet's visible rows with content, up to the budget."""
    from openpyxl.cell.read_only import EMPTY_CELL

    hidden_rows, hidden_columns = _hidden(xml)
    title = label_of(normal(sheet.title)) or "sheet"
    sheet.reset_dimensions()  # what the file says of its own size may be wrong
    blanks = 0
    for number, cells in enumerate(sheet.iter_rows(max_col=MAX_COLUMNS + 1), 1):
        nothing = set(map(id, cells)) <= {id(EMPTY_CELL)}  # a sheet may have a million such rows
        values = [] if nothing else [_words(c) if i not in hidden_columns else "" for i, c in enumerate(cells, 1)]
        if number in hidden_rows or not any(values):
            blanks += 1
            if blanks > MAX_BLANKS:
                budget.left_out(f"{title}: rows from {number:,} on were not read: too many empty rows before them")
                return
            continue
        if not budget.take():
            budget.left_out(f"{title}: only the rows before {number:,} were read")
            return
        if len(values) > MAX_COLUMNS and values[MAX_COLUMNS]:
            budget.left_out(f"{title}: only the first {MAX_COLUMNS} columns were read")
        yield Row(f"{title}, row {number}", tuple(values[:MAX_COLUMNS]))


def _hidden(xml: bytes) -> tuple[set[int], set[int]]:
    """Return the numbers of the rows and of the columns that the sheet doesn't show."""
    rows: set[int] = set()
    columns: set[int] = set()
    for match in _ROW.finditer(xml):
        facts = _facts_if_hidden(match.group())
        if facts.get(b"r", b"").isdigit():
            rows.add(int(facts[b"r"][:9]))
    for match in _COLUMN.finditer(xml[: max(xml.find(b"sheetData"), 0)]):
        facts = _facts_if_hidden(match.group())
        if facts.get(b"min", b"").isdigit() and facts.get(b"max", b"").isdigit():
            columns |= set(range(int(facts[b"min"][:9]), min(int(facts[b"max"][:9]), MAX_COLUMNS) + 1))
    return rows, columns


def _facts_if_hidden(tag: bytes) -> dict[bytes, bytes]:
    """Return the attributes of an XML start tag that hides its row or columns, {} of another."""
    facts: dict[bytes, bytes] = dict(_FACT.findall(tag)) if b"hidden" in tag else {}
    return facts if facts.get(b"hidden") in (b"1", b"true") else {}


def _words(cell: Any) -> str:
    """Return a cell as a spreadsheet shows it: dates as ISO, shares in percent, no errors."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        value = value.replace(microsecond=0)
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ")
    if isinstance(value, date | time | timedelta):
        return str(value)
    if isinstance(value, int | float):
        return _number(value, str(getattr(cell, "number_format", "") or ""))
    words = str(value)[:MAX_CELL]
    return "" if _NO_VALUE.fullmatch(words.strip()) else words


def _number(value: float, style: str) -> str:
    """Return a number with as many digits as Excel keeps, in percent where the cell shows percent."""
    percent = "%" in style
    if isinstance(value, int) and not percent:
        return str(value)
    return f"{value * 100 if percent else value:.15g}" + ("%" if percent else "")
