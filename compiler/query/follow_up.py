"""The subject that a follow-up question takes from the questions before it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from compiler.language.lexicon import words
from compiler.language.search_terms import FUNCTION_WORDS, query_words
from compiler.protocol.requests import Exchange
from vault.text.formatting import folded

_FEW = 2  # words with content, below which a question has no subject of its own
_POINTING = words("pointing")
# A question what something is, with what it asks about.
ASKS_WHAT_IS = re.compile(
    r"\s*(?:(?:what|who)(?:'s| is| are| was| were)|define|explain|was (?:ist|sind)|wer (?:ist|war))\s+(.+)",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")


def is_follow_up(question: str) -> bool:
    """Return whether a question needs what was said before it: it points there, or has few words of its own.

    One that asks what something is has a subject in one word.
    """
    if any(word in _POINTING for word in _WORD.findall(folded(question))):
        return True
    return len(_content(question)) < (1 if ASKS_WHAT_IS.match(question) else _FEW)


def subject_of(question: str, earlier: Sequence[Exchange]) -> tuple[str, ...]:
    """Return the words of the last question with a subject that a follow-up lacks.

    () for a question with a subject of its own.
    """
    if not earlier or not is_follow_up(question):
        return ()
    asked = [exchange.question for exchange in earlier]
    subject = next((each for each in reversed(asked) if not is_follow_up(each)), asked[0])
    own = set(_content(question))
    return tuple(word for word in _content(subject) if word not in own)


def _content(question: str) -> list[str]:
    return [word for word in query_words(question) if word not in FUNCTION_WORDS and word not in _POINTING]
