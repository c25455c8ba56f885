"""Counts with their nouns, and text cut to a width."""

from __future__ import annotations

import pytest

from vault.text.formatting import plural, short_line, truncate


@pytest.mark.parametrize(
    ("count", "noun", "many", "zero", "text"),
    [
        (0, "card", "", "0", "0 cards"),
        (0, "card", "", "no", "no cards"),
        (1, "card", "", "0", "1 card"),
        (1, "copy", "copies", "no", "1 copy"),
        (2, "card", "", "no", "2 cards"),
        (2, "copy", "copies", "0", "2 copies"),
        (999, "day", "", "0", "999 days"),
        (1_024, "review", "", "0", "1,024 reviews"),
        (2_000_000, "review", "", "0", "2,000,000 reviews"),
    ],
)
def test_plural(count: int, noun: str, many: str, zero: str, text: str) -> None:
    assert plural(count, noun, many, zero=zero) == text


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("", 5, ""),
        ("short", 5, "short"),
        ("longer", 5, "long…"),
        ("one two three", 5, "one…"),  # no space before the "…"
        ("注意力机制", 3, "注意…"),
        ("two\nlines", 20, "two\nlines"),
        ("ab", 1, "…"),
    ],
)
def test_truncate(text: str, width: int, shown: str) -> None:
    assert truncate(text, width) == shown


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [("  two\n lines ", 20, "two lines"), ("a\x1b[31mb", 20, "a\ufffd[31mb"), ("a    b    c", 4, "a b…")],
)
def test_short_line(text: str, width: int, shown: str) -> None:
    assert short_line(text, width) == shown
