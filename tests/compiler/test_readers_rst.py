"""reStructuredText read as the words a reader sees: directives act on nothing, and include nothing."""

from __future__ import annotations

import pytest

from compiler.readers.read import read_source
from vault.model.source import MarkKind, SourceText


def read(rst: str) -> SourceText:
    return read_source(rst.encode(), "guide.rst")


def marked(source: SourceText, kind: MarkKind) -> list[str]:
    return [source.text[m.start : m.end] for m in source.marks if m.kind is kind]


def test_headings_take_their_levels_from_the_order_of_their_signs() -> None:
    source = read("=====\nTitle\n=====\n\nOne\n---\n\ntext\n\nDeep\n~~~~\n\nTwo\n---\n\nlast\n")
    levels = [(source.text[m.start : m.end], m.level) for m in source.marks if m.kind is MarkKind.HEADING]
    assert levels == [("Title", 1), ("One", 2), ("Deep", 3), ("Two", 2)]
    assert source.locate(source.text.index("text")) == "One, line 8"


def test_inline_markup_is_marked_and_its_signs_are_gone() -> None:
    source = read(
        "An *em*, a **strong** ``x_y``, :math:`x^2`, `a link <https://a.b/c>`_, :term:`cue`, ref_ and [1]_.\n"
    )
    assert source.text == "An em, a strong `x_y`, $x^2$, a link, cue, ref and."
    assert marked(source, MarkKind.EMPHASIS) == ["em", "strong", "cue"]


def test_notes_keep_their_words_and_comments_targets_and_trees_say_nothing() -> None:
    source = read(
        ".. _here:\n\n.. note:: Mind\n   this well.\n\n   And this.\n\n.. comment\n   hidden\n\n"
        ".. toctree::\n   :maxdepth: 2\n\n   other\n\n.. include:: /etc/passwd\n\n.. [1] The footnote.\n\nEnd.\n"
    )
    assert source.text == "Mind this well.\n\nAnd this.\n\nThe footnote.\n\nEnd."


def test_lists_terms_and_definitions() -> None:
    source = read("- one\n  goes on\n\n  - inner\n\n- two\n\nCue\n    What helps recall.\n")
    items = [(source.text[m.start : m.end], m.level) for m in source.marks if m.kind is MarkKind.ITEM]
    assert items == [("one goes on\n\ninner", 1), ("inner", 2), ("two", 1)]
    assert marked(source, MarkKind.TERM) == ["Cue"]


def test_code_in_all_its_ways() -> None:
    source = read(
        "So::\n\n    x = 1\n\n    y = 2\n\n.. code-block:: rust\n   :linenos:\n\n   fn f() {}\n\n>>> 1 + 1\n2\n\nEnd.\n"
    )
    code = [(m.info, source.text[m.start : m.end]) for m in source.marks if m.kind is MarkKind.CODE]
    assert code == [("", "x = 1\ny = 2"), ("rust", "fn f() {}"), ("python", ">>> 1 + 1\n2")]
    assert source.text.startswith("So:\n\n")


def test_tables_figures_and_formulas() -> None:
    source = read(
        "+------+---------+\n| Term | Meaning |\n+======+=========+\n| cue  | helps   |\n+------+---------+\n\n"
        "=====  =======\nTerm   Meaning\n=====  =======\nlapse  a miss\n=====  =======\n\n"
        ".. figure:: b.png\n   :alt: A curve\n\n   The caption.\n\n.. math::\n\n   y = x\n"
    )
    assert marked(source, MarkKind.TABLE) == ["Term | Meaning\ncue | helps", "Term | Meaning\nlapse | a miss"]
    assert [(p.target, p.caption) for p in source.pictures] == [("b.png", "The caption.")]
    assert marked(source, MarkKind.MATH) == ["$$y = x$$"]


@pytest.mark.parametrize(
    "sign", ["*", "`", "``", "|a", "- ", "+---+\n", ".. note::\n ", "a::\n\n b\n", "a\n ", "===\na\n", ":a: b\n"]
)
def test_hostile_rst_ends(sign: str) -> None:
    source = read("A\n===\n\nlast words here\n\n" + sign * (30_000 // len(sign)))
    assert source.text.startswith("A\n\nlast words here")


def test_a_footnote_is_a_paragraph_and_an_entry_of_a_bibliography_is_none() -> None:
    source = read(
        "It sees. [#]_ As in [Smith99]_ it is [Smith99]_.\n\n.. [#] In the first days of life\n   it does not yet.\n"
        ".. [#]\n   Nor later.\n\n.. [Smith99] Smith, A book\n   of 1999.\n\nEnd.\n"
    )
    assert source.text == (
        "It sees. As in […] it is.\n\nIn the first days of life it does not yet.\n\nNor later.\n\nEnd."
    )
    assert marked(source, MarkKind.TERM) == []


def test_the_first_line_of_an_indented_text_is_a_term_only_if_it_is_short() -> None:
    source = read(
        "cell\n   The unit of life.\n\nThis line goes on below in the middle of a sentence and so\n   is no term.\n"
    )
    assert marked(source, MarkKind.TERM) == ["cell"]
    assert "sentence and so is no term." in source.text


def test_a_figure_may_have_its_address_on_the_next_line() -> None:
    source = read(".. figure::\n   pics/eye.png\n   :alt: fig-eye\n   :name: fig-eye\n\n   The human eye.\n\nWords.\n")
    assert source.text == "The human eye.\n\nWords."
    assert [(p.target, p.caption) for p in source.pictures] == [("pics/eye.png", "The human eye.")]


def test_substitutions_are_put_in_and_unknown_ones_leave_a_gap() -> None:
    source = read(".. |db| replace:: the *base*\n\nIt is |db| in |version|; see :doc:`/intro` and ``|x|``.\n")
    assert source.text == "It is the base in […]; see […] and `|x|`."


def test_what_is_left_out_is_named() -> None:
    source = read("Words.\n\n.. mystery::\n\n   Hidden words.\n\n.. include:: more.rst\n\n.. todo:: Say more.\n")
    assert source.text == "Words."
    assert [(p.code, p.line) for p in source.problems] == [("rst-include", 7), ("rst-directives", 0)]
    assert "mystery (1)" in source.problems[1].message
