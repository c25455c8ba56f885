"""The terms by which texts are searched: words in lower case, without accents, reduced to their stems.

Chinese, Japanese and Korean are searched by pairs of neighbouring characters, as their words have no blanks between.
Stems are those of the Snowball algorithms, by language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache

from compiler.language.lexicon import LEMMAS, american, words
from vault.text.formatting import folded

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_PART = re.compile(rf"[{_CJK}]+|(?:(?![{_CJK}_])\w)+")  # an underscore parts words
_IS_CJK = re.compile(rf"[{_CJK}]")
_POSSESSIVE = re.compile(r"['’]s\b")
_PLUSES = re.compile(r"\b([a-z])(\+\+|#)(?!\w)")  # C++, F#
FUNCTION_WORDS = words("function_words") | words("more_function_words")
_SNOWBALL = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "et": "estonian", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch",
    "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip


def terms(text: str, language: str = "en") -> list[str]:
    """Return the terms of a text in order; `language` is its ISO 639-1 code, or "" if unknown."""
    stem = _stemmer(language)
    return [term for part in _parts(text) for term in _terms_of(part, stem)]


def alternatives(word: str, languages: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the terms that a word of a query stands for, in each of the languages of the texts: equal ones once."""
    return list(dict.fromkeys(tuple(terms(word, language)) for language in languages or ("en",)))


def query_words(query: str) -> list[str]:
    """Return the words of a query as it writes them, without those that carry no content if any others are there."""
    found = list(dict.fromkeys(_parts(query)))
    return [word for word in found if word not in FUNCTION_WORDS] or found


def places(text: str, language: str, wanted: frozenset[str]) -> list[tuple[int, int]]:
    """Return (start, end) of the words of a text whose terms are wanted, in order."""
    stem, found = _stemmer(language), []
    for match in _PART.finditer(text):
        part = folded(match[0])
        if _IS_CJK.match(part):
            at = [n for n in range(len(part)) if part[n : n + 2] in wanted or part[max(0, n - 1) : n + 1] in wanted]
            found += [(match.start() + n, match.start() + n + 1) for n in at]
        elif stem(part) in wanted:
            found.append(match.span())
    return found


def _parts(text: str) -> Iterator[str]:
    """Yield the words of a text in lower case, and its runs of Chinese, Japanese or Korean."""
    plain = _PLUSES.sub(lambda m: m[1] + ("pp" if m[2] == "++" else "sharp"), _POSSESSIVE.sub("", folded(text)))
    return (match[0] for match in _PART.finditer(plain))


def _terms_of(part: str, stem: Callable[[str], str]) -> list[str]:
    if not _IS_CJK.match(part):
        return [stem(part)]
    return [part[n : n + 2] for n in range(len(part) - 1)] or [part]


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    """Return the function that reduces words of a language to their stems."""
    import Stemmer

    algorithm = Stemmer.Stemmer(_SNOWBALL.get(language, "english"))
    is_english = language in ("", "en")

    @lru_cache(maxsize=1 << 17)
    def stem(word: str) -> str:
        return str(algorithm.stemWord(american(LEMMAS.get(word, word)) if is_english else word))

    return stem
