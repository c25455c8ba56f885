"""What a sentence names by a number or a month: of another chapter, version or month, something else may hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from compiler.language.lexicon import pattern
from compiler.language.quantities import MONTHS, ORDINALS

_LABEL = pattern("qualifiers_label")
_NAMED = re.compile(r"(?<=[\w,;)’'] )(?P<name>[A-ZÄÖÜ][\w’'-]*)\s\d[\w.]*\b")
_ORDINAL = re.compile(rf"(?<=\bthe )(?:first|second|third|{'|'.join(ORDINALS)}|\d+(?:st|nd|rd|th))\b", re.IGNORECASE)
_MONTH = re.compile(rf"\b(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b")
_SLASHED = re.compile(r"\b\d{1,2}/\d{1,2}/\d{2,4}\b")  # the day or the month may come first


@lru_cache(maxsize=1 << 13)
def labels(sentence: str) -> frozenset[str]:
    """Return what a sentence names by a number: chapter 3, v2.1, the 2019 edition, as of 2020, the fourth stage."""
    return frozenset(" ".join(label.casefold().split()) for label in _labels(sentence))


@lru_cache(maxsize=1 << 13)
def months(sentence: str) -> frozenset[int]:
    """Return the months that a sentence names, January as 1."""
    return frozenset(MONTHS[found[0]] for found in _MONTH.finditer(sentence))


def _labels(sentence: str) -> Iterator[str]:
    for expression in (_LABEL, _ORDINAL, _SLASHED):
        yield from (found[0] for found in expression.finditer(sentence))
    yield from (found[0] for found in _NAMED.finditer(sentence) if found["name"] not in MONTHS)
