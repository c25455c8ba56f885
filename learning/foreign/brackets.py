"""Clozes in brackets, as hashcards has them: `The [order] of a group`. Places are in bytes, as in its digests."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PIECE = re.compile(rb"(?P<image>!\[[^\]]*\])|\\(?P<escaped>[\[\]])|(?P<sign>[\[\]])")
_MARKED = re.compile(rb"\{\{c\d+::|\}\}")


@dataclass(frozen=True, slots=True)
class Bracketed:
    """A text without its brackets, and the places (start, end) of its deletions in the bytes of that."""

    clean: str
    deletions: tuple[tuple[int, int], ...]

    def marked(self) -> str:
        """Return the text with Anki's marks, the deletions numbered in their order."""
        data, out, at = self.clean.encode(), [], 0
        for n, (start, end) in enumerate(self.deletions, 1):
            out += [data[at:start], b"{{c%d::" % n, data[start:end], b"}}"]
            at = end
        return b"".join([*out, data[at:]]).decode()

    @classmethod
    def of_marked(cls, text: str) -> Bracketed:
        """Return what `marked` made `text` of."""
        data, clean, places, at = text.encode(), bytearray(), [], 0
        start = 0
        for mark in _MARKED.finditer(data):
            clean += data[at : mark.start()]
            at = mark.end()
            if mark[0] == b"}}":
                places.append((start, len(clean)))
            else:
                start = len(clean)
        return cls(bytes(clean + data[at:]).decode(), tuple(places))


def bracketed(text: str) -> Bracketed:
    """Return a cloze text as hashcards reads it: `![...]` and escaped brackets are words; a bracket within another
    starts the deletion again.
    """
    data, clean, places, at = text.encode(), bytearray(), [], 0
    start: int | None = None
    for piece in _PIECE.finditer(data):
        clean += data[at : piece.start()]
        at = piece.end()
        if piece["image"] is not None:
            clean += piece["image"]
        elif piece["escaped"] is not None:
            clean += piece["escaped"]
        elif piece["sign"] == b"[":
            start = len(clean)
        elif start is not None:
            if len(clean) > start:
                places.append((start, len(clean)))
            start = None
    return Bracketed(bytes(clean + data[at:]).decode(), tuple(places))
