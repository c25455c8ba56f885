"""The words of an answer without its markup: links, emphasis; formulas and code stay."""

from __future__ import annotations

import re

from compiler.gates.written import FORMULA
from vault.text.formatting import clean, clean_line, fold, normal

LINK = re.compile(r"!*\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]+))?\]\]")
_BEFORE, _AFTER = r"(?<![A-Za-zÀ-ɏ\d_*\\$)\]}])", r"(?![A-Za-zÀ-ɏ\d_*(\[{])"  # a word's border, no product or power
_STRONG = re.compile(rf"{_BEFORE}\*\*(?=[^\s*])([^*\n]{{1,400}})(?<=\S)\*\*{_AFTER}")
_SLANTED = re.compile(rf"{_BEFORE}\*(?=[^\s*\d(\[{{])([^*\n$]{{1,400}})(?<=[^\s\d)\]}}])\*{_AFTER}")
_LITERAL = re.compile(rf"`[^`]{{1,400}}`|{FORMULA.pattern}")  # code and formulas, which stay as they are
_HELD = re.compile("\x00(\\d+)\x01")


def plain_words(text: str) -> str:
    """Return words without links and emphasis, on one line; formulas and code stay as they are."""
    words, held = _held(text)
    words = LINK.sub(lambda m: m[2] or m[1], words)
    words = _SLANTED.sub(r"\1", _STRONG.sub(r"\1", words))
    return fold(clean(_HELD.sub(lambda m: held[int(m[1])], words)))


def _held(text: str) -> tuple[str, list[str]]:
    """Return a text with a sign in place of each piece of code and each formula, and these."""
    held: list[str] = []

    def sign(match: re.Match[str]) -> str:
        held.append(match[0])
        return f"\x00{len(held) - 1}\x01"  # control characters, which no normal text has

    return _LITERAL.sub(sign, normal(text)), held


def links_in(text: str) -> tuple[tuple[str, str], ...]:
    """Return the links of a text to other pages, as (words, title)."""
    plain, held = _held(text)
    links = (
        [_HELD.sub(lambda h: held[int(h[1])], words) for words in (m[2] or m[1], m[1])] for m in LINK.finditer(plain)
    )
    found = ((fold(words), clean_line(title)) for words, title in links)
    return tuple(dict.fromkeys((words[:200], title[:200]) for words, title in found if words and title))[:20]
