"""Org documents read as the words a reader sees."""

from __future__ import annotations

import pytest

from compiler.readers.read import read_source
from vault.model.source import MarkKind, SourceText


def read(org: str) -> SourceText:
    return read_source(org.encode(), "notes.org")


def marked(source: SourceText, kind: MarkKind) -> list[str]:
    return [source.text[m.start : m.end] for m in source.marks if m.kind is kind]


def test_keywords_are_properties_and_drawers_planning_and_comments_say_nothing() -> None:
    source = read(
        "#+TITLE: Spaced\n#+TITLE: Repetition\n#+AUTHOR: Ann\n#+DATE: <2024-05-01 Wed>\n# comment\n"
        "* Memory\n:PROPERTIES:\n:ID: 12\n:END:\nSCHEDULED: <2024-05-01 Wed>\nIt lasts.\n"
    )
    assert source.text == "Memory\n\nIt lasts."
    assert source.title == "Spaced Repetition"
    assert (source.properties["author"], source.properties["published"]) == ("Ann", "2024-05-01")


def test_headings_lose_their_states_priorities_cookies_and_tags() -> None:
    source = read(
        "#+TODO: LATER | SETTLED\n* TODO [#A] One [1/3] :a:b:\n** LATER Two\n* COMMENT Hidden\nno\n** no\n* Three\n"
    )
    levels = [(source.text[m.start : m.end], m.level) for m in source.marks if m.kind is MarkKind.HEADING]
    assert levels == [("One", 1), ("Two", 2), ("Three", 1)]
    assert "no" not in source.text


def test_places_name_heading_and_line() -> None:
    source = read("lead\n\n* Soft *max*\n\nfirst\nstill\n\n- item\n")
    assert source.locate(0) == "line 1"
    assert source.locate(source.text.index("first")) == "Soft max, line 5"
    assert source.locate(source.text.index("item")) == "Soft max, line 8"


def test_emphasis_links_code_and_formulas() -> None:
    source = read(
        "A *bold /and italic/* word, =code x= or ~y~, a [[https://a.b/c][link]], a/b/c, 2*3*4, +gone+.\n"
        "With $x^2$ and \\(y\\) and \\alpha and na\\iuml{}ve [cite:@key] done[fn:1].\n\n[fn:1] The note.\n"
    )
    assert source.text == (
        "A bold and italic word, `code x` or `y`, a link, a/b/c, 2*3*4, With $x^2$ and $y$ and α and naïve done.\n\n"
        "The note."
    )
    assert "bold and italic" in marked(source, MarkKind.EMPHASIS)
    assert [m.info for m in source.marks if m.kind in (MarkKind.LINK, MarkKind.CITATION)] == ["https://a.b/c", "key"]


def test_lists_nest_and_descriptions_have_terms() -> None:
    source = read(
        "- Query :: what is sought\n  goes on\n- Key :: what matches\n\n1. one\n   - inner\n2. [X] two\nAfter.\n"
    )
    assert marked(source, MarkKind.TERM) == ["Query", "Key"]
    items = [(source.text[m.start : m.end], m.level) for m in source.marks if m.kind is MarkKind.ITEM]
    assert ("one\n\ninner", 1) in items and ("inner", 2) in items and ("two", 1) in items
    assert source.text.endswith("After.") and "goes on" in source.text


def test_blocks_tables_pictures_and_equations() -> None:
    source = read(
        "#+begin_src python :results output\nx = 1\n\n*,* y\n#+end_src\n#+begin_quote\nThey said.\n#+end_quote\n"
        "#+CAPTION: The curve\n[[file:img/curve.png]]\n| Term | Meaning |\n|------+---------|\n| cue | what helps |\n"
        "#+begin_export html\n<b>no</b>\n#+end_export\n\\begin{equation}\\label{e}\ny = x\n\\end{equation}\n: fixed\n"
    )
    code = [(m.info, source.text[m.start : m.end]) for m in source.marks if m.kind is MarkKind.CODE]
    assert code == [("python", "x = 1\n*,* y"), ("", "fixed")]
    assert marked(source, MarkKind.QUOTATION) == ["They said."]
    assert [(p.target, p.caption) for p in source.pictures] == [("img/curve.png", "The curve")]
    assert marked(source, MarkKind.TERM) == ["cue"]
    assert marked(source, MarkKind.MATH) == ["$$y = x$$"]
    assert "no" not in source.text.split()


def test_html_in_it_is_words() -> None:
    assert (
        read("Use <b hidden>this</b> & <script>that</script>.").text
        == "Use <b hidden>this</b> & <script>that</script>."
    )


@pytest.mark.parametrize(
    "sign", ["* ", "*a ", "/a ", "[[", "[fn:", "- ", "|\n", "#+begin_src\n", ":a:\n", "$a", "\\begin{a}\n"]
)
def test_hostile_org_ends(sign: str) -> None:
    source = read("* A\nlast words here\n\n" + sign * (60_000 // len(sign)))
    assert source.text.startswith("A\n\nlast words here")
