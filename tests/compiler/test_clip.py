"""A page from the web becomes Markdown that says the same and does nothing."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from compiler.readers.read import read_source
from compiler.readers.web.clip import Clip, clip
from compiler.workers.pool import Worker
from vault.errors import Unreadable
from vault.model.source import MarkKind
from vault.text.formatting import fold

HERE = "https://example.org/a/page.html"
BODY = """<html><head><title>On memory | A Site</title><meta name="author" content="Ann Bo">
<script type="application/ld+json">{"@graph": [{"@type": "BlogPosting", "datePublished": "2024-03-02T10:00:00Z",
"author": [{"name": "Cy Do"}, "Ed Fu"]}]}</script></head><body><article><h1>On memory</h1>
<p>The <b>spacing effect</b> is <em>real</em>; see <a href="../b.html?x=1&amp;y=(2)">the study</a> of 1885.</p>
<h2>How it works</h2><ol><li>First this.<ul><li>Deeper down</li></ul></li><li>Then that, with <code>f(x)</code>.</li>
</ol><blockquote><p>Repetition is the mother of studies.</p></blockquote>
<table><tr><th>gap</th><th>kept</th></tr><tr><td>1 day</td><td>80 %</td></tr></table>
<pre><code class="language-python">for day in days:
    review(day)
</code></pre><p>It costs <span class="math">\\(n^2\\)</span>.</p><p>Formula: <math><annotation
encoding="application/x-tex">e^{-t/S}</annotation></math> is the curve.</p>
<figure><img src="/img/curve 1.png" alt="The forgetting curve falls"><figcaption>A curve.</figcaption></figure>
</article></body></html>"""


def clipped(html: str, name: str = "page.html", charset: str = "") -> Clip:
    return clip(html.encode(), name, charset, HERE)


def test_headings_lists_tables_links_code_and_emphasis_are_kept() -> None:
    made = clipped(BODY)
    assert made.title == "On memory" and made.language == "en"
    lines = made.markdown.splitlines()
    for line in (
        "# On memory",
        "The **spacing effect** is *real*; see [the study](https://example.org/b.html?x=1&y=%282%29) of 1885.",
        "## How it works",
        "1. First this.",
        "   - Deeper down",
        "2. Then that, with `f(x)`.",
        "> Repetition is the mother of studies.",
        "| gap | kept |",
        "| --- | --- |",
        "```python",
        "    review(day)",
        "Formula: $e^{-t/S}$ is the curve.",
        "It costs $n^2$.",
    ):
        assert line in lines, line


def test_who_wrote_it_and_when_is_what_the_page_says() -> None:
    made = clipped(BODY)
    assert (made.author, made.published) == ("Ann Bo", "2024-03-02"), "the visible author before the machines' data"
    assert clipped(BODY.replace('name="author"', 'name="x"')).author == "Cy Do, Ed Fu"
    silent = clipped("<h1>T</h1><p>Copyright 2022, written by someone on 3 May 2021, they say.</p>")
    assert (silent.author, silent.published) == ("", ""), "nothing is guessed"


@pytest.mark.parametrize(
    "page",
    [
        "<script type='text/front-matter'>authors:\n - " + " " * 100_000 + "x" * 100 + "\n</script>",
        "<span itemprop=author>" * 200 + "<p>" + "word <b>after</b> " * 5_000,
        "<p>" + "\\(" * 100_000 + "</p>",
    ],
    ids=["front matter", "authors in authors", "formulas"],
)
def test_a_page_that_wants_to_hold_up_its_clipping_does_not(page: str) -> None:
    clipping = clip(
        f"<article><h1>T</h1><p>Some words to read.</p>{page}</article>".encode(), "p.html", "", "http://e.example/"
    )
    assert clipping.author == "" and "Some words to read." in clipping.markdown


def test_authors_in_the_front_matter_of_a_page_are_named_in_order() -> None:
    listed = "authors:\n  - Ann Bo: http://a.example\n  - author: Cy Do\n  - x\n"
    front = f"<script type='text/front-matter'>\n  {listed}</script>"
    page = f"<article><h1>T</h1><p>Some words to read.</p></article>{front}"
    assert clip(page.encode(), "p.html", "", "http://e.example/").author == "Ann Bo, Cy Do"


def test_a_clipping_reads_as_the_page_does() -> None:
    page = read_source(BODY.encode(), "page.html")
    note = read_source(clipped(BODY).markdown.encode(), "page.md")
    assert "![The" not in clipped(BODY).markdown, "what has a caption needs no second one"
    kinds = (MarkKind.HEADING, MarkKind.CODE, MarkKind.EMPHASIS, MarkKind.LINK, MarkKind.QUOTATION, MarkKind.ITEM)
    captions = {page.text[m.start : m.end] for m in page.marks if m.kind is MarkKind.CAPTION}
    for kind in kinds:
        of_page, of_note = ([s.text[m.start : m.end] for m in s.marks if m.kind is kind] for s in (page, note))
        assert [words for words in of_note if words not in captions] == of_page, kind
    text = page.text.replace("\\(n^2\\)", "$n^2$")
    assert [fold(p) for p in note.text.split("\n\n")] == [fold(p) for p in text.split("\n\n")]


def test_the_encoding_that_the_server_names_is_believed_if_it_fits() -> None:
    page = "<meta charset=utf-8><h1>Größe</h1><p>Straße, Fluß und Gäßchen im Städtchen.</p>"
    assert "Straße" in clip(page.encode("latin-1"), "p.html", "iso-8859-1", HERE).markdown
    assert "Straße" in clip(page.encode(), "p.html", "ascii", HERE).markdown.replace("StraÃŸe", "Straße")
    assert "Straße" in clip(page.encode(), "p.html", "no-such-code", HERE).markdown
    assert "注意" in clip("<p>注意力机制是一种方法。</p>".encode("gb18030"), "p.html", "gb2312", HERE).markdown


def test_markdown_from_the_web_is_made_harmless_too() -> None:
    text = "# T\n\n```dataviewjs\ndv.pages()\n```\n\n<% tp.file %> ![x](javascript:alert(1)) [y](b.md) ![[embed]]\n"
    made = clipped(text, "readme.md")
    assert "dv.pages" not in made.markdown and "![" not in made.markdown and "<%" not in made.markdown
    assert "[y](https://example.org/a/b.md)" in made.markdown


def test_code_that_a_plugin_would_run_is_words_and_the_code_beside_it_stays_code() -> None:
    html = (
        "<p>Write <code>&lt;% a %&gt;</code> or <code>x</code> or <code>= this.file.name</code> or "
        "<code>$= dv.pages()</code> or <code>y</code>.</p>"
    )
    (block,) = [b for b in MarkdownIt("commonmark").parse(clipped(html).markdown) if "Write" in b.content]
    assert [t.content for t in block.children or [] if t.type == "code_inline"] == ["x", "y"]
    shown = "".join(t.content for t in block.children or [])
    assert shown == "Write `<% a %>` or x or `= this.file.name` or `$= dv.pages()` or y."


def test_a_link_into_somebodys_vault_is_only_words() -> None:
    made = clipped("# T\n\nSee [[insights/my]] and [[a|b c]] of it.\n", "readme.md")
    assert "See my and b c of it." in made.markdown and "wikilink" not in made.markdown


def test_a_page_without_words_is_no_clipping() -> None:
    for html in ("<html><body><script>app()</script></body></html>", "<p> </p>"):
        with pytest.raises(Unreadable):
            clipped(html)


def test_the_reading_process_makes_clippings_and_says_what_it_cannot_read() -> None:
    worker = Worker("")
    try:
        message = {"op": "clip", "name": "p.html", "charset": "", "address": HERE}
        good = worker.ask(message | {"data": base64.b64encode(BODY.encode()).decode()})
        assert good["clip"]["title"] == "On memory"
        bad = worker.ask(message | {"data": base64.b64encode(b"<script>x</script>").decode()})
        assert bad["unreadable"]["what"]
    finally:
        worker.close()


@pytest.mark.real_data
def test_a_long_real_page_keeps_all_its_words(shared_data: Path) -> None:
    data = (shared_data / "corpus-attention/raw/clips/distill-attention-and-augmented-rnns.html").read_bytes()
    made = clip(data, "p.html", "utf-8", HERE)
    assert made.author == "Chris Olah, Shan Carter"
    page, note = read_source(data, "p.html"), read_source(made.markdown.encode(), "p.md")
    assert [fold(p) for p in note.text.split("\n\n")] == [fold(p) for p in page.text.split("\n\n")]


PIECES = [
    *(
        "<% x %>",
        "&lt;% x %&gt;",
        "`= this.file`",
        "$= dv",
        "%%",
        "==x==",
        "[[note]]",
        "![[note]]",
        "^id",
        "#tag",
        "::",
    ),
    *("<p>", "</p>", "<li>", "<ul>", "<ol>", "<h2>", "</h2>", "<blockquote>", "<pre><code class=language-dataviewjs>"),
    *(
        "<pre>",
        "</pre>",
        "<em>",
        "</em>",
        "<b>",
        "</b>",
        "<code>",
        "</code>",
        "<td>",
        "<table><tr>",
        "</table>",
        "<br>",
    ),
    *(
        "<a href=javascript:alert(1)>",
        "<a href='obsidian://x'>",
        "<a href=https://e.vil/>",
        "</a>",
        "<img src=x alt='a]b'>",
    ),
    *(
        "<img src='https://e.vil/x.png\"onerror=y' alt=pic>",
        "&lt;img src=x onerror=y&gt;",
        "&lt;!--",
        "--&gt;",
        "<!-- c -->",
    ),
    *(
        "```",
        "~~~",
        "- ",
        "1. ",
        "---",
        "# ",
        "> ",
        "|",
        "word ",
        "\n",
        "\n\n",
        "*",
        "_",
        "\\",
        "$x$",
        "!",
        "[",
        "](",
        ")",
    ),
    *(
        "<script>evil()</script>",
        "<style>p{}</style>",
        "<svg onload=x>",
        "<iframe src=x>",
        "注意",
        "Q:",
        "&#x202e;",
        "\x00",
    ),
]


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=25).map("".join))
def test_nothing_in_any_page_acts_in_its_clipping(html: str) -> None:
    try:
        made = clipped(html)
    except Unreadable:
        return
    assert "<%" not in made.markdown and "\u202e" not in made.markdown
    for outer in MarkdownIt("commonmark").enable("table").parse(made.markdown):
        assert outer.type != "html_block", made.markdown
        if outer.type == "fence":
            assert outer.info == "", made.markdown
        for token in outer.children or []:
            assert token.type != "html_inline", made.markdown
            if token.type in ("link_open", "image"):
                assert re.match(r"https?://[\w.-]+/\S*$", str(token.attrs.get("href") or token.attrs["src"]))
            if token.type == "code_inline":
                assert not re.match(r"\$?=", token.content), made.markdown


@given(st.lists(st.sampled_from([p for p in PIECES if p[0] != "<"]), min_size=1, max_size=12).map("".join))
def test_the_words_of_a_page_come_back_from_its_clipping(words: str) -> None:
    html = "<h1>Title of it</h1><p>Begin <b>" + words.replace("<", "&lt;") + "</b> end</p>"
    try:
        page = read_source(html.encode(), "page.html")
    except Unreadable:
        return
    note = read_source(clipped(html).markdown.encode(), "page.md")
    assert _letters(note.text) == _letters(page.text)


def _letters(text: str) -> str:
    return "".join(c for c in text if c.isalnum())
