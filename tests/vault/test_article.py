import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.ids import ClaimId
from vault.model.article import ArticleSection, CitedSentence, render_body, sentences
from vault.model.wikilink import Citation
from vault.text.formatting import fold, normal

ONE = Citation("wiki/summaries/a", ClaimId("7f3a9c1e2k"), 1)
TWO = Citation("wiki/summaries/b", ClaimId("51e09ab2xy"), 2)
WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60).map(lambda t: fold(normal(t))).filter(bool)


@given(
    st.lists(st.tuples(WORDS, st.lists(st.sampled_from([ONE, TWO]), min_size=1, max_size=2)), min_size=1, max_size=4)
)
def test_cited_sentences_come_back_as_they_were_written(written: list[tuple[str, list[Citation]]]) -> None:
    paragraph = tuple(CitedSentence(words, tuple(cites)) for words, cites in written)
    body = render_body("Title", [ArticleSection("How it works", (paragraph,))])
    read = list(sentences(body))
    assert [(s.text, s.cites) for s in read] == [(s.text, s.cites) for s in paragraph]


SILENT = {
    "headings": "# A\n\n## Bananas cause amnesia\n",
    "a list of links": "- [[wiki/concepts/x|X]], [[wiki/concepts/y|Y]]\n* [a#b](<raw/a%23b.md>) · [[wiki/z]]\n",
    "a question": "Why is that so?\n",
    "an embed": "![[raw/images/x.png]]\n",
    "code in its language": "```python\nBananas = amnesia\n```\n\n~~~c\nint x;\n```\nint y;\n~~~\n",
    "block ids, rules and comments": "^my-block\n\n---\n\n<!-- Bananas cause\namnesia. -->\n<!-->\n",
    "a human's remark": "> [!human]\n> Bananas cause amnesia.\n>\n> And so on.\n\n> [!Human]- Mine\n> Mine.\n",
    "the head of a table": "| fruit | effect |\n| :-- | --: |\n",
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_nothing_is_asserted_by(text: str) -> None:
    assert list(sentences(f"---\ntype: concept\n---\n\n{text}")) == []


B = "Bananas cause amnesia."
ASSERTED = {
    "a quote": f"> {B}\n",
    "a quote in a quote": f"> > {B}\n",
    "a callout that is not a human's": f"> [!note] {B}\n",
    "a human's callout that begins below a quote": f"> See:\n> [!human]\n> {B}\n",
    "what follows a human's callout": f"> [!human]\n> Mine.\n\n> {B}\n",
    "words beside a link": "- [[wiki/concepts/x|X]] is caused by bananas.\n",
    "words beside an embed": f"![[raw/images/x.png]] {B}\n",
    "a list": f"1. [ ] {B}\n",
    "a row of a table": f"| a | b |\n|---|---|\n| {B} | [[wiki/concepts/x\\|X]] |\n",
    "words in a fence": f"```\n{B}\n```\n",
    "words in a fence for text": f"~~~text\n{B}\n~~~\n",
    "words after a fence": f"```c\n```\n{B}\n",
    "words after what only looks like a fence": f"```x``` y\n{B}\n",
    "words after a comment": f"<!-- x --> {B}\n",
    "words before a question": f"{B} Do they?\n",
}


@pytest.mark.parametrize("text", ASSERTED.values(), ids=ASSERTED)
def test_an_assertion_needs_a_citation_in(text: str) -> None:
    found = list(sentences(f"---\ntype: concept\n---\n\n{text}"))
    assert any("ananas" in s.text and not s.cites for s in found)


def test_a_row_of_a_table_and_a_quote_are_cited_like_any_sentence() -> None:
    in_table = str(ONE).replace("|", "\\|")
    text = f"| fruit | effect |\n|---|---|\n| Bananas | amnesia {in_table} |\n\n> Bananas cause amnesia. {ONE} {TWO}\n"
    assert [(s.text, s.cites, s.line) for s in sentences(text)] == [
        ("Bananas amnesia", (ONE,), 3),
        ("Bananas cause amnesia.", (ONE, TWO), 5),
    ]


def test_a_sentence_without_a_citation_is_found_with_its_line() -> None:
    text = f"---\ntype: concept\n---\n\n# A\n\nFirst. {ONE} Second has none.\n"
    assert [(s.text, len(s.cites), s.line) for s in sentences(text)] == [("First.", 1, 7), ("Second has none.", 0, 7)]
