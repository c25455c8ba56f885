"""Two versions of a page or card: their difference, sentence by sentence in plain words, and git's conflict markers."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vault.ids import ALPHABET
from vault.text.formatting import clean_line

MOST = 4_000  # sentences of one side: comparing more takes too long
AROUND = 2  # sentences shown before and after a difference
_CITATION = re.compile(rf"\[\[[^\]\n|#]+#\^c-[{ALPHABET}]{{10}}\\?\|(\d{{1,6}})\]\]")
_LINK = re.compile(r"\[\[[^\]\n|]+\\?\|([^\]\n]+)\]\]")
_AFTER_CITATIONS = re.compile(r"(?<=\]\]) +(?!\[\[)")
_BEGINNING, _BASE, _MIDDLE, _END = (
    re.compile(f"^{mark}", re.MULTILINE)
    for mark in (r"<{7} .*\n", r"\|{7}.*\n", r"={7}\r?(?:\n|\Z)", r">{7} .*(?:\n|\Z)")
)
SAME, MINE, OFFERED, LEFT_OUT = " ", "-", "+", "…"


@dataclass(frozen=True, slots=True)
class Row:
    """One clean sentence or line; `mark` says which text has it. With LEFT_OUT, `words` is the number left out."""

    mark: str
    words: str


@dataclass(frozen=True, slots=True)
class TextDiff:
    """The differences of two texts in order; `removed` and `added` count those of each side. `whole` is False where
    only the beginning of a long text was compared."""

    rows: tuple[Row, ...]
    removed: int
    added: int
    whole: bool = True


def compare_texts(mine: str, offered: str) -> TextDiff:
    """Return what only one of the texts has, with context; white space at line ends doesn't count."""
    old, new = list(_pieces(mine)), list(_pieces(offered))
    whole = max(len(old), len(new)) <= MOST
    old, new = old[:MOST], new[:MOST]
    groups = difflib.SequenceMatcher(None, old, new, autojunk=len(old) > 400).get_grouped_opcodes(AROUND)
    rows: list[Row] = []
    at = 0
    for group in groups:
        rows += _left_out(group[0][1] - at)
        for tag, i, i2, j, j2 in group:
            rows += _rows(tag, old[i:i2], new[j:j2])
            at = i2
    rows += _left_out(len(old) - at) if rows else []
    return TextDiff(tuple(rows), sum(r.mark == MINE for r in rows), sum(r.mark == OFFERED for r in rows), whole)


def plain_line(words: str) -> str:
    """Return a line for the screen: citations as their numbers, links as their names, no control characters."""
    return clean_line(_LINK.sub(r"\1", _CITATION.sub(r"[\1]", words)))


def _pieces(text: str) -> Iterator[str]:
    """Yield the sentences of a text that end in citations, and its other lines, without blank ones."""
    for line in text.splitlines():
        yield from (piece.strip() for piece in _AFTER_CITATIONS.split(line) if piece.strip())


def _rows(tag: str, old: Sequence[str], new: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of one step of the difference."""
    if tag == "equal":
        yield from (Row(SAME, plain_line(piece)) for piece in old)
        return
    in_both = {plain_line(piece) for piece in old} & {plain_line(piece) for piece in new}
    for mark, pieces in ((MINE, old), (OFFERED, new)):
        for piece in pieces:  # two that differ in what they cite alone are shown as they are written
            words = plain_line(piece)
            yield Row(mark, clean_line(piece) if words in in_both else words)


def _left_out(number: int) -> list[Row]:
    """Return a row for the sentences left out, [] for none."""
    return [Row(LEFT_OUT, str(number))] if number > 0 else []


def sides(text: str) -> tuple[str, str] | None:
    """Return `text` with every conflict resolved to (ours, theirs); None without conflict markers."""
    ours, theirs = [], []
    at = 0
    while begin := _BEGINNING.search(text, at):
        middle = _MIDDLE.search(text, begin.end())
        end = _END.search(text, middle.end()) if middle else None
        if middle is None or end is None:
            break
        base = _BASE.search(text, begin.end(), middle.start())
        before = text[at : begin.start()]
        ours += [before, text[begin.end() : (base or middle).start()]]
        theirs += [before, text[middle.end() : end.start()]]
        at = end.end()
    return ("".join([*ours, text[at:]]), "".join([*theirs, text[at:]])) if at else None


def line_of(text: str) -> int:
    """Return the 1-based line of the first conflict marker, also where the last one was deleted; 0 without any."""
    found = _BEGINNING.search(text)
    return text.count("\n", 0, found.start()) + 1 if found and _MIDDLE.search(text, found.end()) else 0
