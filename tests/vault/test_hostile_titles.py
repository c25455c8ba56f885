"""Titles, names and words made to act: whatever they are, they only show. CommonMark's own parser is the judge."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from vault.ids import ClaimId, SourceId
from vault.model.article import ArticleSection, CitedSentence, render_body
from vault.model.claim import Claim, ClaimKind
from vault.model.frontmatter import body_of, read_properties, render_note
from vault.model.markdown import escape, unescape
from vault.model.summary import Introduction, SummaryHead, parse_summary, render_summary
from vault.model.wikilink import Citation, note_link, raw_link
from vault.text.formatting import fold, normal

PIECES = [
    *"abC #^[]|()<>`$*_~=%:!\\\n\t-+1./'\"&",
    *(
        "<img src=https://e.vil/x.png>",
        "<img src=https://e.vil/x",
        "<!--",
        "-->",
        "</p>",
        "<%",
        "%>",
        "<?",
        "<b ",
        "/>",
    ),
    *(
        "`$=dv.pages()`",
        "`= this.file`",
        "$=",
        "$<img src=x>$",
        "$<i$",
        "$$",
        "```",
        "**",
        "==",
        "%%",
        "[[",
        "]]",
        "![[",
    ),
    *(
        "![x](https://e.vil/x.png)",
        "[x]: https://e.vil",
        "::",
        "---\n",
        "- ",
        "# ",
        "> ",
        "Q: ",
        "\u2028",
        "&lt;img&gt;",
    ),
]
HOSTILE = st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map("".join)
CITE = Citation("wiki/summaries/a", ClaimId("7f3a9c1e2k"), 1)


def tokens(markdown: str) -> Iterator[Token]:
    def walk(found: Sequence[Token]) -> Iterator[Token]:
        for token in found:
            yield token
            yield from walk(token.children or [])

    yield from walk(MarkdownIt("commonmark").parse(markdown))


def shows_only(markdown: str) -> None:
    """Fails where the text holds HTML, a picture, a link of another's making, or code that a plugin would run."""
    assert "<%" not in markdown, markdown
    for token in tokens(markdown):
        assert token.type not in ("html_inline", "html_block", "image", "fence"), (token.content, markdown)
        if token.type == "link_open":
            assert str(token.attrs["href"]).startswith("raw/"), markdown
        if token.type == "code_inline":
            assert not re.match(r"\$?=", token.content), markdown


@given(HOSTILE)
def test_any_words_made_markdown_only_show(words: str) -> None:
    shows_only(escape(words))
    assert unescape(escape(words)) == words


@given(HOSTILE, HOSTILE)
def test_any_title_or_name_in_a_link_only_shows(path: str, title: str) -> None:
    for link in (note_link("wiki/concepts/x.md", title), raw_link(f"raw/{path}.pdf", title)):
        shows_only(f"- {link} · low\n")
        assert "\n" not in link
    inside = note_link("wiki/concepts/x.md", title).removeprefix("[[wiki/concepts/x|").removesuffix("]]")
    assert not set("<>`$*[]|\\") & set(inside)


@given(HOSTILE, HOSTILE, HOSTILE, HOSTILE)
def test_a_page_made_of_any_words_only_shows_them_and_gives_them_back(
    title: str, name: str, words: str, place: str
) -> None:
    title, words = normal(title), fold(normal(words)) or "x"
    head = SummaryHead(SourceId("aaaaaaaaaa"), title, f"raw/{name}", "0", "1", "text/1", 1, "en", "2026", "2026")
    claim = Claim(ClaimId("7f3a9c1e2k"), head.id, ClaimKind.FACT, words, words + "!", locator=fold(normal(place)))
    text = render_summary("wiki/summaries/a.md", head, Introduction([claim]), [claim])
    shows_only(body_of(text))
    section = ArticleSection(title, ((CitedSentence(words, (CITE,)),),))
    shows_only(f"{render_body(title, [section])}\n- {note_link('wiki/concepts/x.md', title)}\n")
    properties = read_properties(text)
    assert (properties.text("title"), properties.text("source")) == (title, f"raw/{name}")
    assert parse_summary(text, "wiki/summaries/a.md").claims[0].claim.quote == words


@given(HOSTILE)
def test_no_property_holds_what_looks_like_a_tag(title: str) -> None:
    text = render_note({"title": title, "sources": (note_link("wiki/summaries/x.md", title), title)}, "")
    assert not re.search(r"<[A-Za-z!/?]", text)
    assert read_properties(text).text("title") == title
