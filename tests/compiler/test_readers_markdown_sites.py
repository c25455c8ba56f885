"""Markdown for site generators, slides and books: no trace of their signs in the words."""

from __future__ import annotations

from compiler.readers.read import read_source
from vault.model.source import MarkKind, SourceText


def read(markdown: str, name: str = "page.md") -> SourceText:
    return read_source(markdown.encode(), name)


def marked(source: SourceText, kind: MarkKind) -> list[str]:
    return [source.text[m.start : m.end] for m in source.marks if m.kind is kind]


def test_attribute_lists_are_no_words_and_may_call_emphasis_a_term() -> None:
    source = read(
        'A *cell*{: data-type="term"} has a **wall**{:.big #w}, a [site][1]{: target="_window"} and `x`{.r}.\n'
        "A [membrane]{.term} and [mot]{lang=fr} stay, as do {: odd things, really} and {a: 1}.\n{: .lead}\n\n"
        "* {: #f1} One item\n\n![Alt text](a.png){#fig-a width=60%}\n\n[1]: https://a.org\n"
    )
    assert source.text == (
        "A cell has a wall, a site and `x`. A membrane and mot stay, as do {: odd things, really} and {a: 1}."
        "\n\nOne item\n\nAlt text"
    )
    assert marked(source, MarkKind.TERM) == ["cell", "membrane"]
    assert marked(source, MarkKind.EMPHASIS) == ["cell", "wall", "membrane"]


def test_markdown_in_blocks_of_html_that_ask_for_it() -> None:
    source = read(
        '<div class="note" markdown="1">\nYou can:\n* Read *it*\n\n</div>\n'
        "<div><b>Note:</b> see [the other page](x.html#a).\n</div>\n\n"
        '<div data-type="title">\nA title\n</div>\n<span data-type="title">How related?</span>The first draft.\n'
    )
    assert (
        source.text == "You can:\n\nRead it\n\nNote: see the other page.\n\nA title\n\nHow related?\n\nThe first draft."
    )


def test_a_link_that_only_says_link_leaves_a_gap() -> None:
    source = read("It is small ([\\[link\\]](#fig-1)); a [link](https://a.org) stays.\n")
    assert source.text == "It is small ([…]); a link stays."


def test_a_template_leaves_a_gap_where_it_stands_for_words() -> None:
    source = read(
        '{% include nav.html %}\n\nAsk {% channel "x" %} about {{ site.name }}.\n\n{{ page.title }}\n\n'
        "{{< note >}}Take care.{{< /note >}} {% if a %}Or not.{% endif %}\n\n"
        '[Design]({% page "/x/#y" %}) and ![Clock]({{ site.url }}/clock.png) and [this][it].\n\n'
        "[it]: {{ site.url }}/it.html\n"
    )
    assert source.text == "Ask […] about […].\n\nTake care. Or not.\n\nDesign and […] and this.\n\nClock"
    assert [p.target for p in source.pictures] == ["/clock.png"]
    assert [(p.code, p.message[-1]) for p in source.problems] == [("computed-words", "2"), ("pictures-inline", "1")]


def test_what_a_chunk_computes_in_a_sentence_is_a_gap() -> None:
    source = read(
        'The mean is `r mean(x)` of `lm()`, or `{python} y`.\n\n```{r a, fig.cap="The `x`}."}\nx\n```\n', "a.Rmd"
    )
    assert source.text == "The mean is […] of `lm()`, or […].\n\nx\n\nThe 'x'}."
    assert marked(source, MarkKind.CODE) == ["`lm()`", "x"]
    assert [p.code for p in source.problems] == ["computed-words"]
    assert read("In `r x` nothing is computed here.\n").problems == ()


def test_commands_of_latex_between_words() -> None:
    source = read("\\newpage\n\nAs Fig. \\ref{fig:a} shows \\cite{k}, by \\citet{m}.\\label{x}\n\nA path\\to stays.\n")
    assert source.text == "As Fig. […] shows, by […].\n\nA path\\to stays."
    assert [m.info for m in source.marks if m.kind is MarkKind.CITATION] == ["k", "m"]


def test_keys_are_citations_where_the_document_cites_by_keys() -> None:
    source = read("As @may_1999 says in @sec-one (@fig-two), it holds [@lee2001].\n")
    assert source.text == "As […] says in […] ([…]), it holds."
    assert read("Read @may_1999 on it.\n").text == "Read @may_1999 on it."


def test_divs_and_directives_hold_words_or_not() -> None:
    source = read(
        '::: {.callout-note title="Short"}\nInside.\n:::\n\n:::tip Well\nSo.\n:::\n\n'
        "::::{note} Title\n:class: x\nNoted.\n::::\n\n"
        "```{warning}\n:name: w\nHot *words*.\n```\n\n```{toctree}\na\nb\n```\n\n"
        '::: {.content-visible when-format="pdf"}\nGone.\n:::\n\n```{code-block} python\nx\n```\n\n```\n::: kept\n```\n'
    )
    assert source.text == "Inside.\n\nSo.\n\nNoted.\n\nHot words.\n\nx\n\n::: kept"
    assert marked(source, MarkKind.CODE) == ["x", "::: kept"]


def test_slides_lose_separators_properties_and_classes() -> None:
    source = read(
        "class: title\n\n# Pods\n\n- A *pod* holds containers.\n\n--\n\n- It has one address .footnote[Usually.]\n\n"
        "---\nname: b\n\n"
        "## Next\n\n.lab[\n\n- Run it:\n  ```bash\n  x[1] --\n  --\n  ```\n\n]\n\n"
        "???\n\nSay [this](x).\n\n---\n\n.warning[Do **not**.]\n"
    )
    assert source.text == (
        "Pods\n\nA pod holds containers.\n\nIt has one address\n\nUsually.\n\nNext\n\n"
        "Run it:\n\nx[1] --\n--\n\nSay this.\n\nDo not."
    )
    assert source.locate(source.text.index("Do not")) == "Next, line 32"
    assert read("One\n\n---\n\nTwo\n\n---\n\nname: kept\n").text == "One\n\nTwo\n\nname: kept"


def test_comments_of_html_are_no_words() -> None:
    source = read("# Head <!---\\label{a}--->\n\nOne <!-- two\nthree --> four `<!-- kept -->`.\n")
    assert source.text == "Head\n\nOne four `<!-- kept -->`."
