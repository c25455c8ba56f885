from hypothesis import given
from hypothesis import strategies as st

from vault.article import ArticleSection, CitedSentence, render_body, sentences
from vault.clean import fold, normal
from vault.ids import ClaimId
from vault.wikilink import Citation

ONE = Citation("wiki/summaries/a", ClaimId("7f3a9c1e2k"), 1)
TWO = Citation("wiki/summaries/b", ClaimId("51e09ab2xy"), 2)
WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60).map(lambda t: fold(normal(t))).filter(bool)


@given(
    st.lists(st.tuples(WORDS, st.lists(st.sampled_from([ONE, TWO]), min_size=1, max_size=2)), min_size=1, max_size=4)
)
def test_cited_sentences_come_back_as_they_were_written(written: list[tuple[str, list[Citation]]]) -> None:
    paragraph = tuple(CitedSentence(words, tuple(cites)) for words, cites in written)
    body = render_body("Title", [ArticleSection("How it works", (paragraph,))], [])
    read = list(sentences(body))
    assert [(s.text, s.cites) for s in read] == [(s.text, s.cites) for s in paragraph]


def test_headings_links_quotes_code_tables_and_questions_assert_nothing() -> None:
    text = (
        "---\ntype: concept\n---\n\n# A\n\n## B\n\n- [[wiki/concepts/x|X]]\n\n> a remark of mine\n\n"
        "```\ncode\n```\n\n| a | b |\n\nWhy is that so?\n\n![[raw/images/x.png]]\n"
    )
    assert list(sentences(text)) == []


def test_a_sentence_without_a_citation_is_found_with_its_line() -> None:
    text = f"---\ntype: concept\n---\n\n# A\n\nFirst. {ONE} Second has none.\n"
    assert [(s.text, len(s.cites), s.line) for s in sentences(text)] == [("First.", 1, 7), ("Second has none.", 0, 7)]
