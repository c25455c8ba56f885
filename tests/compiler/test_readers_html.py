"""Web pages, read as the article a reader sees."""

from __future__ import annotations

import pytest

from compiler.readers.read import read_source
from vault.errors import Unreadable
from vault.model.source import MarkKind, SourceText

WORDS = "Retrieval practice strengthens memory because each act of recall changes what is recalled, as studies show. "


def read(html: str, encoding: str = "utf-8") -> SourceText:
    return read_source(html.encode(encoding), "page.html")


def marked(source: SourceText, kind: MarkKind) -> list[str]:
    return [source.text[m.start : m.end] for m in source.marks if m.kind is kind]


def test_an_article_is_read_without_the_furniture_round_it() -> None:
    source = read(
        "<html><head><title>Recall | Blog</title><meta property='og:site_name' content='Blog'></head><body>"
        "<nav><a href='/'>Home</a></nav><header><h1>Blog</h1></header>"
        f"<article><h1>Recall</h1><p>{WORDS}</p><aside>Subscribe!</aside><div class='share-buttons'>Tweet</div>"
        f"<p>{WORDS}</p></article><footer>Imprint</footer></body></html>"
    )
    assert source.text == f"Recall\n\n{WORDS.strip()}\n\n{WORDS.strip()}"
    assert source.title == "Recall"


def test_without_an_article_element_the_paragraphs_are_found() -> None:
    menu = "".join(f"<li><a href='/{i}'>Topic {i}</a></li>" for i in range(30))
    body = "".join(f"<p>{WORDS} Number {i}.</p>" for i in range(6))
    source = read(
        f"<html><body><div id='top'><ul>{menu}</ul></div><div id='c'><h1>Recall</h1>{body}</div>"
        "<div id='f'><p>Imprint</p></div></body></html>"
    )
    assert "Topic 3" not in source.text
    assert "Number 0." in source.text and "Number 5." in source.text
    assert marked(source, MarkKind.HEADING) == ["Recall"]


@pytest.mark.parametrize(
    "hidden",
    [
        "<p style='display: none'>secret</p>",
        "<p style='font-size:0'>secret</p>",
        "<p style='visibility:hidden'>secret</p>",
        "<p style='color:#fff'>secret</p>",
        "<p style='color: white; background: #ffffff'>secret</p>",
        "<p style='position:absolute; left:-9999px'>secret</p>",
        "<p style='opacity:0'>secret</p>",
        "<div style='height:0;overflow:hidden'><p>secret</p></div>",
        "<p hidden>secret</p>",
        "<div aria-hidden='true'><b>secret</b></div>",
        "<span class='sr-only'>secret</span>",
        "<p class='ghost'>secret</p>",
        "<template><p>secret</p></template>",
        "<noscript>secret</noscript>",
        "<script>secret</script>",
        "<!-- secret -->",
        "<svg><text>secret</text></svg>",
    ],
)
def test_what_a_reader_cannot_see_is_not_source_text(hidden: str) -> None:
    source = read(f"<html><style>.ghost {{ display:none }}</style><body><p>Seen.</p>{hidden}<p>End.</p></body></html>")
    assert source.text == "Seen.\n\nEnd."


def test_formulas_that_a_script_sets_are_formulas() -> None:
    words = r"<p>The range is \(R = h_1 - h_0\) in metres.</p><p>\[R \le 12\]</p><p>And so on.</p>"
    source = read(f"<head><script src='https://example.org/mathjax.js'></script></head><body>{words}</body>")
    assert "The range is $R = h_1 - h_0$ in metres." in source.text and r"$$R \le 12$$" in source.text
    assert [k for k in source.marks if k.kind is MarkKind.MATH]
    assert r"\(R" in read(f"<body>{words}</body>").text


def test_what_stands_after_the_end_of_the_page_is_read_too() -> None:
    assert read("<body><p>Seen.</p></body></html>\n<div><p>Late.</p></div>").text == "Seen.\n\nLate."


@pytest.mark.parametrize(
    "trick",
    [
        "<!-- a --</body>> secret -->",
        "<script>var a='</scr</body>ipt>'; secret</script>",
        "<p data-x='\\(secret\\)'>Open.</p><script src='katex.js'></script>",
    ],
)
def test_the_end_of_the_page_and_formulas_open_nothing_that_is_closed(trick: str) -> None:
    assert "secret" not in read(f"<body><p>Seen.</p>{trick}<p>End.</p></body>").text


def test_a_body_that_its_style_sheet_hides_is_not_read() -> None:
    with pytest.raises(Unreadable):
        read("<style>.c{display:none}</style><body class=c><p>A tide rises twice a day, and falls twice.</p></body>")


def test_code_keeps_its_brackets_beside_formulas() -> None:
    page = "<script src='mathjax.js'></script><p>So \\(x\\) is.</p><pre>grep '\\(foo\\)' file</pre>"
    source = read(f"<body>{page}</body>")
    assert "So $x$ is." in source.text and r"grep '\(foo\)' file" in source.text


def test_a_page_whose_words_a_script_shows_is_read_and_says_so() -> None:
    inner = "<p class='sr-only'>secret</p><p hidden>secret</p>"
    words = "<p>A tide rises twice a day.</p>" * 20
    tale = f"<div id=tale style='display: none; color: #222'>{words}{inner}</div>"
    tricks = "<p style='font-size:1px'>secret</p>"
    source = read(f"<body><h1>Tides</h1>{tale}{tricks}<script>show('tale')</script></body>")
    assert source.text.count("A tide rises twice a day.") == 20 and "secret" not in source.text
    assert [p.code for p in source.problems] == ["shown-by-script"]
    assert "rises" not in read(f"<body><p>Tides</p>{tale}</body>").text
    assert "rises" not in read(f"<body>{'<p>Seen.</p>' * 20}{tale}<script>show('tale')</script></body>").text
    assert "rises" not in read(f"<body><p>Tides</p>{tale}<script type='application/ld+json'>1</script></body>").text
    by_id = "<style>#app{visibility:hidden}</style>" + tale.replace("id=tale", "id=app")
    assert "rises" in read(f"<body><p>Tides</p>{by_id}<script>show('app')</script></body>").text


def test_white_words_on_a_dark_ground_can_be_seen() -> None:
    assert "Night" in read("<body><p style='color:white;background:#111'>Night</p><p>Day.</p></body>").text


def test_marks_tell_what_the_page_sets_apart() -> None:
    source = read(
        "<main><h2>Terms</h2><p>A <dfn>cue</dfn> is <em>any</em> <a href='/h'>hint</a>, as <code>x()</code>.</p>"
        "<dl><dt>Lapse</dt><dd>Forgetting.</dd></dl><figure><img src='a.png' alt='A falling curve'>"
        "<figcaption>Fig. 1: forgetting.</figcaption></figure><blockquote><p>Quoted.</p></blockquote></main>"
    )
    assert marked(source, MarkKind.TERM) == ["cue", "Lapse"]
    assert marked(source, MarkKind.EMPHASIS) == ["cue", "any"]
    assert marked(source, MarkKind.LINK) == ["hint"]
    assert marked(source, MarkKind.CODE) == ["`x()`"]
    assert sorted(marked(source, MarkKind.CAPTION)) == ["A falling curve", "Fig. 1: forgetting."]
    assert marked(source, MarkKind.QUOTATION) == ["Quoted."]


def test_formulas_keep_their_tex() -> None:
    source = read(
        "<p>With <span class='katex'><span class='katex-mathml'><math><semantics><mrow><mi>x</mi></mrow>"
        "<annotation encoding='application/x-tex'>x^2</annotation></semantics></math></span>"
        "<span class='katex-html' aria-hidden='true'>x2</span></span> and <script type='math/tex'>y_1</script>.</p>"
    )
    assert source.text == "With $x^2$ and $y_1$."
    assert marked(source, MarkKind.MATH) == ["$x^2$", "$y_1$"]


def test_notes_never_cut_a_sentence() -> None:
    source = read(
        "<article><p>Spacing<d-footnote>A note of its own.</d-footnote> helps a lot.</p>"
        "<p>So it is.<sup><a href='#fn1'>1</a></sup> And<sup><a href='#fn2'>2</a></sup> on.</p></article>"
    )
    assert source.text.split("\n\n") == ["Spacing helps a lot.", "A note of its own.", "So it is. And[2] on."]


def test_raised_and_lowered_words_stay_readable() -> None:
    assert read("<p>10<sup>6</sup> H<sub>2</sub>O, x<sub>i</sub>, the 1<sup>st</sup></p>").text == (
        "10^6 H2O, x_i, the 1st"
    )


def test_two_line_breaks_end_a_paragraph_and_one_does_not() -> None:
    assert read("<div>one<br>two<br/><br/>three</div>").text == "one\ntwo\n\nthree"


def test_a_table_that_lays_out_the_page_is_no_table() -> None:
    source = read(f"<body><table><tr><td><img src='x.png'></td><td><p>{WORDS * 8}</p><p>Second.</p></td></tr></table>")
    assert marked(source, MarkKind.TABLE) == []
    assert source.text.endswith("Second.")


def test_a_table_of_data_has_a_line_a_row() -> None:
    source = read("<table><tr><th>Gap</th><th>Recall</th></tr><tr><td>1 day</td><td>0.9</td></tr></table>")
    assert source.text == "Gap | Recall\n1 day | 0.9"


def test_the_page_says_its_encoding() -> None:
    source = read("<html><head><meta charset='iso-8859-1'></head><body><p>Gedächtnis für Wörter</p></body>", "latin-1")
    assert source.text == "Gedächtnis für Wörter"


def test_places_name_heading_and_line() -> None:
    source = read("<main>\n<h2>Gaps</h2>\n\n<p>They\ngrow.</p></main>")
    assert source.locate(source.text.index("They")) == "Gaps, line 4"


def test_properties_come_from_the_head() -> None:
    source = read(
        "<head><meta name='author' content='Ann'><meta property='article:published_time' content='2026-01-02'>"
        "<link rel='canonical' href='https://a.b/c'><title>T</title></head><p>x y z</p>"
    )
    assert source.properties == {
        "author": "Ann", "published": "2026-01-02", "source": "https://a.b/c", "title": "T", "url": "https://a.b/c",
    }  # fmt: skip


def test_the_licence_comes_from_the_head() -> None:
    linked = "<link rel='license' href='https://creativecommons.org/licenses/by/4.0/'>"
    named = "<meta name='DC.rights' content='CC BY 4.0'>"
    assert read(f"<head>{linked}</head><p>x y z</p>").properties["license"].endswith("/licenses/by/4.0/")
    assert read(f"<head>{named}{linked}</head><p>x y z</p>").properties["license"] == "CC BY 4.0"
    assert "license" not in read("<head><title>T</title></head><p>x y z</p>").properties


def test_a_page_without_words_is_named() -> None:
    with pytest.raises(Unreadable, match="no text"):
        read("<html><body><img src='a.png'></body></html>")


def test_deep_nesting_is_read_and_bottomless_nesting_is_named() -> None:
    assert read("<div>" * 1_500 + "down here" + "</div>" * 1_500).text == "down here"
    with pytest.raises(Unreadable, match="deeply"):
        read("<div>" * 5_000 + "down here" + "</div>" * 5_000)


def test_a_title_that_names_the_site_too_gives_way_to_the_heading() -> None:
    source = read(
        "<head><title>What is memory? - The Book</title></head><main><h1>What Is Memory?</h1><p>It is.</p></main>"
    )
    assert source.title == "What Is Memory?"
    assert marked(source, MarkKind.TITLE) == ["What Is Memory?"]


def test_a_heading_that_links_to_itself_is_no_link() -> None:
    source = read("<main><h2><a href='#x'>Gaps</a></h2><p>See <a href='/y'>more</a>.</p></main>")
    assert marked(source, MarkKind.LINK) == ["more"]


@pytest.mark.parametrize("name", ["page.html", "notes.md"])
@pytest.mark.parametrize("attribute", ['a{}="x"', "a{}='>'", "a{}", "a{}=x/", 'a{}="x"b'])
def test_an_element_with_more_attributes_than_anybody_writes_is_refused_at_once(name: str, attribute: str) -> None:
    for quote in ("", ' x"', " it's"):
        start = " ".join(attribute.format(n) for n in range(20_000))
        with pytest.raises(Unreadable, match="more than 10,000 attributes"):
            read_source(f"<div{quote} {start}>{WORDS}</div>\n".encode(), name)


def test_many_elements_with_attributes_are_no_reason_to_refuse_a_page() -> None:
    page = "".join(f'<p class="a" id=p{n} title=\'it is > "that"\' hidden{n}>{WORDS}</p>' for n in range(3_000))
    assert WORDS.strip() in read(f"<html><body>{page}</body></html>").text


def test_the_tags_of_a_template_are_no_words() -> None:
    source = read(
        "<main><p>Sure {{ x }} is {% if a %}here{% endif %}.</p><p>Code <code>{% raw %}</code> stays.</p>"
        '<p>{# a note #}{% include "x" %}</p></main>'
    )
    assert source.text == "Sure […] is here.\n\nCode `{% raw %}` stays."
    assert [p.code for p in source.problems] == ["computed-words"]
    written = read("<p>Write {{ x }} in Vue and <code>{% x %}</code> in Jinja.</p>")
    assert written.text == "Write {{ x }} in Vue and `{% x %}` in Jinja."


def test_a_picture_within_a_sentence_leaves_a_gap_and_one_beside_it_does_not() -> None:
    page = "<p>Click <img src='a.png'> to open it, or <i class='fa fa-bars'></i>, then <svg></svg> as well.</p>"
    page += "<p><img src='b.png'> shows it. It is in <a href='x'>the guide</a> <svg></svg> for beginners. "
    page += "An <i>icon</i> is small.</p>"
    source = read_source(f"<html><body><h1>T</h1>{page}</body></html>".encode(), "a.html")
    assert "Click […] to open it, or […], then […] as well." in source.text
    assert "shows it. It is in the guide for beginners. An icon is small." in source.text
    assert [p.message for p in source.problems] == ["pictures within sentences were replaced by […]: 3"]
