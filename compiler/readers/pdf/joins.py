"""Joins of PDF blocks across columns and pages, and recognition of tables of contents."""

from __future__ import annotations

import re

from compiler.readers.pdf.blocks import SENTENCE_END, Block, Kind
from compiler.readers.pdf.lines import Line, begins_raised
from compiler.readers.pdf.metrics import Measure

MAX_BETWEEN = 60  # blocks of figures and tables between the two halves of a paragraph
MAX_NOTES = 20  # lines of notes at the foot of a column
MAX_PICTURE_PAGES = 2  # pages of nothing but figures and tables between them
_NOTE_MARK = re.compile(r"(?<=[^\W\d][.!?])[\"'”’)\]]*\d{1,2}\s*$")  # raised, after a sentence's end
_ENDS_IN_NUMBER = re.compile(r"\s(?:\d+|[ivxlc]+)$")
_LISTS = re.compile(
    r"(?:table of )?contents|(?:subject |author |name )?index|inhalt(?:sverzeichnis)?|目录|list of (?:figures|tables)",
    re.I,
)


def mark_tables(blocks: list[Block]) -> list[Block]:
    """Return the blocks with those of a table of contents, an index or a table's header marked as tables."""
    listing = False
    for i, block in enumerate(blocks):
        text = block.lines[0].text.strip()
        if block.kind is Kind.HEADING and listing and _ENDS_IN_NUMBER.search(text):
            block.kind = Kind.TABLE
        elif block.kind is Kind.HEADING:
            listing = _LISTS.fullmatch(text) is not None
        elif block.kind in (Kind.PARAGRAPH, Kind.ITEM) and (listing or _is_in_table(blocks, i)):
            block.kind = Kind.TABLE
    return blocks


def _is_in_table(blocks: list[Block], at: int) -> bool:
    """Return whether a paragraph is a table's header line, or the rest of a cell of several lines."""
    block, before = blocks[at], blocks[at - 1] if at else None
    first = block.lines[0]
    table_next = at + 1 < len(blocks) and blocks[at + 1].kind is Kind.TABLE
    if table_next and block.kind is Kind.PARAGRAPH and len(block.lines) == 1 and len(first.text) < 90:
        return not SENTENCE_END.search(first.text)
    inside = before is not None and before.kind is Kind.TABLE and before.lines[-1].page == first.page
    indented = first.x0 > block.left + 3 * first.size
    return inside and indented and len(block.lines) <= 3 and first.text.lstrip()[:1].islower()


def mark_notes(blocks: list[Block], usual: Measure) -> list[Block]:
    """Return the blocks of one page with the notes at the foot of its columns marked as such."""
    for i, block in enumerate(blocks):
        if block.kind not in (Kind.PARAGRAPH, Kind.ITEM) or not begins_raised(block.lines[0]):
            continue
        beside = [b for b in blocks[i:] if min(b.right, block.right) > max(b.left, block.left)]
        column = [b for b in beside if b.lines[0].y <= block.lines[0].y]
        prose = all(b.kind in (Kind.PARAGRAPH, Kind.ITEM, Kind.TABLE) for b in column)
        if prose and block.lines[0].y - min(b.lines[-1].y for b in column) <= MAX_NOTES * usual.leading:
            for note in column:
                note.kind = note.kind if note.kind is Kind.TABLE else Kind.NOTE
    return blocks


def join_cut_paragraphs(blocks: list[Block], usual: Measure) -> list[Block]:
    """Return the blocks with paragraphs joined that the end of a column or page had cut."""
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


def _goes_on(line: Line) -> bool:
    """Return whether a line begins in the middle of a sentence."""
    return line.text.lstrip()[:1].islower()


def _is_cut(block: Block) -> bool:
    """Return whether a paragraph ends in the middle of a sentence."""
    last = block.lines[-1]
    return last.hyphen or not SENTENCE_END.search(_NOTE_MARK.sub("", last.text))


def _continuation(blocks: list[Block], at: int, usual: Measure) -> int:
    """Return the index of the block that continues the cut paragraph at `at`; 0 if there is none near."""
    last = blocks[at].lines[-1]
    full_line = last.x1 > blocks[at].right - 2 * usual.size
    full = full_line and len(blocks[at].lines) > 1
    second_best = 0
    met = False  # another paragraph of this print
    for j in range(at + 1, min(at + MAX_BETWEEN, len(blocks))):
        block = blocks[j]
        first = block.lines[0]
        near = first.page <= last.page + (1 if met else 1 + MAX_PICTURE_PAGES)
        above = first.page == last.page and first.y > last.y and abs(first.x0 - last.x0) < 100
        if block.kind is Kind.HEADING and above:
            continue  # the title of a figure above the paragraph
        if block.kind is Kind.HEADING or not near or (second_best and j > at + 16):
            break
        if block.kind is not Kind.PARAGRAPH or abs(first.size - last.size) > 0.3:
            continue
        met = met or j > at + 1
        if j > at + 1 and first.page == last.page and abs(first.y - last.y) < 0.5 * last.size and first.x0 > last.x1:
            break  # the same printed line: what was skipped is a part of a formula in the sentence
        below = first.page == last.page and 0 < last.y - first.y < 1.6 * usual.leading
        if j == at + 1 and below and full_line and blocks[at].kind is Kind.ITEM and _goes_on(first):
            return j  # an item whose first line is indented
        if first.page == last.page and first.y < last.y and abs(first.x0 - last.x0) < 100:
            break  # the same column goes on with another paragraph
        if first.page == last.page and first.y < last.y and first.x0 > last.x0 + 100:
            continue  # lower and further right: a table's next cell, or a formula
        if _goes_on(first):
            return j
        body = full and usual.is_body(last) and not last.hyphen
        if body and not second_best and (len(block.lines) > 1 or j == at + 1):
            second_best = j
    return second_best
