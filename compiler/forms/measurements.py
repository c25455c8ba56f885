"""The numbers that a chart can show: those of one quantity, in claims or in a table of a source.

A quantity is what has one unit, or counts one kind of thing ("6 layers"); of shares, also a share of the same thing.
Years, dates and numbers in names are none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from compiler.claims.number_conflicts import year
from compiler.forms.material import Source
from compiler.language.quantities import Number, quantities
from compiler.language.search_terms import FUNCTION_WORDS
from compiler.language.tokens import folded_stem
from vault.text.formatting import clean_line, fold

_DECIMAL_COMMA = frozenset("cs da de el es et fi fr hr hu id it lt lv nl no pl pt ro ru sk sl sr sv tr uk".split())
_CUT = re.compile(
    r"[,;]\s|[，；、]|\s(?:and|but|while|whereas|than|versus|vs\.?|compared (?:to|with)|und|aber|während|als)\s"
)
_OF = re.compile(r"\s*(?:%|percent|per cent|Prozent)?\s+(?:of|der|des)\s+(?:(?:the|all|their|its)\s+)*([^\W\d_]+)")
_ORDINAL = re.compile(r"\d(?:st|nd|rd|th)$")
MOST = 30  # numbers in one chart
Quantity = tuple[str, str]  # a unit, "" for a count; the stem of what is counted, or of what a share is of


@dataclass(frozen=True, slots=True)
class Point:
    """A number: what it is the value of, the year it belongs to (None if unknown), as it is written, its source."""

    label: str
    value: float
    written: str
    source: Source
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers of one quantity, which `quantity` names; `labels` names what they are the values of."""

    quantity: str
    labels: str
    points: tuple[Point, ...]
    total: int  # with those that are left out

    @property
    def over_time(self) -> bool:
        """Return whether each number belongs to a year of its own."""
        years = {point.year for point in self.points}
        return None not in years and len(years) == len(self.points) > 2


def series(quantity: str, labels: str, points: Sequence[Point]) -> Series:
    """Return a series of at most `MOST` points, in the order of their years where each has one."""
    first = tuple(points[:MOST])
    made = Series(quantity, labels, first, len(points))
    if made.over_time:
        return Series(quantity, labels, tuple(sorted(first, key=lambda point: point.year or 0)), len(points))
    return made


@dataclass(frozen=True, slots=True)
class Saying:
    """Words that may hold numbers: a claim's, in `language`, with their source."""

    words: str
    language: str
    source: Source


def in_sayings(sayings: Sequence[Saying]) -> list[Series]:
    """Return the series that these words hold, those with the most numbers first."""
    groups: dict[Quantity, list[Point]] = defaultdict(list)
    names: dict[Quantity, str] = {}
    for saying in sayings:
        for quantity, name, point in _measured(saying):
            names.setdefault(quantity, name)
            if point not in groups[quantity]:
                groups[quantity].append(point)
    found = [series(names[each], "Statement", points) for each, points in groups.items() if len(points) > 1]
    return sorted(found, key=lambda each: -each.total)


def _measured(saying: Saying) -> Iterator[tuple[Quantity, str, Point]]:
    """Yield each number of a saying with its quantity and the quantity's name."""
    text = fold(clean_line(saying.words))
    found = _located(text)
    for number, start, part in _clauses(text, found):
        after = text[start + len(number.text) :]
        quantity, value = _quantity(number, after), value_of(number, saying.language)
        if quantity is None or value is None:
            continue
        years = {when for other, at in found if (when := year(other)) is not None and part[0] <= at < part[1]}
        label = text[slice(*part)].strip(" ,;，；、")
        when = years.pop() if len(years) == 1 else None
        yield quantity, _name(number, after), Point(label, float(value), _written(number), saying.source, when)


def _located(text: str) -> list[tuple[Number, int]]:
    """Return the numbers of a text with where they begin, in order."""
    taken, found = set[int](), []
    for number in quantities(text).numbers:
        starts = (m.start() for m in re.finditer(rf"(?<![\w.]){re.escape(number.text)}", text))
        start = next((at for at in starts if at not in taken), None)
        if start is not None:
            taken.add(start)
            found.append((number, start))
    return sorted(found, key=lambda each: each[1])


def _clauses(text: str, found: Sequence[tuple[Number, int]]) -> Iterator[tuple[Number, int, tuple[int, int]]]:
    """Yield the numbers that measure something, where each begins, and (start, end) of the words about it.

    These are the whole text, or its clause where the text has several numbers of one quantity.
    """
    groups: dict[Quantity, list[tuple[Number, int]]] = defaultdict(list)
    for number, at in found:
        if (quantity := _quantity(number, text[at + len(number.text) :])) is not None:
            groups[quantity].append((number, at))
    for measures in groups.values():
        begin = 0
        for (number, at), (_, until) in pairwise([*measures, (measures[0][0], len(text))]):
            cut = _CUT.search(text, at + len(number.text), until) if until < len(text) else None
            yield number, at, (begin, cut.start() if cut else until)
            begin = cut.end() if cut else until


def _name(number: Number, after: str) -> str:
    """Return how the words name a quantity."""
    of = _OF.match(after) if number.unit == "%" else None
    if number.unit:
        return f"{number.unit} of {of[1]}" if of else number.unit
    noun = re.match(r"[\s-]*([^\W\d_]+)", after) or re.search(r"([^\W\d_]+)$", number.text)
    return noun[1] if noun else number.noun


def _quantity(number: Number, after: str) -> Quantity | None:
    """Return the unit of a number and what it counts or is a share of; None where it measures nothing."""
    if year(number) is not None or number.part or _ORDINAL.search(number.text):
        return None
    if number.unit:
        of = _OF.match(after) if number.unit == "%" else None
        return number.unit, folded_stem(of[1].casefold()) if of else ""
    if len(number.noun) > 1 and number.noun not in FUNCTION_WORDS:
        return "", number.noun
    return None


def value_of(number: Number, language: str) -> Fraction | None:
    """Return the value of a number; of "1,500" that which it has in this language. None where it has no single one."""
    values = sorted((v for v in number.values if isinstance(v, Fraction)), key=abs)
    if len(values) == 2 and len(number.values) == 2 and values[0] != -values[1]:
        decimal = "," if language in _DECIMAL_COMMA else "."
        return values[0] if decimal in number.text else values[1]
    return values[0] if len(values) == 1 else None


def _written(number: Number) -> str:
    """Return a number as the source writes it, with its bound and its unit."""
    bound = {"least": "≥ ", "most": "≤ "}.get(number.bound, "")
    unit = f" {number.unit}" if number.unit and number.unit not in number.text else ""
    return f"{bound}{number.text}{unit}"
