"""One block of source text while it is written: words and inline marks go in, folded text with marks comes out."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable

from vault.model.source import Mark, MarkKind
from vault.text.formatting import normal

# Line breaks, spaces and tabs that must survive folding travel as these, one for one; `normal` lets none in.
_KEEP = str.maketrans("\n \t", "\x00\x01\x02")
_BACK = str.maketrans("\x00\x01\x02", "\n \t")
_SPACE = re.compile("[\\s\x00-\x02]+")
_UNEVEN = re.compile("[\x00-\x02]|[^\\S ]|  |^ | $")  # white space that folding would change
_WIDE = re.compile("[\u2e80-\u303f\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uff64]")
_SHARED = frozenset("“”‘’—…·[")
_HANGUL = "[\u1100-\u11ff\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb]"

Edit = tuple[int, int, str]


def _joins(before: str, after: str) -> bool:
    """Return whether two lines that meet here join without a space: Chinese and Japanese, and quotes beside them."""
    wide = (_WIDE.match(before) is not None, _WIDE.match(after) is not None)
    return all(wide) or (any(wide) and (before in _SHARED or after in _SHARED))


def _space_edits(raw: str) -> list[Edit]:
    """Return an edit for every run of white space that folding changes."""
    out: list[Edit] = []
    for m in _SPACE.finditer(raw):
        run, start, end = m.group(), m.start(), m.end()
        if end == len(raw):
            new = ""
        elif "\x00" in run:
            indent = "".join(c for c in run[run.rindex("\x00") + 1 :] if c in "\x01\x02")
            new = indent if start == 0 else "\x00" + indent
        elif start == 0:
            new = run if run.strip("\x01\x02") == "" else ""
        elif run.strip("\x01\x02") == "":
            continue
        elif "\n" in run and _joins(raw[start - 1], raw[end]):
            new = ""
        else:
            new = " "
        if new != run:
            out.append((start, end, new))
    return out


def _composing_edits(raw: str) -> list[Edit]:
    """Return the edits that put letters and accents written apart into Unicode's composed form (NFC)."""
    out: list[Edit] = []
    at = 0
    while at < len(raw):
        end = at + 1
        if re.match(_HANGUL, raw[at]):
            while end < len(raw) and re.match(_HANGUL, raw[end]):
                end += 1
        else:
            while end < len(raw) and unicodedata.category(raw[end])[0] == "M":
                end += 1
        composed = unicodedata.normalize("NFC", raw[at:end]) if end > at + 1 else raw[at:end]
        if composed != raw[at:end]:
            out.append((at, end, composed))
        at = end
    return out


def _edited(raw: str, marks: Iterable[Mark], edits: list[Edit]) -> tuple[str, list[Mark]]:
    """Return `raw` after the edits, and the marks at their new offsets; marks without words left are dropped."""
    parts: list[str] = []
    starts: list[int] = []
    ends: list[tuple[int, int, int]] = []  # (end in raw, start in the new text, end in the new text)
    at = length = 0
    for start, end, new in edits:
        parts += (raw[at:start], new)
        length += start - at
        starts.append(start)
        ends.append((end, length, length + len(new)))
        length += len(new)
        at = end
    parts.append(raw[at:])

    def moved(offset: int) -> int:
        i = bisect_right(starts, offset) - 1
        if i < 0:
            return offset
        end, new_start, new_end = ends[i]
        return new_end + offset - end if offset >= end else min(new_start + offset - starts[i], new_end)

    return "".join(parts), [Mark(m.kind, moved(m.start), moved(m.end), m.level, m.info) for m in marks]


def _trimmed(mark: Mark, text: str) -> Mark | None:
    """Return `mark` without white space at its ends; None if nothing is left."""
    start, end = mark.start, min(mark.end, len(text))
    while start < end and text[start].isspace() and mark.kind is not MarkKind.CODE:
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return Mark(mark.kind, start, end, mark.level, mark.info) if start < end else None


def fold_block(raw: str, marks: Iterable[Mark]) -> tuple[str, list[Mark]]:
    """Return (text, marks) of one block: NFC, white space folded, kept line breaks restored, marks trimmed."""
    if not _UNEVEN.search(raw) and unicodedata.is_normalized("NFC", raw):
        return raw, [m for mark in marks if (m := _trimmed(mark, raw)) is not None]
    if not unicodedata.is_normalized("NFC", raw):
        raw, marks = _edited(raw, marks, _composing_edits(raw))
    text, moved = _edited(raw, marks, _space_edits(raw))
    text = text.translate(_BACK)
    return text, [m for mark in moved if (m := _trimmed(mark, text)) is not None]


class Block:
    """One block: its words and the inline marks over them."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._marks: list[Mark] = []
        self._open: list[tuple[MarkKind, int]] = []
        self.size = 0  # characters so far, before folding
        self.empty = True  # no words yet, only white space

    def text(self, words: str) -> None:
        """Add words; runs of white space will become one space."""
        self._add(normal(words))

    def kept(self, words: str) -> None:
        """Add words with their line breaks and indentation; blank lines are dropped, since they separate blocks."""
        self._add(normal(words).translate(_KEEP))

    def _add(self, words: str) -> None:
        """Add normalized words."""
        if words:
            self._pieces.append(words)
            self.size += len(words)
            self.empty = self.empty and _SPACE.fullmatch(words) is not None

    @property
    def tail(self) -> str:
        """Return the last four characters so far, without white space at the end."""
        return "".join(self._pieces[-3:]).rstrip()[-4:]

    def unspace(self) -> None:
        """Remove white space at the end, because what comes next was left out."""
        while self._pieces:
            piece = self._pieces[-1].rstrip(" \n\t")
            self.size -= len(self._pieces[-1]) - len(piece)
            self._pieces[-1] = piece
            if piece:
                return
            self._pieces.pop()

    def open(self, kind: MarkKind) -> None:
        """Start a mark of this kind at the next words."""
        self._open.append((kind, self.size))

    def close(self, kind: MarkKind, level: int = 0, info: str = "") -> None:
        """End the innermost open mark of this kind, if there is one."""
        for i in range(len(self._open) - 1, -1, -1):
            if self._open[i][0] is kind:
                start = self._open.pop(i)[1]
                self._marks.append(Mark(kind, start, self.size, level, info))
                return

    def cite(self, works: str) -> None:
        """Mark the last character as the place where the author cites these works."""
        words = "".join(self._pieces[-3:])
        end = self.size - (len(words) - len(words.rstrip(" \n\t\x00\x01\x02")))
        if words.strip() and works:
            self._marks.append(Mark(MarkKind.CITATION, end - 1, end, 0, works))

    def take(self) -> tuple[str, list[Mark]]:
        """Return the folded text with its marks and empty the block; marks still open continue in the next block."""
        marks = self._marks + [Mark(kind, start, self.size) for kind, start in self._open]
        raw = "".join(self._pieces)
        still_open = [(kind, 0) for kind, _ in self._open]
        self._pieces, self._marks, self._open, self.size, self.empty = [], [], still_open, 0, True
        return fold_block(raw, marks)
