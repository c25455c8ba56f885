"""Lines of a deck that are cards of other programs are named; what only looks a little like one is not."""

from __future__ import annotations

import pytest

from vault.model.card import parse_deck
from vault.model.foreign_cards import CODE

HEAD = "---\ntype: flashcards\ndeck: X\n---\n# X\n\n"


def found(text: str) -> list[tuple[int, str]]:
    deck = parse_deck(HEAD + text, "learning/flashcards/x.md")
    return [(each.line - 6, each.message) for each in deck.diagnostics if each.code == CODE]


@pytest.mark.parametrize(
    ("text", "line", "sign"),
    [
        ("front::back\n", 1, "`front::back`"),
        ("words\n\nfront:::back\n", 3, "`front::back`"),
        ("front\n?\nback\n", 2, "a line `?`"),
        ("A ==hidden== word\n", 1, "`==words==`"),
        ("text\n<!--SR:!2026-12-01,3,250-->\n", 2, "<!--SR:!"),
        ("Q: a\nA: b\n<!--SR:!2026-12-01,3,250-->\n", 3, "<!--SR:!"),
        ("Q: a\nA: b\n\nC: The [order] of a group\n", 4, "`C: a text with [words]`"),
        ("C: The [order] of a group\n", 1, "`C: a text with [words]`"),
    ],
)
def test_a_card_of_another_program_is_named_with_its_line(text: str, line: int, sign: str) -> None:
    ((where, message),) = found(text)
    assert where == line and sign in message


@pytest.mark.parametrize(
    "text",
    [
        "Q: What is std::vector?\nA: a::b is a path, and ==this== is marked\n?\n",
        "```cpp\nstd::vector x;\n```\n",
        "> a quote::of words\n\n| a :: b |\n\n# A heading::of two\n",
        "See `a::b` and http://[::1]:80 for more\n",
        "C: The {{c1::order}} of [a group]\n",
        "C: a ![picture](x.png) of {{c1::it}}\n",
    ],
)
def test_cards_of_ours_code_quotes_and_tables_are_none(text: str) -> None:
    assert found(text) == []


def test_many_lines_are_one_finding_and_other_cards_stay() -> None:
    deck = parse_deck(HEAD + "a::b\n" * 50 + "\nQ: a\nA: b\n", "learning/flashcards/x.md")
    assert len(deck.cards) == 1 and len(deck.diagnostics) == 1
    assert "50 lines" in deck.diagnostics[0].message and "retain import cards" in deck.diagnostics[0].hint
