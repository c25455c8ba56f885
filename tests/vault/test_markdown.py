from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from vault.model.markdown import escape, unescape

LINES = st.text(alphabet=st.one_of(st.sampled_from(list("\\`*_[]<>#|~$=%&^-+1.QA: \n")), st.characters(codec="utf-8")))


@given(LINES)
def test_escaping_loses_nothing(text: str) -> None:
    assert unescape(escape(text)) == text


@given(st.text(alphabet=st.sampled_from(list("\\*_[]()<>#|~=&^!-+1.aQA: ")), max_size=60))
def test_escaped_text_renders_as_its_own_characters(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse("x " + escape(text).strip())
    assert [t.type for t in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert {c.type for c in tokens[1].children or []} <= {"text", "text_special"}
    assert "".join(c.content for c in tokens[1].children or []) == ("x " + text.strip()).rstrip()


def test_math_and_code_stay_alive() -> None:
    assert escape("the scale $\\sqrt{d_k}$ in `a*b`, $5 and 3*4") == "the scale $\\sqrt{d_k}$ in `a*b`, \\$5 and 3\\*4"


def test_a_code_span_that_would_be_a_plugin_query_is_dead() -> None:
    assert escape("`= this.file`") == "\\`= this.file\\`"
    assert escape("`$= dv.pages()`") == "\\`\\$= dv.pages()\\`"


def test_a_line_that_looks_like_a_list_heading_or_card_tag_is_escaped() -> None:
    assert escape("1. one\n- two\n# three\nQ: four\nA: five") == "1\\. one\n\\- two\n\\# three\nQ\\: four\nA\\: five"


def test_snake_case_stays_readable() -> None:
    assert escape("n_heads") == "n_heads"
