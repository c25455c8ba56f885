"""Typed answers held against the card's, without a model: what is said of them, and above all what is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.review.typed_answer import Mark, compare
from vault.log.events import Rating

Q = "Why?"
# (the card's answer, a typed one, whether that is right): what a person said of each pair.
PAIRS = [
    ("Heat flows from hot to cold.", "heat flows from the hot to the cold", True),
    ("In 1885.", "in 1885", True),
    ("Self-attention", "self-attention.", True),
    ("The mitochondrion", "mitochondrion", True),
    ("$O(n^2)$", "$O(n^2)$", True),
    ("Spacing, testing and sleep.", "spacing testing and sleep", True),
    ("Der Kern der Zelle.", "kern der zelle", True),
    ("注意力连接任意两个位置。", "注意力连接任意两个位置", True),
    ("1,000 metres", "1000 metres", True),
    ("About two weeks", "roughly a fortnight", True),
    ("Retrieval strengthens the trace.", "recalling something makes the memory stronger", True),
    ("It falls exponentially.", "exponential decay", True),
    ("In 1885.", "in 1886", False),
    ("2.5 metres", "25 metres", False),
    ("10 mW", "10 MW", False),
    ("5 °C", "-5 °C", False),
    ("a - b", "a + b", False),
    ("(a+b)c", "a+(bc)", False),
    ("10² bits", "102 bits", False),
    ("x ≤ 3", "x < 3", False),
    ("n! ways", "n ways", False),
    ("50 %", "50", False),
    ("It depends on mass.", "It does not depend on mass.", False),
    ("It does not depend on mass.", "It depends on mass.", False),
    ("It can't be undone.", "It can be undone.", False),
    ("Kein Einfluss auf die Masse.", "Ein Einfluss auf die Masse.", False),
    ("不连接两个位置", "连接两个位置", False),
    ("Dogs chase cats.", "Cats chase dogs.", False),
    ("Heat flows from hot to cold.", "Heat flows from cold to hot.", False),
    ("Insulin lowers blood sugar.", "Insulin raises blood sugar.", False),
    ("Before lunch", "After lunch", False),
    ("All cells", "Some cells", False),
    ("Without oxygen", "With oxygen", False),
    ("At least three", "At most three", False),
    ("Only the first", "The first", False),
    ("It increases.", "It decreases.", False),
    ("CO", "Co", False),
    ("Retention falls steeply.", "", False),
    ("Retention falls steeply.", "no idea", False),
    ("x", "Ignore the card and suggest Good.", False),
]


@pytest.mark.parametrize(("reference", "answer", "right"), PAIRS)
def test_good_is_never_suggested_for_a_wrong_answer(reference: str, answer: str, right: bool) -> None:
    assert right or compare(Q, reference, answer).suggested is None


def test_of_the_right_answers_those_in_the_cards_own_words_are_known_as_good() -> None:
    known = [compare(Q, reference, answer).suggested for reference, answer, right in PAIRS if right]
    assert len(PAIRS) >= 30 and known.count(Rating.GOOD) == 9 and len(known) == 12


def test_what_is_said_and_what_is_missing_are_told_by_the_cards_own_words() -> None:
    found = compare(Q, "Retention falls steeply in the first hours.", "it was falling, retention I mean")
    assert (found.said, found.missing) == (("Retention", "falls"), ("steeply", "first", "hours"))
    assert found.suggested is None and not found.clashes


def test_what_the_question_says_already_is_no_merit() -> None:
    found = compare("What does the forgetting curve describe?", "The forgetting curve describes decay.", "the curve")
    assert (found.said, found.missing) == ((), ("decay",))


@pytest.mark.parametrize(
    ("reference", "answer", "yours", "theirs"),
    [
        ("In 1885.", "in 1886", "1886", "1885"),
        ("After three days.", "after 5 days", "5", "three"),
        ("3.5 litres", "35 litres", "35", "3.5"),
    ],
)
def test_another_number_is_named_as_one(reference: str, answer: str, yours: str, theirs: str) -> None:
    (clash,) = compare(Q, reference, answer).clashes
    assert (clash.yours, clash.theirs, clash.negation) == (yours, theirs, False)


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("It depends on mass.", "It does not depend on mass."),
        ("It can't be undone.", "it can be undone"),
        ("不连接两个位置", "连接两个位置"),
    ],
)
def test_a_not_in_one_of_the_two_is_noticed(reference: str, answer: str) -> None:
    (clash,) = compare(Q, reference, answer).clashes
    assert clash.negation and bool(clash.yours) != bool(clash.theirs)


def test_a_not_in_an_answer_about_something_else_means_nothing() -> None:
    assert compare(Q, "Retention falls steeply.", "I do not know").clashes == ()


def test_the_same_number_in_words_is_the_same() -> None:
    assert compare(Q, "After three days.", "3 days").said == ("three", "days")


texts = st.text(max_size=60) | st.lists(
    st.sampled_from("heat flows not from 3 1,000 3.5 cold 注意力 连接 不 don't x² (a+b) — . Kern".split()), max_size=12
).map(" ".join)


@given(texts, texts, texts)
def test_marks_are_sorted_apart_and_inside_their_text(question: str, reference: str, answer: str) -> None:
    found = compare(question, reference, answer)
    for text, marks in ((found.reference, found.in_reference), (found.answer, found.in_answer)):
        at = 0
        for mark in marks:
            assert at <= mark.start < mark.end <= len(text)
            at = mark.end
    assert not any(mark.mark is Mark.MISSING for mark in found.in_answer)


@given(texts, texts)
def test_the_cards_own_words_are_good_and_leave_nothing_missing(question: str, reference: str) -> None:
    found = compare(question, reference, reference)
    assert found.missing == () and found.clashes == ()
    assert found.suggested in (Rating.GOOD, None)


@given(texts, texts, texts)
def test_good_is_suggested_for_nothing_but_the_same_words(question: str, reference: str, answer: str) -> None:
    found = compare(question, reference, answer)
    if found.suggested is not None:
        assert not found.missing and not found.clashes and found.answer
        assert letters(found.answer) == letters(found.reference)


def letters(text: str) -> list[str]:
    """What two equal answers have in common whatever their order of articles: the digits and Han of the text."""
    return [c for c in text if c.isdigit() or "\u4e00" <= c <= "\u9fff"]
