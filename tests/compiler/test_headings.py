"""Headings as names of topics, and headings that somebody wrote as plain words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.gates.headings import LONGEST_HEADING, plain_heading
from compiler.language.headings import heading_key, heading_title


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("7.2 Sequence labeling as structure prediction", "Sequence labeling as structure prediction"),
        ("6.2.4 *Kneser-Ney smoothing", "Kneser-Ney smoothing"),
        ("Chapter 3: Dual coding", "Dual coding"),
        ("IV. Sleep and memory", "Sleep and memory"),
        ("Bonus Material: KV Cache", "KV Cache"),
        ("MIXTURE OF BLOCK ATTENTION FOR LONG-CONTEXT LLMS", "Mixture of Block Attention for Long-context LLMS"),
        ("MOBA: SPARSE ATTENTION", "MOBA: Sparse Attention"),
        ("the spacing effect", "The spacing effect"),
        ("自注意力和位置编码", "自注意力和位置编码"),
        (f"Boosting: {'very ' * 20}long", "Boosting"),
    ],
)
def test_a_heading_is_named_by_its_matter(heading: str, title: str) -> None:
    assert heading_title(heading) == title


@pytest.mark.parametrize(
    "heading",
    [
        "Introduction",
        "4. Results and discussion",
        "Further Reading",
        "小结",
        "Zusammenfassung",
        "notes.md",
        "2024",
        "",
        "*",
    ],
)
def test_a_heading_without_matter_names_nothing(heading: str) -> None:
    assert heading_title(heading) == ""


def test_two_spellings_of_a_heading_meet_and_one_without_matter_has_a_key_too() -> None:
    assert heading_key("3.1 Hidden Markov Models") == heading_key("hidden markov model")
    assert heading_key("Introduction") and heading_key("Summary") != heading_key("Introduction")


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("## How it works", "How it works"),
        ("**Fibres** and `chromosomes`", "Fibres and chromosomes"),
        ("[[wiki/concepts/cell|The cell]]", "The cell"),
        ("[fibres](https://example.com/steal?x=1)", "fibres"),
        ("See https://example.com/now for more", "See for more"),
        ("![[raw/secret.png]] Fibres", "raw/secret.png Fibres"),
        ("<script>alert(1)</script>Fibres", "alert(1) Fibres"),
        ("<!-- card 1234567890 abcdef --> Fibres", "Fibres"),
        ("Fibres ^c-1111111111", "Fibres c-1111111111"),
        ("%%hidden%% Fibres: ", "Fibres"),
        ("Fibres\nand\u2028chromosomes", "Fibres and\ufffdchromosomes"),
        ("= {{ fibres }} =", "fibres"),
    ],
)
def test_a_heading_is_plain_words(written: str, plain: str) -> None:
    assert plain_heading(written) == plain


@given(st.text(max_size=300))
def test_no_heading_is_long_or_holds_markup_and_cleaning_it_twice_changes_nothing(written: str) -> None:
    plain = plain_heading(written)
    assert len(plain) <= LONGEST_HEADING and "\n" not in plain
    assert not set("`*_[]<>|#^") & set(plain) and "://" not in plain
    assert plain_heading(plain) == plain
