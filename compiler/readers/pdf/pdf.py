"""The reader of PDFs: columns in reading order, headings, captions, emphasized terms, a place for each page."""

from __future__ import annotations

import re
from collections import Counter

from compiler.readers.block import fold_block
from compiler.readers.page import Page
from compiler.readers.pdf.blocks import Block, Kind, blocks_of
from compiler.readers.pdf.joins import join_cut_paragraphs, mark_notes, mark_tables
from compiler.readers.pdf.ligatures import UNKNOWN, write_ligatures
from compiler.readers.pdf.lines import Document, read_pages
from compiler.readers.pdf.metrics import Measure, letters, measure, words
from compiler.readers.pdf.page_furniture import remove_furniture
from compiler.readers.pdf.text import parts_of
from vault.errors import Unreadable
from vault.model.source import Mark, MarkKind, Problem
from vault.text.formatting import clean_line, normal, plural

_MARKS = {
    Kind.HEADING: MarkKind.HEADING,
    Kind.FORMULA: MarkKind.MATH,
    Kind.CODE: MarkKind.CODE,
    Kind.CAPTION: MarkKind.CAPTION,
    Kind.TABLE: MarkKind.TABLE,
    Kind.TITLE: MarkKind.TITLE,
}
_BULLET = re.compile(r"\s*(?:[•◦‣▪■●○∙⋄⁃*∗–—]\s*|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]\s+)")
_NO_TITLE = re.compile(r"untitled|microsoft word|\.(?:docx?|tex|dvi|pdf|indd|rtf|odt)$|^\W*$|^\S*_\S*$", re.IGNORECASE)
MAX_NAMED_PAGES = 12


def read(data: bytes, name: str, page: Page) -> tuple[dict[str, str], list[Problem]]:
    """Write the document's blocks onto `page`; return its properties and problems.

    Raises: Unreadable if it is locked, damaged, or holds pictures of pages only.
    """
    document = read_pages(data)
    empty = [number for number, lines in enumerate(document.pages, 1) if not lines]
    if len(empty) == len(document.pages):
        raise Unreadable("the PDF has no text layer, only pictures of pages", hint="run OCR on it first, e.g. ocrmypdf")
    write_ligatures(document)
    _check_letters(document)
    usual = measure(document)
    vocabulary = Counter(words(document.pages))
    blocks: list[Block] = []
    for lines in remove_furniture(document, usual):
        if lines:
            blocks += mark_notes(blocks_of(lines, usual, not blocks), usual)
    for block in join_cut_paragraphs(mark_tables(blocks), usual):
        _write(page, block, usual, vocabulary)
    problems = []
    if empty:
        named = ", ".join(map(str, empty[:MAX_NAMED_PAGES])) + (" ..." if len(empty) > MAX_NAMED_PAGES else "")
        message = f"no text on {len(empty)} of {len(document.pages)} pages: {named}"
        problems.append(Problem("pages-without-text", message))
    unknown = sum(len(UNKNOWN.findall(line.text)) for lines in document.pages for line in lines)
    if unknown:
        message = f"{plural(unknown, 'character')} could not be identified from the PDF's fonts; shown as \ufffd"
        problems.append(Problem("letters-unknown", message))
    return _properties(document), problems


def _check_letters(document: Document) -> None:
    """Raise Unreadable if the fonts lack a map to letters, since the text would be wrong."""
    text = "".join(line.text for page in document.pages[:50] for line in page)
    if len(UNKNOWN.findall(text)) > 0.3 * len(text):
        raise Unreadable(
            "the PDF's fonts do not specify which letters their glyphs represent", hint="run OCR on it first"
        )


def _write(page: Page, block: Block, usual: Measure, vocabulary: Counter[str]) -> None:
    """Write one block onto the page."""
    kept = block.kind in (Kind.CODE, Kind.TABLE)
    if block.kind is Kind.FORMULA and len(letters("".join(line.text for line in block.lines))) < 3:
        return  # a sum sign or bracket that lost its formula
    text, marks, turns = "", list[Mark](), list[tuple[int, int]]()
    for part in parts_of(block, usual, vocabulary):
        raw = normal(part.text)
        words, spans = fold_block(raw.replace("\n", "\x00") if kept else raw, part.marks)
        if block.kind is Kind.ITEM and not text and (bullet := _BULLET.match(words)):
            words, spans = _without_head(words, spans, bullet.end())
        if text and not part.glued:
            text += " "
        turns.append((len(text), part.page))
        marks += [Mark(m.kind, m.start + len(text), m.end + len(text), m.level) for m in spans]
        text += words
    if not text.strip():
        return
    if block.kind is Kind.ITEM:
        page.begin(MarkKind.ITEM, 1)
    start = page.add(text, marks, _MARKS.get(block.kind), block.level if block.kind is Kind.HEADING else 0)
    if block.kind is Kind.ITEM:
        page.end()
    for offset, number in turns:
        page.place(start + offset, f"p. {number}")


def _without_head(words: str, marks: list[Mark], count: int) -> tuple[str, list[Mark]]:
    """Return words and marks without the first `count` characters."""
    return words[count:], [
        Mark(m.kind, max(m.start - count, 0), m.end - count, m.level) for m in marks if m.end > count
    ]


def _properties(document: Document) -> dict[str, str]:
    """Return what the file says of itself; the title only if it looks like one."""
    out = {}
    for key, name in (("Author", "author"), ("CreationDate", "created")):
        value = clean_line(document.metadata.get(key, ""))
        if value:
            out[name] = value[:2000]
    title = clean_line(document.metadata.get("Title", ""))
    if len(title) >= 4 and not _NO_TITLE.search(title):
        out["title"] = title[:2000]
    return out
