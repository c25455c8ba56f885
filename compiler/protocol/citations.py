"""Citations in an answer, `[2:17b; 2:18a]`: found in the text, and looked up in the passages that were shown.

A passage is shown with a letter before each of its sentences (items, rows); a listing or a formula is one piece. The
evidence is always a whole piece of the source. Instead of letters, exact words may name the place: `[2:17 "words"]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from rapidfuzz import fuzz

from compiler.protocol.faults import Fault
from compiler.protocol.replies import Clash, Mark, Quote
from compiler.protocol.requests import BlockView, DocumentView, PassageView
from compiler.sources.segments import passages as sentence_spans
from vault.text.formatting import fold, normal, short_line

CLASH = re.compile(r"^[\s>*-]*CLASH\b\**:?\s*(.*)$")
MAX_QUOTE = 2_000  # characters of one piece of evidence
_NEAR = 90  # of 100: how alike words must be to be taken for those of the passage
_SHOWN = 200
_WHOLE = 700  # characters of a passage that may be cited as a whole
_MOST_PASSAGES = 20  # of one range
_OPEN = re.compile(
    r"\[\s{0,9}(?:(derived|computed)\b\s{0,9}(?::\s{0,9}([^\[\]\"“]{1,300}?)\s{0,9}[;:](?=\s{0,9}\d))?[\s:;,]{0,9})?"
    r"(?=\d{1,3}:\d{1,5})"
)
_LETTERS = r"[a-z]{1,2}(?:\s*[-–]\s*[a-z]{1,2})?"
_LABEL = re.compile(
    rf"\s*[;,]?\s*(?:derived:?\s+)?(\d{{1,3}}):(\d{{1,5}})(?:({_LETTERS}(?:\s*,\s*{_LETTERS})*)(?![a-z])|\s*[-–]\s*(?:\1:)?(\d{{1,5}}))?"
)
_RUN = re.compile(r"([a-z]{1,2})(?:\s*[-–]\s*([a-z]{1,2}))?")
_WORDS = re.compile(r"\s*[;,]?\s*[\"“”„](.{0,2000}?)[\"“”](?=\s*(?:[;,]\s*(?:[\"“„]|\d{1,3}:\d)|\]))", re.DOTALL)
_END = re.compile(r"\s*[;,]?\s*\]")
_LEFT_OUT = re.compile(r"\s*(?:\.\.\.|…|\[\.\.\.\])\s*")
_SIGNS = str.maketrans({**dict.fromkeys("’‘‚", "'"), **dict.fromkeys("“”„«»", '"'), **dict.fromkeys("–—−‑", "-")})
_SKIPPED = frozenset("*_`\\$")


@dataclass(frozen=True, slots=True)
class Cited:
    """One item of a citation: the passage that it names, and letters of its pieces or words in it; else all of it."""

    label: str
    words: str = ""
    letters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation at `start` to `end` of a text. `note` is what was run, for `computed`."""

    start: int
    end: int
    items: tuple[Cited, ...]
    mark: Mark = ""
    note: str = ""


def citations_in(text: str) -> list[Citation]:
    """Return the citations of a text in order."""
    found: list[Citation] = []
    at = 0
    while (opened := _OPEN.search(text, at)) is not None:
        items, end, derived = _items(text, opened.end())
        if end is None:
            at = opened.end()
            continue
        mark: Mark = "computed" if opened[1] == "computed" else "derived" if opened[1] or derived else ""
        found.append(Citation(opened.start(), end, tuple(items), mark, (opened[2] or "").strip()))
        at = end
    return found


def _items(text: str, at: int) -> tuple[list[Cited], int | None, bool]:
    """Return the items that begin at an offset, where the citation ends (None if it is none), and its late mark."""
    items: list[Cited] = []
    derived = False
    while (label := _LABEL.match(text, at)) is not None:
        name = f"{label[1]}:{label[2]}"
        derived |= "derived" in label[0]
        at = label.end()
        quoted = False
        while (words := _WORDS.match(text, at)) is not None:
            items.append(Cited(name, words[1].replace('\\"', '"')))
            at, quoted = words.end(), True
        if not quoted:
            letters = tuple(letter for run in _RUN.finditer(label[3] or "") for letter in _between(run[1], run[2]))
            last = min(int(label[4] or label[2]), int(label[2]) + _MOST_PASSAGES)
            items += [Cited(f"{label[1]}:{n}", letters=letters) for n in range(int(label[2]), last + 1)]
    end = _END.match(text, at)
    return items, end.end() if items and end is not None else None, derived


def letters(count: int) -> list[str]:
    """Return the letters of so many pieces: a to z, then aa, ab ..."""
    alphabet = [chr(ord("a") + n) for n in range(26)]
    return [*alphabet, *(a + b for a in alphabet for b in alphabet)][:count]


def _between(first: str, last: str | None) -> list[str]:
    """Return the letters from the first to the last one."""
    if last is None:
        return [first]
    known = letters(702)
    if first not in known or last not in known:
        return [first]
    return known[known.index(first) : min(known.index(last), known.index(first) + _MOST_PASSAGES) + 1] or [first]


# --- looking up ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Searchable:
    """A passage prepared for looking words up in spite of other quotation marks, dashes, case and emphasis."""

    document: DocumentView
    passage: PassageView

    @cached_property
    def text(self) -> str:
        return "\n\n".join(block.text for block in self.passage.blocks)

    @cached_property
    def _plain(self) -> tuple[str, list[int]]:
        return plain_signs(self.text)

    def find(self, words: str) -> tuple[int, int] | None:
        """Return (start, end) of the words in the text of the passage; None if they are not there."""
        wanted, _ = plain_signs(words)
        wanted = wanted.strip()
        plain, offsets = self._plain
        at = plain.find(wanted) if wanted else -1
        return (offsets[at], offsets[at + len(wanted) - 1] + 1) if at >= 0 else None

    def nearest(self, words: str) -> tuple[float, int, int]:
        """Return how alike (0 to 100) the most similar piece of the passage is, and its (start, end)."""
        wanted, _ = plain_signs(words)
        plain, offsets = self._plain
        found = fuzz.partial_ratio_alignment(wanted, plain) if wanted and plain else None
        if found is None or found.dest_end <= found.dest_start:
            return 0.0, 0, 0
        return found.score, offsets[found.dest_start], offsets[found.dest_end - 1] + 1

    @cached_property
    def pieces(self) -> dict[str, Quote]:
        """Return the pieces of the passage by their letters."""
        words = pieces(self.passage)
        quotes = (Quote(source=self.document.source, words=w) for w in words)
        return dict(zip(letters(len(words)), quotes, strict=False))

    def evidence(self, start: int, end: int) -> Iterator[Quote]:
        """Yield the evidence for the words at `start` to `end`: one piece for each block that holds some."""
        at = 0
        for block in self.passage.blocks:
            first, last = max(start - at, 0), min(end - at, len(block.text))
            if first < last and (words := evidence_in(block, first, last)):
                yield Quote(source=self.document.source, words=words)
            at += len(block.text) + 2


def plain_signs(text: str) -> tuple[str, list[int]]:
    """Return a text in lower case with plain signs and single spaces, and for each character its offset."""
    chars: list[str] = []
    offsets: list[int] = []
    for n, char in enumerate(text):
        if char.isspace():
            if chars and chars[-1] != " ":
                chars.append(" ")
                offsets.append(n)
        elif char not in _SKIPPED:
            for low in char.translate(_SIGNS).casefold():
                chars.append(low)
                offsets.append(n)
    return "".join(chars), offsets


def pieces_of(block: BlockView) -> list[tuple[int, int]]:
    """Return (start, end) of the pieces of a block that can be cited: its sentences, its rows, or all of it."""
    if block.kind in ("code", "formula") and len(block.text) <= MAX_QUOTE:
        return [(0, len(block.text))]
    if block.kind in ("code", "table"):
        rows, at = [], 0
        for line in block.text.split("\n"):
            rows += [(at, at + len(line))] if line.strip() else []
            at += len(line) + 1
        return rows
    return sentence_spans(block.text)


def pieces(passage: PassageView) -> list[str]:
    """Return the words of all pieces of a passage, folded, in the order of their letters."""
    return [fold(block.text[s:e])[:MAX_QUOTE] for block in passage.blocks for s, e in pieces_of(block)]


def evidence_in(block: BlockView, start: int, end: int) -> str:
    """Return the words of a block that stand as evidence for those at `start` to `end`, folded."""
    held = [(s, e) for s, e in pieces_of(block) if s < end and start < e]
    found = fold(block.text[held[0][0] : held[-1][1]]) if held else fold(block.text[start:end])
    return found if len(found) <= MAX_QUOTE else fold(block.text[start:end])[:MAX_QUOTE]


class Shown:
    """The passages of a request, by their labels."""

    def __init__(self, documents: Sequence[DocumentView]) -> None:
        self.passages = {f"{d.number}:{p.number}": _Searchable(d, p) for d in documents for p in d.passages}

    def source_of(self, document: int) -> str:
        """Return the id of the source that is called so in the request; "" if none is."""
        return next((s.document.source for s in self.passages.values() if s.document.number == document), "")

    def blocks(self, label: str) -> list[str]:
        """Return references to the blocks of a passage."""
        found = self.passages.get(label)
        return [f"{found.document.source}:{b.key}" for b in found.passage.blocks] if found else []

    def quotes(self, item: Cited) -> tuple[list[Quote], str, str]:
        """Return (evidence, why there is none, what would help) for one item of a citation."""
        searched = self.passages.get(item.label)
        if searched is None:
            return [], f"there is no passage {item.label} in this request", "cite passages by the numbers shown"
        if item.letters:
            missing = [letter for letter in item.letters if letter not in searched.pieces]
            if missing:
                known = ", ".join(searched.pieces)
                return [], f"{item.label} has no piece {missing[0]}", f"its pieces are: {known}"
            return [searched.pieces[letter] for letter in item.letters], "", ""
        if not item.words.strip():
            if len(searched.pieces) == 1 or len(searched.text) <= _WHOLE:
                return list(searched.pieces.values()), "", ""
            return [], f"{item.label} is cited as a whole", "cite the sentence by its letter"
        found: list[Quote] = []
        for piece in filter(str.strip, _LEFT_OUT.split(item.words)):
            quotes = self._piece(item.label, searched, piece)
            if not quotes:
                return [], f"{item.label} does not contain these words", self._hint(searched, piece)
            found += quotes
        return list(dict.fromkeys(found)), "", ""

    def _piece(self, label: str, searched: _Searchable, words: str) -> list[Quote]:
        """Return the evidence for words: in the passage, else nearby, else anywhere that was shown."""
        order = [searched, *(s for name, s in self.passages.items() if name != label)]
        number = searched.passage.number
        order[1:] = sorted(
            order[1:], key=lambda s: (s.document.number != searched.document.number, abs(s.passage.number - number))
        )
        for each in order:
            if (span := each.find(words)) is not None:
                return list(each.evidence(*span))
        score, start, end = searched.nearest(words)
        return list(searched.evidence(start, end)) if score >= _NEAR and len(words) >= 12 else []

    def _hint(self, searched: _Searchable, words: str) -> str:
        score, start, end = searched.nearest(words)
        if score < 60:
            return "cite the sentence by its letter, or leave the statement out"
        return f"the most similar words there are: {short_line(searched.text[start:end], _SHOWN)}"


def sides_in(shown: Shown, number: int, words: str) -> tuple[str, list[list[Quote]], list[Fault]]:
    """Return the words before the citations in a line, the evidence of each citation, and what is wrong with them."""
    cites = citations_in(words)
    text = fold(normal(words[: cites[0].start] if cites else words))[:2_000]
    if not cites or not text:
        return "", [], [Fault(number, words, "it cites nothing", "end it with its place, such as [1:3b]")]
    faults: list[Fault] = []
    sides: list[list[Quote]] = []
    for cite in cites:
        quotes: list[Quote] = []
        for item in cite.items:
            found, why, hint = shown.quotes(item)
            if why:
                faults.append(Fault(number, item.words or item.label, why, hint))
            quotes += found
        sides += [list(dict.fromkeys(quotes))[:12]] if quotes else []
    return text, sides, faults


def clash_in(shown: Shown, number: int, words: str) -> tuple[Clash | None, list[Fault]]:
    """Return the clash that a line names, `What cannot both be right. [1:66a] [2:95c]`, and what is wrong with it."""
    text, sides, faults = sides_in(shown, number, words)
    if len(sides) == 1 and len(sides[0]) > 1:
        sides = [sides[0][:1], sides[0][1:]]
    if len(sides) > 1:
        return Clash(text=text, first=tuple(sides[0]), second=tuple(sides[1])), faults
    if text:
        faults.append(Fault(number, words, "a contradiction needs two statements", "cite each in its own brackets"))
    return None, faults
