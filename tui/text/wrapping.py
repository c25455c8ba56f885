"""Folding of text by cells: Chinese and Japanese break between characters, but not before a comma."""

from __future__ import annotations

import re
import unicodedata

from textual._cells import cell_len
from textual.content import Content

__all__ = ["breaks", "cell_len", "runs_left"]

_WIDE = "\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff"
_WIDE += "\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\U00020000-\U0003fffd"
_OPEN = "([{“‘《〈「『【〔（［｛"
_SHUT = "-–—…·、。，．：；！？）］｝〕】』」〉》’”)\\]},.:;!?%‰°ー々～"
_JOINED = "\u0300-\u036f\ufe00-\ufe0f\u200d\u3099\u309a"
_PIECE = re.compile(
    rf"(?:[{re.escape(_OPEN)}]*(?:[{_WIDE}]|[^\s{_WIDE}]+)[{_JOINED}]*[{_SHUT}]*|[{re.escape(_OPEN)}]+)\s*"
)
_PLAIN = re.compile(r"\S+\s*")
_WORD = re.compile(r"\S")


def breaks(line: str, width: int) -> list[int]:
    """Return the offsets at which one line is folded, so that no row is wider than `width` cells."""
    if width <= 0 or (len(line) <= width and line.isascii()) or cell_len(line) <= width:
        return []
    found: list[int] = []
    used = len(line) - len(line.lstrip())
    for piece in (_PLAIN if line.isascii() else _PIECE).finditer(line):
        words = piece[0].rstrip()
        cells = cell_len(words)
        if used and used + cells > width:
            found.append(piece.start())
            used = 0
        if cells > width:
            inside, cells = _folded(words, width)
            found += [piece.start() + at for at in inside]
        used += cells + len(piece[0]) - len(words)
    return [at for at in found if at]


def _folded(word: str, width: int) -> tuple[list[int], int]:
    """Return (the offsets at which a long word is cut, the cells of its last part)."""
    cuts, used = [], 0
    for at, character in enumerate(word):
        cells = cell_len(character)
        if used + cells > width and used:
            cuts.append(at)
            used = 0
        used += cells
    return cuts, used


def runs_left(text: str) -> bool:
    """Return whether the first letter belongs to a right-to-left script."""
    if text.isascii():
        return False
    for character in text[:200]:
        kind = unicodedata.bidirectional(character)
        if kind in ("L", "R", "AL"):
            return kind != "L"
    return False


def folded(words: Content, width: int) -> list[Content]:
    """Return the text as rows of at most `width` cells; 0 folds only at line ends."""
    out: list[Content] = []
    for line in words.split("\n", allow_blank=True):
        cuts = breaks(line.plain, width)
        out += [part.rstrip() for part in line.divide(cuts)] if cuts else [line]
    return out
