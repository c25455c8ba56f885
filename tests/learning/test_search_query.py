"""What a search asks for: parsed, written out again, and explained where it cannot be understood."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.search.query import (
    CHOICES,
    NUMBERS,
    TEXTS,
    BadQuery,
    Bound,
    Filter,
    Query,
    Term,
    Word,
    completions,
    parse,
    render,
)

OPERATORS = (":", "<", ">", "<=", ">=", "=")
WORDS = st.text(min_size=1, max_size=12).filter(lambda text: bool(text.strip()))
CHOSEN = st.sampled_from([(name, value) for name, values in CHOICES.items() for value in values])
TERMS: st.SearchStrategy[Term] = st.one_of(
    st.builds(Word, WORDS, st.booleans()),
    st.builds(lambda pair, negated: Filter(pair[0], pair[1], negated), CHOSEN, st.booleans()),
    st.builds(Filter, st.sampled_from(TEXTS), WORDS, st.booleans()),
    st.builds(
        Bound,
        st.sampled_from(NUMBERS),
        st.sampled_from(OPERATORS),
        st.integers(-999_999, 999_999).map(lambda number: number / 100),
        st.booleans(),
    ),
)


@given(st.lists(TERMS, max_size=5))
def test_a_query_written_out_is_read_as_the_same_query(terms: list[Term]) -> None:
    query = Query(tuple(terms))
    assert parse(render(query)) == query


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from('":-<>=\\ asdue*^()')), max_size=40))
def test_any_text_is_a_query_or_is_explained(text: str) -> None:
    try:
        parse(text)
    except BadQuery as error:
        assert 0 <= error.at <= len(text) and error.what and error.hint and error.where


def test_all_forms_at_once() -> None:
    text = 'state:due kind:applied concept:"spacing effect" is:leech lapses>3 due<=7 -word "exact  phrase" C++'
    assert parse(text).terms == (
        Filter("state", "due"),
        Filter("kind", "applied"),
        Filter("concept", "spacing effect"),
        Filter("is", "leech"),
        Bound("lapses", ">", 3),
        Bound("due", "<=", 7),
        Word("word", negated=True),
        Word("exact  phrase"),
        Word("C++"),
    )


@pytest.mark.parametrize("text", ["std::map", "https://example.org/a?b=c", "a<b", "x=1", "-", "*", "NEAR(a", '"std:x"'])
def test_what_is_no_filter_is_a_word(text: str) -> None:
    assert parse(text).terms == (Word(text.strip('"')),)


@pytest.mark.parametrize(
    ("text", "at", "says"),
    [
        ("one stat:due", 4, "did you mean state:"),
        ("is:lech", 0, "leech"),
        ("a b lapses>many", 4, "lapses<7"),
        ("due:", 0, "due<7"),
        ("kind>3", 0, "kind:3"),
    ],
)
def test_an_error_names_the_place_and_what_there_is(text: str, at: int, says: str) -> None:
    with pytest.raises(BadQuery) as caught:
        parse(text)
    assert caught.value.at == at and f"character {at + 1}" in caught.value.where
    assert says in caught.value.hint


def test_a_quote_that_is_still_open_is_read_to_the_end() -> None:
    assert parse('"spacing eff').terms == (Word("spacing eff"),)


def test_what_a_word_could_become() -> None:
    known = {"topic": ("Learning", "Deep learning", "Memory"), "tag": ("exam",)}
    assert completions("st", 2, known) == ["state:"]
    assert completions("x -is:fl", 8, known) == ["-is:flagged"]
    assert completions("topic:lea", 9, known) == ["topic:Learning", 'topic:"Deep learning"']
    assert completions("", 0, known) == []
