"""Names that a text mentions only in passing: in thanks, advertisements, rules and labels."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from compiler.language.lexicon import pattern
from compiler.language.mentions import places

MAX_PLACES = 30  # of one name that are looked at
_BROAD = 260  # characters on either side of a name that may be its sentence
_SENTENCE = re.compile(r"[.!?。！？][\"”)]?(?:\s+(?=[^\s(\d])|$)|\n\n")
_PASSING = pattern("passing_mentions_passing")
_MARKS_SYMBOL = re.compile(r"(?:→|->|::=|⇒)\s*(?:[\w+-]+\s+){0,2}$")
_IS_SYMBOL = re.compile(r"\s*\|?\s*(?:→|->|::=|⇒)")
_EXPLAINING_LIST = re.compile(
    r"(?:\s+\w+)?(?:\s*\([^()]{1,60}\))?\s(?:[\w’'-]+\s){1,8}?(?:via|as follows|by|of|are|is):"
)


def only_dropped(text: str, spellings: Iterable[str]) -> bool:
    """Return whether a text names one of `spellings` only in thanks, advertisements, rules or labels."""
    lowered, written = text.lower(), sorted(spellings)
    found = sorted({p for name in written for p in islice(places(lowered, name.lower()), MAX_PLACES)})
    if found and all(_is_in_passing(lowered, start, end) for start, end in found):
        return True
    return bool(written) and all(_is_label(text, lowered, name) for name in written)


def explained_by_list(lowered: str, spellings: Iterable[str]) -> bool:
    """Return whether a text in lower case explains one of `spellings` by the list that follows it."""
    found = (p for name in spellings for p in islice(places(lowered, name.lower()), MAX_PLACES))
    return any(_EXPLAINING_LIST.match(lowered, end, end + _BROAD) for _, end in found)


def _is_in_passing(lowered: str, start: int, end: int) -> bool:
    """Return whether the name at this place is in thanks, an advertisement or a grammar rule."""
    if _IS_SYMBOL.match(lowered, end) or _MARKS_SYMBOL.search(lowered, max(0, start - 60), start):
        return True
    before = [m.end() for m in _SENTENCE.finditer(lowered, max(0, start - _BROAD), start)]
    after = _SENTENCE.search(lowered, end, end + _BROAD)
    first, last = before[-1] if before else max(0, start - _BROAD), after.end() if after else end + _BROAD
    return _PASSING.search(lowered, first, last) is not None


def _is_label(text: str, lowered: str, name: str) -> bool:
    """Return whether a name in capitals is a common word of the text that labels something: "COMPANY"."""
    if not name.isupper() or not name.isalpha() or len(name) < 5:
        return False
    return any(text[start:end] == name.lower() for start, end in islice(places(lowered, name.lower()), MAX_PLACES))
