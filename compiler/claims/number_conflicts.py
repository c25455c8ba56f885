"""Numbers of two claims for one thing that cannot both be right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product

from compiler.language.quantities import Number, quantities
from compiler.language.tokens import folded_stem

_ABOUT = re.compile(r"\b(?:about|around|roughly|approximately|some|nearly|almost|circa|ca|etwa|rund|ungefähr)\b|~|≈|约")
_LOOSE = Fraction(15, 100)  # how far an "about" reaches
_ROUND = Fraction(1, 10)  # how far a number can be from the one that it rounds
_TO = r"\s*[^\W\d_]{0,6}[%°]?\s*(?:\bto\b|\band\b|\bor\b|\bbis\b|\bund\b|\boder\b|[-‐‑–—~]|±|\+/-)\s*"  # of a range
_YEARS = range(1000, 2101)


def year(number: Number) -> int | None:
    """Return the year that a bare number of four digits names; None if it names none."""
    if number.unit or number.spelled or not re.fullmatch(r"\d{4}", number.text) or int(number.text) not in _YEARS:
        return None
    return int(number.text)


def clashes(first: str, second: str, ours: Sequence[Number], theirs: Sequence[Number]) -> list[tuple[Number, Number]]:
    """Return the pairs of numbers for one thing that differ beyond rounding, bounds and ranges."""
    loose = bool(_ABOUT.search(first) or _ABOUT.search(second))
    there = _words(first), _words(second)
    pairs = [(x, y) for x, y in product(ours, theirs) if _of_one_thing(x, y) or _noun_elsewhere(x, y, *there)]
    agreed = [
        (x, y)
        for x, y in pairs
        if _agree(x, y, loose) or _within(x, theirs) or _within(y, ours) or overlap(first, second, x, y)
    ]
    met = {id(n) for pair in agreed for n in pair}
    return [(x, y) for x, y in pairs if id(x) not in met and id(y) not in met]


def _of_one_thing(x: Number, y: Number) -> bool:
    """Return whether two numbers may count the same: by one unit, by one noun, or where one of them has none."""
    if x.unit or y.unit:
        return x.unit == y.unit or {x.unit, y.unit} == {"times", ""}
    return x.noun == y.noun or not (x.noun and y.noun)


def _words(text: str) -> frozenset[str]:
    """Return the stems of all words of a text."""
    return frozenset(folded_stem(word.casefold()) for word in re.findall(r"[^\W\d_]+", text))


def _noun_elsewhere(x: Number, y: Number, ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Return whether the noun of one number is elsewhere in the other text: six identical layers, 12 layers."""
    if x.unit or y.unit:
        return False
    return (x.noun in theirs) != (y.noun in ours)


def _values(number: Number) -> list[Fraction]:
    """Return the numeric values that a number may mean, in order."""
    return sorted(v for v in number.values if isinstance(v, Fraction))


def _agree(x: Number, y: Number, loose: bool) -> bool:
    """Return whether two numbers can be the same: equal, rounded, within a bound, or near each other where `loose`."""
    if x.values & y.values or not (_values(x) and _values(y)):
        return True
    return any(
        abs(p - q) <= max(abs(p), abs(q)) * _LOOSE * loose or _rounds(p, q) or _bound(x, p, q) or _bound(y, q, p)
        for p, q in product(_values(x), _values(y))
    )


def overlap(first: str, second: str, x: Number, y: Number) -> bool:
    """Return whether a number is one end of a range in its text, and the range has a value that the other allows."""
    ours, theirs = _range(first, x), _range(second, y)
    if not (ours or theirs):
        return False
    here, there = ours or _values(x), theirs or _values(y)
    return bool(here and there) and here[0] <= there[-1] and there[0] <= here[-1]


def _range(text: str, number: Number) -> list[Fraction]:
    """Return the ends of the range of which a number of a text is one end; none if there is no range."""
    for low, high in pairwise(quantities(text).numbers):
        ends = [*_values(low)[:1], *_values(high)[-1:]]
        between = re.search(rf"(?<![\d.,]){re.escape(low.text)}({_TO}){re.escape(high.text)}(?!\d)", text)
        if between and number in (low, high) and len(ends) == 2:
            middle, width = ends
            return [middle - width, middle + width] if re.search(r"±|\+/-", between[1]) else sorted(ends)
    return []


def _bound(number: Number, value: Fraction, other: Fraction) -> bool:
    """Return whether `other` lies on the side of `value` that the number's "at least" or "at most" allows."""
    return (number.bound == "least" and other >= value) or (number.bound == "most" and other <= value)


def _rounds(p: Fraction, q: Fraction) -> bool:
    """Return whether one of two numbers is the other with fewer digits."""
    (coarse, a), (fine, b) = sorted(((_digits(p), p), (_digits(q), q)), key=lambda pair: pair[0])
    near = abs(a - b) <= abs(a) * _ROUND or (a.denominator == 1 and abs(a - b) <= Fraction(1, 2))
    return coarse < fine and near and round(b, coarse) == a


def _digits(value: Fraction) -> int:
    """Return the last decimal place that a number has: 1 for 10.7, 0 for 11, -3 for 5,000."""
    return next((d for d in range(-9, 9) if round(value, d) == value), 9)


def _within(number: Number, others: Sequence[Number]) -> bool:
    """Return whether the others give two numbers for the thing and this one lies between them."""
    spans = [_values(n) for n in others if _of_one_thing(number, n) and _values(n)]
    if len(spans) < 2:
        return False
    low, high = min(s[0] for s in spans), max(s[0] for s in spans)
    return any(low <= v <= high for v in _values(number))
