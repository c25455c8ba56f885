"""What the embedded engine asks about a sentence, before anything is chosen."""

from __future__ import annotations

import pytest

from compiler.engines.extractive.cards import cards
from compiler.engines.extractive.definitions import Definition
from compiler.engines.extractive.questions import Question, from_definition, questions_in
from compiler.engines.extractive.reading import context_for
from compiler.engines.extractive.sentence import parse_all
from compiler.model.requests import CardsRequest, ClaimView, PossibleCard
from vault.model.claim import ClaimKind


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
        ("Glaciers", ""),
        ("Alpine ice", "Alpine ice"),
        ("Large masses of ice", ""),  # it would give the answer away
    ],
)
def test_a_question_that_names_its_subject_in_another_number_needs_no_context(context: str, expected: str) -> None:
    assert context_for(_asked("What is a glacier?", "A large body that moves downhill."), context) == expected


def test_the_end_of_a_title_that_is_no_name_is_no_context() -> None:
    asked = _asked("What is a replay?", "The spacing of events.")
    assert context_for(asked, "The spacing effect: why gaps matter") == ""


def _view(id_: str, words: str, question: str, source: str) -> ClaimView:
    card = PossibleCard(
        kind="definitional", question=question, answer=words, score=1.0, form="definition", context=source
    )
    return ClaimView(id=id_, kind=ClaimKind.DEFINITION, words=words, quote=words, source=source, cards=(card,))


def _questions(*claims: ClaimView, title: str) -> list[str]:
    request = CardsRequest(title=title, aliases=(), language="en", claims=claims)
    return [card.question for card in cards(request).cards]


def test_a_question_that_is_clear_alone_has_no_context_before_it() -> None:
    same = (
        _view("a" * 10, "A leech is a card that is forgotten again and again.", "What is a leech?", "Study"),
        _view("b" * 10, "A leech is a card that costs too much time.", "What is a leech?", "Decks"),
    )
    assert _questions(*same[:1], title="Leech") == ["What is a leech?"]
    assert _questions(*same, title="Leech") == ["What is a leech?"] * 2


def test_a_term_of_which_two_sources_say_wholly_different_things_is_asked_with_its_context() -> None:
    card = _view("a" * 10, "A leech is a card that is forgotten again and again.", "What is a leech?", "Study")
    worm = _view("b" * 10, "A leech is a worm that feeds on blood.", "What is a leech?", "Ponds")
    assert _questions(card, worm, title="Leech") == ["Study: What is a leech?", "Ponds: What is a leech?"]


@pytest.mark.parametrize(
    ("title", "question", "refers"),
    [
        ("Derivation", "What is the derivation?", True),
        ("Model", "Why does the model need a warm-up?", True),
        ("Spacing effect", "What is the spacing effect?", False),
        ("Halyard", "What is the end of the halyard?", False),
        ("Transformer", "What is the Transformer?", False),
        ("Halyard", "What is the term for the rope that hoists a sail?", False),
    ],
)
def test_a_question_that_only_its_section_makes_clear_has_its_context(title: str, question: str, refers: bool) -> None:
    (asked,) = _questions(_view("a" * 10, "It is what it is.", question, "Notes"), title=title)
    assert asked == (f"Notes: {question}" if refers else question)


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
