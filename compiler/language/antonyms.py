"""Words that turn a sentence round: opposites, and words that say the same where sentences are compared."""

from __future__ import annotations

from functools import lru_cache

from compiler.language.lexicon import stem

_OPPOSITES = """
increase increases increased raise raises raised grow grows grew rise rises rose higher high larger large greater
 bigger more / decrease decreases decreased lower lowers lowered low reduce reduces reduced fall falls fell
 shrink shrinks smaller small less fewer diminish diminishes drop drops decline declines
faster fast quicker quick accelerate accelerates / slower slow slows
better improve improves improved help helps benefit benefits superior / worse worsen worsens harm harms impair impairs
 hurt hurts hinder hinders inferior
before precede precedes precedence earlier / after follow follows later
inside within / outside
towards toward / away
above over / below under beneath
linear linearly / quadratic quadratically exponential exponentially constant logarithmic
parallel simultaneously concurrently / sequential sequentially serial serially
activate activates enable enables allow allows permit permits stimulate stimulates promote promotes / block blocks
 inhibit inhibits prevent prevents suppress suppresses forbid forbids
absorb absorbs consume consumes / release releases emit emits
same equal identical / different unequal distinct
present / absent
stronger strong strengthen / weaker weak weaken
deeper deep / shallower shallow
longer long / shorter short
wider wide / narrower narrow
hotter hot warmer warm / colder cold cooler cool
harder hard difficult / easier easy
simpler simple / complex complicated
cheaper cheap / expensive dearer costly
positive positively / negative negatively
maximum maximize maximise maximizes / minimum minimize minimise minimizes
static / dynamic
additive / multiplicative
global globally / local locally
deterministic / random stochastic
safe safer / dangerous riskier
true / false
with / without
first / last
all every always / none
"""
_FELLOWS = """
introduce propose invent develop discover publish present create found
need require demand
occur happen appear
use employ apply
give yield produce make
contain comprise consist hold
explain explanation
beat make
sign conclude
"""
_PREFIXES = ("un", "in", "im", "non", "ir", "dis")


def _sides() -> dict[str, list[tuple[int, int]]]:
    out: dict[str, list[tuple[int, int]]] = {}
    for axis, line in enumerate(_OPPOSITES.replace("\n ", " ").strip().splitlines()):
        for side, words in enumerate(line.split("/")):
            for word in words.split():
                out.setdefault(stem(word), []).append((axis, side))
    return out


_SIDES = _sides()
_FELLOW = {
    stem(word): min(stem(w) for w in line.split()) for line in _FELLOWS.strip().splitlines() for word in line.split()
}


@lru_cache(maxsize=1 << 14)
def opposite(one: str, other: str) -> bool:
    """Whether two stems are opposites: on two sides of one axis, or with and without a prefix that denies."""
    sides = _SIDES.get(other, ())
    if any((axis, 1 - side) in sides for axis, side in _SIDES.get(one, ())):
        return True
    short, long = sorted((one, other), key=len)
    return len(short) > 3 and any(long == prefix + short for prefix in _PREFIXES)


def turns(word: str) -> bool:
    """Whether the stem has opposites at all."""
    return word in _SIDES


def fellow(word: str) -> str:
    """The stem that stands for all that say the same."""
    return _FELLOW.get(word, word)


@lru_cache(maxsize=1 << 14)
def akin(one: str, other: str) -> bool:
    """Whether two stems are of one root: dense and density."""
    short = min(len(one), len(other))
    if "-" in one or "-" in other:
        return False  # names: English-German, English-French
    return one != other and short >= 4 and one[: min(short, 5)] == other[: min(short, 5)] and not opposite(one, other)
