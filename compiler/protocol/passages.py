"""Passages: a document cut into numbered pieces of some hundred bytes, which requests show and answers cite.

A passage is one or more blocks under one heading. A block is a paragraph, a list item, a table, a listing or a formula;
its key is a digest of its words, so that an edit of one paragraph leaves every other block known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from compiler.gates.written import FORMULA
from compiler.sources.segments import passages as sentence_spans
from vault.ids import digest12
from vault.model.source import FoldedText, Mark, MarkKind, Picture, Segment, SourceText
from vault.text.formatting import clean_line, fold

ENOUGH, MOST = 300, 600  # bytes: a passage grows to the first and not beyond the second
LONGEST = 900  # bytes of a block of prose; a longer one is cut after sentences
_GAP = re.compile(r"\n\n+")
# A bar between cells; none is one that is escaped, in code or in a formula.
_CELL = re.compile(rf"\\.|`[^`\n]{{1,400}}`|{FORMULA.pattern}|(\|)")


@dataclass(frozen=True, slots=True)
class Block:
    """`text[start:end]` of a source. `kind` is "", "item", "code", "table" or "formula".

    `info` is a listing's language or an item's number. `picture` is what is said with pictures that follow it, "" if
    none does.
    """

    key: str
    start: int
    end: int
    kind: str = ""
    info: str = ""
    level: int = 0
    picture: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """Blocks under one heading path; `number` counts from 1 in the document."""

    number: int
    headings: tuple[str, ...]
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    """One source cut into passages. `id` is the source's."""

    id: str
    path: str
    text: SourceText

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        """Return all passages in order."""
        return tuple(_passages(self.text))

    @cached_property
    def starts(self) -> list[int]:
        """Return where each passage begins."""
        return [p.blocks[0].start for p in self.passages]

    @cached_property
    def blocks(self) -> dict[str, tuple[Passage, Block]]:
        """Return the blocks by key, each with its passage; of equal ones the first."""
        found: dict[str, tuple[Passage, Block]] = {}
        for passage in self.passages:
            for block in passage.blocks:
                found.setdefault(block.key, (passage, block))
        return found

    @cached_property
    def folded(self) -> FoldedText:
        """Return the text with folded white space."""
        return FoldedText.of(self.text.text)

    def words(self, block: Block) -> str:
        """Return the words of a block as the source has them."""
        return self.text.text[block.start : block.end]


def ref(source: str, key: str) -> str:
    """Return the reference to a block, as replies store it: `SOURCE:KEY`."""
    return f"{source}:{key}"


def cells(row: str) -> list[str]:
    """Return the cells of a row of a table as readers write it: `a | b`."""
    bars = [m.start() for m in _CELL.finditer(row) if m[1]]
    return [row[a:b].strip() for a, b in zip([0, *(n + 1 for n in bars)], [*bars, len(row)], strict=True)]


# --- cutting ---------------------------------------------------------------------------------------------------------


def _passages(source: SourceText) -> Iterator[Passage]:
    number = 0
    for segment in source.segments:
        for blocks in _joined(source, list(_blocks(source, segment))):
            number += 1
            yield Passage(number, tuple(clean_line(h) for h in segment.headings), blocks)


def _joined(source: SourceText, blocks: Sequence[Block]) -> Iterator[tuple[Block, ...]]:
    """Yield runs of blocks: short ones together, listings and tables by themselves."""
    run: list[Block] = []
    size = 0
    for block in blocks:
        own = _size(source, block)
        alone = block.kind in ("code", "table")
        leads = run and source.text[run[-1].start : run[-1].end].rstrip().endswith((":", "："))
        full = size >= ENOUGH and not (leads or block.kind == "item")  # a list stands with what leads to it
        if run and (alone or run[-1].kind in ("code", "table") or full or size + own > MOST):
            yield tuple(run)
            run, size = [], 0
        run.append(block)
        size += own
    if run:
        yield tuple(run)


def _size(source: SourceText, block: Block) -> int:
    return len(source.text[block.start : block.end].encode("utf-8", "surrogatepass"))


def _blocks(source: SourceText, segment: Segment) -> Iterator[Block]:
    """Yield the blocks of a segment, without its heading."""
    marks = [m for m in source.marks if m.start < segment.end and m.end > segment.start]
    headings = [(m.start, m.end) for m in marks if m.kind in (MarkKind.HEADING, MarkKind.TITLE)]
    whole = {m.start: m for m in marks if m.kind in (MarkKind.CODE, MarkKind.TABLE, MarkKind.MATH)}
    items = {m.start: m for m in reversed(marks) if m.kind is MarkKind.ITEM}
    pictures = [p for p in source.pictures if segment.start <= p.start <= segment.end + 2]
    for start, end in _paragraphs(source.text, segment, whole):
        if any(first <= start and end <= last for first, last in headings):
            continue
        mark = whole.get(start)
        if mark is not None and mark.end >= end:
            kind = {MarkKind.CODE: "code", MarkKind.TABLE: "table"}.get(mark.kind, "formula")
            pieces = [(start, end)]
        else:
            mark, kind = items.get(start), "item" if start in items else ""
            pieces = list(_pieces(source.text, start, end))
        for first, last in pieces:
            shown = [p for p in pictures if first <= p.start <= last + 2]
            own = mark if first == start else None
            yield Block(
                digest12(fold(source.text[first:last])),
                first,
                last,
                kind,
                own.info if own else "",
                own.level if own else 0,
                _said(shown, fold(source.text[start:end])) if shown else "",
            )


def _said(pictures: Sequence[Picture], text: str) -> str:
    """Return what goes with pictures and is not in the text of their paragraph: alternative texts and captions."""
    words = dict.fromkeys(clean_line(w) for p in pictures for w in (p.alt, p.caption))
    return "; ".join(w for w in words if w and fold(w) not in text) or "with these words"


def _paragraphs(text: str, segment: Segment, whole: dict[int, Mark]) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each paragraph; a listing with blank lines in it is one."""
    at = segment.start
    while at < segment.end:
        mark = whole.get(at)
        gap = _GAP.search(text, max(at, mark.end if mark is not None else at), segment.end)
        end = gap.start() if gap else segment.end
        if text[at:end].strip():
            yield at, end
        at = gap.end() if gap else segment.end


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the pieces of a paragraph: one, or several cut after sentences if it is long."""
    if len(text[start:end].encode("utf-8", "surrogatepass")) <= LONGEST:
        yield start, end
        return
    spans = [(start + s, start + e) for s, e in sentence_spans(text[start:end])]
    first = spans[0][0] if spans else start
    for n, (_, stop) in enumerate(spans):
        following = spans[n + 1][1] if n + 1 < len(spans) else None
        size = len(text[first : following or stop].encode("utf-8", "surrogatepass"))
        if following is None or size > MOST:
            yield first, stop
            first = spans[n + 1][0] if following is not None else stop
