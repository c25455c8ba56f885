"""Citations in an answer, `[2:17 "exact words"]`: found in the text, and looked up in the passages that were shown.

A few exact words find the place; the evidence is the whole sentence (row, item, listing) of the source that holds them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from rapidfuzz import fuzz

from compiler.protocol.replies import Mark, Quote
from compiler.protocol.requests import BlockView, DocumentView, PassageView
from compiler.sources.segments import passages as sentence_spans
from vault.text.formatting import fold, short_line

MAX_QUOTE = 2_000  # characters of one piece of evidence
_NEAR = 90  # of 100: how alike words must be to be taken for those of the passage
_SHOWN = 200
_WHOLE = 400  # characters of a passage that may be cited without words
_OPEN = re.compile(
    r"\[\s*(?:(derived|computed)\b\s*(?::\s*([^\[\]\"“]{1,300}?)\s*[;:](?=\s*\d))?[\s:;,]*)?(?=\d{1,3}:\d{1,5})"
)
_LABEL = re.compile(r"\s*[;,]?\s*(\d{1,3}):(\d{1,5})(?:\s*[-–]\s*(\d{1,5}))?")
_WORDS = re.compile(r"\s*,?\s*[\"“”„](.{0,2000}?)[\"“”](?=\s*(?:[;,]\s*(?:[\"“„]|\d{1,3}:\d)|\]))", re.DOTALL)
_END = re.compile(r"\s*[;,]?\s*\]")
_LEFT_OUT = re.compile(r"\s*(?:\.\.\.|…|\[\.\.\.\])\s*")
_SIGNS = str.maketrans({**dict.fromkeys("’‘‚", "'"), **dict.fromkeys("“”„«»", '"'), **dict.fromkeys("–—−‑", "-")})
_SKIPPED = frozenset("*_`\\$")


@dataclass(frozen=True, slots=True)
class Cited:
    """One item of a citation: the passage that it names, and the words; `words` "" names the passage alone."""

    label: str
    words: str


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
        items, end = _items(text, opened.end())
        if end is None:
            at = opened.end()
            continue
        mark: Mark = "derived" if opened[1] == "derived" else "computed" if opened[1] else ""
        found.append(Citation(opened.start(), end, tuple(items), mark, (opened[2] or "").strip()))
        at = end
    return found


def _items(text: str, at: int) -> tuple[list[Cited], int | None]:
    """Return the items that begin at an offset, and where the citation ends; None if it is none."""
    items: list[Cited] = []
    while (label := _LABEL.match(text, at)) is not None:
        name = f"{label[1]}:{label[2]}"
        at = label.end()
        quoted = False
        while (words := _WORDS.match(text, at)) is not None:
            items.append(Cited(name, words[1].replace('\\"', '"')))
            at, quoted = words.end(), True
        if not quoted:
            last = int(label[3] or label[2])
            items += [Cited(f"{label[1]}:{n}", "") for n in range(int(label[2]), min(last, int(label[2]) + 20) + 1)]
    end = _END.match(text, at)
    return (items, end.end()) if items and end is not None else (items, None)


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


def evidence_in(block: BlockView, start: int, end: int) -> str:
    """Return the words of a block that stand as evidence for those at `start` to `end`, folded."""
    if block.kind in ("code", "formula") and len(block.text) <= MAX_QUOTE:
        return fold(block.text)
    if block.kind in ("code", "table"):
        first = block.text.rfind("\n", 0, start) + 1
        last = block.text.find("\n", end)
        return fold(block.text[first : last if last >= 0 else len(block.text)])[:MAX_QUOTE]
    spans = [(s, e) for s, e in sentence_spans(block.text) if s < end and start < e]
    found = fold(block.text[spans[0][0] : spans[-1][1]]) if spans else fold(block.text[start:end])
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
        if not item.words.strip():
            if len(searched.text) <= _WHOLE:
                return list(searched.evidence(0, len(searched.text))), "", ""
            return [], f"{item.label} is cited without words", "add 4 to 8 exact words of the sentence that says it"
        found: list[Quote] = []
        for piece in filter(str.strip, _LEFT_OUT.split(item.words)):
            quotes = self._piece(item.label, searched, piece)
            if not quotes:
                return [], f"{item.label} does not have these words", self._hint(searched, piece)
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
            return "copy 4 to 8 words of the passage that says it, or leave the statement out"
        return f"the nearest words there are: {short_line(searched.text[start:end], _SHOWN)}"
