"""AsciiDoc documents read as the words a reader sees."""

from __future__ import annotations

import pytest

from compiler.readers.read import read_source
from vault.errors import Unreadable
from vault.model.source import MarkKind, SourceText


def read(adoc: str) -> SourceText:
    return read_source(adoc.encode(), "notes.adoc")


def marked(source: SourceText, kind: MarkKind) -> list[str]:
    return [source.text[m.start : m.end] for m in source.marks if m.kind is kind]


def codes(source: SourceText) -> list[str]:
    return [problem.code for problem in source.problems]


def test_the_header_gives_title_author_and_date_and_attributes_their_values() -> None:
    source = read(
        "= Of Cells\nAnn Author <ann@a.org>; Bob Writer\nv1.2, 2024-05-01\n:tool: Lens\n:long: seen \\\n  often\n\n"
        "// a comment\nThe {tool} was {long}.\n////\nhidden\n////\n"
    )
    assert source.text == "Of Cells\n\nThe Lens was seen often."
    assert source.title == "Of Cells"
    assert (source.properties["author"], source.properties["published"]) == ("Ann Author, Bob Writer", "2024-05-01")
    assert source.problems == ()


def test_a_comment_ends_no_paragraph_and_a_line_is_where_it_was() -> None:
    source = read("== Head\n\nOne line\n// a comment\ngoes on.\n\n[[here]]\n.A title\nLater.\n")
    assert source.text == "Head\n\nOne line goes on.\n\nA title\n\nLater."
    assert source.locate(source.text.index("Later")) == "Head, line 9"


def test_emphasis_code_quotes_index_terms_and_links() -> None:
    source = read(
        'A *strong* and _slanted_ `word`, a [.term]#membrane#, "`said so`" -- and snake_case_name.(((cell, part)))\n'
        "((Flagella)) move indexterm:[cell,move] by https://a.org/b[the site^], kbd:[Ctrl+C] and 2 * 3 * 4.\n"
    )
    assert source.text == (
        "A strong and slanted `word`, a membrane, “said so” — and snake_case_name. "
        "Flagella move by the site, Ctrl+C and 2 * 3 * 4."
    )
    assert marked(source, MarkKind.EMPHASIS) == ["strong", "slanted", "membrane"]
    assert marked(source, MarkKind.TERM) == ["membrane"]
    assert [m.info for m in source.marks if m.kind is MarkKind.LINK] == ["https://a.org/b"]


def test_what_a_sentence_lacks_is_a_gap_and_a_problem_says_so() -> None:
    source = read(
        "See <<other>> or xref:x.adoc[] and <<it,this part>>.\n\n{nobody} sets it; `{kept}` is code.\n\n"
        "Press image:icon.png[save] now.\n\ninclude::more.adoc[]\n"
    )
    assert source.text == ("See […] or […] and this part.\n\n[…] sets it; `{kept}` is code.\n\nPress […] now.")
    assert codes(source) == ["asciidoc-include", "attribute-unknown", "pictures-inline"]
    assert source.problems[0].line == 7 and "more.adoc" in source.problems[0].message


def test_conditions_keep_what_holds() -> None:
    source = read(
        ":web: yes\nifdef::web[]\nShown.\nifndef::web[]\nno\nendif::[]\nendif::web[]\nifdef::pdf[no]\n"
        "ifdef::web[Too.]\n"
        "ifeval::[1 > 2]\nno\nendif::[]\n"
    )
    assert source.text == "Shown.\n\nToo."
    assert codes(source) == ["asciidoc-condition"]


def test_lists_nest_attach_blocks_and_describe_terms() -> None:
    source = read(
        "* one\n  goes on\n** inner\n* two\n+\n----\nx = 1 # <1>\n----\n<1> sets x\n\nCell:: the unit\n of life\n"
        "Wall::\n\n  surrounds it\n\nAfter.\n"
    )
    items = [(source.text[m.start : m.end], m.level) for m in source.marks if m.kind is MarkKind.ITEM]
    assert ("one goes on\n\ninner", 1) in items and ("inner", 2) in items
    assert marked(source, MarkKind.CODE) == ["x = 1"]
    assert marked(source, MarkKind.TERM) == ["Cell", "Wall"]
    assert "the unit of life\n\nWall\n\nsurrounds it\n\nAfter." in source.text
    assert not any("After" in words for words, _ in items)


def test_blocks_tables_pictures_and_formulas() -> None:
    source = read(
        ":stem: latexmath\n\n[WARNING]\n====\nHot.\n\n* inner\n====\n\nTIP: Cool it.\n\n"
        "[source,ruby]\n.Greeting\n----\nputs 1\n\n"
        "* no list\n----\n\n[quote, Hooke]\n____\nI saw cells.\n____\n\n.The curve\nimage::img/curve.png[Curve]\n\n"
        '[%header,cols="1,3"]\n|===\n|Term |Meaning\n\n|cue\n|what helps\n|===\n\n'
        "[stem]\n++++\ny = x\n++++\n\n++++\n<b>no</b>\n++++\n"
    )
    assert "Hot.\n\ninner\n\nCool it." in source.text
    code = [(m.info, source.text[m.start : m.end]) for m in source.marks if m.kind is MarkKind.CODE]
    assert code == [("ruby", "puts 1\n* no list")]
    assert marked(source, MarkKind.QUOTATION) == ["I saw cells."]
    assert [(p.target, p.alt, p.caption) for p in source.pictures] == [("img/curve.png", "Curve", "The curve")]
    assert marked(source, MarkKind.TABLE) == ["Term | Meaning\ncue | what helps"]
    assert marked(source, MarkKind.TERM) == ["cue"]
    assert marked(source, MarkKind.MATH) == ["$$y = x$$"]
    assert "no" not in source.text.replace("no list", "").split()


def test_a_caption_that_repeats_the_alternative_text_is_written_once() -> None:
    source = read("Words.\n\n.The curve\nimage::img/curve.png[The curve]\n")
    assert source.text == "Words.\n\nThe curve"


def test_headings_have_the_level_of_their_signs() -> None:
    source = read("= Title\n\n== Two ==\n\n=== Three\n\nUnderlined\n----------\n\n[discrete]\n==== Four\n\nWords.\n")
    levels = [(source.text[m.start : m.end], m.level) for m in source.marks if m.kind is MarkKind.HEADING]
    assert levels == [("Title", 1), ("Two", 2), ("Three", 3), ("Underlined", 2), ("Four", 4)]


def test_a_block_that_never_ends_is_read_as_words() -> None:
    assert "Words stay." in read("== Head\n\n====\n\nWords stay.\n").text
    assert read("Words.\n\n|===\n|===\n").text == "Words."


def test_a_key_with_the_same_suffix_is_no_document() -> None:
    with pytest.raises(Unreadable, match="OpenPGP"):
        read_source(b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQINBF\n", "signer.asc")
