"""What articles and key say of each other is counted as a human would count it by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.concept_figures import (
    Made,
    agreement,
    as_json,
    as_markdown,
    gap_agreement,
    judged_precision,
    sample_of,
    to_judge,
)
from benchmarks.concept_key import Concept, Gap, Key, folded

KEY = Key(
    concepts=(
        Concept("Attention", ("neural attention",), ("short.md", "book.pdf"), core=True),
        Concept("Beam search", (), ("book.pdf",)),
        Concept("Perplexity", (), ("book.pdf",)),
        Concept("Padding", (), ("short.md",), minor=True),
    ),
    gaps=(Gap("Softcapping", ("soft-capping",), ("short.md",)), Gap("Mamba", (), ("short.md",))),
    not_concepts=("Exercises",),
    long=frozenset({"book.pdf"}),
)
MADE = (
    Made("Attention", files=("short.md",)),
    Made("Neural attention", files=("book.pdf",)),
    Made("Beam searches", files=("book.pdf",)),
    Made("Padding", files=("short.md",)),
    Made("Exercises", files=("book.pdf",)),
    Made("Blubber", lead="It served them as fuel.", files=("book.pdf",)),
)


def test_recall_counts_what_a_reader_would_miss_and_minor_concepts_apart() -> None:
    found = agreement(KEY, MADE)

    assert {name: (s.part, s.whole) for name, s in found.recalls().items()} == {
        "all": (2, 3),
        "core": (1, 1),
        "short documents": (1, 1),
        "long documents": (2, 3),
        "minor ones too": (3, 4),
    }
    assert found.missed() == ["Perplexity"]
    by_file = {f: (s.part, s.whole) for f, s in found.recall_by_file().items()}
    assert by_file == {"book.pdf": (2, 3), "short.md": (1, 1)}


def test_an_article_is_right_if_its_title_or_an_alias_is_in_the_key() -> None:
    by_alias = agreement(KEY, [Made("Softmax pooling", aliases=("Attention",))])

    assert [m.title for m in by_alias.matched] == ["Softmax pooling"]
    assert by_alias.found == {"Attention"}


def test_precision_is_also_given_by_where_articles_come_from() -> None:
    found = agreement(KEY, MADE)

    assert {name: (s.part, s.whole) for name, s in found.precisions().items()} == {
        "all": (4, 6),
        "from short documents": (2, 2),
        "from long documents only": (2, 4),
    }
    assert found.errors() == ["Exercises"]


def test_articles_on_one_concept_and_articles_on_several_are_told() -> None:
    found = agreement(KEY, [*MADE, Made("Search", aliases=("beam search", "perplexity")), Made("Blubbers")])

    assert found.doubles == (
        ("Attention", ("Attention", "Neural attention")),
        ("Beam search", ("Beam searches", "Search")),
        ("blubber", ("Blubber", "Blubbers")),
    )
    assert found.merged == (("Search", ("Beam search", "Perplexity")),)


def test_gaps_of_the_agenda_are_counted_against_those_of_the_key() -> None:
    gaps = gap_agreement(KEY, ["Soft capping", "Softcapping", "Perplexity", "Exercises", "Whatever"])

    assert (gaps.recall.part, gaps.recall.whole, gaps.listed) == (1, 2, 5)
    assert gaps.explained == ("Perplexity",)
    assert gaps.not_concepts == ("Exercises",)


def test_an_article_on_what_no_document_explains_is_told() -> None:
    assert agreement(KEY, [Made("Mamba"), *MADE]).about_gaps() == ["Mamba"]


def test_judged_precision_takes_the_rest_to_be_as_good_as_the_sample() -> None:
    found = agreement(KEY, [Made(t) for t in ("Attention", "Hypergraph", "Blubber", "Journalist", "Anchorwoman")])
    verdicts = {folded("hypergraphs"): True, folded("Blubber"): False, folded("Journalist"): True}

    judged = judged_precision(found, [Made("Hypergraph"), Made("Blubber")], verdicts)

    assert (judged.good, judged.sample, judged.unjudged) == (1, 2, ())
    assert judged.precision == pytest.approx((1 + 4 / 2) / 5)


def test_judged_precision_is_unknown_until_the_whole_sample_is_judged() -> None:
    found = agreement(KEY, MADE)

    judged = judged_precision(found, sample_of(found, 0, 7), {folded("Exercises"): False})

    assert judged.precision is None
    assert [m.title for m in judged.unjudged] == ["Blubber"]


def test_judged_precision_needs_no_verdict_where_the_key_has_every_article() -> None:
    found = agreement(KEY, [Made("Attention")])

    assert judged_precision(found, sample_of(found, 60, 7), {}).precision == 1


@given(st.lists(st.sampled_from(["Attention", "Beam search", "Padding", "Blubber", "Mamba", "Exercises"]), max_size=9))
def test_every_article_is_either_in_the_key_or_not(titles: list[str]) -> None:
    found = agreement(KEY, [Made(t) for t in titles])

    assert sorted(m.title for m in (*found.matched, *found.unmatched)) == sorted(titles)
    assert found.precisions()["all"].whole == len(titles)
    assert len(found.missed()) + found.recalls()["all"].part == 3


def test_the_sample_to_judge_shows_only_what_the_key_lacks_and_is_the_same_for_a_seed() -> None:
    found = agreement(KEY, MADE)

    chosen = sample_of(found, 9, 7)
    shown = to_judge(found, chosen)

    assert chosen == sample_of(agreement(KEY, MADE[::-1]), 9, 7)
    assert len(sample_of(found, 1, 7)) == 1
    assert "2 of 2 concepts" in shown
    assert "**Blubber**" in shown
    assert "It served them as fuel." in shown
    assert "**Attention**" not in shown


def test_figures_are_printed_for_humans_and_for_programs() -> None:
    found, gaps = agreement(KEY, MADE), gap_agreement(KEY, ["Mamba"])
    judged = judged_precision(found, sample_of(found, 0, 7), {folded("Blubber"): False})

    page, data = as_markdown(found, gaps, judged), as_json(found, gaps, judged)

    assert "| recall, all | 0.667 (2 of 3) |" in page
    assert "| precision, judged | - (0 of a sample of 2 are concepts; 1 not yet judged) |" in page
    assert "| gap recall | 0.500 (1 of 2) |" in page
    assert "- Attention: Attention, Neural attention" in page
    assert data["recall"]["all"] == {"part": 2, "whole": 3, "ratio": 2 / 3}
    assert data["missed"] == ["Perplexity"]
    assert data["unmatched"] == ["Blubber", "Exercises"]
