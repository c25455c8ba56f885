"""Fingerprints of documents: samples of the wording, and traces (numbers, names, formulas) that survive translation.

A fingerprint is computed once, when the document is read, and cached with its text.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from vault.model.source import MarkKind, SourceText

VERSION = 1
STRETCHES = 8  # of equal length, so that one long quotation or licence text can be distinguished from a copy
_SHINGLE, _SHINGLE_CJK = 5, 12  # words, or characters where those stand for words
_SMALL = 256  # samples that are enough to know a text of ordinary length by
_COARSE = 16  # of so many shingles one is kept in long texts: enough to find a chapter in a book
_LARGE = 16_384  # samples of the longest texts
_TRACES = 2_000
_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_TOKEN = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010\u2011]\s?(?=[^\W\d_])")
_FORMULA_FURNITURE = re.compile(r"\\(?:left|right|big|Big|displaystyle|textstyle|mathrm|text|[,;:! ])|[\s{}$&]")
_REMARK = re.compile(r"\s*(?:#|//|%|--\s).*$|\"\"\".*?\"\"\"|'''.*?'''")
_ADDRESS = re.compile(r"https?://(?:www\.)?([^?#\s]{6,300})", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.,])(?:\d+(?:[.,]\d+)+|(?!(?:19|20)\d\d(?!\d))\d{3,})(?!\w)")  # years are everyone's
_LONG_FORMULA, _LONG_LINE, _SHORT_STEM = 10, 12, 3  # characters: shorter ones stand in any text on the subject


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Samples of a text's wording.

    `stretches` hold the hashes of those of its shingles that `every` divides, by eighths of the text; `shingles` is
    how many there are in all. `traces` are hashes of formulas, addresses, pictures and numbers, each once, in their
    order; `code` those of lines of code.
    """

    shingles: int
    every: int
    stretches: tuple[frozenset[int], ...]
    traces: tuple[int, ...]
    code: frozenset[int]

    def as_json(self) -> dict[str, Any]:
        """Return the fingerprint as JSON."""
        return {
            "v": VERSION,
            "shingles": self.shingles,
            "every": self.every,
            "stretches": [sorted(s) for s in self.stretches],
            "traces": list(self.traces),
            "code": sorted(self.code),
        }

    @classmethod
    def from_json(cls, data: object) -> Fingerprint | None:
        """Return the fingerprint from `as_json`; None for anything else, since a cache may be damaged or old."""
        if not isinstance(data, dict) or data.get("v") != VERSION:
            return None
        try:
            stretches = tuple(frozenset(map(int, s)) for s in data["stretches"])
            traces, code = tuple(map(int, data["traces"])), frozenset(map(int, data["code"]))
            return cls(int(data["shingles"]), int(data["every"]), stretches, traces, code)
        except (KeyError, TypeError, ValueError):
            return None


def fingerprint(source: SourceText) -> Fingerprint:
    """Return the fingerprint of a source's text; line breaks, hyphenation, case and markup don't change it."""
    hashes = list(_shingles(source.text))
    every = 1
    kept = len(hashes)
    while (kept > _SMALL and every < _COARSE) or kept > _LARGE:
        every *= 2
        kept = sum(h % every == 0 for h in hashes)
    size = len(hashes)
    bounds = [size * n // STRETCHES for n in range(STRETCHES + 1)]
    stretches = tuple(frozenset(h for h in hashes[first:last] if h % every == 0) for first, last in pairwise(bounds))
    traces = dict.fromkeys(_hash(t) for t in _traces(source))
    code = dict.fromkeys(_hash(line) for line in _lines_of_code(source))
    return Fingerprint(size, every, stretches, tuple(traces)[:_TRACES], frozenset(list(code)[:_TRACES]))


def _hash(text: str) -> int:
    """Return a 48-bit hash of a text."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).digest(), "big")


def _shingles(text: str) -> Iterator[int]:
    """Yield the hashes of all runs of consecutive words."""
    tokens = _TOKEN.findall(_HYPHEN.sub("", unicodedata.normalize("NFKC", text)).casefold())
    single = sum(len(t) == 1 and "\u3040" <= t <= "\u9fff" for t in tokens)
    length = _SHINGLE_CJK if single * 2 > len(tokens) else _SHINGLE
    for at in range(len(tokens) - length + 1):
        yield _hash(" ".join(tokens[at : at + length]))


def _traces(source: SourceText) -> Iterator[str]:
    """Yield what stays when prose is translated, in its order."""
    found: list[tuple[int, str]] = []
    for mark in source.marks:
        formula = _FORMULA_FURNITURE.sub("", source.text[mark.start : mark.end]).strip(".,;")
        if mark.kind is MarkKind.MATH and len(formula) >= _LONG_FORMULA:
            found.append((mark.start, f"formula {formula}"))
        elif mark.kind is MarkKind.LINK and (address := _ADDRESS.match(mark.info)):
            found.append((mark.start, f"address {address[1].rstrip('/').casefold()}"))
    for picture in source.pictures:
        stem = picture.target.rsplit("/", 1)[-1].rpartition(".")[0].casefold()
        found += [(picture.start, f"picture {stem}")] if len(stem) > _SHORT_STEM else []
    apart = sorted((m.start, m.end) for m in source.marks if m.kind in (MarkKind.MATH, MarkKind.CODE))
    for at, words in _between(source.text, apart):
        found += [(at + m.start(), f"number {re.sub('[.,]', '', m[0])}") for m in _NUMBER.finditer(words)]
    return (trace for _, trace in sorted(found))


def _lines_of_code(source: SourceText) -> Iterator[str]:
    """Yield the lines of the source's code."""
    for mark in source.marks:
        if mark.kind is MarkKind.CODE:
            for line in source.text[mark.start : mark.end].split("\n"):
                bare = re.sub(r"\s+", "", _REMARK.sub("", line))
                if len(bare) >= _LONG_LINE:
                    yield bare


def _between(text: str, spans: list[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """Yield (offset, words) of the text outside the spans, which are sorted and may overlap."""
    at = 0
    for start, end in spans:
        if start > at:
            yield at, text[at:start]
        at = max(at, end)
    yield at, text[at:]
