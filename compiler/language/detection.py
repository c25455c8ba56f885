"""The language of a document or of one sentence: by its script, else by its commonest words."""

from __future__ import annotations

import re
from functools import lru_cache

from compiler.language.tokens import CJK, tokens

SAMPLE = 40_000  # characters; more would change nothing
_SCRIPTS = {
    "ja": re.compile("[\u3040-\u30ff]"),
    "zh": re.compile("[\u4e00-\u9fff]"),
    "ko": re.compile("[\uac00-\ud7a3]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "he": re.compile("[\u05d0-\u05ea]"),
    "ar": re.compile("[\u0620-\u064a]"),
    "hi": re.compile("[\u0905-\u0939]"),
    "th": re.compile("[\u0e01-\u0e2e]"),
    "ka": re.compile("[\u10d0-\u10f0]"),
    "hy": re.compile("[\u0561-\u0586]"),
    "ru": re.compile("[\u0430-\u044f]"),
}
_UKRAINIAN = re.compile("[іїєґ]")
_WORD = re.compile(r"[^\W\d_]+")
_LETTER = re.compile(r"[^\W\d_]")
# The commonest words of each, those that several share left in: the shares differ enough.
_COMMON = {
    "en": "the of and to in is that for it as with was on are by this be at from which an have not we can or",
    "de": "der die und das den von zu ist mit des auf für im nicht ein eine dem es sich als auch werden wird sind oder",
    "fr": "le la les de des et est un une du dans que pour qui par sur plus ne pas au avec sont ce il aux ou",
    "es": "el la los las de que y en un una es por con para del se como su al lo más no son este entre pero",
    "it": "il la di che e un una per è con del della i le si in non da sono come gli al nel più dei anche",
    "pt": "o a os as de que e do da em um uma para com por não é se dos das no na mais como ao são",
    "nl": "de het een en van in is dat op te zijn met voor die niet aan er door als ook worden wordt bij om naar",
    "sv": "och att det som en på är av för med till den har de inte om ett i var från eller kan ska",
    "da": "og det at en den til er som på de med han af for ikke der var har et fra eller kan skal blev",
    "pl": "i w na z do nie jest się że to jak od przez dla po oraz są lub ale tym który przy może",
}
_COMMON_SETS = {language: frozenset(words.split()) for language, words in _COMMON.items()}


def language_of(text: str) -> str:
    """Return the ISO 639-1 code of the language that `text` is mostly in; "" if there are too few words to tell."""
    sample = text[:SAMPLE].lower()
    letters = len(_LETTER.findall(sample))
    if letters < 8:
        return ""
    counts = {language: len(pattern.findall(sample)) for language, pattern in _SCRIPTS.items()}
    if counts["ja"] > 0.05 * letters:
        return "ja"
    script = max(counts, key=lambda language: counts[language])
    # A Chinese or Korean character is a word or half of one: a fifth of the letters is most of the prose.
    if counts[script] > (0.2 if script in ("zh", "ko") else 0.4) * letters:
        return "uk" if script == "ru" and len(_UKRAINIAN.findall(sample)) > 0.01 * letters else script
    words = _WORD.findall(sample)
    if len(words) < 8:
        return ""
    shares = {lang: sum(word in common for word in words) for lang, common in _COMMON_SETS.items()}
    best, second = sorted(shares, key=lambda lang: -shares[lang])[:2]
    clear = shares[best] >= max(2, 0.06 * len(words)) and shares[best] > 1.15 * shares[second]
    return best if clear else ""


def reads_as_german(text: str) -> bool:
    """Return whether a sentence reads as German, where every noun begins with a capital letter."""
    german, english = _word_counts(text)
    return german > english


def sentence_language(text: str) -> str:
    """Return "zh" (or another language of CJK letters), "de" or "en" for a sentence; "" where nothing tells."""
    if 4 * len(CJK.findall(text)) > len(re.findall(r"\w+", CJK.sub(" ", text))) and CJK.search(text):
        return "zh"
    german, english = _word_counts(text)
    return "de" if german > english else "en" if english > german else ""


@lru_cache(maxsize=1 << 12)
def _word_counts(text: str) -> tuple[int, int]:
    """Return how many words are German, by themselves or by their letters, and how many are English."""
    words = tokens(text)
    german = sum(t.word in _COMMON_SETS["de"] or bool(_UMLAUT.search(t.text)) for t in words)
    return german, sum(t.word in _COMMON_SETS["en"] for t in words)


_UMLAUT = re.compile("[äöüßÄÖÜ]")
