"""Ligatures of PDF fonts that lack a map to letters, recognised by the words that they are in."""

from __future__ import annotations

import re
from collections import defaultdict

from compiler.language.detection import language_of
from compiler.readers.pdf.lines import Document, Run, Style

_LIGATURES = ("ff", "fi", "fl", "ffi", "ffl", "Th", "tt", "ti", "ft", "fj", "ct", "st")
_Sign = tuple[str, str]  # the name of a font, and a character of it that no text has
UNKNOWN = re.compile("[\x00\x01\x03-\x08\x0b\x0c\x0e-\x1f\ufffd\ue000-\uf8ff]")  # of a font without a map to letters
_WORD = re.compile(rf"[^\W\d_]*{UNKNOWN.pattern}(?:[^\W\d_]|{UNKNOWN.pattern})*")
_LEAST = 0.5  # of the words that hold a sign must be known with its letters
_MOST = 0.34  # of that with any other letters
_SAMPLE = 200_000  # characters that tell the language


def write_ligatures(document: Document) -> None:
    """Write letters for the signs of each font that stand for a ligature beyond doubt."""
    words: dict[_Sign, set[str]] = defaultdict(set)
    lines = [line for page in document.pages for line in page if UNKNOWN.search(line.text)]
    for run in (run for line in lines for run in line.runs if Style.MATH not in run.font.style):
        for word in _WORD.findall(run.text):
            signs = set(UNKNOWN.findall(word))
            if len(signs) == 1 and len(word) > 2:
                words[run.font.name, signs.pop()].add(word)
    if not words:
        return
    sample = " ".join(line.text for page in document.pages for line in page)[:_SAMPLE]
    language = language_of(UNKNOWN.sub("", sample)) or "en"
    letters = {key: _ligature(key[1], found, language) for key, found in words.items()}

    def written(run: Run) -> str:
        return UNKNOWN.sub(lambda sign: letters.get((run.font.name, sign[0])) or sign[0], run.text)

    for line in lines:
        line.rewrite(written)


def _ligature(sign: str, words: set[str], language: str) -> str:
    """Return the letters with which most of the words are known; "" if none, or several, make words of them."""
    from wordfreq import zipf_frequency

    counts = sorted(
        (sum(zipf_frequency(word.replace(sign, letters), language, wordlist="small") > 0 for word in words), letters)
        for letters in _LIGATURES
    )
    (second, _), (best, letters) = counts[-2:]
    return letters if best >= _LEAST * len(words) and best and second <= _MOST * best else ""
