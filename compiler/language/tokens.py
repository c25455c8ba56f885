"""Tokens, stems, sentences and clauses of running text, and which words carry content."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from compiler.language.lexicon import LEMMAS, pattern, stem, words
from vault.text.formatting import fold

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?:[.,]\d+)*")
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
FUNCTION_WORDS = words("function_words")
_BARE = FUNCTION_WORDS | words("more_function_words")
_BARE_CJK = frozenset("的了是在和与也就都而及其之于以为把被由从到对个种这那它他她们会能可将着过地得吗呢不没无非未共")
_TOKEN = re.compile(
    r"[A-Za-z]\+\+|[A-Za-z]#|[^\W\d_]*\d[\w]*(?:[.,]\d+)*%?"  # C++, F#; numbers, and names with a number in them
    r"|[^\W\d_]+(?:['’][^\W\d_]+)?"
)
_ENDS = re.compile(r"(?<=[.!?])\s+(?=[^\sa-z])|[;。！？；]|\n")
_TURNS = pattern("tokens_turns")
_STOPS = re.compile(r"(?<=[.!?])\s+(?=[^\sa-z])|[。！？]|\n")
_JOINS = pattern("tokens_joins")
_KEPT = 300  # things said; more in one text is no claim's quote


_IRREGULAR = LEMMAS | {
    form: verb
    for verb, forms in {
        "use": "used uses using", "analysis": "analyses", "wählt": "gewählt wählen wählte", "geteilt": "teilt teilte",
    }.items()
    for form in forms.split()
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or CJK character: as written, folded, its stem, and whether it carries content."""

    text: str
    word: str
    stem: str
    content: bool
    start: int


def content_words(text: str) -> list[str]:
    """Return the stems of the words that carry content; a CJK character counts as a word."""
    words = [stem(w) for w in WORD.findall(CJK.sub(" ", text).casefold()) if w not in FUNCTION_WORDS]
    return words + CJK.findall(text)


@lru_cache(maxsize=1 << 12)
def tokens(text: str) -> tuple[Token, ...]:
    """Return all words, numbers and CJK characters of `text` in order."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        run, at = match[0], match.start()
        if not CJK.search(run):
            found.append(_token(run, at))
            continue
        for piece in re.finditer(rf"{CJK.pattern}|(?:(?!{CJK.pattern}).)+", run):
            one = piece[0]
            if CJK.match(one):
                found.append(Token(one, one, one, one not in _BARE_CJK, at + piece.start()))
            else:
                found.append(_token(one, at + piece.start()))
    return tuple(found)


def _token(text: str, at: int) -> Token:
    """Return the token of one word or number."""
    word = text.casefold().replace("’", "'").removesuffix("'s")
    return Token(text, word, folded_stem(word), word not in _BARE, at)


@lru_cache(maxsize=1 << 14)
def folded_stem(word: str) -> str:
    """Return the stem of a word, equal for "stopped" and "stop"; a number without separators."""
    if word[:1].isdigit():
        return word.rstrip("%").replace(",", "") or word
    short = stem(_IRREGULAR.get(word, word))
    return short[:-1] if len(short) > 3 and short[-1] == short[-2] else short


def stems(found: Sequence[Token]) -> list[str]:
    """Return the stems of the tokens that carry content, in order."""
    return [t.stem for t in found if t.content]


@lru_cache(maxsize=1 << 12)
def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a text: a semicolon and a line end one too."""
    return tuple(s for part in _ENDS.split(text) if (s := fold(part or "")))[:_KEPT]


@lru_cache(maxsize=1 << 12)
def main_clauses(text: str) -> tuple[str, ...]:
    """Return the sentences, split where they turn (but, whereas)."""
    return tuple(s for one in sentences(text) for part in _TURNS.split(one) if (s := fold(part)))[:_KEPT]


@lru_cache(maxsize=1 << 12)
def clauses(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the sentences, each split into clauses at commas, semicolons and conjunctions."""
    found = []
    for sentence in _STOPS.split(text)[:_KEPT]:
        parts = [s for part in _JOINS.split(sentence or "") if (s := fold(part)) and re.search(r"\w", s)][:_KEPT]
        if parts:
            found.append(tuple(parts))
    return tuple(found)
