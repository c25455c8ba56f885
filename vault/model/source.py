"""Source text: a document's text as a versioned reader makes it, with marks, places and pictures."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from vault.text.formatting import fold


class MarkKind(StrEnum):
    """What the document's own structure says about a span of its text."""

    TITLE = "title"
    HEADING = "heading"
    EMPHASIS = "emphasis"
    LINK = "link"
    ITEM = "item"  # one item of a list
    TERM = "term"  # the left side of a glossary or definition list
    CODE = "code"  # a block or an inline span
    MATH = "math"
    CAPTION = "caption"
    TABLE = "table"
    QUOTATION = "quotation"  # a block quote
    QUESTION = "question"  # what is asked, set as a task, made up as an example or a list of other works: not asserted
    CITATION = "citation"  # the last character before the place where other works are named


@dataclass(frozen=True, slots=True)
class Mark:
    """`text[start:end]` is of this kind; `level` is a heading's depth (1-6) or a list's nesting, else 0.

    Where a reader tells fonts apart, the level of an emphasis is 1 for slanted and 2 for strong.

    `info` is what the words themselves leave out: a link's target, the language of a code block, the works that are
    cited (a line each, an entry of a bibliography or its key), else "".
    """

    kind: MarkKind
    start: int
    end: int
    level: int = 0
    info: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture shown in the document after `text[:start]`.

    `target` is what the document says of where it lies: an address, a path relative to the document, or
    "embedded:NAME" for one inside the document itself; `label` is the name by which the document's own links and
    references mean it. All its words are hostile until checked.
    """

    start: int
    target: str
    alt: str = ""
    caption: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """From offset `start` up to the next place, the words are at `label` ("p. 6", "Softmax, line 42")."""

    start: int
    label: str


@dataclass(frozen=True, slots=True)
class Segment:
    """`text[start:end]` of one source, under one heading path: what an engine reads at a time."""

    start: int
    end: int
    headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault that a reader met and continued after; `line` is 1-based in the raw file, 0 if unknown.

    `file` is the file that the document includes, as it names it, where the fault is that the reader did not read it.
    """

    code: str
    message: str
    line: int = 0
    file: str = ""


@dataclass(frozen=True, slots=True)
class SourceText:
    """A document as text: NFC, paragraphs separated by a blank line; marks and places are offsets into it.

    `reader` is "name/version"; `properties` come from the document's own front matter, strings only.
    """

    reader: str
    text: str
    title: str
    language: str  # ISO 639-1, "" if unknown
    segments: tuple[Segment, ...] = ()
    marks: tuple[Mark, ...] = ()
    places: tuple[Place, ...] = ()
    properties: dict[str, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    pictures: tuple[Picture, ...] = ()

    @property
    def text_sha256(self) -> str:
        """Return the SHA-256 of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def locate(self, offset: int) -> str:
        """Return the label of the place that contains `offset`; "" before the first."""
        index = bisect_right([p.start for p in self.places], offset) - 1
        return self.places[index].label if index >= 0 else ""

    def as_json(self) -> dict[str, Any]:
        return {
            "reader": self.reader,
            "text": self.text,
            "title": self.title,
            "language": self.language,
            "segments": [[s.start, s.end, list(s.headings)] for s in self.segments],
            "marks": [[m.kind.value, m.start, m.end, m.level, *([m.info] if m.info else [])] for m in self.marks],
            "places": [[p.start, p.label] for p in self.places],
            "properties": self.properties,
            "problems": [[p.code, p.message, p.line, *([p.file] if p.file else [])] for p in self.problems],
            "pictures": [[p.start, p.target, p.alt, p.caption, p.label] for p in self.pictures],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> SourceText:
        return cls(
            reader=data["reader"],
            text=data["text"],
            title=data["title"],
            language=data["language"],
            segments=tuple(Segment(s, e, tuple(h)) for s, e, h in data["segments"]),
            marks=tuple(Mark(MarkKind(k), *rest) for k, *rest in data["marks"]),
            places=tuple(Place(s, label) for s, label in data["places"]),
            properties=dict(data["properties"]),
            problems=tuple(Problem(*fields) for fields in data["problems"]),
            pictures=tuple(Picture(*fields) for fields in data.get("pictures", ())),
        )


@dataclass(frozen=True, slots=True)
class FoldedText:
    """Source text with folded white space; `text[i]` is at `offsets[i]` of the source text."""

    text: str
    offsets: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> FoldedText:
        """Return the folded form of a text."""
        chars: list[str] = []
        offsets: list[int] = []
        for i, c in enumerate(text):
            if c.isspace():
                if chars and chars[-1] != " ":
                    chars.append(" ")
                    offsets.append(i)
            else:
                chars.append(c)
                offsets.append(i)
        return cls("".join(chars), tuple(offsets))

    def find(self, quote: str, near: int | None = None) -> tuple[int, int] | None:
        """Return (start, end) in the source text of the occurrence of `quote` nearest to `near`; None if absent."""
        wanted = fold(quote)
        if not wanted:
            return None
        best: tuple[int, int] | None = None
        at = self.text.find(wanted)
        while at >= 0:
            span = (self.offsets[at], self.offsets[at + len(wanted) - 1] + 1)
            if near is None or span[0] == near:
                return span
            if best is None or abs(span[0] - near) < abs(best[0] - near):
                best = span
            elif span[0] > near:
                break
            at = self.text.find(wanted, at + 1)
        return best
