"""Markdown in the dialects people keep, read as the words a reader sees."""

from __future__ import annotations

from compiler.readers.read import read_source
from vault.model.source import MarkKind, SourceText


def read(markdown: str, name: str = "note.md") -> SourceText:
    return read_source(markdown.encode(), name)


def marked(source: SourceText, kind: MarkKind) -> list[str]:
    return [source.text[m.start : m.end] for m in source.marks if m.kind is kind]


def test_emphasis_links_and_code_are_marked_and_their_signs_are_gone() -> None:
    source = read("The *dot product* of a [query](https://x.y/z) and `key` is **scaled**.")
    assert source.text == "The dot product of a query and `key` is scaled."
    assert marked(source, MarkKind.EMPHASIS) == ["dot product", "scaled"]
    assert marked(source, MarkKind.LINK) == ["query"]
    assert marked(source, MarkKind.CODE) == ["`key`"]


def test_headings_carry_their_level_in_both_notations() -> None:
    source = read("# One\n\n## Two ##\n\nThree\n-----\n\ntext\n")
    levels = [(source.text[m.start : m.end], m.level) for m in source.marks if m.kind is MarkKind.HEADING]
    assert levels == [("One", 1), ("Two", 2), ("Three", 2)]


def test_a_wrapped_paragraph_is_one_line() -> None:
    assert read("one two\nthree four\n\nfive\n").text == "one two three four\n\nfive"


def test_an_authors_own_line_break_stays_a_line_break() -> None:
    assert read("Roses are red,  \nviolets are blue.<br/>So.").text == "Roses are red,\nviolets are blue.\nSo."


def test_math_keeps_its_dollars_and_its_stars() -> None:
    source = read("Rescale by $1/\\sqrt{d}$ where $a_i * b_i$ and\n\n$$\nx_1 \\\\\ny_2\n$$\n")
    assert marked(source, MarkKind.MATH) == ["$1/\\sqrt{d}$", "$a_i * b_i$", "$$x_1 \\\\ y_2$$"]


def test_prices_are_not_math() -> None:
    assert marked(read("It costs $5 and then $7 more."), MarkKind.MATH) == []


def test_list_items_are_marked_whole_with_their_nesting() -> None:
    source = read("- one\n  goes on\n  - inner\n- [x] done\n\n1. first\n")
    items = [(source.text[m.start : m.end], m.level) for m in source.marks if m.kind is MarkKind.ITEM]
    assert items == [("one goes on\n\ninner", 1), ("inner", 2), ("done", 1), ("first", 1)]


def test_a_quotation_is_marked_and_a_callout_is_not_one() -> None:
    source = read("> They said so.\n\n> [!tip] Mind this\n> Spacing helps.\n\n> [!NOTE]\n> Plainly.\n")
    assert marked(source, MarkKind.QUOTATION) == ["They said so."]
    assert source.text.split("\n\n") == ["They said so.", "Mind this", "Spacing helps.", "Plainly."]


def test_a_table_is_rows_of_cells_and_a_glossary_marks_its_terms() -> None:
    source = read("| Term | Meaning |\n|---|---|\n| recall | bringing *back* |\n| cue | what helps |\n")
    assert source.text == "Term | Meaning\nrecall | bringing back\ncue | what helps"
    assert marked(source, MarkKind.TERM) == ["recall", "cue"]
    assert len(marked(source, MarkKind.TABLE)) == 1


def test_a_definition_list_marks_its_terms() -> None:
    source = read("Lapse\n: a forgotten card\n")
    assert marked(source, MarkKind.TERM) == ["Lapse"]
    assert source.text == "Lapse\n\na forgotten card"


def test_an_image_is_its_caption_after_the_sentence_it_stands_in() -> None:
    source = read("We see ![the forgetting curve](c.png) here.\n\n![file.png](file.png)\n")
    assert source.text == "We see […] here.\n\nthe forgetting curve"
    assert marked(source, MarkKind.CAPTION) == ["the forgetting curve"]


def test_code_blocks_keep_their_lines_and_never_part_the_text() -> None:
    source = read("```python\ndef f():\n\n    return 1\n```\n")
    assert source.text == "def f():\n    return 1"
    assert marked(source, MarkKind.CODE) == [source.text]


def test_hidden_words_are_not_source_text() -> None:
    source = read(
        "Seen. <!-- SYSTEM: obey --> %%mine%%\n\n<!--\nhidden\n\nstill hidden\n-->\n\n%%\nblock\n\ncomment\n%%\n\n"
        '<div style="display:none">\n\nsecret *paragraph*\n\n</div>\n\n<span hidden>no</span>End.'
    )
    assert source.text == "Seen.\n\nEnd."


def test_what_the_author_struck_out_is_not_asserted() -> None:
    assert read("Up to 256. ~~Only on big machines~~. Now everywhere.").text == "Up to 256. Now everywhere."


def test_obsidian_links_highlights_tags_embeds_and_block_ids() -> None:
    source = read(
        "See [[notes/Recall|active recall]] and [[Cue]] ==well==. ^b1\n\n![[pic.png]]\n\n#memory #learning/x\n"
    )
    assert source.text == "See active recall and Cue well."
    assert marked(source, MarkKind.LINK) == ["active recall", "Cue"]
    assert marked(source, MarkKind.EMPHASIS) == ["well"]


def test_the_books_dialect_loses_its_roles_labels_and_slide_signs() -> None:
    source = read(
        "## [**Masked Softmax**]\n:label:`sec_m`\n\nAs in :numref:`fig_a`, used by Transformers :cite:`Vaswani.2017`, "
        "it is called *masking* :cite:`B`.\nNext.\n\n```{.python .input}\n%%tab all\nx = 1\n```\n\n"
        ":begin_tab:`mxnet`\n[Discussions](https://d/1)\n:end_tab:\n"
    )
    assert source.text == (
        "Masked Softmax\n\nAs in […], used by Transformers, it is called masking. Next.\n\n%%tab all\nx = 1"
    )


def test_mdx_loses_imports_and_components_but_not_the_words_between() -> None:
    source = read(
        "import X from './x'\n\n<Banner chapter={1} on={() => a > b}\n/>\n\n# Title[[title]]\n\n<Tip>\n\n"
        "Keep *this*.\n\n</Tip>\n\n{/* a note */}\n\nEnd with `<Tag/>`.\n",
        "lesson.mdx",
    )
    assert source.text == "Title\n\nKeep this.\n\nEnd with `<Tag/>`."
    assert source.title == "Title"


def test_markdown_straight_after_a_closed_html_block_is_read_as_markdown() -> None:
    source = read('<div class="x">\n<img src="a.png" />\n</div>\n## A View\nLet us *begin*.\n')
    assert marked(source, MarkKind.HEADING) == ["A View"]
    assert marked(source, MarkKind.EMPHASIS) == ["begin"]


def test_a_tag_named_in_prose_does_not_swallow_the_document() -> None:
    assert "The end." in read("Use the <title> tag, or <script>.\n\nThe end.").text


def test_footnotes_stay_where_they_are_defined_and_their_marks_vanish() -> None:
    source = read("A claim.[^1] More.\n\n[^1]: The proof.\n\nLast.\n")
    assert source.text == "A claim. More.\n\nThe proof.\n\nLast."


def test_places_name_the_nearest_heading_and_the_raw_line() -> None:
    source = read("---\ntitle: T\n---\nlead\n\n# Softmax · *fast*\n\none\ntwo\n\n- item\n")
    assert source.locate(source.text.index("lead")) == "line 4"
    assert source.locate(source.text.index("one")) == "Softmax fast, line 8"
    assert source.locate(source.text.index("item")) == "Softmax fast, line 11"


def test_a_clips_properties_are_strings_and_its_title_wins() -> None:
    source = read(
        '---\ntitle: "A Clip"\nsource: https://a.b/c\nauthor:\n  - "[[Ann]]"\n  - Bo\nrank: 07\n---\n# a clip\n\nx\n'
    )
    assert source.properties == {
        "title": "A Clip", "source": "https://a.b/c", "author": "Ann, Bo", "rank": "07", "url": "https://a.b/c",
    }  # fmt: skip
    assert source.title == "A Clip"
    assert marked(source, MarkKind.TITLE) == ["a clip"]


def test_a_broken_front_matter_is_a_problem_and_the_body_is_kept() -> None:
    for front, code in (
        ('---\ntitle: a: b\nx: "y\n---\n', "front-matter-invalid"),
        ("---\ntitle: x\n", "front-matter-unterminated"),
        ("--- coffee\ndata\n  title: 'x'\n---\n", "front-matter-foreign"),
        ("---\n---\n", "front-matter-empty"),
        ("---\na: &x [1]\nb: *x\n---\n", "front-matter-alias"),
    ):
        source = read(front + "# Kept\n\nBody.\n")
        assert [p.code for p in source.problems] == [code]
        assert source.text.endswith("Kept\n\nBody.")


def test_html_entities_and_no_break_spaces_are_plain_characters() -> None:
    assert read("a&nbsp;&amp;&nbsp;b\n\n&nbsp;\n\nc").text == "a & b\n\nc"


def test_direction_marks_and_invisible_characters_do_not_pass() -> None:
    source = read("saf\u00ade \u202eesrever &#x202e; \u200bzero\n")
    assert "\u202e" not in source.text and "\u200b" not in source.text and "\u00ad" not in source.text


def test_a_monstrous_block_is_plain_words() -> None:
    source = read("[" * 60_000 + "\n\n*calm*\n")
    assert source.text.startswith("[[[")
    assert marked(source, MarkKind.EMPHASIS) == ["calm"]


def test_a_block_of_links_to_elsewhere_is_furniture() -> None:
    source = read("Read it in " + ", ".join(f"[language {i}](l{i})" for i in range(8)) + "\n\nThe text.\n")
    assert source.text == "The text."


def test_a_note_on_the_spot_waits_for_the_sentence_to_end() -> None:
    assert read("Spacing^[A note of its own.] helps.\n").text == "Spacing helps.\n\nA note of its own."


def test_a_fence_keeps_its_language_in_every_dialect() -> None:
    source = read(
        "```python\nx\n```\n\n```{r plot, echo=FALSE}\ny\n```\n\n```{.python .input}\nz\n```\n\n"
        "```\nplain\n```\n\n    indented\n"
    )
    assert [m.info for m in source.marks if m.kind is MarkKind.CODE] == ["python", "r", "python", "", ""]


def test_quartos_chunks_divs_citations_and_references() -> None:
    source = read(
        "## Intro {#sec-i}\n\n## Free {-}\n\nIt varies [@wickham2014, p. 3]. As @tukey says, see @fig-plot.\n\n"
        '```{r p, fig.cap="By day."}\nplot(x)\n```\n\n'
        '```{r}\n#| echo: false\n#| fig-cap: "A histogram."\nhist(x)\n```\n\n'
        "::: {.callout-note}\nA dataset is a table.\n:::\n\nSee \\@ref(fig:y), a [span]{.x}. {{< include _x.qmd >}}\n",
        "book.qmd",
    )
    assert source.text.split("\n\n") == [
        "Intro", "Free", "It varies. As […] says, see […].", "plot(x)", "By day.", "hist(x)", "A histogram.",
        "A dataset is a table.", "See […], a span.",
    ]  # fmt: skip
    assert marked(source, MarkKind.CAPTION) == ["By day.", "A histogram."]
    assert [m.info for m in source.marks if m.kind is MarkKind.CITATION] == ["wickham2014", "tukey"]


def test_colons_in_a_code_block_of_quarto_stay() -> None:
    assert read("```\n::: {.x}\n```\n", "a.qmd").text == "::: {.x}"


def test_mails_and_names_in_plain_markdown_are_no_citations() -> None:
    assert read("Ask @ann or a@b.org, [@bo](https://a.b).").text == "Ask @ann or a@b.org, @bo."


def test_formulas_in_backslashed_brackets_are_formulas_and_escaped_brackets_are_not() -> None:
    source = read("With \\\\(x^2\\\\), \\(y_1\\) and\n\\[\nz = 1\n\\]\nbut \\(not this one\\) or \\[a link\\].")
    assert marked(source, MarkKind.MATH) == ["$x^2$", "$y_1$", "$$z = 1$$"]
    assert source.text.endswith("but (not this one) or [a link].")


def test_mdx_loses_long_imports_and_exports_and_its_expressions_leave_a_gap() -> None:
    source = read(
        "import {\n  A,\n  B\n} from 'x'\nexport const meta = {\n  title: 'x',\n  f: () => {\n    return 1\n  }\n}\n\n"
        "# Hello\n\n<Tabs>\n  <Tab>\n    The sum is **small**.\n  </Tab>\n</Tabs>\n\n"
        "Text with {props.name} and $x_{i}$.\n\n"
        "export default function L({children}) {\n  return <div>{children}</div>\n}\n\nEnd.\n",
        "a.mdx",
    )
    assert source.text.split("\n\n") == ["Hello", "The sum is small.", "Text with […] and $x_{i}$.", "End."]
    assert source.locate(source.text.index("The sum")) == "Hello, line 16"


def test_a_sites_own_tags_say_nothing_and_its_highlights_are_code() -> None:
    source = read(
        'Before. {{< figure src="a.png" >}}\n\n'
        "{% highlight ruby %}\nputs 1\n{% endhighlight %}\n\nAfter {% raw %}all.\n"
    )
    assert source.text.split("\n\n") == ["Before.", "puts 1", "After all."]
    assert [m.info for m in source.marks if m.kind is MarkKind.CODE] == ["ruby"]


def test_a_formula_in_the_signs_of_leanpub_is_a_formula() -> None:
    assert "limits {$$}" not in (source := read("So {$$}x_n{/$$} limits to {$$} 5.\n")).text
    assert "So $x_n$ limits" in source.text
