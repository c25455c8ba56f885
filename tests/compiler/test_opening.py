"""How a document introduces itself: the words it opens with, and its outline."""

from __future__ import annotations

from compiler.readers.read import read_source
from compiler.sources.opening import MOST_HEADINGS, MOST_WORDS, opening, outline

FIRST = (
    "A tide is the regular rise and fall of the sea. It follows the attraction of the moon and the sun, and comes twice"
    " a day on most coasts."
)
LATER = "The height of a tide depends on the shape of the coast, on the depth of the water and on the wind."


def opens(text: str) -> str:
    source = read_source(text.encode(), "tides.md")
    return " ".join(source.text[start:end] for start, end in opening(source))


def test_a_document_opens_with_its_first_paragraph() -> None:
    assert opens(f"# Tides\n\n{FIRST}\n\n## Height\n\n{LATER}\n") == FIRST


def test_the_abstract_goes_before_the_first_paragraph_wherever_it_stands() -> None:
    assert opens(f"# Tides\n\n{LATER}\n\n## Abstract\n\n{FIRST}\n\n## Height\n\n{LATER}\n") == FIRST
    assert opens(f"# Tides\n\nJane Doe and John Roe\n\nAbstract: {FIRST}\n\n{LATER}\n") == FIRST
    assert opens(f"# Gezeiten\n\n{LATER}\n\n## Zusammenfassung\n\n{FIRST}\n") == FIRST


def test_the_summary_of_a_section_is_no_abstract() -> None:
    text = f"# Tides\n\n{FIRST}\n\n## Height\n\n{LATER}\n\n### Details\n\n{LATER}\n\n#### Summary\n\n{LATER}\n"
    assert opens(text) == FIRST


def test_authors_licences_navigation_and_lists_of_aims_are_no_opening() -> None:
    before = (
        "[Home](a.md) | [Previous page of the course](b.md) | [Next page of the course](c.md)",
        "Jane Doe, University of Somewhere, Department of Oceans and Coasts, Street 1, 12345 Town, jane@example.org.",
        "Copyright 2020 by the authors. This work may be shared by anybody who names the authors and says so.",
        "Prerequisites: you should have read the chapter on gravity and be able to solve a linear equation.",
        "By the end of this section, you will be able to:\n\n- describe what a tide is and what it comes from\n- add",
        "> The sea is everything. It covers seven tenths of the terrestrial globe, and its breath is pure and healthy.",
    )
    for paragraph in before:
        assert opens(f"# Tides\n\n{paragraph}\n\n{FIRST}\n") == FIRST, paragraph


def test_the_prose_after_very_many_list_items_is_found_soon() -> None:
    items = "\n\n".join(
        f"- item {n} of a long list of things that are to be had here in the harbour" for n in range(8_000)
    )
    source = read_source(f"# Tides\n\n{items}\n\n{FIRST}\n".encode(), "tides.md")
    assert [source.text[start:end] for start, end in opening(source)] == [f"{part}." for part in FIRST[:-1].split(". ")]


def test_a_long_opening_is_cut_after_a_sentence_that_states_something() -> None:
    said = opens("# Tides\n\n" + f"{FIRST} And why is that so? " * 12)
    assert FIRST in said and len(said.split()) <= MOST_WORDS
    assert said.endswith(".")


def test_an_unreadable_sentence_ends_the_opening() -> None:
    assert opens(f"# Tides\n\n{FIRST} The e\ufffdect of the moon is the greater one.\n") == FIRST


def test_a_chinese_document_opens_with_whole_sentences() -> None:
    text = "潮汐是海水在月球和太阳引力作用下产生的周期性涨落现象。大多数海岸每天涨落两次。"
    assert "".join(opens(f"# 潮汐\n\n{text}\n").split()) == text


def test_an_outline_has_two_levels_without_numbers_and_titles() -> None:
    text = (
        f"# Tides\n\n{FIRST}\n\n## 1. Height\n\n{LATER}\n\n### 1.1 Spring tides\n\n{LATER}\n\n## References\n\nNone.\n"
    )
    source = read_source(text.encode(), "tides.md")
    assert [(depth, name) for depth, _, name in outline(source)] == [(0, "Height"), (1, "Spring tides")]


def test_a_long_outline_keeps_its_upper_level() -> None:
    parts = "".join(f"## Sea of {n}{n}\n\n### Coast of {n}{n}\n\n{LATER}\n\n" for n in "abcdefghijklmno")
    found = outline(read_source(f"# Tides\n\n{parts}".encode(), "tides.md"))
    assert len(found) == MOST_HEADINGS and {depth for depth, *_ in found} == {0}


def test_a_document_without_headings_has_no_outline() -> None:
    assert outline(read_source(f"{FIRST}\n\n{LATER}\n".encode(), "tides.txt")) == []
