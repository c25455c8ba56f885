"""The yardstick for an extractor: one pattern, `X is a ...`, over the same source text, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_IS_A = re.compile(
    r"(?:An?|The)?\s*(?P<subject>[^\W\d_][\w'’-]*(?:\s[\w'’-]+){0,4}?)\s+(?:is|are)\s+(?P<rest>(?:an?|the)\s.+[.!?])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class BareCard:
    """A definitional card, as the pattern makes it."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Found:
    """What the pattern makes of a library: a concept is a subject, a card its first sentence, a claim any sentence."""

    concepts: frozenset[str]
    cards: tuple[BareCard, ...]
    claims: int


def read_barely(texts: Iterable[str]) -> Found:
    """Concepts, cards and claims by the bare pattern."""
    first: dict[str, BareCard] = {}
    claims = 0
    for text in texts:
        for sentence in _SENTENCE_END.split(text):
            found = _IS_A.fullmatch(sentence.strip())
            if found is None:
                continue
            claims += 1
            subject = found["subject"]
            first.setdefault(subject.casefold(), BareCard(f"What is {subject}?", found["rest"]))
    return Found(frozenset(first), tuple(first.values()), claims)
