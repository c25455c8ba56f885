"""Segments: bounded by headings, short enough to read at a time, each a thing of its own."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from compiler.sources.segments import MAX_PARAGRAPH, MAX_SEGMENT, passages, segments
from vault.model.source import Mark, MarkKind

Section = tuple[int, str, list[str]]
SECTIONS = st.lists(
    st.tuples(
        st.integers(1, 4),
        st.text("abc", min_size=1, max_size=9),
        st.lists(st.integers(1, 9_000).map(lambda n: ("word " * (n // 5 + 1)).strip()), max_size=4),
    ),
    max_size=5,
)


def document(sections: list[Section], lead: str = "") -> tuple[str, list[Mark]]:
    """The text of the sections, and their headings' marks."""
    text, marks = lead, []
    for level, heading, paragraphs in sections:
        text += "\n\n" if text else ""
        marks.append(Mark(MarkKind.HEADING, len(text), len(text) + len(heading), level))
        text += "\n\n".join([heading, *paragraphs])
    return text, marks


def test_a_segment_starts_at_its_heading_and_knows_the_headings_above() -> None:
    text, marks = document([(1, "Attention", ["one"]), (2, "Scores", ["two"]), (1, "Memory", ["three"])], lead="before")
    found = segments(text, marks)
    assert [text[s.start : s.end] for s in found] == ["before", "Attention\n\none", "Scores\n\ntwo", "Memory\n\nthree"]
    assert [s.headings for s in found] == [(), ("Attention",), ("Attention", "Scores"), ("Memory",)]


def test_a_long_section_is_parted_at_paragraph_ends() -> None:
    text, marks = document([(1, "Long", ["x" * 2_500] * 5)])
    found = segments(text, marks)
    assert len(found) == 3
    assert all(s.end - s.start <= MAX_SEGMENT and s.headings == ("Long",) for s in found)


def test_a_paragraph_is_parted_only_if_it_is_overlong() -> None:
    whole = "y" * (MAX_PARAGRAPH - 1)
    assert len(segments(whole, [])) == 1
    text = "A sentence stands here. " * 2_000
    found = segments(text, [])
    assert len(found) > 1
    assert all(text[s.start : s.end].rstrip().endswith(".") for s in found)


@given(SECTIONS)
def test_segments_hold_every_word_once_and_in_order(sections: list[Section]) -> None:
    text, marks = document(sections)
    found = segments(text, marks)
    assert " ".join(text[s.start : s.end] for s in found).split() == text.split()
    assert all(a.end <= b.start for a, b in pairwise(found))


@given(SECTIONS, st.integers(0, 4), st.text("xyz ", min_size=1, max_size=50))
def test_a_change_in_one_section_leaves_the_others_text_as_it_was(sections: list[Section], at: int, words: str) -> None:
    if not sections:
        return
    at %= len(sections)
    changed = [(lv, h, [*p, words.strip() or "x"]) if i == at else (lv, h, p) for i, (lv, h, p) in enumerate(sections)]

    def texts(of: list[Section]) -> list[list[str]]:
        text, marks = document(of)
        starts = [m.start for m in marks]
        out: list[list[str]] = [[] for _ in of]
        for s in segments(text, marks):
            out[max(i for i, start in enumerate(starts) if start <= s.start)].append(text[s.start : s.end])
        return out

    before, after = texts(sections), texts(changed)
    assert [t for i, t in enumerate(before) if i != at] == [t for i, t in enumerate(after) if i != at]


def test_sentences_do_not_end_in_what_is_only_shortened() -> None:
    text = "See Fig. 3 by A. Smith et al. 2003, i.e. the first. It holds. 第一。第二。"
    assert [text[s:e] for s, e in passages(text)] == [
        "See Fig. 3 by A. Smith et al. 2003, i.e. the first.",
        "It holds.",
        "第一。",
        "第二。",
    ]
