"""Similarity of two names or sentences, and the rules that tell when two names are surely different concepts."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from math import ceil

from compiler.concepts.rulings import Pair, is_sense, pair
from compiler.language import lexicon, names
from compiler.language.lexicon import words
from compiler.language.opposites import opposite_words

_JOINING = frozenset("and or is are was were that which it its be by as".split())
_FUNCTION = lexicon.DETERMINERS | lexicon.NAME_PREPOSITIONS | _JOINING
# What, at the end of a name, only says what kind of thing it is: "the softmax function" is softmax.
_KINDS = words("similarity_kinds")
# Beginnings that make of a name the name of another thing, and pairs of beginnings that are opposites.
_PREFIXES = "un non in im dis anti multi semi self sub super meta".split()
_PREFIX_PAIRS = (
    ("micro", "macro"), ("hyper", "hypo"), ("inter", "intra"), ("in", "de"), ("over", "under"), ("pre", "post"),
    ("uni", "bi"), ("en", "de"), ("pro", "retro"), ("intrinsic", "extrinsic"), ("explicit", "implicit"),
    ("short", "long"), ("low", "high"), ("upper", "lower"), ("left", "right"), ("forward", "backward"),
)  # fmt: skip
# Words that are no opposites elsewhere, but tell two names of one field from each other.
_DISTINCT = {("decoder", "encoder"), ("key", "query"), ("query", "value"), ("key", "value"), ("massed", "spaced")}
_TOKEN = re.compile(r"[^\W_]+", re.UNICODE)
_GLOSS = re.compile(r"[(（]([A-Za-z][A-Za-z0-9 \-]{2,60})[)）]")


class NameRelation(Enum):
    """What a rule says of two keys."""

    OPEN = "open"
    TWO = "two"
    KIND = "kind"  # one names a kind or a part of the other
    SAME_WORDS = "same words"


@lru_cache(maxsize=50_000)
def content(text: str) -> frozenset[str]:
    """Return the words of a text that carry meaning, in the singular."""
    found = (lexicon.singular(t) for t in _TOKEN.findall(text.casefold()))
    return frozenset(w for w in found if w not in _FUNCTION)


def trigrams(key: str) -> frozenset[str]:
    """Return the runs of three characters in a key, its ends marked; none for a key with a sense in brackets."""
    padded = f"  {key} "
    return frozenset() if is_sense(key) else frozenset(padded[i : i + 3] for i in range(len(padded) - 2))


def initials(key: str) -> str:
    """Return the first letters of a key's meaningful words."""
    return "".join(part[0] for part in key.split() if part not in _FUNCTION)


def core(key: str) -> str:
    """Return a key without final words that only say what kind of thing it is: "softmax" of "softmax function"."""
    parts = key.split()
    while len(parts) > 1 and parts[-1] in _KINDS:
        parts.pop()
    return " ".join(parts)


def gloss_keys(text: str) -> list[str]:
    """Return the keys of the English names in brackets in a text of another language."""
    return [names.key(found) for found in _GLOSS.findall(text)]


def similar_pairs(sets: Mapping[str, frozenset[str]], least: float) -> dict[Pair, float]:
    """Return every two of the sets that share at least `least` of all members, with that share.

    Two such sets have one of their rarest members in common: only by these are they looked up, and none is missed.
    """
    often = Counter(member for members in sets.values() for member in members)
    index: dict[str, list[str]] = defaultdict(list)
    found: dict[Pair, float] = {}
    for name in sorted(sets):
        members = sets[name]
        rare = sorted(members, key=lambda m: (often[m], m))[: len(members) - ceil(least * len(members)) + 1]
        for other in {o for member in rare for o in index[member]}:
            shared = len(members & sets[other])
            much = shared / (len(members) + len(sets[other]) - shared)
            if much >= least:
                found[pair(name, other)] = much
        for member in rare:
            index[member].append(name)
    return found


def rule_of(one: str, other: str) -> NameRelation:
    """Return what the words of two keys say for sure."""
    a, b = one.split(), other.split()
    if _digits(one) != _digits(other) or _opposed(a, b):
        return NameRelation.TWO  # GPT-2 is not GPT-3
    if content(one) == content(other):
        return NameRelation.SAME_WORDS
    short, long = sorted((a, b), key=len)
    if len(short) < len(long) and set(short) <= set(long):
        return (
            NameRelation.OPEN
            if long[: len(short)] == short and set(long[len(short) :]) <= _KINDS
            else NameRelation.KIND
        )
    if len(a) == len(b) > 1 and sum(x != y for x, y in zip(a, b, strict=True)) == 1:
        x, y = next((x, y) for x, y in zip(a, b, strict=True) if x != y)
        return (
            NameRelation.OPEN if _nearly(x, y) else NameRelation.KIND
        )  # "key vector" and "value vector", "query head" ...
    return NameRelation.OPEN


def _digits(key: str) -> list[str]:
    """Return the numbers of a key."""
    return re.findall(r"\d+", key)


def _opposed(a: list[str], b: list[str]) -> bool:
    """Return whether a word of the one name is the opposite of a word of the other."""
    only_a, only_b = [w for w in a if w not in b], [w for w in b if w not in a]
    return any(
        pair(x, y) in _DISTINCT or opposite_words(x, y) or _is_prefixed(x, y) or _is_prefixed(y, x)
        for x in only_a
        for y in only_b
    )


def _is_prefixed(word: str, longer: str) -> bool:
    """Return whether the one word is the other with a prefix that makes it another thing."""
    return any(longer == prefix + word for prefix in _PREFIXES) or any(
        _swapped(word, longer, *each) or _swapped(word, longer, *reversed(each)) for each in _PREFIX_PAIRS
    )


def _swapped(word: str, other: str, one: str, two: str) -> bool:
    """Return whether two words are equal after opposite beginnings: "interleaving" and "intraleaving"."""
    return word.startswith(one) and other.startswith(two) and word[len(one) :] == other[len(two) :] != ""


def _nearly(one: str, other: str) -> bool:
    """Return whether two words look like spellings or forms of one."""
    a, b = trigrams(one), trigrams(other)
    return len(a & b) / len(a | b) >= 0.4
