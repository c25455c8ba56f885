"""Whether two statements contradict each other, decided by rules alone: where these are in doubt, they abstain.

The rules of `contradictions` are wide, as a model judges what they find. Here nobody does, so that a pair has to be
alike in nearly all of its words, unhedged, of one time, and without a name or a condition that only one side has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache

from compiler.claims.contradictions import (
    Statement,
    content_stems,
    is_hearsay,
    is_plain,
    may_contradict,
    measures,
    other_authors,
    other_kinds,
    read_statement,
    wording,
)
from compiler.claims.number_conflicts import clashes, overlap
from compiler.claims.qualifiers import labels, months
from compiler.language.lexicon import pattern
from compiler.language.opposites import opposite
from compiler.language.quantities import Number, quantities
from compiler.sources.editions import are_comparable

_FEWEST = 4  # words that two statements must have in common beside a date
LEAST = 0.6  # how alike two statements must be
_ASKS = re.compile(r"[?？]\s*$")
_CONDITION = pattern("plain_contradictions_condition")
_NAME = re.compile(r"(?<=[\w,;:)’'] )[A-Z][\w’'-]*|\b(?:[A-Z][\w-]*[A-Z0-9]|[a-z]+[A-Z])[\w-]*")
_PARTS = pattern("plain_contradictions_parts")
_MODAL = pattern("plain_contradictions_modal")
# Of a language in which all nouns look like names.
_GERMAN = re.compile(r"\b(?:der|die|das|und|ist|nicht|wird|ein|eine)\b", re.IGNORECASE)


class Point(StrEnum):
    """On what two statements differ."""

    NUMBER = "number"
    WORDS = "words"  # a denial, an opposite, another author


def contradict(first: str, second: str, subject: str, published: tuple[str, str] = ("", "")) -> Point | None:
    """Return on what two statements on a subject contradict each other; None if both may hold, or nothing is certain.

    `published` are the days of their sources, "" if unknown: what is of different days may each have been so.
    """
    if are_comparable(*published) or not (_asserts(first) and _asserts(second)) or labels(first) != labels(second):
        return None
    a, b = read_statement(first), read_statement(second)
    if _on_other_days(first, second):
        return Point.NUMBER
    if may_contradict(a, b, _subject(subject)) < LEAST:
        return None
    if _under_conditions(first, second) or _of_other_names(a, b) or other_kinds(a, b):
        return None
    if _restricted(a, b) or _restricted(b, a) or _of_other_parts(first, second) or _of_other_kinds(a, b):
        return None
    if _differ_in_number(a, b):
        return Point.NUMBER if _of_one_thing(a, b) else None
    if a.denies != b.denies and _PARTS.search(first):
        return None  # some are, and some are not
    other_numbers = _left_over(a.numbers, b.numbers) and _left_over(b.numbers, a.numbers)
    return None if other_numbers or (a.years - b.years and b.years - a.years) else Point.WORDS


def contradict_in_one_wording(first: str, second: str) -> Point | None:
    """Return on what two statements of one wording contradict each other: one number or year, or a denial; else None.

    That they hold under a condition plays no part, as both have it. A number has to measure or count something.
    """
    if labels(first) != labels(second) or months(first) != months(second):
        return None
    a, b = read_statement(first), read_statement(second)
    ours, theirs = _left_over(a.numbers, b.numbers), _left_over(b.numbers, a.numbers)
    if not ours and not theirs and a.years == b.years:
        return Point.WORDS if a.denies != b.denies and not _MODAL.search(first) and not _ASKS.search(first) else None
    if len(ours) == len(theirs) == 1 and a.years == b.years and _differ_in_one_place(a.numbers, b.numbers):
        alike = (ours[0].unit, ours[0].noun) == (theirs[0].unit, theirs[0].noun)
        apart = alike and measures(ours[0]) and not overlap(first, second, ours[0], theirs[0])
        return Point.NUMBER if apart else None
    other_year = not ours and not theirs and len(a.years - b.years) == len(b.years - a.years) == 1
    return Point.NUMBER if other_year else None


def _differ_in_one_place(numbers: Sequence[Number], others: Sequence[Number]) -> bool:
    """Return whether two texts of one wording have the same numbers in their order, but for one: 50 at 40, 60 at 50."""
    pairs = zip(numbers, others, strict=False)
    return len(numbers) == len(others) and sum(not x.values & y.values for x, y in pairs) == 1


def _left_over(numbers: Sequence[Number], others: Sequence[Number]) -> list[Number]:
    """Return the numbers without those that the others have too, each as often as it is there."""
    rest = list(others)
    left = []
    for number in numbers:
        same = next((other for other in rest if other.values & number.values and other.unit == number.unit), None)
        if same is None:
            left.append(number)
        else:
            rest.remove(same)
    return left


def likeness(first: str, second: str, subject: str) -> float:
    """Return how alike two statements are that may contradict each other, in (0, 1]; 0 if nothing suggests it."""
    return may_contradict(read_statement(first), read_statement(second), _subject(subject))


@lru_cache(maxsize=1 << 13)
def _asserts(words: str) -> bool:
    """Return whether words state something plainly and in their own name."""
    return is_plain(words) and not is_hearsay(words) and not _ASKS.search(words)


@lru_cache(maxsize=1 << 10)
def _subject(title: str) -> frozenset[str]:
    return frozenset(content_stems(title))


def _differ_in_number(a: Statement, b: Statement) -> bool:
    """Return whether two statements give other numbers or years."""
    other_year = bool(a.years and b.years and not a.years & b.years)
    return a.denies == b.denies and (other_year or bool(clashes(a.words, b.words, a.numbers, b.numbers)))


def _of_one_thing(a: Statement, b: Statement) -> bool:
    """Return whether two statements differ in the year alone, or are of one month and year and have the same names."""
    if months(a.words) != months(b.words):
        return False
    if a.years != b.years:
        other_numbers = _left_over(a.numbers, b.numbers) or _left_over(b.numbers, a.numbers)
        return bool(a.years and b.years) and not other_numbers
    return all(name in y.words for x, y in ((a, b), (b, a)) for name in _NAME.findall(x.words))


def _under_conditions(first: str, second: str) -> bool:
    """Return whether one statement alone says under which condition it holds."""
    return bool(_CONDITION.search(first)) != bool(_CONDITION.search(second))


def _on_other_days(first: str, second: str) -> bool:
    """Return whether two statements have one wording, but for the one date that each gives to the month at least."""
    days = quantities(first).days, quantities(second).days
    counted = (*read_statement(first).numbers, *read_statement(second).numbers)
    if not len(days[0]) == len(days[1]) == 1 or not all(number.spelled for number in counted):
        return False  # a price or a height may be another one on each day
    one, other = days[0][0], days[1][0]
    differ = any(x and y and x != y for x, y in ((one.month, other.month), (one.day, other.day)))
    rest = wording(first.replace(one.text, " ")), wording(second.replace(other.text, " "))
    return differ and one.year == other.year and rest[0] == rest[1] and len(rest[0]) >= _FEWEST


def _of_other_parts(first: str, second: str) -> bool:
    """Return whether two statements speak of other parts of a thing: some of them, the first, the last."""
    ours, theirs = ({w.casefold() for w in _PARTS.findall(words)} for words in (first, second))
    return ours != theirs


def _of_other_kinds(a: Statement, b: Statement) -> bool:
    """Return whether two statements begin with opposites, which then name two things: explicit and implicit memory."""
    return bool(a.order and b.order) and opposite(a.order[0], b.order[0])


def _of_other_names(a: Statement, b: Statement) -> bool:
    """Return whether each statement names somebody or something that the other does not, but for other authors."""
    if other_authors(a, b) or _GERMAN.search(a.words) or _GERMAN.search(b.words):
        return False
    ours, theirs = set(_NAME.findall(a.words)), set(_NAME.findall(b.words))
    return any(n not in b.words for n in ours) and any(n not in a.words for n in theirs)


def _restricted(a: Statement, b: Statement) -> bool:
    """Return whether a statement says where or for what it holds, in words that the other has none of."""
    turned = {w for w in a.stems if any(opposite(w, v) for v in b.stems)}
    return any(scope.isdisjoint(b.stems | turned) for scope in a.scopes)
