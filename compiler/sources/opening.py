"""How a document introduces itself: its abstract, or else its first paragraphs, and its outline."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import accumulate, chain, takewhile

from compiler.language.headings import heading_title
from compiler.language.lexicon import pattern
from compiler.sources.segments import passages
from vault.model.source import Mark, MarkKind, SourceText
from vault.text.formatting import fold

MOST_WORDS = 120  # of the opening
MOST_HEADINGS = 12  # of the outline
_FEWEST_WORDS = 12  # a shorter paragraph is a greeting, a label or a pointer
_FRONT = 6_000  # characters, in which an abstract without a heading begins
_CJK_WORD = 0.6  # words that a Chinese character counts for
_ABSTRACT = re.compile(pattern("opening_abstract").pattern, re.IGNORECASE)
_FORMAL = re.compile(pattern("opening_formal").pattern, re.IGNORECASE)
_PARAGRAPH = re.compile(r"\S(?:(?!\n[ \t]*\n).)*", re.DOTALL)
_ENDED = re.compile(r"[.!?。！？][)\]\"'”’»*_]*(?:\[\d+\])?$")
_NO_PROSE = frozenset(MarkKind) - {MarkKind.EMPHASIS, MarkKind.CITATION}
_CJK = re.compile(r"[\u3400-\u9fff]")


def opening(source: SourceText) -> list[tuple[int, int]]:
    """Return (start, end) of the sentences of the abstract, or of the first paragraphs if the document has none.

    They stand one after the other, and have `MOST_WORDS` words at most. A list, a quotation, what an author is called
    and what a licence grants are no opening.
    """
    headings = sorted((m for m in source.marks if m.kind is MarkKind.HEADING), key=lambda m: m.start)
    begin, end = _abstract(source, headings)
    found = _sentences(source, begin, end)
    first = next(found, None)
    if first is None and begin:
        found = _sentences(source, 0, len(source.text))
        first = next(found, None)
    out: list[tuple[int, int]] = []
    room = float(MOST_WORDS)
    for start, stop in chain([first] if first else [], found):
        room -= _length(source.text[start:stop])
        if room < 0:
            break
        out.append((start, stop))
    while out and source.text[out[-1][0] : out[-1][1]].endswith(("?", "？")):
        out.pop()  # its answer is not shown
    return out


def outline(source: SourceText) -> list[tuple[int, str, str]]:
    """Return (depth, heading, its words without a number) of the upper two levels, depth 0 or 1.

    Of the upper level alone if both are too many. The document's title and headings that name no matter
    ("Introduction", "References") are left out; of fewer than two nothing is left.
    """
    title = heading_title(source.title).casefold()
    found = []
    for mark in source.marks:
        heading = fold(source.text[mark.start : mark.end]) if mark.kind is MarkKind.HEADING else ""
        name = heading_title(heading)
        if name and name.casefold() != title and "\ufffd" not in name:
            found.append((mark.level, heading, name))
    levels = sorted({level for level, *_ in found})[:2]
    if sum(level in levels for level, *_ in found) > MOST_HEADINGS:
        levels = levels[:1]
    shown = [(levels.index(level), heading, name) for level, heading, name in found if level in levels]
    shown = list(dict.fromkeys(shown))[:MOST_HEADINGS]
    return shown if len(shown) > 1 else []


def _abstract(source: SourceText, headings: list[Mark]) -> tuple[int, int]:
    """Return (start, end) of the abstract, of the whole text if there is none.

    It is below a heading of the highest level but for the title's, or runs into its paragraph.
    """
    highest = sorted({m.level for m in headings})[:2]
    for n, mark in enumerate(headings):
        said = _ABSTRACT.match(fold(source.text[mark.start : mark.end]))
        if said and mark.level in highest and not said["rest"]:
            return mark.end, headings[n + 1].start if n + 1 < len(headings) else len(source.text)
    for block in _PARAGRAPH.finditer(source.text[:_FRONT]):
        said = _ABSTRACT.match(block[0])
        if said and said["mark"] and said["rest"]:
            return block.start() + said.start("rest"), block.end()
    return 0, len(source.text)


def _sentences(source: SourceText, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the sentences of the first paragraphs of prose between two offsets, up to what parts them."""
    started, covered = False, _covered_before(source)
    for block in _PARAGRAPH.finditer(source.text, begin, end):
        spans = _prose(source, block.start(), block.end(), covered)
        if spans:
            started = True
            yield from spans
        elif started:
            return


def _covered_before(source: SourceText) -> Callable[[int], int]:
    """Return what tells how many characters before an offset are no prose, those of two marks counted twice."""
    marks = [m for m in source.marks if m.kind in _NO_PROSE]
    starts, ends = (sorted(offsets) for offsets in ([m.start for m in marks], [m.end for m in marks]))
    sums = [[0, *accumulate(offsets)] for offsets in (starts, ends)]

    def covered(at: int) -> int:
        begun, over = bisect_left(starts, at), bisect_left(ends, at)
        return (begun - over) * at - sums[0][begun] + sums[1][over]

    return covered


def _prose(source: SourceText, start: int, end: int, covered: Callable[[int], int]) -> list[tuple[int, int]]:
    """Return the sentences of a paragraph; none if it is no running text."""
    text = source.text[start:end]
    if (covered(end) - covered(start)) * 2 > len(text.strip()) or _FORMAL.search(text) or _length(text) < _FEWEST_WORDS:
        return []
    spans = [(start + a, start + b) for a, b in passages(text)]
    if text.lstrip()[:1].islower() or not all(_ENDED.search(source.text[a:b]) for a, b in spans):
        return []
    return list(takewhile(lambda span: "\ufffd" not in source.text[slice(*span)], spans))


def _length(text: str) -> float:
    """Return how many words a text has, Chinese characters counted as parts of words."""
    characters = len(_CJK.findall(text))
    return characters * _CJK_WORD + len(_CJK.sub(" ", text).split())
