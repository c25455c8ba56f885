"""A sentence of the wiki in a note is found however it is dressed; what only sounds like it is not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.store.near_copy import (
    LEAST_CHARACTERS,
    LEAST_WORDS,
    RUN_CHARACTERS,
    RUN_WORDS,
    NearCopy,
    NoteWords,
    Passage,
    near_copies,
    tokens,
)

WIKI = "The spacing effect is the finding that study sessions spread out over time produce better long-term memory."
HAN = "间隔效应是指分散在时间上的学习比集中学习产生更持久的记忆。"
OWN = "My violin teacher knew none of this, yet made me play scales every morning before breakfast."


def copies(note: str, *wiki: str) -> list[NearCopy]:
    return near_copies(NoteWords(note), [Passage("wiki/concepts/x.md", n, text) for n, text in enumerate(wiki, 1)])


def words(letters: str) -> st.SearchStrategy[str]:
    return st.text(letters, min_size=2, max_size=9)


LATIN = words("abcdefghijklmäöüßéñ")
CYRILLIC, ARABIC, HINDI = (
    words("абвгдежзиклмн"),
    words("ابتثجحخدذر"),
    st.sampled_from(["अंतराल", "प्रभाव", "स्मृति", "सीखना", "समय", "दोहराव", "बेहतर", "फैला", "लंबी", "अवधि"]),
)
IDEOGRAPHS = st.sampled_from("间隔效应是指分散在时间上的学习比集中产生更持久记忆为什么因此可以")
SENTENCES = st.one_of(
    *(st.lists(script, min_size=LEAST_WORDS, max_size=30) for script in (LATIN, CYRILLIC, ARABIC, HINDI)),
    st.lists(IDEOGRAPHS, min_size=LEAST_CHARACTERS, max_size=40),
)
DRESS = st.sampled_from(
    ["{}", "**{}**", "_{}_", "{},", "({})", "“{}”", "[[wiki/concepts/a b|{}]]", "[{}](https://a.example/b)"]
)


def joined(parts: Sequence[str], gaps: Sequence[str]) -> str:
    return "".join(part + gap for part, gap in zip(parts, gaps, strict=True))


@given(SENTENCES, st.lists(words("opqrstuvwxyz"), max_size=8), st.data())
def test_a_pasted_sentence_is_always_found(sentence: list[str], around: list[str], data: st.DataObject) -> None:
    """In any script, in another case, wrapped anywhere, marked up, with words of one's own before and after."""
    han = tokens(sentence[0])[0] in HAN + "为什么因此可以"
    wiki = ("" if han else " ").join(sentence) + "."
    dressed = [data.draw(DRESS).format(word.upper() if data.draw(st.booleans()) else word) for word in sentence]
    breaks = ["", "\n"] if han else [" ", "\n", "  "]
    gaps = [data.draw(st.sampled_from(breaks)) for _ in sentence]
    before = " ".join(around)
    note = f"---\ntype: insight\n---\n\n> [!question] What?\n\n{before} {joined(dressed, gaps)} {before}\n"
    (found,) = copies(note, wiki)
    assert found.theirs == Passage("wiki/concepts/x.md", 1, wiki)
    assert found.line >= 7 and tokens(sentence[0])[0] in tokens(found.yours)


@given(st.lists(words("abcdefghijklm"), max_size=60), st.lists(words("opqrstuvwxyz"), max_size=200))
def test_words_that_the_wiki_does_not_have_are_never_a_copy(wiki: list[str], note: list[str]) -> None:
    assert copies(" ".join(note), " ".join(wiki), WIKI, HAN) == []
    assert not NoteWords(" ".join(note)).may_share(" ".join([*wiki, WIKI, HAN]))


@given(st.lists(LATIN, min_size=LEAST_WORDS, max_size=30), st.integers(1, 3))
def test_the_same_words_with_ones_own_between_them_are_never_a_copy(wiki: list[str], every: int) -> None:
    """Who speaks of the same thing uses the same words; only rows of them are a copy."""
    mixed = [part for n, word in enumerate(wiki) for part in ((word, f"own{n}") if n % every == 0 else (word,))]
    assert copies(" ".join(mixed), " ".join(wiki)) == []


@given(st.text(max_size=200), st.text(max_size=200))
def test_no_text_breaks_it(note: str, wiki: str) -> None:
    for copy in copies(note, wiki):
        assert 1 <= copy.line <= note.count("\n") + 1 and copy.yours


def test_a_row_of_words_is_a_copy_whatever_share_of_the_sentence_it_is() -> None:
    long = " ".join(f"w{n}" for n in range(60))
    assert copies(" ".join(f"w{n}" for n in range(20, 20 + RUN_WORDS)), long)
    assert not copies(" ".join(f"w{n}" for n in range(20, 20 + RUN_WORDS - 1)), long)
    assert copies(HAN[2 : 2 + RUN_CHARACTERS], HAN * 3)
    assert not copies(HAN[2 : 2 + RUN_CHARACTERS - 1], HAN * 3)


@pytest.mark.parametrize(
    ("note", "found"),
    [
        (WIKI, True),
        ("I read that study sessions spread out over time produce better memory.", True),  # seven in a row, then more
        ("The spacing effect is the finding that sessions spread out over time produce better long-term memory.", True),
        ("Spacing works because the sessions are spread out.", False),
        ("The spacing effect is real, and I doubt it matters for scales.", False),
        (OWN, False),
        ("", False),
        (f"> {WIKI}\n\nI doubt it.", False),  # marked as a quotation
        (f"> [!quote] From the wiki\n> {WIKI}\n", False),
        (f"---\nabout: {WIKI}\n---\n\nI doubt it.\n", False),
        (f"- one\n- {WIKI}\n", True),
        (f"## {WIKI}\n", True),
        ("分散在时间上的学习比集中学习产生更持久的记忆，我同意。", True),
        ("我每天早上练习小提琴，老师从来不提这些理论。", False),
    ],
)
def test_what_is_a_near_copy(note: str, found: bool) -> None:
    assert bool(copies(note, WIKI, HAN)) is found


def test_lines_of_both_sides_are_named() -> None:
    pasted = "The spacing effect is the finding that\nstudy sessions spread out over time, I read."
    note = f"---\na: b\n---\n\n{OWN}\n\n{pasted}\n"
    found = copies(note, f"{OWN.replace('violin', 'piano')} {WIKI}")
    assert [(c.line, c.yours, c.theirs.text, c.theirs.line) for c in found] == [
        (5, OWN, OWN.replace("violin", "piano"), 1),
        (7, pasted.replace("\n", " "), WIKI, 1),
    ]


def test_one_sentence_of_many_is_found_and_is_what_is_shown() -> None:
    (copy,) = copies(
        "Rest lets the traces of the day settle down.", f"{WIKI} Rest lets the traces of the day settle. {OWN}"
    )
    assert copy.theirs.text == "Rest lets the traces of the day settle."


def test_the_same_sentence_on_two_pages_is_shown_once() -> None:
    assert len(copies(WIKI, WIKI, WIKI.upper())) == 1


def test_marks_of_scripts_belong_to_their_words() -> None:
    assert tokens("स्मृति का प्रभाव") == ["स्मृति", "का", "प्रभाव"]
    assert tokens("naïve NAI\u0308VE") == ["naïve", "naïve"]
    assert tokens("ﬁnd soft\u00adhyphen") == ["find", "softhyphen"]
    assert tokens("ความจำ") == list("ความจำ".replace("ำ", "ํา"))
