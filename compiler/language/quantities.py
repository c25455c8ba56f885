"""Numbers, units and dates in running text, in figures and in words, in English, German and Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from compiler.language.lexicon import pattern, word_list
from compiler.language.tokens import folded_stem

Value = Fraction | str  # a number; in figures that name no single number ("1.2.3", "10^-31"), as they are written


@dataclass(frozen=True, slots=True)
class Number:
    """A number: the values it may mean, its unit ("" if unknown), what it counts, and whether it is a bound."""

    text: str
    values: frozenset[Value]
    unit: str = ""
    noun: str = ""
    bound: str = ""  # "least", "most" or ""
    spelled: bool = False
    part: bool = False  # a fraction in words: two thirds


@dataclass(frozen=True, slots=True)
class Day:
    """A date that names at least its month."""

    text: str
    year: int | None
    month: int
    day: int | None


@dataclass(frozen=True, slots=True)
class Quantities:
    """The numbers and the dates of a text."""

    numbers: tuple[Number, ...]
    days: tuple[Day, ...]


MONTHS = {
    name: 1 + n // 3
    for n, name in enumerate(
        "January Januar Jan February Februar Feb March März Mar April April Apr May Mai May June Juni Jun July Juli Jul"
        " August August Aug September September Sept October Oktober Oct November November Nov"
        " December Dezember Dec".split()
    )
}
_MONTH = rf"(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b\.?"
_DATE = re.compile(
    rf"(?P<iso>\b\d{{4}}-\d{{2}}-\d{{2}}\b)"
    rf"|\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<m1>{_MONTH})(?:,?\s+(?P<y1>\d{{4}})\b)?"
    rf"|\b(?P<m2>{_MONTH})\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\s*[:%])(?:,?\s+(?P<y2>\d{{4}})\b)?"
    rf"|\b(?P<m3>{_MONTH}),?\s+(?:of\s+)?(?P<y3>\d{{4}})\b"
    rf"|\b(?:in|since|until|by|from|between|and|of|im|seit|bis)\s+(?P<m4>{_MONTH})"
    rf"(?:,?\s+(?P<y4>\d{{4}})\b|(?!\s+[a-z]))"
    rf"|\b(?P<d5>\d{{1,2}})\.\s?(?P<m5>\d{{1,2}})\.\s?(?P<y5>\d{{4}})\b"
    rf"|(?:(?P<y6>\d{{4}})\s?年\s?)?(?P<m6>\d{{1,2}})\s?月(?:\s?(?P<d6>\d{{1,2}})\s?[日号])?"
)


def _counted(words: str, first: int, step: int = 1) -> dict[str, int]:
    """Return the words with the numbers that they stand for, the second `step` more than the first."""
    return {word: first + n * step for n, word in enumerate(words.split())}


_ENGLISH = _counted(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen",
    0,
)
_TENS = _counted("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10)
_GERMAN = _counted(
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn"
    " siebzehn achtzehn neunzehn",
    0,
) | _counted("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig", 20, 10)
_GERMAN |= {
    f"{'ein' if one == 1 else name}und{ten}": tens + one
    for name, one in list(_GERMAN.items())[1:10]
    for ten, tens in list(_GERMAN.items())[20:]
}
ORDINALS = _counted(
    "fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth"
    " seventeenth eighteenth nineteenth twentieth",
    4,
)
NUMBER_WORDS = _ENGLISH | _TENS
_SPELLED = {**NUMBER_WORDS, **_GERMAN, **ORDINALS, "dozen": 12, "dutzend": 12, "both": 2, "beide": 2, "beiden": 2}
del _SPELLED["one"], _SPELLED["eins"]  # a pronoun, mostly
SCALES = {
    "hundred": 2, "hundert": 2, "thousand": 3, "tausend": 3, "million": 6, "millions": 6, "millionen": 6, "mio": 6,
    "billion": 9, "billions": 9, "milliarde": 9, "milliarden": 9, "mrd": 9, "trillion": 12, "万": 4, "亿": 8,
    "k": 3, "K": 3, "M": 6, "B": 9,
}  # fmt: skip
_PARTS = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fifth": 5, "fifths": 5, "tenth": 10,
    "tenths": 10, "drittel": 3, "viertel": 4, "fünftel": 5, "zehntel": 10,
}  # fmt: skip
UNITS = {spelled: row.split()[0] for row in word_list("units").split("|") for spelled in row.split()[1:]}
_FIGURES = pattern("quantities_figures")
_AFTER = pattern("quantities_after")
_NAMES = re.compile(r"(?<![A-Za-z])[A-Za-z]+[-‐]?\d[\w.-]*|\b[A-Za-z]\^\d+|\b\d+[A-Za-z]*[A-Z][a-zA-Z]*\b(?<![kKMB])")
_WORDS = re.compile(r"[^\W\d_]+")
_LEAST = pattern("quantities_least")
_MOST = pattern("quantities_most")
_BEFORE_NEGATIVE = frozenset("is was are were be been to of at by from about than or and bei auf ist war von".split())
_CJK_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_CJK_NUMBER = pattern("quantities_cjk_number")


@lru_cache(maxsize=1 << 12)
def quantities(text: str) -> Quantities:
    """Return the numbers and dates of `text`; a number that is part of a name (GPT-3) is none."""
    days: list[Day] = []
    rest = list(text)
    for match in _DATE.finditer(text):
        found = list(_days(match))
        days += found
        if found:
            rest[match.start() : match.end()] = " " * (match.end() - match.start())
    for match in _NAMES.finditer("".join(rest)):
        rest[match.start() : match.end()] = " " * (match.end() - match.start())
    plain = "".join(rest)
    return Quantities((*_in_figures(plain), *_in_words(plain), *_in_chinese(plain)), tuple(days))


def _days(match: re.Match[str]) -> Iterator[Day]:
    """Yield the date that a match names."""
    said = match.groupdict()
    if said["iso"]:
        year, month, day = (int(n) for n in said["iso"].split("-"))
        yield Day(match[0], year, month, day)
        return
    for n in "123456":
        name = said.get(f"m{n}")
        if name is None:
            continue
        number = int(name) if name.isdigit() else MONTHS[name.rstrip(".")]
        if not 1 <= number <= 12:
            return
        when, of = said.get(f"y{n}"), said.get(f"d{n}")
        yield Day(match[0], int(when) if when else None, number, int(of) if of else None)


def _in_figures(text: str) -> Iterator[Number]:
    """Yield the numbers in figures."""
    for match in _FIGURES.finditer(text):
        after = _AFTER.match(text, match.end())
        assert after is not None  # all of it is optional
        scale = (after["scale"] or after["chinese"] or "").casefold()
        shift = SCALES.get(match["short"] or "", 0) + SCALES.get(scale, 0)
        values = frozenset(_scaled(v, shift, bool(match["sign"])) for v in _readings(match["figures"]))
        word = (after["unit"] or "").casefold().replace(" ", "")
        coin = (match["coin"] or "").strip()
        unit = UNITS.get(coin) or UNITS.get("percent" if word == "percent" else word, "")
        if match["ordinal"] == "s":
            unit = "decade"
        before = text[max(0, match.start() - 20) : match.start()].casefold()
        below = re.match(r"[^.;]{0,12}(?:below zero|unter null)", text[match.end() : match.end() + 30])
        minus = re.search(r"(?:(\w+)\s+)?minus\s*$|零下\s*$", before)
        if below or minus:
            negative = frozenset(-v if isinstance(v, Fraction) else v for v in values)
            taken = minus is not None and minus[1] and minus[1] not in _BEFORE_NEGATIVE and not word
            values = negative | (values if taken else frozenset())  # of "cells minus 1", which takes 1 away
        yield Number(match[0].strip(), values, unit, folded_stem(word), _bound(before))


def _scaled(value: Value, shift: int, negative: bool) -> Value:
    """Return the value times a power of ten, negative if so written."""
    if isinstance(value, str):
        return value
    return (-value if negative else value) * Fraction(10**shift)


def _readings(figures: str) -> frozenset[Value]:
    """Return what figures may mean: "1,500" is 1500, or 1.5 where a comma separates decimals."""
    bare = re.sub(r"[ \u00a0\u202f]", "", figures).replace("−", "-")
    if len(bare) > 40 or "^" in bare or "*" in bare:
        return frozenset({bare})
    if "/" in bare:
        above, below = bare.split("/")
        return frozenset({Fraction(int(above), int(below))}) if int(below) else frozenset({bare})
    groups = re.split(r"[.,]", bare)
    if len(groups) == 1:
        return frozenset({Fraction(bare)})
    marks = re.findall(r"[.,]", bare)
    thousands = all(len(g) == 3 for g in groups[1:]) and len(groups[0]) <= 3 and len(set(marks)) == 1
    found: set[Value] = {Fraction("".join(groups))} if thousands else set()
    if len(groups) == 2:
        found.add(Fraction(f"{groups[0]}.{groups[1]}"))
    elif not thousands and all(len(g) == 3 for g in groups[1:-1]) and marks[-1] != marks[0]:
        found.add(Fraction(f"{''.join(groups[:-1])}.{groups[-1]}"))
    return frozenset(found or {bare})


def _bound(before: str) -> str:
    """Return "least" or "most" if the words before a number bound it, else ""."""
    return "least" if _LEAST.search(before) else "most" if _MOST.search(before) else ""


def _in_words(text: str) -> Iterator[Number]:
    """Yield the numbers in English and German words."""
    found = list(_WORDS.finditer(text))
    at = 0
    while at < len(found):
        end, value = _spelled(found, at)
        if value is None:
            at += 1
            continue
        said = text[found[at].start() : found[end - 1].end()]
        part = found[end][0].casefold() if end < len(found) else ""
        if part in _PARTS and end - at == 1:
            yield Number(f"{said} {part}", frozenset({value / _PARTS[part]}), spelled=True, part=True)
            at = end + 1
            continue
        before = text[max(0, found[at].start() - 20) : found[at].start()].casefold()
        yield Number(said, frozenset({value}), UNITS.get(part, ""), folded_stem(part), _bound(before), spelled=True)
        at = end


def _spelled(found: Sequence[re.Match[str]], at: int) -> tuple[int, Fraction | None]:
    """Return (where the number that begins at `at` ends, its value); (at, None) if none begins there."""
    first = found[at][0].casefold()
    if first not in _SPELLED:
        return at, None
    total = _SPELLED[first]
    if not total:
        return at, None
    end = at + 1
    if first in _TENS and end < len(found) and (one := _ENGLISH.get(found[end][0].casefold(), 0)) and one < 10:
        total += one
        end += 1
    value = Fraction(total)
    while end < len(found) and found[end][0].casefold() in SCALES and len(found[end][0]) > 1:
        value *= 10 ** SCALES[found[end][0].casefold()]
        end += 1
    return end, value


def _in_chinese(text: str) -> Iterator[Number]:
    """Yield the numbers in Chinese characters."""
    for match in _CJK_NUMBER.finditer(text):
        value = _chinese_value(match[0])
        if value > 1:
            yield Number(match[0], frozenset({Fraction(value)}), noun=text[match.end() : match.end() + 1], spelled=True)


def _chinese_value(text: str) -> int:
    """Return the value of a number in Chinese characters."""
    if len(text) > 1 and all(c in _CJK_DIGITS for c in text):
        return int("".join(str(_CJK_DIGITS[c]) for c in text))
    total = section = digit = 0
    for c in text:
        if c in _CJK_DIGITS:
            digit = _CJK_DIGITS[c]
        elif c in "十百千":
            section += (digit or 1) * {"十": 10, "百": 100, "千": 1000}[c]
            digit = 0
        else:
            total += (section + digit or 1) * (10**4 if c == "万" else 10**8)
            section = digit = 0
    return total + section + digit
