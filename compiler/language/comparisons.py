"""Comparisons that a text states (faster than, before, 比), and whether two of them contradict each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from compiler.language.lexicon import pattern, words
from compiler.language.opposites import direction
from compiler.language.tokens import Token, folded_stem, main_clauses, stems, tokens

TIMES = {"before": -1, "after": 1, "bevor": -1, "nachdem": 1, "vor": -1, "nach": 1}
THAN = frozenset(("than", "als"))
_COMPARES_CJK = pattern("comparisons_compares_cjk")


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared with what, in which dimension; `sign` +1: `left` has more of it, or comes later."""

    dimension: str
    sign: int
    left: frozenset[str]
    right: frozenset[str]
    respect: frozenset[str] = frozenset()  # stems between the comparative and "than": better retention than


@lru_cache(maxsize=1 << 12)
def comparisons(text: str) -> tuple[Comparison, ...]:
    """Return all comparisons that a text states: faster than, outperforms, before, 比."""
    return tuple(
        [c for s in main_clauses(text) for c in (*_with_than(s), *_surpassing(s), *_in_time(s))]
        + list(_in_chinese(text))
    )


def _with_than(saying: str) -> Iterator[Comparison]:
    """Yield the comparisons of one clause by "than"."""
    found = tokens(re.split(r"[,:]\s", saying)[0] if saying.count(" than ") == 1 else saying)
    if not any(t.word in THAN for t in found):
        found = tokens(saying)
    for n, token in enumerate(found):
        if token.word not in THAN:
            continue
        for back in range(n - 1, max(-1, n - 9), -1):
            if (read := _dimension(found, back, n)) is not None:
                name, sign, used = read
                left = [s for s in _side(found[:n]) if s not in used]
                respect = frozenset(t.stem for t in found[back + 1 : n] if t.content)
                yield Comparison(name, sign, frozenset(left), frozenset(_side(_until_turn(found[n + 1 :]))), respect)
                break
    yield from _times_as(found)


def _surpassing(saying: str) -> Iterator[Comparison]:
    """Yield the comparisons by verbs: "X outperforms Y" says that X is better."""
    found = tokens(saying)
    for n, token in enumerate(found):
        if token.stem in _SURPASS:
            yield Comparison("worth", 1, frozenset(_side(found[:n])), frozenset(_side(_until_turn(found[n + 1 :]))))


def _times_as(found: Sequence[Token]) -> Iterator[Comparison]:
    """Yield the comparisons by a factor: "28 times as much heat as" is more of it."""
    for n, token in enumerate(found):
        if token.word == "as" and n and found[n - 1].word in ("times", "twice"):
            second = next((m for m in range(n + 2, min(n + 6, len(found))) if found[m].word == "as"), 0)
            if second:
                right = _side(_until_turn(found[second + 1 :]))
                yield Comparison("times", 1, frozenset(_side(found[: n - 1])), frozenset(right))


def _side(found: Sequence[Token]) -> list[str]:
    """Return the stems of one side: content words, and "with" or "without"."""
    return [
        t.stem for t in found if (t.content and t.word not in TIMES) or t.word in ("with", "without", "mit", "ohne")
    ]


def _until_turn(rest: Sequence[Token]) -> Sequence[Token]:
    """Return the tokens up to a conjunction or the next "than"."""
    for n, token in enumerate(rest):
        if token.word in ("but", "and", "because", "which", "aber", "und", "weil") or token.word in THAN:
            return rest[:n]
    return rest


def _dimension(found: Sequence[Token], at: int, than: int) -> tuple[str, int, frozenset[str]] | None:
    """Return (dimension, sign, the stems that name it) of the comparative at `at`; None if there is none."""
    word = found[at].word
    if word in _AMOUNTS:
        between = [t for t in found[at + 1 : than] if t.content]
        sign = 1 if word in ("more", "mehr") else -1
        used = frozenset(t.stem for t in between)
        if len(between) == 1 and (known := direction(between[0].word)):
            return known[0], sign * known[1], used
        return f"more {' '.join(t.stem for t in between[:1])}".rstrip(), sign, frozenset()
    if word.endswith(("er", "se")) and len(word) > 3 and (known := direction(word)):
        return known[0], known[1], frozenset({found[at].stem})
    if word.endswith("er") and len(word) > 4 and word not in _NO_COMPARATIVES:
        return folded_stem(word.removesuffix("er")), 1, frozenset({found[at].stem})
    return None


_AMOUNTS = frozenset("more less fewer mehr weniger".split())
_SURPASS = frozenset(map(folded_stem, ("outperform", "beat", "surpass")))
_NO_COMPARATIVES = words("comparisons_no_comparatives")


def _in_time(saying: str) -> Iterator[Comparison]:
    """Yield the comparisons in time of one clause: before, after."""
    parts = re.split(r",\s", saying, maxsplit=1)
    found = tokens(saying)
    for n, token in enumerate(found):
        if token.word not in TIMES:
            continue
        before = [t.stem for t in found[:n] if t.content]
        until = saying.find(", ", token.start)
        after = [t.stem for t in found[n + 1 :] if t.content and (t.start < until or until < 0)]
        if not before and len(parts) == 2:
            before = stems(tokens(parts[1]))
        elif not before:
            before, after = after[1:], after[:1]
        yield Comparison("time", TIMES[token.word], frozenset(before), frozenset(after))


def _in_chinese(text: str) -> Iterator[Comparison]:
    """Yield the comparisons by 比."""
    for match in _COMPARES_CJK.finditer(text):
        if match["not"]:
            continue
        name, sign = direction(match["how"]) or ("", 0)
        left = match["left"].partition("的")[0]
        yield Comparison(name, sign, frozenset(stems(tokens(left))), frozenset(stems(tokens(match["right"]))))


def placed(one: Comparison, other: Comparison) -> int:
    """Return +1 if both comparisons have the same two things on the same sides, -1 if on opposite sides, else 0."""
    left, right = one.left - one.right, one.right - one.left
    mine, yours = other.left - other.right, other.right - other.left
    crossed = bool(left & yours) and bool(right & mine)
    straight = bool(left & mine) and bool(right & yours)
    return straight - crossed


def contrary(one: Comparison, other: Comparison) -> bool:
    """Return whether two comparisons of the same things cannot both hold; their order plays no part."""
    if one.dimension != other.dimension or ((one.respect or other.respect) and not one.respect & other.respect):
        return False
    return placed(one, other) * one.sign * other.sign < 0
