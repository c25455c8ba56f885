"""Words of one block: folded, composed, with their marks still on them."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from compiler.readers.block import Block, fold_block
from vault.model.source import Mark, MarkKind

PIECES = st.lists(
    st.text(alphabet=st.sampled_from("ab é\u0301\u0323\n\t 注意，“\u1100\u1161\u11a8\u200b\u202e\u00a0"), max_size=8),
    max_size=8,
)


def test_white_space_is_one_space_and_none_at_the_ends() -> None:
    assert fold_block("  one \n\t two  ", ())[0] == "one two"


def test_lines_of_chinese_join_without_a_space() -> None:
    assert fold_block("注意力\n机制，\n 其中 x\n是", ())[0] == "注意力机制，其中 x 是"


def test_a_mark_stays_on_its_words() -> None:
    block = Block()
    block.text("the   so-called ")
    block.open(MarkKind.EMPHASIS)
    block.text(" scaled\n dot product ")
    block.close(MarkKind.EMPHASIS)
    block.text("attention")
    text, marks = block.take()
    assert text == "the so-called scaled dot product attention"
    assert [text[m.start : m.end] for m in marks] == ["scaled dot product"]


def test_an_accent_joins_the_letter_of_the_piece_before() -> None:
    block = Block()
    block.text("cafe")
    block.open(MarkKind.LINK)
    block.text("\u0301 noir")
    block.close(MarkKind.LINK)
    text, marks = block.take()
    assert text == "café noir"
    assert marks[0].end == len(text)


def test_kept_line_breaks_and_indentation_survive_but_blank_lines_go() -> None:
    block = Block()
    block.kept("if x:\n\n    return 1\n")
    assert block.take()[0] == "if x:\n    return 1"


@given(PIECES)
def test_any_pieces_give_normal_text_with_marks_inside_it(pieces: list[str]) -> None:
    block = Block()
    for i, piece in enumerate(pieces):
        if i % 2:
            block.open(MarkKind.EMPHASIS)
        block.text(piece)
        if i % 2:
            block.close(MarkKind.EMPHASIS)
    text, marks = block.take()
    assert unicodedata.is_normalized("NFC", text)
    assert text == " ".join(text.split())
    assert all(0 <= m.start < m.end <= len(text) for m in marks)


@given(st.text(max_size=60))
def test_folding_twice_changes_nothing(raw: str) -> None:
    once = fold_block(raw.replace("\x00", "").replace("\x01", "").replace("\x02", ""), ())[0]
    assert fold_block(once, ())[0] == once


def test_a_mark_that_lost_all_its_words_is_gone() -> None:
    assert fold_block("word   ", [Mark(MarkKind.LINK, 4, 7)])[1] == []
