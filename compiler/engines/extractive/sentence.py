"""Sentences of a document with their place in its structure, and the parse of an English one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from compiler.engines.extractive.parser import english
from compiler.engines.extractive.split import Sentence as Part
from compiler.engines.extractive.split import sentences as split
from compiler.model.requests import ExtractRequest, Span

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

MAX_WORDS = 60  # of a sentence that is parsed; longer ones are lists or faults of reading
_ZERO_WIDTH = re.compile(r"[​‌‍⁠­]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the document: `requests[segment].text[start:end]`.

    `position` counts the sentences of its paragraph from 0, `paragraph` the paragraphs of the segment. `marks` are the
    marks that overlap it, with offsets counted from its own first character. `entry` is the term that the paragraph
    explains, of a glossary or of a label that its first sentence takes up ("*Blob*: A blob combines ..."), "" if it
    explains none. `opens` is true of the first sentence under a heading.
    """

    text: str
    segment: int
    start: int
    end: int
    paragraph: int
    position: int
    is_item: bool
    headings: tuple[str, ...]
    marks: tuple[Span, ...]
    entry: str = ""
    opens: bool = False

    def has(self, kind: str) -> bool:
        """Return whether a mark of this kind lies in the sentence."""
        return any(m.kind == kind for m in self.marks)


def sentences_of(requests: Sequence[ExtractRequest]) -> list[Sentence]:
    """Return the prose sentences of a document's segments in order."""
    found = [sentence for number, request in enumerate(requests) for sentence in _in_segment(number, request)]
    before = [None, *(s.headings for s in found)]
    return [replace(s, opens=s.headings != last) for s, last in zip(found, before, strict=False)]


def _in_segment(number: int, request: ExtractRequest) -> Iterator[Sentence]:
    position, paragraph = 0, -1
    entries = {m.end: request.text[m.start : m.end].strip() for m in request.marks if m.kind == "term"}
    for found in split(request):
        position = position + 1 if found.block == paragraph else 0
        paragraph = found.block
        marks = tuple(
            m.replaced(start=max(m.start - found.start, 0), end=min(m.end, found.end) - found.start)
            for m in request.marks
            if m.start < found.end and m.end > found.start
        )
        yield Sentence(
            found.text,
            number,
            found.start,
            found.end,
            paragraph,
            position,
            found.item,
            request.headings,
            marks,
            (entries.get(len(request.text[: found.start].rstrip()), "") or _taken_up(found)) if position == 0 else "",
        )


def _taken_up(sentence: Part) -> str:
    """Return the label before a sentence if the sentence begins with it, else ""."""
    begins = sentence.label and re.match(rf"(?:an? |the )?{re.escape(sentence.label)}\b", sentence.text, re.IGNORECASE)
    return sentence.label if begins else ""


def parse_all(texts: Sequence[str]) -> list[Doc]:
    """Return the parse of each English sentence, one sentence a document, with the same characters."""
    return list(english().parse(map(_plain, texts)))


def _plain(text: str) -> str:
    return _ZERO_WIDTH.sub(" ", text).replace("\n", " ")


def root_of(doc: Doc) -> Token | None:
    """Return the root of the sentence; None if the parser sees several sentences in it."""
    roots = [at for at, distance in enumerate(doc.to_array("HEAD").tolist()) if not distance]
    return doc[roots[0]] if len(roots) == 1 else None
