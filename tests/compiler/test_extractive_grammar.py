"""The engine's grammar: verb forms, the main clause of a sentence, and the clause turned into a question."""

from __future__ import annotations

import pytest

from compiler.engines.extractive.grammar import verbs
from compiler.engines.extractive.grammar.clauses import parse, verb_first
from compiler.engines.extractive.grammar.standalone import stands_alone


@pytest.mark.parametrize(
    ("form", "tag", "lemma"),
    [
        ("maps", "VBZ", "map"), ("mapped", "VBD", "map"), ("mapping", "VBG", "map"), ("carries", "VBZ", "carry"),
        ("carried", "VBN", "carry"), ("lying", "VBG", "lie"), ("written", "VBN", "write"), ("wrote", "VBD", "write"),
        ("preferred", "VBN", "prefer"), ("uses", "VBZ", "use"), ("passes", "VBZ", "pass"),
        ("modelling", "VBG", "model"),
    ],
)  # fmt: skip
def test_verb_forms_lead_back_to_their_verb(form: str, tag: str, lemma: str) -> None:
    assert verbs.lemma(form, tag) == lemma


def test_words_that_are_no_verbs_have_no_forms() -> None:
    assert verbs.forms("glacier") == ()
    assert verbs.lemma("maped", "VBD") == ""


@pytest.mark.parametrize(
    ("sentence", "front", "subject", "question"),
    [
        ("A cache stores keys for reuse.", "", "A cache", "does A cache store keys for reuse"),
        ("Large waves push the sand onto the shore.", "", "Large waves", "do Large waves push the sand onto the shore"),
        ("Attention maps queries to outputs.", "", "Attention", "does Attention map queries to outputs"),
        ("Drilling works by crushing the rock.", "", "Drilling", "does Drilling work by crushing the rock"),
        ("Models trained on large corpora generalize well.", "", "Models trained on large corpora",
         "do Models trained on large corpora generalize well"),
        ("A tool that cuts wood is called a saw.", "", "A tool that cuts wood",
         "is A tool that cuts wood called a saw"),
        ("However, the sums cannot be computed exactly.", "", "the sums", "can the sums not be computed exactly"),
        ("In spring, the river has flooded the fields.", "In spring", "the river", "has the river flooded the fields"),
        ("When the gap is long, recall fails.", "When the gap is long", "recall", "does recall fail"),
        ("Keys, queries, and values are computed at once.", "", "Keys, queries, and values",
         "are Keys, queries, and values computed at once"),
        ("Self-tests, also called quizzes, help memory.", "", "Self-tests", "do Self-tests help memory"),
        ("The wall did little against the flood.", "", "The wall", "did The wall do little against the flood"),
        ("The old book has many pages.", "", "The old book", "does The old book have many pages"),
    ],
)  # fmt: skip
def test_the_main_clause_is_found_and_turned(sentence: str, front: str, subject: str, question: str) -> None:
    clause = parse(sentence)
    assert clause is not None
    assert (clause.fronted, clause.subject) == (front, subject)
    assert verb_first(clause, clause.subject) == question


@pytest.mark.parametrize("scrap", ["", "Glaciers.", "The end of the river and its banks.", "Slowly but surely."])
def test_without_a_verb_there_is_no_clause(scrap: str) -> None:
    assert parse(scrap) is None


@pytest.mark.parametrize(
    ("sentence", "alone"),
    [
        ("Rivers carry sand because water pulls on the bed.", True),
        ("First-order logic is a language for talking about objects.", True),
        ("Both rivers and glaciers carry stones towards the sea.", True),
        ("A problem that is hard for one may be easy for another.", True),
        ("The river carries sand (see chapter 5) towards the sea.", True),
        ("First, the river carries sand towards the sea.", False),
        ("Both carry stones towards the sea in every season.", False),
        ("The river carries sand, as chapter 5 explains at length.", False),
        ("The river carries sand and this effect grows in spring.", False),
        ("The river carries sand, which we discuss in the next section.", False),
        ("A $d$-dimensional vector holds the state of the river.", True),
        ("The state is h = W x + b for the whole of the river.", False),
    ],
)
def test_a_sentence_stands_alone_or_leans(sentence: str, alone: bool) -> None:
    assert stands_alone(sentence) is alone
