"""What a source shows with a claim: as lines of Markdown and back, and never as anything that acts."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.ids import CardId, ClaimId, SourceId
from vault.model.article import ArticleSection, CitedSentence, render_body, sentences
from vault.model.card import Card, CardKind, parse_deck, render_card, with_stamp
from vault.model.claim import Claim, ClaimKind
from vault.model.exhibit import (
    Exhibit,
    ExhibitKind,
    code,
    embedded_assets,
    formula,
    is_copy,
    is_nameable,
    lines_of,
    picture,
    split_exhibits,
)
from vault.model.summary import Introduction, SummaryHead, parse_summary, render_claim, render_summary, splice_claims
from vault.model.wikilink import Citation
from vault.text.formatting import normal

HEAD = SummaryHead(
    SourceId("aaaaaaaaaa"), "Loops", "raw/a.md", "0" * 64, "1" * 64, "markdown/2", 1, "en", "2026-11-21", "2026-11-22"
)
PLOT = picture("wiki/assets/loop-0123456789ab.png", "Figure 1: the loop")
LISTING = code("def loop():\n    return `1` + 2\n", "python")
RATIO = formula(r"\frac{a}{b} + x_i")
assert LISTING is not None and RATIO is not None
CLAIM = Claim(
    ClaimId("7f3a9c1e2k"),
    HEAD.id,
    ClaimKind.MECHANISM,
    "a loop has two states",
    "Loops have two states.",
    locator="p. 6",
    exhibits=(PLOT, LISTING, RATIO),
)
WORDS = st.text(st.characters(codec="utf-8"), max_size=60).map(normal)


def test_a_claim_shows_its_exhibits_between_quote_and_facts() -> None:
    assert render_claim(CLAIM) == (
        "> [!quote] Loops have two states.\n"
        "> a loop has two states\n"
        ">\n"
        "> ![[wiki/assets/loop-0123456789ab.png|Figure 1: the loop]]\n"
        ">\n"
        "> ```python\n"
        "> def loop():\n"
        ">     return `1` + 2\n"
        "> ```\n"
        ">\n"
        "> $$\\frac{a}{b} + x_i$$\n"
        ">\n"
        "> mechanism · current · p. 6\n"
        "\n"
        "^c-7f3a9c1e2k"
    )


def test_a_summary_gives_its_exhibits_back() -> None:
    text = render_summary("wiki/summaries/x.md", HEAD, Introduction(), [CLAIM])
    assert [c.claim for c in parse_summary(text, "wiki/summaries/x.md").claims] == [CLAIM]
    assert parse_summary(text.replace("\n", "\r\n"), "x.md").claims[0].claim == CLAIM


def test_a_summary_of_an_older_version_reads_as_before() -> None:
    old = "> [!quote] Said.\n> first line of it\n> second line of it\n>\n> fact · current · p. 1\n\n^c-7f3a9c1e2k\n"
    claim = parse_summary(old, "x.md").claims[0].claim
    assert (claim.quote, claim.exhibits) == ("first line of it second line of it", ())


def test_a_summary_that_a_human_edited_takes_new_exhibits_in_place() -> None:
    bare = replace(CLAIM, exhibits=())
    mine = render_summary("wiki/summaries/x.md", HEAD, Introduction(), [bare]) + "\nA remark of mine.\n"
    text = splice_claims(mine, HEAD, [CLAIM])
    assert parse_summary(text, "x.md").claims[0].claim == CLAIM
    assert text.endswith("\nA remark of mine.\n")
    assert splice_claims(text, HEAD, [CLAIM]) == text
    assert splice_claims(text, HEAD, [bare]) == mine


@given(WORDS, WORDS, st.sampled_from(["python", "haskell", "", "mermaid", "dataviewjs"]), WORDS)
def test_whatever_is_shown_comes_back_as_it_was_written(caption: str, body: str, language: str, tex: str) -> None:
    made = [picture("wiki/assets/a-0123456789ab.svg", caption), code(body, language), formula(tex)]
    exhibits = tuple(e for e in made if e is not None)
    claim = replace(CLAIM, exhibits=exhibits)
    text = render_summary("wiki/summaries/x.md", HEAD, Introduction([claim]), [claim])
    summary = parse_summary(text, "wiki/summaries/x.md")
    assert [c.claim for c in summary.claims] == [claim] and summary.diagnostics == ()
    lines = ["Some words.", *(line for e in exhibits for line in lines_of(e))]
    assert split_exhibits(lines) == (["Some words."], exhibits)


@given(WORDS, st.sampled_from(["python", "", "sql"]))
def test_a_card_with_an_exhibit_counts_as_the_machines_until_somebody_edits_it(body: str, language: str) -> None:
    shown = [line for e in (PLOT, code(body, language)) if e is not None for line in lines_of(e)]
    answer = "\n".join(["Two states.", *shown])
    support = (Citation("wiki/summaries/x", CLAIM.id, 1),)
    card = with_stamp(Card(CardKind.APPLIED, "What has a loop?", answer, support, CardId("k7q2m9xd3f")))
    [back] = parse_deck(f"## Applied\n\n{render_card(card)}", "x.md").cards
    assert not back.human_edited and back.answer == answer and back.support == support
    assert replace(back, answer=answer.replace("Two", "Three")).human_edited


@pytest.mark.parametrize(
    "body",
    [
        "> [!quote] x\n[!quote] a title\nsomething",
        "print('<!-- card k7q2m9xd3f 9f31c2 -->')",
        "[[wiki/summaries/x#^c-7f3a9c1e2k|1]]",
        "\\Q: is this a card?",
        "a = 1\n<<<<<<< HEAD\nb = 2",
        "x = 1\n" * 41,
        "y" * 4_001,
        "---\n***\n",
        "<p><%* await tp.user.steal() %></p>",
    ],
)
def test_code_that_a_note_would_take_amiss_is_not_shown(body: str) -> None:
    assert code(body, "python") is None


def test_a_language_that_a_plugin_would_run_is_not_named() -> None:
    shown = code("graph TD\nA --> B", "mermaid")
    assert shown is not None and lines_of(shown)[0] == "```code"


def test_a_fence_inside_code_does_not_end_it() -> None:
    shown = code("text = '''\n```\nnot the end\n````\n'''", "python")
    assert shown is not None and lines_of(shown)[0] == lines_of(shown)[-1] + "python" == "`````python"


@pytest.mark.parametrize(
    "tex", ["", "a $ b", "<img src=x>", "![x](y)", "`x`", r"\text{all cats are grey}", "x" * 601, "a\\\n\\b <b>"]
)
def test_what_is_no_inert_formula_is_not_shown(tex: str) -> None:
    assert formula(tex) is None


@pytest.mark.parametrize("caption", ["300", "100x200", " 12 "])
def test_a_caption_is_never_taken_for_a_width(caption: str) -> None:
    assert lines_of(picture("wiki/assets/a-0123456789ab.png", caption))[0].endswith(f"|picture {caption.strip()}]]")


def test_a_picture_that_is_not_copied_is_named_and_embeds_nothing() -> None:
    far = picture("https://example.org/a.png", "A ]] caption | here")
    assert lines_of(far) == ["Not copied: `https://example.org/a.png` (A caption here)"]
    assert not far.copied and embedded_assets("\n".join(lines_of(far))) == set()
    assert is_nameable("https://example.org/a.png")
    assert not any(map(is_nameable, ("", "a`b", "=query", "$=x", "a b", "x" * 301)))


def test_pictures_code_and_formulas_of_an_article_assert_nothing() -> None:
    cites = (Citation("wiki/summaries/x", CLAIM.id, 1),)
    section = ArticleSection("", ((CitedSentence("Loops have two states.", cites),),) * 2)
    far = picture("https://example.org/a.png", "far")
    body = render_body("Loop", [section], {CLAIM.id: (*CLAIM.exhibits, far)})
    assert [s.text for s in sentences(body)] == ["Loops have two states."] * 2
    assert body.count("![[wiki/assets/") == body.count("```python") == body.count("$$\\frac") == 1
    assert "example.org" not in body


def test_a_sentence_in_the_clothes_of_a_formula_still_needs_a_citation() -> None:
    assert [s.text for s in sentences("# T\n\n$$\\text{all cats are grey}$$\n")] != []


def test_only_bytes_that_a_name_promises_are_a_copy() -> None:
    digest = "ba7816bf8f01"  # of b"abc"
    assert is_copy(f"wiki/assets/x-{digest}.png", b"abc")
    assert not is_copy(f"wiki/assets/x-{digest}.png", b"abd")
    assert not is_copy("wiki/assets/mine.png", b"abc")


def test_an_exhibit_is_named_on_one_line_for_a_screen_without_pictures() -> None:
    assert str(PLOT) == f"[picture: {PLOT.note}, wiki/assets/loop-0123456789ab.png]"
    assert str(LISTING) == "[code in python, 2 lines]"
    assert str(Exhibit(ExhibitKind.FORMULA, "a+b")) == "[formula: a+b]"
