"""The subject that a follow-up question takes from the questions before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from compiler.language.lexicon import words
from compiler.language.search_terms import FUNCTION_WORDS, query_words
from compiler.protocol.requests import Exchange
from vault.text.formatting import folded

_FEW = 2  # words with content, below which a question may lack a part of its subject
_POINTING = words("pointing")
# A question what something is, with what it asks about.
ASKS_WHAT_IS = re.compile(
    r"\s*(?:(?:what|who)(?:'s| is| are| was| were)|define|explain|was (?:ist|sind)|wer (?:ist|war))\s+(.+)",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_CLAUSE = re.compile(r"[,;:.?!，；：。？！、]")


@dataclass(frozen=True, slots=True)
class Subject:
    """The words of an earlier question that a follow-up may lack; none for a question with a subject of its own.

    `is_pointed_at` says that the follow-up points at them ("why is it so?"), so that it is about them whatever its
    other words are.
    """

    words: tuple[str, ...] = ()
    is_pointed_at: bool = False


NO_SUBJECT = Subject()


def subject_of(question: str, earlier: Sequence[Exchange]) -> Subject:
    """Return the subject of the last question with one of its own, as far as a follow-up lacks it.

    A follow-up is about the earlier subject where it points at it, or has no word with content ("why?"). In few words,
    it may be on a new subject ("and mitosis?") or on another side of the earlier one ("and in Germany?"): there, a word
    of its own that the index knows decides. Only passages with that word come first, and the words of the earlier
    subject choose among them (`compiler.query.extract`). A question in more words, or one what something is, has a
    subject of its own.
    """
    if not earlier or not _lacks_subject(question):
        return NO_SUBJECT
    asked = [exchange.question for exchange in earlier]
    subject = next((each for each in reversed(asked) if not _lacks_subject(each)), asked[0])
    own = set(content_words(question))
    return Subject(tuple(word for word in content_words(subject) if word not in own), _points(question))


def content_words(question: str) -> list[str]:
    """Return the words of a question that carry content, in order."""
    return [word for word in query_words(question) if word not in FUNCTION_WORDS and word not in _POINTING]


def _lacks_subject(question: str) -> bool:
    """Return whether a question points at what was said before it, or has few words; it takes one to ask what is X."""
    few = 1 if ASKS_WHAT_IS.match(question) else _FEW
    return _points(question) or len(content_words(question)) < few


def _points(question: str) -> bool:
    """Return whether a question points out of itself: a word such as "it" after a clause with content points there."""
    clauses = _CLAUSE.split(folded(question))
    first = next((n for n, clause in enumerate(clauses) if content_words(clause)), len(clauses))
    return any(word in _POINTING for clause in clauses[: first + 1] for word in _WORD.findall(clause))
