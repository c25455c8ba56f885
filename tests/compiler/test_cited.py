"""A work is named only where it is plain that a source cites it for the very thing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.pages.references import Citations, Work, address_in, sentence, work_in
from compiler.readers.bibliography import MAX_CITED, bibtex
from compiler.readers.read import read_source
from vault.model.source import SourceText

NUMBERED = """# Notes

Flux [2] is a framework. Spacing [1, 3–4] helps, but cramming [5] does not. It was first seen long ago.[1]

Many tools exist: A [1], B [2], C [3]. A survey covers rest [1–5].

Sleep helps. Nothing is cited here.

## References

[1] Hermann Ebbinghaus. Über das Gedächtnis. Duncker & Humblot, 1885.

[2] Mike Innes. Flux: Elegant machine learning with Julia. JOSS, 2018. doi: 10.21105/joss.00602.

[3] Ann Bo, Cy Do, and Ed Fu. Spacing effects in learning. Psych. Science, 19(11):1095–1102, 2008. URL https:

//example.org/spacing.pdf.

[4] G. Hu et al. “On gaps between study sessions”. In: arXiv preprint arXiv:2401.01234 (2024).

[5] Ida Jo. Massed practice and its costs, 1999.

## Appendix

Flux [2] again.
"""
BY_NAME = """# Notes

The testing effect (Roediger and Karpicke, 2006; Bo et al., 2008) is strong. As Hu (2024) shows, gaps matter.
Interleaving (Unknown, 2001) is another matter. Twins (Twin, 2020) are told apart by nobody.
The spacing effect was found early (cf. Ebbinghaus 1885), see below.

## Literatur

Bo, Ann, Cy Do, and Ed Fu. “Spacing effects in learning”. In: Psych. Science 19 (2008). Ebbinghaus, Hermann. “Über das
Gedächtnis”. (1885).

G. Hu. On gaps between study sessions. CoRR, abs/2401.01234, 2024.

Roediger, H. L., and Karpicke, J. D. (2006). Test-enhanced learning. Psychological Science, 17, 249–255.

Twin, A. “The first of two”. (2020).

Twin, A. “The second of two”. (2020).
"""


def source(text: str, name: str = "notes.md") -> SourceText:
    return read_source(text.encode(), name)


def cited(text: str, at: str, *names: str, about: bool = False) -> list[str]:
    read = source(text)
    return [w.words for w in Citations(read).at(read.text.index(at), names, about=about)]


def test_a_number_leads_to_its_entry_and_a_range_to_all_of_its() -> None:
    (flux,) = cited(NUMBERED, "Flux [2] is", "Flux", about=True)
    assert flux == "Innes: Flux: Elegant machine learning with Julia (2018)"
    assert len(cited(NUMBERED, "Spacing [1", "spacing", about=True)) == 3
    one = cited(NUMBERED, "Spacing [1", "spacing", "spacing effects")
    assert one == ["Bo et al.: Spacing effects in learning (2008)"], "a title that names it says more than a place"
    assert cited(NUMBERED, "Spacing [1", "cramming", about=True) == ["Jo: Massed practice and its costs (1999)"]
    assert cited(NUMBERED, "It was first", "memory", about=True) == ["Ebbinghaus: Über das Gedächtnis (1885)"]


def test_where_it_is_not_plain_no_work_is_named() -> None:
    assert cited(NUMBERED, "It was first", "memory") == [], "the sentence is not about it and does not name it"
    assert cited(NUMBERED, "Many tools", "tools", about=True) == []
    assert cited(NUMBERED, "A survey", "survey") == [], "five works are a list of literature"
    assert cited(NUMBERED, "Sleep helps", "sleep", about=True) == []
    assert cited(NUMBERED, "Spacing [1", "helps", about=True) == []
    assert cited(NUMBERED, "Spacing [1", "cramming") == [], "a common word, and the sentence is about another thing"
    assert cited(BY_NAME, "Interleaving", "interleaving", about=True) == []
    assert cited(BY_NAME, "Twins", "twins", about=True) == [], "two works of that name and year"


def test_author_and_year_lead_to_the_one_entry_that_has_them() -> None:
    assert cited(BY_NAME, "The testing", "testing effect") == [
        "Roediger et al.: Test-enhanced learning (2006)",
        "Bo et al.: Spacing effects in learning (2008)",
    ]
    assert cited(BY_NAME, "As Hu", "gaps", about=True) == ["Hu: On gaps between study sessions (2024)"]
    assert cited(BY_NAME, "The spacing", "spacing effect", about=True) == ["Ebbinghaus: Über das Gedächtnis (1885)"]


def test_addresses_are_those_that_the_entry_gives_mended_where_a_line_broke_them() -> None:
    read = source(NUMBERED)
    works = {w.author: w.address for w in Citations(read).titled(["spacing effects", "gaps between", "Flux: Elegant"])}
    assert works == {
        "Bo et al.": "https://example.org/spacing.pdf",
        "Hu et al.": "https://arxiv.org/abs/2401.01234",
        "Innes": "https://doi.org/10.21105/joss.00602",
    }
    assert Citations(read).titled(["spacing"]) == (), "one word is in too many titles"


def test_links_count_as_works_where_they_name_the_thing_or_lead_to_a_paper() -> None:
    text = """# T

The Transformer was proposed in [Attention is all you need](https://arxiv.org/pdf/1706.03762v5) some years ago.

Read more of it in [this post](https://example.org/post), which is about the paging of memory.

Use [PagedAttention](https://example.org/paged) where the cache of keys and values grows too large to be kept whole.

Follow what they say of it at [Spacing on X](https://x.com/spacing), where everybody says the same of it.

See how it falls in [a figure of spacing](https://example.org/spacing.png), which was drawn by hand.
"""
    read = source(text)
    citations = Citations(read)
    (paper,) = citations.at(read.text.index("The Transformer"), ["Transformer"], about=True)
    assert paper == Work("Attention is all you need", address="https://arxiv.org/abs/1706.03762")
    assert citations.at(read.text.index("Read"), ["paging"], about=True) == ()
    (page,) = citations.at(read.text.index("Use"), ["PagedAttention"], about=False)
    assert page.address == "https://example.org/paged"
    for start in ("Follow", "See"):
        assert citations.at(read.text.index(start), ["spacing"], about=True) == ()


def test_keys_tell_names_and_years_and_a_pages_own_bibliography_tells_all() -> None:
    text = "# T\n\nAttention learns to align :cite:`Bahdanau.Cho.Bengio.2014`. Speech came next [@chan2015listen].\n"
    assert cited(text, "Attention", "attention", about=True) == ["Bahdanau, Cho, Bengio (2014)"]
    assert cited(text, "Speech", "speech", about=True) == ["Chan, “listen …” (2015)"]
    html = (
        "<article><h1>T</h1><p>Memory networks <dt-cite key='weston2014memory'></dt-cite> store facts.</p></article>"
        "<script type='text/bibliography'>@article{weston2014memory, title={Memory {N}etworks}, year={2014},\n"
        'author = "Weston, Jason and Chopra, Sumit and Bordes, Antoine", journal={arXiv preprint arXiv:1410.3916}}'
        "</script>"
    )
    read = read_source(html.encode(), "t.html")
    (work,) = Citations(read).at(read.text.index("Memory"), ["memory network"], about=False)
    assert (work.words, work.address) == ("Weston et al.: Memory Networks (2014)", "https://arxiv.org/abs/1410.3916")


@pytest.mark.parametrize(
    "sentence_",
    [
        "Recall [" + f"@{'a' * 40}" * 12 + " fades.",
        "Recall (" + "Aaa-" * 300,
        "Recall (" + "van " * 300 + "Bo, 2008",
        "Recall [" + "1-" * 600,
        "Recall " + "“A" * 600,
    ],
    ids=lambda text: text[:14],
)
def test_no_sentence_takes_long_however_it_seems_to_cite(sentence_: str) -> None:
    read = source(f"# T\n\n{sentence_}\n\n## References\n\n[1] {sentence_}\n\nBo, A. “Other matters of it”. (2008).\n")
    assert Citations(read).at(read.text.index("Recall"), ["recall"], about=True) == ()


@pytest.mark.parametrize(
    "body", ["a" * 400_000, "note = {\\x}, " * 20_000, "a " * 100_000, "a={" * 100_000], ids=lambda text: text[:8]
)
def test_a_bibliography_of_nonsense_does_not_hold_up_the_reader(body: str) -> None:
    found = bibtex(f"@book{{k, title={{Of Memory}}, author={{Ann Bo}}, {body}}}\n@book{{l, title={{B}}, author={{C}}}}")
    assert found["k"].startswith("Ann Bo. Of Memory")


def test_a_place_that_cites_a_whole_library_keeps_a_few_of_it() -> None:
    entry = f"@book{{k, title={{{'Of Memory ' * 90}}}, author={{Ann Bo}}}}"
    page = f"<p>x <d-cite key='{'k,' * 20_000}'></d-cite></p><script type='text/bibliography'>{entry}</script>"
    read = read_source(f"<article><h1>T</h1>{page * 3}</article>".encode(), "t.html")
    assert 0 < max(len(m.info) for m in read.marks) <= MAX_CITED


def test_no_address_is_anything_but_a_plain_web_address() -> None:
    for entry in ("A. javascript:alert(1)", "B. http://x.org/<script>", "C. https://u:p@", "D. file:///etc/passwd"):
        assert address_in(entry) in ("", "http://x.org/")
    assert work_in("2023.") is None and work_in("") is None


def test_a_sentence_ends_at_its_stop_and_takes_the_notes_behind_it() -> None:
    text = "First one. See Fig. 3 of Dr. Bo et al. (2008) for it.[2] Then more! 这是一句。另一句。"
    for inside in ("First", "See Fig", "Then", "这是"):
        start, end = sentence(text, text.index(inside))
        assert text[start:end].strip().startswith(inside) and end > start
    assert text[slice(*sentence(text, 20))].strip() == "See Fig. 3 of Dr. Bo et al. (2008) for it.[2]"


@given(
    st.lists(st.sampled_from([*"[]().,;0123456789 \n–-@:AaZz“”&", "et al. ", "(Bo, 2008)", "\n\n", "[1] "])).map(
        "".join
    )
)
def test_no_text_upsets_the_search(text: str) -> None:
    body = f"# T\n\nSpacing works. {text}\n\n## References\n\n{text}\n"
    read = source(body)
    citations = Citations(read)
    for offset in range(0, len(read.text), 7):
        start, end = sentence(read.text, offset)
        assert start <= offset and start <= end
        for work in citations.at(offset, ["spacing"], about=True):
            assert work.words or work.address


@pytest.mark.real_data
def test_papers_of_three_manners_of_citing_are_understood(shared_data: Path) -> None:
    papers = shared_data / "corpus-attention/raw/papers"
    for name, at, what, words in (
        (
            "DeepSeek_V3_2.pdf",
            "Therefore, we implement DSA based on the MQA",
            "MQA",
            "Shazeer: Fast transformer decoding: One write-head is all you need (2019)",
        ),
        ("10.21105.jcon.00059.pdf", "DataFlow.jl [16]", "DataFlow.jl", "Innes: Dataflow.jl: Code intermediate"),
        ("MoBA_Tech_Report.pdf", "such as sink-based", "sliding window attention", "Beltagy et al.: Longformer"),
    ):
        read = read_source((papers / name).read_bytes(), name)
        (work,) = Citations(read).at(read.text.index(at), [what], about=False)
        assert work.words.startswith(words)
