"""Arithmetic in a derived sentence, computed again: `3 × 4 = 12`."""

from __future__ import annotations

import re
from fractions import Fraction

_NUMBER = r"(?>[-−]?\$?(?:\d{1,3}(?:[,\u202f ]\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[ \u202f]?%)?)"
_SIGN = r"(?:\s*[-+−–×*·/÷]\s*| : )"
_CHAIN = re.compile(rf"(?<![\w.,:^±])(?<!± ){_NUMBER}(?:{_SIGN}{_NUMBER})++")
_RESULT = re.compile(
    r"\s*(=|≈|\\approx)\s*((?:about|roughly|approximately|circa|etwa|rund|ungefähr)\s|[≈~])?\s*"
    rf"({_NUMBER})(?![\w^]|[.,:]\d)(?!\s*(?:[-+−–×*·/÷^±≡]|\(?mod\b|(?:remainder|rest|in binary)\b))"
)
# What stands before a chain that is only the rest of an equation: an operator, a bracket, a root, a function.
_GOES_ON = re.compile(
    r"(?:[-+−–×*·/÷^√∛)\]}|!±]|\d|\\[A-Za-z]+"
    r"|\b(?:mod|log|ln|lg|lb|exp|sqrt|sin|cos|tan|max|min)|(?:%|\b(?:percent|half|third|quarter))\s+of)$"
)
_RANGE = re.compile(r"(\d+)[-–](\d+)")  # 1914-1918
_TIMES, _DIVIDED = "×*·", "/÷:"
_NEAR, _ROUND = Fraction(1, 20), Fraction(3, 20)  # how far off a result may be that is about right, or a round number


def arithmetic_fault(text: str) -> str:
    """Return the first equation between plain numbers that is wrong, with the right result; "" if none is."""
    text = text.replace("\\times", "×").replace("\\cdot", "·").replace("\\pm", "±")
    text = text.replace("{,}", ",").replace("\\,\\%", "%").replace("\\%", "%")
    for found in _CHAIN.finditer(text):
        result = _RESULT.match(text, found.end())
        if result is None:
            continue
        before = text[max(found.start() - 30, 0) : found.start()].rstrip(" $")
        if _GOES_ON.search(before) and text[: found.start()].strip() not in ("-", "–", "*"):
            continue
        if (span := _RANGE.fullmatch(found[0])) and int(span[1][:9]) < int(span[2][:9]):
            continue
        right, said = _value(found[0]), _number(result[3])
        about = bool(result[2]) or result[1] != "="
        if right is None or said is None or _same(right, said, result[3], about):
            continue
        hundredths = result[3].endswith("%") and "%" not in found[0]  # 100 − 45 = 55%
        if not (hundredths and _same(right / 100, said, result[3], about)):
            return f"{text[found.start() : result.end()].strip()}: the result is {float(right):g}"
    return ""


def _same(right: Fraction, said: Fraction, written: str, about: bool) -> bool:
    """Return whether a result is right as far as it is written: to its last decimal, or about."""
    bare = written.rstrip("% \u202f")
    decimals = len(bare.partition(".")[2])
    step = Fraction(1, int(10**decimals)) / (100 if written.endswith("%") else 1)
    if not about:
        return abs(right - said) <= step / 2
    zeros = len(bare) - len(bare.rstrip("0")) if not decimals else 0
    round_number = min(step * int(10**zeros) / 2, abs(right) * _ROUND)
    return abs(right - said) <= max(step / 2, abs(right) * _NEAR, round_number)


def _number(text: str) -> Fraction | None:
    plain = re.sub(r"[,\u202f $]", "", text).replace("−", "-")
    try:
        value = Fraction(plain.rstrip("%"))
    except ValueError:
        return None
    return value / 100 if plain.endswith("%") else value


def _value(text: str) -> Fraction | None:
    """Return the value of a chain of numbers and signs; products before sums. None where it has none."""
    total, term, sign = Fraction(0), None, 1
    pending = ""
    at = 0
    expects_number = True
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        number = re.compile(_NUMBER).match(text, at) if expects_number else None
        if number is not None:
            value = _number(number[0])
            if value is None:
                return None
            if term is None:
                term = value
            elif pending in _TIMES:
                term *= value
            elif value == 0:
                return None
            else:
                term /= value
            at, expects_number = number.end(), False
            continue
        if expects_number:
            return None
        if text[at] in _TIMES or text[at] in _DIVIDED:
            pending = text[at]
        else:
            total += sign * (term or 0)
            term, sign = None, 1 if text[at] == "+" else -1
        at, expects_number = at + 1, True
    return total + sign * (term or 0) if not expects_number else None
