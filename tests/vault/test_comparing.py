"""Two texts side by side: only what differs is told, in words, and nothing in it acts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vault.text.diff import LEFT_OUT, MINE, MOST, OFFERED, SAME, Row, compare_texts, plain_line
from vault.text.formatting import clean_line

CITE = "[[wiki/summaries/memory#^c-aaaaaaaaa1|1]]"
OTHER = "[[wiki/summaries/memory#^c-aaaaaaaaa2|1]]"
lines = st.lists(st.text("ab \x1b\u202e[]|\n", max_size=6), max_size=12).map("\n".join)


def test_one_changed_sentence_of_a_paragraph_is_told_alone() -> None:
    mine = f"It falls fast. {CITE} {OTHER} It rises. {CITE}\n"
    offered = f"It falls fast. {CITE} {OTHER} It rises again. {CITE}\n"
    found = compare_texts(mine, offered)
    assert found.rows == (
        Row(SAME, "It falls fast. [1] [1]"),
        Row(MINE, "It rises. [1]"),
        Row(OFFERED, "It rises again. [1]"),
    )
    assert (found.removed, found.added, found.whole) == (1, 1, True)


def test_sentences_that_differ_only_in_what_they_cite_show_it() -> None:
    found = compare_texts(f"Fast. {CITE}", f"Fast. {OTHER}")
    assert [row.words for row in found.rows] == [f"Fast. {CITE}", f"Fast. {OTHER}"]


def test_what_is_the_same_is_counted_not_told() -> None:
    many = "\n".join(f"line {n}" for n in range(100))
    found = compare_texts(many, many.replace("line 50\n", "line fifty\n"))
    assert found.rows[0] == Row(LEFT_OUT, "48") and found.rows[-1] == Row(LEFT_OUT, "47")
    assert len(found.rows) == 8


def test_links_are_their_names_and_nothing_acts() -> None:
    assert plain_line("See [[wiki/concepts/x|X\x1b[2J]] and [[a\\|b]].\u202e") == "See X\ufffd[2J and b.\ufffd"


def test_texts_of_any_length_are_compared_as_far_as_it_goes() -> None:
    found = compare_texts("a\n" * (MOST + 1), "a\nb\n" * MOST)
    assert not found.whole and found.added


@given(lines, lines)
def test_each_side_can_be_told_from_the_rows(mine: str, offered: str) -> None:
    found = compare_texts(mine, offered)
    assert (found.removed, found.added) == (
        sum(row.mark == MINE for row in found.rows),
        sum(row.mark == OFFERED for row in found.rows),
    )
    assert all(row.words == clean_line(row.words) for row in found.rows)
    assert not compare_texts(mine, mine).rows
    back = compare_texts(offered, mine)
    assert bool(back.rows) == bool(found.rows)
