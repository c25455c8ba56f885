"""When two cards of one page ask the same, and how many of a kind it may have."""

from __future__ import annotations

from collections.abc import Iterable

from compiler.language.lexicon import pattern
from compiler.language.tokens import folded_stem, stems, tokens
from vault.text.formatting import fold

_WHY = pattern("repeated_cards_why")
_WHEN = pattern("repeated_cards_when")
_ASKING = frozenset(
    stems(
        tokens(
            "happen happens mean meant means meaning call called name named term word define definition describe"
            " explain make makes let lets cause causes because reason refer refers do done one use used should"
            " look looks get heißt bedeutet nennt versteht Grund 什么 为什么 怎 如何"
        )
    )
) | {folded_stem(w) for w in ("what", "which", "why", "how", "when")}


def asked(question: str) -> frozenset[str]:
    """Return the stems of what a question is about, without those of asking."""
    return frozenset(stems(tokens(question))) - _ASKING


def manner(question: str) -> str:
    """Return how a question asks: "why" for reasons and ways, "when" for conditions, else "what"."""
    asks = fold(question)
    return "when" if _WHEN.match(asks) else "why" if _WHY.match(asks) else "what"


def alike(a: frozenset[str], b: frozenset[str]) -> float:
    """Return the share in [0, 1] of the stems of both that are common."""
    return len(a & b) / len(a | b) if a or b else 1.0


PER_KIND = 2  # cards of one kind and concept: quality over count
_SAME_ANSWER = 0.75  # of the content words of two answers about one concept


def repeats(question: str, answer: str, others: Iterable[tuple[str, str]]) -> str:
    """Return why a card says what another one of its page (question, answer) says; "" if none does."""
    about, how, said = asked(question), manner(question), asked(answer)
    for other, its_answer in others:
        same_question = asked(other) == about and manner(other) == how
        if same_question:
            return "another card here asks almost the same question"
        if alike(said, asked(its_answer)) >= _SAME_ANSWER and alike(about, asked(other)) >= _SAME_ANSWER:
            return "another card here has the same answer"
    return ""
