"""Claims that cannot both hold: another number for the same thing, a denial, a comparison the other way round.

Meant to be sure rather than complete: what is not said in nearly the same words is no disagreement here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from compiler.gates.gates import content_words
from vault.ids import SourceId
from vault.model.claim import Claim, ClaimKind

_ALIKE = 0.7  # share of the content words that two sentences must have in common to be about the same fact
_FEWEST = 4  # content words in common
_MANY = 300  # claims of one concept, and comparisons that name one word
_LONGEST = 400  # characters; in a longer sentence nobody can say what its number or its "not" belongs to
_NUMBER = re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*(?:\s*(?:%|percent\b))?(?![\w-])")
_DENIAL = re.compile(r"\b(?:not|no|never|neither|nor|cannot|nicht|nie|kein\w*)\b|n['’]t\b|[不没]", re.IGNORECASE)
_HEDGED = re.compile(r"\bnot only\b|\bno longer\b|\bif\b|\bunless\b|\bwhether\b|\bnicht nur\b", re.IGNORECASE)
# Word -> (what it compares, which way). Two words of one scale and other signs are opposites.
_SCALES = {
    "quality": ("better", "worse"),
    "amount": ("more", "less fewer"),
    "height": ("higher", "lower"),
    "size": ("larger greater bigger", "smaller"),
    "speed": ("faster", "slower"),
    "ease": ("easier simpler", "harder"),
    "strength": ("stronger", "weaker"),
    "length": ("longer", "shorter"),
    "depth": ("deeper", "shallower"),
    "price": ("dearer", "cheaper"),
    "wealth": ("richer", "poorer"),
    "safety": ("safer", "riskier"),
    "time": ("later", "earlier"),
}
DIRECTIONS = {
    word: (scale, sign)
    for scale, (up, down) in _SCALES.items()
    for words, sign in ((up, +1), (down, -1))
    for word in words.split()
}
_BETTER = DIRECTIONS["better"]
_COMPARED = re.compile(
    rf"^(?P<left>.{{3,160}}?)\b(?P<how>{'|'.join(sorted(DIRECTIONS))})\b(?P<what>[^,;:.]{{0,80}}?)\bthan\b(?P<right>[^,;:.]+)",
    re.IGNORECASE,
)
_BEATS = re.compile(
    r"^(?P<left>.{3,160}?)\b(?P<how>outperform(?:s|ed)?|beats?|surpass(?:es|ed)?)\b(?P<right>[^,;:.]+)", re.IGNORECASE
)
_MAY_COMPARE = re.compile(r"\bthan\b|\b(?:outperform|beat|surpass)", re.IGNORECASE)
_CLAUSE = re.compile(r"\b(?:because|since|when|if|while|although|as|for|on|in|at|after|before|to|and)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two claims of independent sources that cannot both hold."""

    first: Claim
    second: Claim


@dataclass(frozen=True, slots=True)
class _Comparison:
    """`left` is more or less of `what` than `right`; all are sets of stems. `direction` is one of DIRECTIONS."""

    direction: tuple[str, int]
    left: frozenset[str]
    what: frozenset[str]
    right: frozenset[str]


def disagreements(
    concepts: Iterable[Sequence[Claim]], claims: Iterable[Claim], origin: Callable[[SourceId], SourceId]
) -> list[Disagreement]:
    """The disagreements between independent sources: facts within the claims of each concept, comparisons among all.

    `origin` names the source behind a copy.
    """
    contested = (own for own in concepts if len({origin(c.source) for c in own}) > 1)
    pairs = [pair for own in contested for pair in _same_fact(own[:_MANY])]
    pairs += _turned_comparisons(claims)
    found = {tuple(sorted((a.id, b.id))): Disagreement(a, b) for a, b in pairs if origin(a.source) != origin(b.source)}
    return list(found.values())


def _turned_comparisons(claims: Iterable[Claim]) -> Iterator[tuple[Claim, Claim]]:
    compared = [(c, made) for c in claims if c.kind is not ClaimKind.QUESTION and (made := _comparison(c.words))]
    sides: dict[str, list[int]] = defaultdict(list)  # stem -> the comparisons that name it
    for n, (_, made) in enumerate(compared):
        for stem in made.left | made.right:
            sides[stem].append(n)
    tried: set[tuple[int, int]] = set()
    for stem in sorted(sides):
        for pair in combinations(sides[stem][:_MANY], 2):
            if pair not in tried and _turned(compared[pair[0]][1], compared[pair[1]][1]):
                yield compared[pair[0]][0], compared[pair[1]][0]
            tried.add(pair)


def _same_fact(claims: Sequence[Claim]) -> Iterator[tuple[Claim, Claim]]:
    """The pairs that say the same but for a number or a denial."""
    plain = [c for c in claims if c.kind is not ClaimKind.QUESTION and len(c.words) <= _LONGEST]
    told = [(c, _numbers(c.words), _denies(c.words)) for c in plain]
    denied_here = any(no for _, _, no in told)
    said = [(c, few, no, _stems(c.words)) for c, few, no in told if denied_here or len(few) == 1]
    for (a, few, no, ours), (b, many, never, theirs) in combinations(said, 2):
        common = len(ours & theirs)
        if common < _FEWEST or common < _ALIKE * len(ours | theirs):
            continue
        other_number = len(few) == len(many) == 1 and few != many and no == never
        both = f"{a.words} {b.words}"
        denied = no != never and few == many and not (_HEDGED.search(both) or _MAY_COMPARE.search(both))
        if other_number or denied:
            yield a, b


def _numbers(words: str) -> frozenset[str]:
    return frozenset(re.sub(r"\s|percent|,(?=\d{3})", "", n) for n in _NUMBER.findall(words))


def _denies(words: str) -> bool:
    return len(_DENIAL.findall(words)) % 2 == 1


def _stems(words: str) -> frozenset[str]:
    return frozenset(w for w in content_words(words) if not w[0].isdigit())


def _comparison(words: str) -> _Comparison | None:
    """The comparison that a sentence makes outright; None if it makes none, or denies or doubts it."""
    if len(words) > _LONGEST or not _MAY_COMPARE.search(words):
        return None
    found = _COMPARED.match(words) or _BEATS.match(words)
    if found is None:
        return None
    before = _CLAUSE.split(found["right"], maxsplit=1)[0]
    if _DENIAL.search(found[0]) or _HEDGED.search(found[0]):
        return None
    how = found["how"].casefold()
    what = _stems(found["what"]) if "what" in found.groupdict() else frozenset()
    return _Comparison(DIRECTIONS.get(how, _BETTER), _stems(found["left"]), what, _stems(before))


def _turned(a: _Comparison, b: _Comparison) -> bool:
    """Return whether one puts first what the other puts last, in the same respect: the same in either order."""
    if (a.what or b.what) and not a.what & b.what:
        return False
    left, right, low, high = a.left - a.right, a.right - a.left, b.right - b.left, b.left - b.right
    crossed = bool(left & low) and bool(right & high)
    straight = bool(left & high) and bool(right & low)
    (scale, sign), (other_scale, other_sign) = a.direction, b.direction
    if scale != other_scale:
        return False
    return crossed and not straight if sign == other_sign else straight and not crossed
