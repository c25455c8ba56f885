"""Whatever the bytes: source text that keeps its promises, or one clear refusal; nothing else, and never for long."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler.readers.read import read_source
from tests.batteries import examples
from vault.errors import Unreadable
from vault.model.source import SourceText
from vault.text.formatting import normal

NAMES = st.sampled_from(["a.md", "a.mdx", "a.txt", "a.html", "a.pdf", "README"])
MARKDOWN = st.lists(
    st.sampled_from(
        [
            "# ", "## ", "* ", "1. ", "> ", "> [!tip]", "**", "_", "`", "```\n", "~~~", "$", "$$\n", "[", "](",
            ")", "![", "[[", "]]", "|", "-|-", "\n", "\n\n", "    ", "<div>", "</div>", "<b hidden>", "</b>",
            "<!--", "-->", "<br/>", "<table><tr><td>", "</table>", "%%", "==", "~~", "[^1]", "[^1]: ",
            ":label:`x`", ":numref:`y`", "{#id}", "---\n", "a: b\n", "term\n: ", "<X y={", "}/>",
            "import x from 'y'\n", "word ", "é\u0301", "注意力", "&amp;", "&#x202e;", "\u202e", "\x07", "\t",
            "^sup ", "[x]", "\\", ". ", "<sup><a href='#f'>1</a></sup>", "<s>",
        ]
    ),
    max_size=60,
).map("".join)  # fmt: skip
HTML = st.lists(
    st.sampled_from(
        [
            "<p>", "</p>", "<h2>", "</h2>", "<ul><li>", "</ul>", "<table>", "<tr>", "<td>", "<th>", "</table>",
            "<pre>", "</pre>", "<blockquote>", "</blockquote>", "<dl><dt>", "<dd>", "<figure><figcaption>",
            "<d-footnote>", "</d-footnote>", "<em>", "</em>", "<a href='#x'>", "</a>", "<sup>", "<sub>",
            "<code>", "</code>", "<br>", "<img alt='a picture of it'>", "<math>", "</math>", "<script>",
            "</script>", "<style>p{display:none}", "</style>", "<article>", "</article>", "<main>", "<nav>",
            "</nav>", "<p hidden>", "<div style='color:#fff'>", "</div>", "word ", "\n", "é", "\u0301", "注",
            "&nbsp;", "&#0;", "<!--", "-->", "<svg>", "</svg>", "<template>",
        ]
    ),
    max_size=60,
).map("".join)  # fmt: skip


def holds(source: SourceText) -> None:
    text = source.text
    assert text.strip() and unicodedata.is_normalized("NFC", text)
    assert normal(text) == text, "no control or direction marks"
    assert "\n\n\n" not in text and text == text.strip("\n")
    assert all(0 <= m.start < m.end <= len(text) for m in source.marks)
    assert all(text[m.start : m.end].strip() for m in source.marks)
    starts = [p.start for p in source.places]
    assert starts == sorted(set(starts)) and starts[0] == 0 and starts[-1] < len(text)
    assert all(" · " not in p.label and "\n" not in p.label for p in source.places)
    assert " ".join(text[s.start : s.end] for s in source.segments).split() == text.split()
    assert source.title == " ".join(source.title.split()) and source.title


def read_or_refused(data: bytes, name: str) -> None:
    began = time.process_time()
    try:
        source = read_source(data, name)
    except Unreadable as refusal:
        assert refusal.what and "\n" not in str(refusal)
    else:
        holds(source)
        assert read_source(data, name) == source, "the same bytes give the same text"
    assert time.process_time() - began < 30


@given(st.binary(max_size=400), NAMES)
@settings(max_examples=examples(150), deadline=None)
def test_any_bytes_are_read_or_refused(data: bytes, name: str) -> None:
    read_or_refused(data, name)


@given(st.text(max_size=300), st.sampled_from(["utf-8", "utf-16", "latin-1", "gb18030"]), NAMES)
@settings(max_examples=examples(150), deadline=None)
def test_any_text_in_any_encoding_is_read_or_refused(text: str, encoding: str, name: str) -> None:
    read_or_refused(text.encode(encoding, "replace"), name)


@given(MARKDOWN, st.sampled_from(["a.md", "a.mdx"]))
@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_markdown_is_read_or_refused(markdown: str, name: str) -> None:
    read_or_refused(markdown.encode(), name)


@given(HTML)
@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_page_is_read_or_refused(html: str) -> None:
    read_or_refused(html.encode(), "a.html")


@given(st.text(alphabet="ab. \n-=*>1", max_size=300))
@settings(max_examples=examples(100), deadline=None)
def test_any_plain_text_keeps_all_its_words(text: str) -> None:
    try:
        source = read_source(text.encode(), "a.txt")
    except Unreadable:
        return
    kept = [c for c in source.text if c.isalpha()]
    assert sorted(kept) == sorted(c for c in text if c.isalpha()) or set("*-1.").intersection(text)


@pytest.mark.parametrize(
    "bomb",
    [
        "[" * 50_000, "![" * 25_000, "*a " * 20_000, "_" * 50_000, "`" * 50_000, "<" * 50_000, "<a " * 20_000,
        "> " * 25_000, "- " * 25_000, "|" * 50_000 + "\n" + "-|" * 25_000, "$a " * 20_000, "%%a " * 15_000,
        "[a](" * 15_000, "<div>" * 1_900, "<!--" * 12_000, " " * 50_000 + "x", "a\u0301" * 25_000, "x<A b={" * 8_000,
        "---\n" + "[" * 50_000 + "\n---\nx", "[^a" * 15_000, "[[a" * 15_000, "==a" * 15_000, "<table><tr><td>" * 600,
    ],
    ids=lambda bomb: repr(bomb[:8]),
)  # fmt: skip
def test_hostile_markdown_takes_bounded_time(bomb: str) -> None:
    for name in ("a.md", "a.mdx"):
        began = time.process_time()
        try:
            read_source(f"{bomb}\n\nlast words\n".encode(), name)
        except Unreadable as refusal:
            assert "deeply" in str(refusal) or "no text" in str(refusal)
        assert time.process_time() - began < 30  # without a bound it is minutes
