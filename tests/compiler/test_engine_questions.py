"""What the embedded engine asks about a sentence, before anything is chosen."""

from __future__ import annotations

import pytest

from compiler.engines.extractive.definitions import Definition
from compiler.engines.extractive.questions import Question, from_definition, questions_in
from compiler.engines.extractive.reading import with_context
from compiler.engines.extractive.sentence import parse_all


def test_what_something_is_used_for_is_asked() -> None:
    (doc,) = parse_all(["An autoclave is used for the sterilization of instruments."])
    (asked,) = questions_in(doc)
    assert (asked.kind, asked.question, asked.answer) == (
        "applied", "What is an autoclave used for?", "The sterilization of instruments.",
    )  # fmt: skip


def _asked(question: str, answer: str) -> Question:
    return Question("definition", "definitional", question, answer)


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ("Glaciers", "What is a glacier?"),
        ("Alpine ice", "Alpine ice: What is a glacier?"),
        ("Large masses of ice", "What is a glacier?"),  # it would give the answer away
    ],
)
def test_a_question_that_names_its_subject_in_another_number_needs_no_context(context: str, expected: str) -> None:
    assert with_context(_asked("What is a glacier?", "A large body that moves downhill."), context) == expected


def test_the_end_of_a_title_that_is_no_name_is_no_context() -> None:
    asked = with_context(_asked("What is a replay?", "The spacing of events."), "The spacing effect: why gaps matter")
    assert asked == "What is a replay?"


def test_what_was_is_asked_in_the_past() -> None:
    definition = Definition("ether", "a substance that was thought to fill all space", "copula", "the", past=True)
    assert next(from_definition(definition)).question == "What was the ether?"


def test_brackets_of_citations_go_and_others_stay() -> None:
    (doc,) = parse_all(["A cache (Smith, 1999) is used for pages (65536 bytes each)."])
    assert [q.answer for q in questions_in(doc)] == ["Pages (65536 bytes each)."]


def test_a_meaning_that_points_at_other_sentences_is_not_asked_for() -> None:
    assert list(from_definition(Definition("chargeability", "the ability to store this charge", "copula"))) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "The crew rests while the wind drops.",  # at the same time, not in contrast
        "Ropes rot not because they are old.",
        "A halyard hoists the sail as the captain orders.",
    ],
)
def test_conjunctions_of_time_and_denied_reasons_ask_nothing(sentence: str) -> None:
    (doc,) = parse_all([sentence])
    assert list(questions_in(doc)) == []
