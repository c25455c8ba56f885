"""The page that every reader writes on: blocks of text in reading order, with marks, places and pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from compiler.readers.block import Block
from vault.errors import Unreadable
from vault.model.source import Mark, MarkKind, Picture, Place
from vault.text.formatting import clean_line, short_line

OMISSION = "[…]"  # stands where a sentence has something that is left out
MAX_TEXT = 20_000_000  # characters of one document
MAX_LABEL = 80
MAX_PICTURES = 2_000  # of one document; the rest is passed over
MAX_TARGET = 2_000  # characters; a picture written out in its own address is longer, and passed over
MAX_ALT = 1_000
_LABEL_NOISE = re.compile(r"\s*[·\u2022\u2027\u22c5$`*_]+\s*")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading written so far, with its offsets in the text."""

    words: str
    level: int
    start: int
    end: int


@dataclass(slots=True)
class _Container:
    """A mark over several blocks; `start` is None until its first block is written."""

    kind: MarkKind
    level: int
    info: str = ""
    start: int | None = None


def label_of(heading: str) -> str:
    """Return `heading` as the name of a place: one short line without the characters that separate places."""
    return short_line(_LABEL_NOISE.sub(" ", heading), MAX_LABEL)


class Page:
    """Collects blocks; a container (list item, block quote) marks all blocks between `begin` and `end`."""

    def __init__(self) -> None:
        self.headings: list[Heading] = []
        self.title: Heading | None = None  # a title that stands apart from the headings
        self.length = 0
        self.inline_pictures = 0  # within sentences, left out of them
        self.depth = 0  # levels by which a part's own headings stand below the document's
        self.label: Callable[[str, int], str] | None = None  # nearest heading, line -> label; else "heading, line N"
        self._parts: list[str] = []
        self._marks: list[Mark] = []
        self._places: list[Place] = []
        self._containers: list[_Container] = []
        self.pictures: list[Picture] = []

    def add(
        self, text: str, marks: Iterable[Mark] = (), kind: MarkKind | None = None, level: int = 0, info: str = ""
    ) -> int:
        """Write one block and return its offset; `kind` marks it as a whole, `marks` count from its start."""
        start = self.length + (2 if self._parts else 0)
        end = start + len(text)
        level = min(level + self.depth, 6) if kind is MarkKind.HEADING else level
        if end > MAX_TEXT:
            raise Unreadable(f"more than {MAX_TEXT:,} characters of text", hint="split the document")
        self._parts += ("\n\n", text) if self._parts else (text,)
        self.length = end
        self._marks += [Mark(m.kind, start + m.start, start + m.end, m.level, m.info) for m in marks]
        if kind is not None:
            self._marks.append(Mark(kind, start, end, level, info))
        if kind is MarkKind.TITLE:
            self.title = Heading(" ".join(text.split()), 0, start, end)
        if kind is MarkKind.HEADING:
            self.headings.append(Heading(" ".join(text.split()), level, start, end))
        for container in self._containers:
            if container.start is None:
                container.start = start
        return start

    def place(self, start: int, label: str) -> None:
        """Set the label of the place that begins at offset `start`; offsets must not decrease."""
        if self._places and self._places[-1].start == start:
            self._places.pop()
        self._places.append(Place(start, label))

    def place_line(self, start: int, line: int) -> None:
        """Set the place "nearest heading, line N", or what `label` makes of the two."""
        heading = label_of(self.headings[-1].words) if self.headings else ""
        if self.label is not None:
            self.place(start, self.label(heading, max(line, 1)))
        else:
            self.place(start, ", ".join(filter(None, (heading, f"line {max(line, 1)}"))))

    def code(self, text: str, language: str = "", line: int = 0) -> None:
        """Write one code block with its lines, without blank ones; `line` is its line in the raw file."""
        block = Block()
        block.kept(text)
        words, _ = block.take()
        if words:
            self.place_line(self.add(words, (), MarkKind.CODE, info=language), line)

    def begin(self, kind: MarkKind, level: int = 0, info: str = "") -> None:
        """Open a container for the blocks that follow."""
        self._containers.append(_Container(kind, level, info))

    def end(self) -> None:
        """Close the innermost container; without a block in it there is nothing to mark."""
        container = self._containers.pop()
        if container.start is not None:
            self._marks.append(Mark(container.kind, container.start, self.length, container.level, container.info))

    def picture(self, target: str, alt: str = "", caption: str = "", label: str = "") -> None:
        """Record a picture that the document shows here, after what was written so far."""
        if len(self.pictures) < MAX_PICTURES and 0 < len(target) <= MAX_TARGET:
            words = (clean_line(w)[:MAX_ALT] for w in (alt, caption, label))
            self.pictures.append(Picture(self.length, target, *words))

    def mark(self, kind: MarkKind, start: int, end: int) -> None:
        """Mark a span of what was already written."""
        self._marks.append(Mark(kind, start, end))

    def text(self, start: int, end: int) -> str:
        """Return a stretch of what was written so far."""
        return "".join(self._parts)[start:end]

    def finish(self) -> tuple[str, tuple[Mark, ...], tuple[Place, ...]]:
        """Return (text, marks, places), the marks by position, the longer first."""
        marks = sorted(set(self._marks), key=lambda m: (m.start, -m.end, m.kind.value, m.level, m.info))
        return "".join(self._parts), tuple(marks), tuple(self._places)
