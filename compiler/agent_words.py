"""What an agent's words are held to beyond the gates of every engine: words that turn a sentence, and questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from compiler.engines.port import ClaimView
from compiler.gates import content_words

ASKED = 0.6  # of the content words of a question must be those of the claims, of the title, or of asking itself
_TURNING = frozenset(  # no content of their own, and one in the place of another makes a sentence false
    "more less most least all some every each both either any always only many few before after above below over under"
    " while until unless although through same other nur vor nach über unter alle jede jeder jedes".split()
)
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_COMPARES = re.compile(r"\b(?:than|als)\b", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:https?://|\bwww\.)[^\s<>]+", re.IGNORECASE)
_ASKING = frozenset(
    content_words(
        "happen happens help helps helped work works use used using fail fails matter matters mean means meaning call"
        " called name named term word define definition describe explain give state tell difference differ compare"
        " comparison relate related relation relationship cause causes effect reason purpose role kind type part step"
        " condition limitation limit advantage disadvantage example method approach technique idea concept main key"
        " instead need needed make makes apply applied put practice know known learn"
        " bedeutet heißt nennt unterschied warum grund wirkt hilft bedingung grenze"
    )
)


def turned(text: str, claims: Iterable[ClaimView]) -> str:
    """Why the words of `text` may turn round what the claims say; "" if nothing tells.

    Words such as *more* and *before* must be the claims' own. Where two things are compared, the words stand in the
    order in which one claim has them.
    """
    evidence = [t for claim in claims for t in (claim.quote, claim.words)]
    there = {word for t in evidence for word in _WORD.findall(t.casefold())}
    strange = [w for w in dict.fromkeys(_WORD.findall(text.casefold())) if w in _TURNING and w not in there]
    if strange:
        return f"the cited claims do not say {', '.join(strange)}"
    if _COMPARES.search(text):
        wanted = content_words(text)
        if not any(_in_order(wanted, content_words(t)) for t in evidence):
            return "it compares, and no claim has these words in this order"
    return ""


def _in_order(wanted: Sequence[str], words: Sequence[str]) -> bool:
    rest = iter(words)
    return all(word in rest for word in wanted)


def question_fault(question: str, answer: str, claims: Sequence[ClaimView], names: Sequence[str]) -> str:
    """Why a card may not ask this; "" if it may. `names` are the concept's title and its other names."""
    evidence = " ".join([*names, *(t for claim in claims for t in (claim.quote, claim.words))])
    for found in _ADDRESS.findall(f"{question}\n{answer}"):
        if found.rstrip(".,;:!?)'\"") not in evidence:
            return "an address that no claim of the card has"
    numbers = set(_NUMBER.findall(evidence))
    if strange := [n for n in _NUMBER.findall(question) if n not in numbers]:
        return f"its question says {', '.join(strange)}, and no claim of the card does"
    wanted = content_words(question)
    known = {*content_words(evidence), *_ASKING}
    if wanted and sum(word in known for word in wanted) / len(wanted) < ASKED:
        return "its question says what no claim of the card says"
    return ""
