"""Whether words that a model quotes as its grounds are in the text: the check of grades and of quiz points."""

from __future__ import annotations

import re
from collections.abc import Iterable

from vault.text.sanitize import normal

_SEPARATORS = re.compile(r"[\W_]+")
_MEANINGFUL = re.compile(r"[^\W\d_]{4}|\d|[\u3040-\u30ff\u3400-\u9fff]")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_RUN = 7  # words in a row that nobody repeats by chance


def folded(text: str) -> str:
    """Return the words of a text in lower case, separated by one space."""
    return _SEPARATORS.sub(" ", normal(text).casefold()).strip()


def is_quoted(quote: str, texts: Iterable[str]) -> bool:
    """Return whether `quote` is a run of words of one of the texts and more than a filler word."""
    words = folded(quote)
    wholes = [folded(text) for text in texts]
    if not words or not (_MEANINGFUL.search(words) or words in wholes):
        return False
    return any(f" {words} " in f" {whole} " or (bool(_HAN.search(words)) and words in whole) for whole in wholes)


def gives_away(sentence: str, texts: Iterable[str], known: Iterable[str]) -> bool:
    """Return whether a sentence repeats seven words in a row of the texts that are not in `known`."""
    words = folded(sentence).split()
    wholes, known_texts = [f" {folded(text)} " for text in texts], [f" {folded(text)} " for text in known]
    for at in range(len(words) - _RUN + 1):
        run = f" {' '.join(words[at : at + _RUN])} "
        if any(run in whole for whole in wholes) and not any(run in each for each in known_texts):
            return True
    return False
