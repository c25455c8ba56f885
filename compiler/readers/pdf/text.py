"""The text of PDF blocks: hyphens at line ends removed, fonts as emphasis, formulas and code."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from compiler.readers.pdf.blocks import Block, Kind
from compiler.readers.pdf.lines import Line, Run, Style, is_computer_modern, is_raised
from compiler.readers.pdf.metrics import Measure
from vault.model.source import Mark, MarkKind

SLANTED, STRONG = 1, 2  # levels of emphasis: bold tells a term from an example in italics
MAX_EMPHASIS = 160  # characters; whole sentences in italics set off an example, not a term
_TAIL = re.compile(r"([^\W\d_]+)-$")
_HEAD = re.compile(r"[^\W\d_]+")
_REFERENCE = re.compile(r"\s*(?:\d{1,3}(?:\s*,\s*\d{1,3})*|[*†‡§¶∗])\s*")
_LETTER = re.compile(r"[^\W\d_]")
_FACE = Style.BOLD | Style.ITALIC
_FIRST_HALVES = {
    "self", "non", "cross", "well", "high", "low", "long", "short", "end", "fine", "large", "real", "state", "pair",
}  # fmt: skip
_BETWEEN = {"and", "or", "und", "oder", "et", "ou", "y", "o", "e", "bis"}
_SECOND_HALVES = {
    "free", "based", "like", "level", "aware", "wise", "specific", "driven", "of", "the", "to", "art", "scale", "order",
}  # fmt: skip
_SENTENCE_END = re.compile(r"[.!?。！？][\"'”’)\]]*\s*$")


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a block in one column of one page."""

    page: int
    text: str
    marks: tuple[Mark, ...]
    glued: bool = False  # goes on the part before without a space


def parts_of(block: Block, usual: Measure, vocabulary: Counter[str]) -> list[Part]:
    """Return the block's words, a part for each column and page that it is in."""
    writer = _Writer(block, usual, vocabulary)
    for i, line in enumerate(block.lines):
        writer.line(line, block.lines[i + 1] if i + 1 < len(block.lines) else None)
    return writer.parts()


class _Writer:
    """Collects the words and marks of one block."""

    def __init__(self, block: Block, usual: Measure, vocabulary: Counter[str]) -> None:
        self._block = block
        self._usual = usual
        self._vocabulary = vocabulary
        self._parts: list[Part] = []
        self._text = ""
        self._spans: list[tuple[MarkKind, int, int, int]] = []  # kind, start, end, level
        self._page = block.lines[0].page
        self._face = self._usual_face()
        self._glued = False  # the last line ended within a word
        self._glued_part = False  # so did the last part
        self._last: Line | None = None

    def _usual_face(self) -> Style:
        """Return the face of most of the block; words in another are emphasized."""
        faces: Counter[Style] = Counter()
        for line in self._block.lines:
            for run in line.runs:
                if Style.MATH not in run.font.style:
                    faces[run.font.style & _FACE] += len(run.text)
        return faces.most_common(1)[0][0] if faces else Style.PLAIN

    def line(self, line: Line, following: Line | None) -> None:
        """Add a line; its end joins a hyphenated word, or becomes a space, or (tables, code) stays a line break."""
        if self._last is not None and (line.page != self._page or line.y > self._last.y + 2 * line.size):
            self._end_part()  # a new page or column
            self._page = line.page
        self._last = line
        for i, run in enumerate(line.runs):
            self._run(run, line, i)
        if following is None:
            return
        if self._block.kind is Kind.CODE:
            self._text = self._text.rstrip() + ("  " if abs(line.y - following.y) <= 2 else "\n")
        elif self._block.kind is Kind.TABLE:
            self._text = self._text.rstrip() + (" | " if abs(line.y - following.y) <= 2 else "\n")
        else:
            self._join(following)

    def _join(self, following: Line) -> None:
        """Add what is between two lines: nothing, a space or a line break."""
        self._text = self._text.rstrip()
        self._glued = False
        tail = _TAIL.search(self._text)
        if tail is None:
            self._glued = self._text.endswith("-") and self._text[-2:-1].isalnum()
            self._text += "" if self._glued else " "
            return
        head = _HEAD.match(following.text.lstrip())
        if head is not None and head.group() in _BETWEEN:  # "short- and long-term"
            self._text += " "
            return
        self._glued = True
        if head is not None and not self._keeps_hyphen(tail[1], head.group()):
            self._text = self._text[:-1]
            self._spans = [(kind, start, min(end, len(self._text)), level) for kind, start, end, level in self._spans]

    def _keeps_hyphen(self, before: str, after: str) -> bool:
        """Return whether a hyphen at a line's end belongs to the word, as the document writes it elsewhere."""
        count = self._vocabulary
        whole, parts = count[(before + after).lower()], count[f"{before}-{after}".lower()]
        if whole or parts:
            return parts > whole
        if not after[0].islower():
            return True
        if before.lower() in _FIRST_HALVES or after.lower() in _SECOND_HALVES:
            return True
        return len(before) > 3 and len(after) > 3 and count[before.lower()] > 0 and count[after.lower()] > 0

    def _run(self, run: Run, line: Line, index: int) -> None:
        """Add one run of a line."""
        words = run.text
        if self._is_note_mark(run, line, index):
            mark = words.strip()
            if not self._text.strip() or _SENTENCE_END.search(self._text):
                self._text += " " if words.endswith(" ") else ""
                return  # beside a sentence's end it belongs to none; inside it stays, in brackets
            words = f"[{mark}]" + (" " if words.endswith(" ") else "")
        elif self._is_exponent(run, line, index):
            words = "^" + words
        start = len(self._text)
        self._text += words
        kind = self._kind_of(run)
        if kind is not None and words.strip():
            level = 0 if kind is not MarkKind.EMPHASIS else STRONG if Style.BOLD in run.font.style else SLANTED
            self._mark(kind, start, len(self._text), level)

    def _is_note_mark(self, run: Run, line: Line, index: int) -> bool:
        """Return whether a raised run is the mark of a footnote."""
        if not is_raised(run, line) or not _REFERENCE.fullmatch(run.text) or self._block.kind is Kind.FORMULA:
            return False
        before = line.runs[index - 1] if index else None
        return before is None or (Style.MATH not in before.font.style and not before.text.rstrip()[-1:].isdigit())

    def _is_exponent(self, run: Run, line: Line, index: int) -> bool:
        """Return whether a raised run is an exponent."""
        if not index or not is_raised(run, line):
            return False
        return line.runs[index - 1].text[-1:].isdigit() and run.text[:1] in "0123456789−-–+"

    def _kind_of(self, run: Run) -> MarkKind | None:
        """Return the mark that a run's font means, None if it is the usual one."""
        style = run.font.style
        if self._block.kind in (Kind.FORMULA, Kind.CODE, Kind.HEADING):
            return None
        foreign = is_computer_modern(run.font.name) and not is_computer_modern(self._usual.font)
        if Style.MATH in style or (foreign and Style.MONO not in style):
            return MarkKind.MATH
        if Style.MONO in style and _LETTER.search(run.text):
            return MarkKind.CODE
        if (style & _FACE) != self._face and _LETTER.search(run.text):
            return MarkKind.EMPHASIS
        return None

    def _mark(self, kind: MarkKind, start: int, end: int, level: int) -> None:
        """Add a span, or extend the one before it if only space and punctuation is between."""
        if self._spans:
            last, first, stop, strength = self._spans[-1]
            between = self._text[stop:start].strip(" -" if kind is MarkKind.EMPHASIS else " ")
            if (last, strength) == (kind, level) and not between:
                self._spans[-1] = (kind, first, end, level)
                return
        self._spans.append((kind, start, end, level))

    def _end_part(self) -> None:
        """End the part in the current column."""
        marks = tuple(
            Mark(kind, start, end, level)
            for kind, start, end, level in self._spans
            if kind is not MarkKind.EMPHASIS or end - start <= MAX_EMPHASIS
        )
        glued = bool(self._parts) and self._glued_part
        self._parts.append(Part(self._page, self._text.rstrip(), marks, glued))
        self._glued_part = self._glued
        self._text, self._spans = "", []

    def parts(self) -> list[Part]:
        """Return the finished parts."""
        self._end_part()
        return [part for part in self._parts if part.text.strip()]
