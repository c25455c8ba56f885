"""Equations in derived sentences, computed again."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.gates.arithmetic import arithmetic_fault


@pytest.mark.parametrize(
    "text",
    [
        "So these are 3 × 4 = 12 cells.",
        "2 + 3 × 4 = 14, as products come first.",
        "12 / 4 / 3 = 1 and 6 / 2 × 3 = 9",
        "10 / 3 = 3.3 or, more closely, 10 / 3 = 3.333",
        "1200 / 7 ≈ 170, or = about 170, or 171",
        "1,200 + 300 = 1,500 and 40 000 / 8 = 5 000",
        "145/400 = 36%, and 50% × 80 = 40",
        "100 − 45 = 55%, 3 / 2 = 150% and 0.7 + 0.5 = 120%",
        "$5 × 3 = $15",
        "7 − 9 = −2 and −5 + 2 = −3",
        "5 · 6 = 30, $5 \\times 6 = 30$, 5 \\cdot 6 = 30",
        "0.1 + 0.2 = 0.3",
        r"$224 \times 224 = 50{,}176$",
        "n × 3 = 12, so n is 4",  # not of plain numbers
        "2^3 × 2 = 16 and 3 × 10^2 = 300",
        "x2 - 1 = 5",
        "5 + 5 = 11 - 1 is not looked at, nor is 5 ÷ 0 = 1",
        "There were 4 of them in 2019, that is 3 more.",
        "(85 − 70) / 10 + 2 = 3.5, 2x + 3 + 4 = 11 and √16 + 2 + 1 = 7",  # the end of a longer one
        "Where x = 4: 4 × 2 = 8, as on page 12: 3 × 4 = 12, and 3 × 5 = 7.5 × 2",
        "1914-1918 = 4 years, from 10:15 - 10:30 = 15 minutes; 19 / 5 = 3 remainder 4",
        "",
    ],
)
def test_what_is_right_or_cannot_be_computed_is_let_through(text: str) -> None:
    assert arithmetic_fault(text) == ""


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("So these are 3 × 4 = 13 cells.", "12"),
        ("2 + 3 × 4 = 20", "14"),
        ("10 / 3 = 3.34", "3.33"),
        ("1,200 + 300 = 1,400", "1500"),
        ("1 / 3 = 34%", "0.333"),
        ("$5 × 3 = $16", "15"),
        ("7 − 9 = 2", "-2"),
        ("$5 \\times 6 = 31$", "30"),
        ("999 × 999 = 1,000,000", "998001"),
        ("1 + 1 = 2 and 2 + 2 = 5", "4"),
        ("3 × 4 = 12.5", "12"),
        ("100 − 45 = 56%", "55"),
        ("450 + 450 = 1000", "900"),
        ("3 + 3 = 10 or 3 + 3 ≈ 10", "6"),
        ("It follows: (3 + 3 = 7)", "6"),
    ],
)
def test_what_is_wrong_is_said_with_the_right_result(text: str, result: str) -> None:
    assert f"the result is {result}" in arithmetic_fault(text)


NUMBERS = st.integers(1, 9_999)


def value(first: int, rest: list[tuple[str, int]]) -> Fraction:
    """What a chain comes to; products first."""
    terms = [Fraction(first)]
    for sign, number in rest:
        if sign in "+-":
            terms.append(Fraction(number if sign == "+" else -number))
        else:
            terms[-1] *= Fraction(number) if sign == "×" else Fraction(1, number)
    return sum(terms, Fraction(0))


def written(units: int, digits: int) -> str:
    """So many units of the last digit, with that many decimals."""
    whole, part = divmod(abs(units), 10**digits)
    return f"{'-' if units < 0 else ''}{whole}{f'.{part:0{digits}d}' if digits else ''}"


@given(NUMBERS, st.lists(st.tuples(st.sampled_from("+-×/"), NUMBERS), min_size=1, max_size=4), st.integers(1, 4))
def test_any_chain_of_numbers_is_right_to_its_last_digit_and_wrong_beyond_it(
    first: int, rest: list[tuple[str, int]], digits: int
) -> None:
    chain = " ".join([str(first), *(f"{sign} {number}" for sign, number in rest)])
    units = round(value(first, rest) * 10**digits)
    assert arithmetic_fault(f"{chain} = {written(units, digits)}") == ""
    for wrong in (units + 2, units - 2):
        assert arithmetic_fault(f"{chain} = {written(wrong, digits)}")
