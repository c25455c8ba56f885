"""When two cards ask the same."""

from __future__ import annotations

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
