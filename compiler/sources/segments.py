"""Segments: heading-bounded stretches of source text, short enough for an engine to read at a time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from vault.model.source import Mark, MarkKind, Segment
from vault.text.formatting import fold

MAX_SEGMENT = 6_000  # characters; a section is parted at paragraph ends to stay below
MAX_PARAGRAPH = 20_000  # a longer paragraph is parted itself
_BLANK_LINE = re.compile(r"\n\n+")
_SENTENCE_END = re.compile(r"[.!?]\s+|[。！？]|\n")
_PASSAGE_END = re.compile(r"\n|[。！？]|[.!?][)\]\"'”’»]*\s+(?![a-z])")
_SHORTENED = re.compile(  # what a full stop after it rarely ends: for the reader of an edit, half a sentence is nothing
    r"(?:^|[\s(\[])(?:[A-Za-z]|Dr|Mrs?|Ms|St|Prof|cf|vs|al|ca|etc|resp|bzw|vgl|Figs?|Eqs?|Secs?|Nos?|e\.g|i\.e|z\.B|d\.h)\.\s+$"
)


def segments(text: str, marks: Iterable[Mark]) -> tuple[Segment, ...]:
    """Return the segments of `text` in order; a heading is at the start of its own.

    Each section is parted by itself, so that a change in one leaves the others' text as it was.
    """
    headings = sorted({m.start: m for m in marks if m.kind is MarkKind.HEADING}.values(), key=lambda m: m.start)
    out: list[Segment] = []
    path: list[tuple[int, str]] = []
    begin = 0
    for mark in headings:
        out += _section(text, begin, mark.start, path)
        path = [(level, words) for level, words in path if level < mark.level]
        path.append((mark.level, fold(text[mark.start : mark.end])))
        begin = mark.start
    out += _section(text, begin, len(text), path)
    return tuple(out)


def passages(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of the lines and sentences of `text`, without blank ones: the units by which edits are
    compared."""
    out: list[tuple[int, int]] = []
    start = 0
    for end in [*(m.end() for m in _PASSAGE_END.finditer(text)), len(text)]:
        words = text[start:end]
        if end < len(text) and _SHORTENED.search(words[-12:]) and not words.endswith("\n"):
            continue
        if words.strip():
            lead = len(words) - len(words.lstrip())
            out.append((start + lead, start + len(words.rstrip())))
        start = end
    return out


def _section(text: str, start: int, end: int, path: list[tuple[int, str]]) -> Iterator[Segment]:
    """Yield the segments of one section: whole paragraphs, as many as fit."""
    headings = tuple(words for _, words in path)
    begin = last = -1
    for first, stop in _paragraphs(text, start, end):
        if begin >= 0 and stop - begin > MAX_SEGMENT:
            yield Segment(begin, last, headings)
            begin = -1
        if begin < 0:
            begin = first
        last = stop
    if begin >= 0:
        yield Segment(begin, last, headings)


def _paragraphs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each paragraph between the offsets, overlong ones in pieces."""
    at = start
    for gap in _BLANK_LINE.finditer(text, start, end):
        yield from _pieces(text, at, gap.start())
        at = gap.end()
    yield from _pieces(text, at, end)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the pieces of one paragraph: one, or several cut after sentences if it is overlong."""
    while end - start > MAX_PARAGRAPH:
        ends = [m.end() for m in _SENTENCE_END.finditer(text, start + MAX_SEGMENT // 2, start + MAX_SEGMENT)]
        cut = ends[-1] if ends else start + MAX_SEGMENT
        yield start, cut
        start = cut
    if text[start:end].strip():
        yield start, end
