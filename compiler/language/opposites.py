"""Opposites: whether two words are contrary, and which way a comparative points on its scale."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from compiler.language.lexicon import stem, word_list, words

_CONTRASTING = words("contrasting_prefixes")
_REST = 3  # letters that have to follow a prefix
_PREFIXES = ("un", "in", "im", "non", "ir", "dis")
Side = tuple[str, str, int]  # family, scale, +1 or -1


def _rows() -> dict[str, list[Side]]:
    """Return the sides of every written word of the table."""
    sides: dict[str, list[Side]] = {}
    for line in word_list("opposites").removesuffix("|").split("|"):
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
    for line in word_list("synonyms_of_claims").split("|")
    for word in line.split()
}  # fmt: skip


@lru_cache(maxsize=1 << 14)
def opposite(one: str, other: str) -> bool:
    """Return whether two stems are opposites: other sides of one scale, or with and without a prefix that denies."""
    if _contrary(_OF_STEM.get(one, ()), _OF_STEM.get(other, ())):
        return True
    short, long = sorted((one, other), key=len)
    return len(short) > 3 and any(long == prefix + short for prefix in _PREFIXES)


def contrary(one: str, other: str) -> bool:
    """Return whether two words in lower case are opposites, or have one rest and prefixes of different meanings."""
    return opposite(stem(one), stem(other)) or any(
        one.removeprefix(first) == rest
        for first in ("", *_CONTRASTING)
        if one.startswith(first)
        for second in ("", *_CONTRASTING)
        if first != second and other.startswith(second) and len(rest := other.removeprefix(second)) >= _REST
    )


def has_opposite(word: str) -> bool:
    """Return whether the stem has opposites at all."""
    return word in _OF_STEM


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
