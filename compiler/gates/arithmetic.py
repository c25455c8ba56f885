"""Arithmetic in a derived sentence, computed again: `3 × 4 = 12`."""

from __future__ import annotations

import re
from fractions import Fraction

_NUMBER = r"[-−]?\$?(?:\d{1,3}(?:[,\u202f ]\d{3})+|\d+)(?:\.\d+)?(?:[ \u202f]?%)?"
_SUM = re.compile(
    rf"(?<![\w.,^±])(?<!± )({_NUMBER}(?:\s*[-+−–×*·/÷:]\s*{_NUMBER})+)\s*=\s*({_NUMBER})(?![\w^])(?!\s*[-+−–×*·/÷^±])"
)
_PART = re.compile(rf"({_NUMBER})|([-+−–×*·/÷:])")
_TIMES, _DIVIDED = "×*·", "/÷:"


def arithmetic_fault(text: str) -> str:
    """Return the first equation between plain numbers that is wrong, with the right result; "" if none is."""
    for found in _SUM.finditer(
        text.replace("\\times", "×")
        .replace("\\cdot", "·")
        .replace("\\,\\%", "%")
        .replace("\\%", "%")
        .replace("\\pm", "±")
    ):
        right, said = _value(found[1]), _number(found[2])
        if right is not None and said is not None and not _same(right, said, found[2]):
            return f"{found[0].strip()}: the result is {float(right):g}"
    return ""


def _same(right: Fraction, said: Fraction, written: str) -> bool:
    """Return whether a result is right as far as it is written: to its last decimal."""
    bare = written.rstrip("% \u202f")
    decimals = len(bare.partition(".")[2])
    step = Fraction(1, int(10**decimals)) / (100 if written.endswith("%") else 1)
    zeros = len(bare) - len(bare.rstrip("0")) if not decimals else 0
    return abs(right - said) <= step * int(10**zeros) / 2


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
