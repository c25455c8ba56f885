"""Whether words that a model names as its grounds stand where it says: the gate of grades and of quizzes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from vault.text.sanitize import normal

_APART = re.compile(r"[\W_]+")
_TELLING = re.compile(r"[^\W\d_]{4}|\d|[\u3040-\u30ff\u3400-\u9fff]")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
RUN = 7  # words in a row that are the article's, and nobody's by chance


def folded(text: str) -> str:
    """The words of a text, case and everything between them aside."""
    return _APART.sub(" ", normal(text).casefold()).strip()


def stands(quote: str, texts: Iterable[str]) -> bool:
    """Whether `quote` is a run of words of one of the texts, and says more than a filler."""
    words = folded(quote)
    wholes = [folded(text) for text in texts]
    if not words or not (_TELLING.search(words) or words in wholes):
        return False
    return any(f" {words} " in f" {whole} " or (bool(_HAN.search(words)) and words in whole) for whole in wholes)


def gives_away(sentence: str, texts: Iterable[str], known: Iterable[str]) -> bool:
    """Whether a sentence repeats a long run of the texts that the learner has not said or been asked."""
    words = folded(sentence).split()
    wholes, told = [f" {folded(text)} " for text in texts], [f" {folded(text)} " for text in known]
    for at in range(len(words) - RUN + 1):
        run = f" {' '.join(words[at : at + RUN])} "
        if any(run in whole for whole in wholes) and not any(run in each for each in told):
            return True
    return False
