"""Sentences of a segment with their places: prose only, never code, tables, headings or captions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from sentencex import segment

from compiler.model.requests import ExtractRequest, Span

_BLOCK = re.compile(r"(?:(?!\n[ \t]*\n).)+", re.DOTALL)
_SKIPPED = frozenset({"heading", "title", "code", "table", "caption", "math", "question"})
_UNFINISHED = re.compile(
    r"(?:\b(?:e\.g|i\.e|et al|cf|vs|resp|approx|ca|Fig|Figs|Eq|Eqs|Sec|Ch|Tab|Dr|Prof|Mr|Mrs|St|No|Vol|pp|engl|bzw|"
    r"usw|z\. ?B|d\. ?h"
    r"|sog|vgl|bspw|ggf|u\. ?a|Nr|Abb|Kap)\.|[(\[“„‘—–]|\b[A-Z]\.)$"
)
_LOWER_START = re.compile(r"(?!(?:chapter|section|figure|table|appendix)\s+\d)[a-zäöüß(&,;)\]]")
_AFTER_SYMBOL = re.compile(r"(?<=[ (][a-z]\.) +(?=[A-Z][a-z])")
_STOP = re.compile("[.!?]")
_ENDS_INSIDE = re.compile(r"[.!?]\s*\$+$")  # a formula that holds the full stop of its sentence
MAX_BLOCK = 20_000


@dataclass(frozen=True, slots=True)
class Sentence:
    """`segment_text[start:end]`; `block` counts the segment's paragraphs, `item` says that a list holds it.

    `label` is the emphasised word or name with a colon that the sentence follows: "*Blob*: A blob combines ...".
    """

    text: str
    start: int
    end: int
    block: int
    item: bool
    label: str = ""


def sentences(request: ExtractRequest) -> list[Sentence]:
    """The sentences of the request's prose, in order; each one's text is a substring of the request's text."""
    marks = _Marks(request.marks)
    found: list[Sentence] = []
    terms = {m.end for m in request.marks if m.kind == "term"}
    for number, match in enumerate(_BLOCK.finditer(request.text)):
        start, end = match.span()
        explains = len(request.text[:start].rstrip()) in terms  # the cell of a glossary beside its term
        if end - start > MAX_BLOCK or marks.covers(_SKIPPED - {"table"} if explains else _SKIPPED, start, end):
            continue
        item = marks.covers(frozenset({"item"}), start, end)
        for i, (a, b) in enumerate(_spans(marks.without_stops(request.text, start, end), request.language or "en")):
            begin, label = start + a, ""
            if i == 0:
                begin = marks.after_run_in(request.text, begin, start + b)
                label = request.text[start + a : begin].strip()
            begin += _repeated(request.text[begin : start + b])
            label = label.rstrip(": ") if label.endswith(":") else ""
            found.append(Sentence(request.text[begin : start + b], begin, start + b, number, item, label))
    return found


class _Marks:
    """The marks of a request, asked which kinds cover a stretch of it."""

    def __init__(self, spans: tuple[Span, ...]) -> None:
        self._spans = sorted((s for s in spans if s.end > s.start), key=lambda s: s.start)
        self._starts = [s.start for s in self._spans]
        self._longest = max((s.end - s.start for s in self._spans), default=0)

    def covers(self, kinds: frozenset[str], start: int, end: int) -> bool:
        """Whether a mark of one of `kinds` covers most of [start, end)."""
        last = bisect_right(self._starts, end)
        first = bisect_right(self._starts, start - self._longest - 1)
        covered = (
            min(s.end, end) - max(s.start, start) for s in self._spans[first:last] if s.kind in kinds and s.end > start
        )
        return any(c * 10 >= (end - start) * 9 for c in covered)

    def without_stops(self, text: str, start: int, end: int) -> str:
        """Return text[start:end] with the signs inside formulas that would end a sentence behind the formula."""
        out = list(text[start:end])
        first = bisect_right(self._starts, start - self._longest - 1)
        for span in self._spans[first : bisect_right(self._starts, end)]:
            if span.kind == "math" and span.start >= start and span.end <= end:
                formula = text[span.start : span.end]
                ends = _ENDS_INSIDE.search(formula) is not None
                out[span.start - start : span.end - start] = _STOP.sub("_", formula[:-1]) + (
                    "." if ends else formula[-1]
                )
        return "".join(out)

    def after_run_in(self, text: str, start: int, end: int) -> int:
        """Where the sentence begins after an emphasised heading that runs into it ("**Bias** The bias is")."""
        first = bisect_right(self._starts, start - 1)
        for span in self._spans[first : bisect_right(self._starts, start)]:
            rest = text[span.end : end].lstrip(" .:")
            runs_in = span.kind == "emphasis" and text[span.start].isupper() and text[span.end - 1] not in ",;("
            if runs_in and len(rest.split()) > 4 and rest[0].isupper():
                return end - len(rest)
        return start


_TWICE = re.compile(r"([A-Z][\w-]*(?: [\w-]+){1,4}) (?=\1\b)", re.IGNORECASE)


def _repeated(sentence: str) -> int:
    """The length of a heading that runs into its sentence, words said twice: "Beam search Beam search is"."""
    match = _TWICE.match(sentence)
    return match.end() if match else 0


def _spans(block: str, language: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each sentence in `block`, white space trimmed; pieces torn after an abbreviation are joined."""
    begin, at = -1, 0
    for piece in segment(language, block):
        start = block.find(piece, at)
        if start < 0:
            continue
        at = start + len(piece)
        if begin < 0:
            begin = start
        so_far, rest = block[begin:at].rstrip(), block[at:].lstrip()
        if rest and (_UNFINISHED.search(so_far) or _LOWER_START.match(rest)):
            continue
        yield from _trimmed(block, begin, at)
        begin = -1
    if begin >= 0:
        yield from _trimmed(block, begin, len(block))


def _trimmed(block: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The stretch without blanks at its ends, parted where a symbol ended a sentence ("... label k. When")."""
    if cut := _AFTER_SYMBOL.search(block, start, end):
        yield from _trimmed(block, start, cut.start())
        yield from _trimmed(block, cut.end(), end)
        return
    text = block[start:end]
    left = start + len(text) - len(text.lstrip())
    right = start + len(text.rstrip())
    if right > left:
        yield left, right
