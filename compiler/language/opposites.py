"""The one table of opposites: which words are contraries, on which scale, and which comparatives point which way."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from compiler.language.lexicon import stem

# One row a scale: its family, its name, the words of one side / the words of the other. Two words of one family and
# other sides are opposites. Only words of one scale compare the same: "larger" against "smaller", not "higher".
_TABLE = """
change amount: more mehr exceed exceeds increase increases increased increasing grow grows grew grown gain gains
 gained climb climbs climbed steigt stieg steigen erhöht / less fewer weniger decrease decreases decreased decreasing
 lose loses lost reduce reduces reduced diminish diminishes drop drops dropped decline declines declined sinkt sank
 sinken senkt verringert
change size: large larger big bigger great greater groß größer 大 / small smaller klein kleiner shrink shrinks shrank
 shrinking 小
change height: high higher tall taller hoch höher raise raises raised rise rises rose risen rising 高 / low lower
 lowers lowered lowering fall falls fell fallen falling niedrig niedriger 低
speed speed: fast faster quick quicker accelerate accelerates accelerated speeds schnell schneller 快 / slow slower
 slows slowed langsam langsamer 慢
worth worth: better improve improves improved help helps benefit benefits superior besser 好 / worse worsen worsens
 harm harms impair impairs hurt hurts hinder hinders inferior schlechter 差
order time: before precede precedes precedence / after follow follows
order lateness: earlier / later
place inside: inside within / outside
place toward: towards toward / away
place above: above over / below under beneath
rate rate: linear linearly / quadratic quadratically exponential exponentially constant logarithmic
mode parallel: parallel simultaneously concurrently / sequential sequentially serial serially
effect allow: activate activates enable enables allow allows permit permits stimulate stimulates promote promotes /
 block blocks inhibit inhibits prevent prevents suppress suppresses forbid forbids
effect absorb: absorb absorbs consume consumes / release releases emit emits
sameness same: same equal identical / different unequal distinct
presence present: present / absent
strength strength: strong stronger strengthen strengthens strengthened stark stärker 强 / weak weaker weaken weakens
 weakened schwach schwächer 弱
depth depth: deep deeper tief tiefer 深 / shallow shallower flach flacher 浅
length length: long longer lang länger 长 / short shorter kurz kürzer 短
width width: wide wider thick thicker broad broader dick dicker breit breiter 宽 / narrow narrower thin thinner dünn
 dünner 窄
heat heat: hot hotter warm warmer heats heated warms warmed wärmer heiß heißer / cold colder cool cooler cools cooled
 kalt kälter
ease ease: easy easier simple simpler einfach einfacher / hard harder difficult
ease complexity: simple simpler / complex complicated
cost cost: expensive dear dearer costly costlier teuer teurer / cheap cheaper billig billiger
wealth wealth: rich richer / poor poorer
weight weight: heavy heavier schwer schwerer 重 / light lighter leicht leichter 轻
age age: old older alt älter / young younger jung jünger
distance distance: far fern ferner 远 / near nearer close closer nah näher 近
frequency frequency: common frequent häufig häufiger / rare rarer selten seltener
number number: 多 / 少
sign sign: positive positively / negative negatively
extreme extreme: max maximum maximize maximise maximizes / min minimum minimize minimise minimizes
rank rank: highest largest longest biggest maximum most upper / lowest smallest shortest minimum least lower
direction north: north northern nördlich / south southern südlich
direction east: east eastern östlich / west western westlich
direction left: left / right
direction forward: forward / backward
direction top: top / bottom
state static: static / dynamic
kind additive: additive / multiplicative
kind global: global globally / local locally
kind internal: internal / external
kind explicit: explicit / implicit
kind intrinsic: intrinsic / extrinsic
kind source: source / target
kind input: input / output
kind primary: primary / secondary
kind chance: deterministic / random stochastic
safety safety: safe safer / dangerous riskier
truth truth: true / false
company company: with / without
turn turn: first / last second
extent extent: all every always / none
start start: starts started begins began opened / ends ended stops stopped closed
"""
_SYNONYMS = """
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
Side = tuple[str, str, int]  # family, scale, +1 or -1


def _rows() -> dict[str, list[Side]]:
    """Return the sides of every written word of the table."""
    sides: dict[str, list[Side]] = {}
    for line in _TABLE.replace("\n ", " ").strip().splitlines():
        name, _, words = line.partition(":")
        family, scale = name.split()
        for sign, side in zip((1, -1), words.split("/"), strict=True):
            for word in side.split():
                sides.setdefault(word, []).append((family, scale, sign))
    return sides


_OF_WORD = _rows()
_OF_STEM: dict[str, list[Side]] = {}
for _word, _sides in _OF_WORD.items():
    _OF_STEM.setdefault(stem(_word), []).extend(_sides)
_SYNONYM = {
    stem(word): min(stem(w) for w in line.split())
    for line in _SYNONYMS.strip().splitlines()
    for word in line.split()
}  # fmt: skip


@lru_cache(maxsize=1 << 14)
def opposite(one: str, other: str) -> bool:
    """Return whether two stems are opposites: other sides of one scale, or with and without a prefix that denies."""
    if _contrary(_OF_STEM.get(one, ()), _OF_STEM.get(other, ())):
        return True
    short, long = sorted((one, other), key=len)
    return len(short) > 3 and any(long == prefix + short for prefix in _PREFIXES)


def has_opposite(word: str) -> bool:
    """Return whether the stem has opposites at all."""
    return word in _OF_STEM


def opposite_words(one: str, other: str) -> bool:
    """Return whether two words, as written in lower case, are opposites."""
    return _contrary(_OF_WORD.get(one, ()), _OF_WORD.get(other, ()))


def same_side(one: str, other: str) -> bool:
    """Return whether two words, as written in lower case, point the same way on one scale."""
    ways = {(family, sign) for family, _, sign in _OF_WORD.get(other, ())}
    return any((family, sign) in ways for family, _, sign in _OF_WORD.get(one, ()))


def word_has_opposite(word: str) -> bool:
    """Return whether a word, as written in lower case, has opposites."""
    return word in _OF_WORD


def _contrary(one: Sequence[Side], other: Sequence[Side]) -> bool:
    ways = {(family, sign) for family, _, sign in other}
    return any((family, -sign) in ways for family, _, sign in one)


def direction(word: str) -> tuple[str, int] | None:
    """Return (scale, +1 or -1) of an adjective or comparative in lower case; None if it is not in the table."""
    bare = word.removesuffix("er").removesuffix("e")
    sides = _OF_WORD.get(word) or _OF_WORD.get(bare) or _OF_STEM.get(stem(bare))
    return sides[0][1:] if sides else None


def synonym_stem(word: str) -> str:
    """Return the stem that represents all stems of the same meaning."""
    return _SYNONYM.get(word, word)


@lru_cache(maxsize=1 << 14)
def same_root(one: str, other: str) -> bool:
    """Return whether two different stems are of one root: dense and density."""
    short = min(len(one), len(other))
    if "-" in one or "-" in other:
        return False  # names: English-German, English-French
    return one != other and short >= 4 and one[: min(short, 5)] == other[: min(short, 5)] and not opposite(one, other)
