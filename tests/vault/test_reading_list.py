"""The reading list is written and read back the same, and nothing in it acts."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from vault.ids import GapId
from vault.model.frontmatter import body_of
from vault.model.reading_list import Cited, Lack, Wanted, parse_reading_list, query, render_reading_list

LINK = "[[wiki/concepts/kv-cache|KV cache]]"
LACK = Lack(GapId("aaaaaaaaaa"), "nothing says what it is", "a source that defines it")
WANTED = Wanted(
    "Softmax",
    3,
    (LACK, Lack(GapId("bbbbbbbbbb"), "nothing says how it works", "a source that explains it")),
    ("what is softmax", "softmax vs sigmoid"),
    (Cited("Bo et al.: On it (2008)", "https://arxiv.org/abs/2401.01234", (LINK,)), Cited("", "https://example.org/x")),
    (LINK, LINK),
    LINK,
)
PIECES = [
    *"abC #^[]|()<>`$*_~=%:!\\-+1./'\"&",
    *(
        "<img src=https://e.vil/x>",
        "<%",
        "`$=dv`",
        "%%",
        "[[",
        "]]",
        "](https://e.vil)",
        "Q: ",
        ". To fill it: ",
        " in [[",
    ),
    *("\n## x\n", "- Search: `x`", "\u202e", "**", ". Sources added: "),
]
HOSTILE = st.lists(st.sampled_from(PIECES), min_size=1, max_size=10).map("".join)


def test_the_list_comes_back_as_it_was_written() -> None:
    text = render_reading_list([WANTED])
    (read,) = parse_reading_list(text)
    assert read.line == text.split("\n").index("## Softmax") + 1
    assert render_reading_list([read]) == text
    assert (read.what, read.waiting, read.lacks, read.queries, read.works, read.mentions, read.link) == (
        *(WANTED.what, WANTED.waiting, WANTED.lacks, WANTED.queries, WANTED.works, WANTED.mentions, WANTED.link),
    )


@given(HOSTILE, HOSTILE, HOSTILE)
def test_nothing_in_a_list_of_any_words_acts_and_its_gaps_come_back(what: str, words: str, address: str) -> None:
    work = Cited(words, address if address.startswith("http") else f"https://{address}", (LINK,))
    text = render_reading_list([Wanted(what, 1, (LACK,), (words,), (work,), (LINK,), LINK)])
    (read,) = parse_reading_list(text)
    assert [lack.gap for lack in read.lacks] == ["aaaaaaaaaa"] and len(read.works) <= 1
    assert "<%" not in text and "\u202e" not in text
    for outer in MarkdownIt("commonmark").parse(body_of(text)):
        assert outer.type not in ("html_block", "fence"), text
        for token in outer.children or []:
            assert token.type not in ("html_inline", "image"), text
            if token.type == "link_open":
                assert re.fullmatch(r"https?://\S+", str(token.attrs["href"])), text
            if token.type == "code_inline":
                assert not re.match(r"\$?=", token.content), text


@given(HOSTILE)
def test_a_query_is_plain_words(words: str) -> None:
    made = query(words)
    assert len(made) <= 100 and not re.search(r"[\"`<>|*\[\]\n=:!%~$^\\]|(?:^|\s)-", made)


def test_lines_of_another_are_passed_over() -> None:
    text = render_reading_list([WANTED]).replace("- Missing", "ask a friend\n- Missing", 1) + "\n## Mine\n\nnothing\n"
    assert [(w.what, len(w.lacks)) for w in parse_reading_list(text)] == [("Softmax", 2)]
    assert parse_reading_list(render_reading_list([])) == [] and "Nothing is missing." in render_reading_list([])
