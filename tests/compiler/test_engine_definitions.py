"""Which sentences define a term, what is taken for the term and what for its meaning."""

from __future__ import annotations

import pytest

from compiler.claims.segments import requests_for
from compiler.engines.extractive import chinese, german
from compiler.engines.extractive.definitions import Definition
from compiler.engines.extractive.phrases import essence
from compiler.engines.extractive.questions import from_definition
from compiler.engines.extractive.reading import Reading, defined
from compiler.engines.extractive.split import sentences
from compiler.model.requests import ExtractRequest, Span
from compiler.readers.read import read_source


def definitions(sentence: str) -> list[tuple[str, str]]:
    """(term, meaning) of everything that an English sentence defines, chosen or not."""
    text = f"Some words stand before it in the same paragraph. {sentence}\n"
    reading = Reading(requests_for(read_source(text.encode(), "a.md")))
    reading.terms.language = "en"
    return [
        (found.term, found.meaning)
        for at, doc in zip(reading.sentences, reading.docs, strict=True)
        for found in defined(doc, at, reading.terms)
    ]


@pytest.mark.parametrize(
    ("sentence", "term", "meaning"),
    [
        (
            "A lease is a contract by which one party conveys property to another.",
            "lease",
            "a contract by which one party conveys property to another",
        ),
        (
            "Erosion refers to the removal of soil by wind and water.",
            "erosion",
            "the removal of soil by wind and water",
        ),
        (
            "Obliquity is defined as the angle between two planes of an orbit.",
            "obliquity",
            "the angle between two planes of an orbit",
        ),
        (
            "The term erosion refers to the removal of soil by wind and water.",
            "erosion",
            "the removal of soil by wind and water",
        ),
        (
            "The movement of water through a membrane is called osmosis.",
            "osmosis",
            "the movement of water through a membrane",
        ),
        (
            "Basalt, a dark rock that forms from cooled lava, covers the floor of the sea.",
            "Basalt",
            "a dark rock that forms from cooled lava",
        ),
        (
            "The doctor suspected anemia (a lack of red cells in the blood that causes weak, tired muscles) at once.",
            "anemia",
            "a lack of red cells in the blood that causes weak, tired muscles",
        ),
        (
            "Plants lose water through stomata, which are the pores of a leaf that open and close.",
            "stomata",
            "the pores of a leaf that open and close",
        ),
        (
            "Snowflakes have a property known as self-similarity.",
            "self-similarity",
            "a property",
        ),
    ],
)
def test_a_sentence_defines_its_term(sentence: str, term: str, meaning: str) -> None:
    assert (term, meaning) in definitions(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "It is a contract between two parties.",
        "This is the most important rule of all.",
        "The chord that is altered is a chord of the present key.",  # a relative clause narrows the subject
        "A lease may be a contract between two parties.",
        "A lease is not a sale of the property.",
        "The distance between the two notes is an interval.",
        "No lease is a sale of the property that binds both parties.",
        "A lease is rarely a sale of the property to another party.",
        "A contract is a binding promise only if both parties sign the paper.",
        "There is a lease on the table.",
        "These restricted kinds are called Merkle trees.",  # the meaning points elsewhere
    ],
)
def test_other_sentences_define_nothing(sentence: str) -> None:
    assert definitions(sentence) == []


def document_defines(text: str) -> list[tuple[str, str, str]]:
    """(pattern, term, meaning) of everything that an English document defines, chosen or not."""
    reading = Reading(requests_for(read_source(text.encode(), "a.md")))
    reading.terms.language = "en"
    return [
        (found.pattern, found.term, found.meaning)
        for at, doc in zip(reading.sentences, reading.docs, strict=True)
        for found in defined(doc, at, reading.terms)
    ]


def test_a_line_of_a_list_defines_the_term_before_its_colon() -> None:
    text = "# Ropes\n\n- Halyard: a rope that hoists a sail.\n- Care: the crew must dry every rope after use.\n"
    assert document_defines(text) == [("entry", "halyard", "a rope that hoists a sail")]


def test_a_phrase_under_a_heading_says_what_the_heading_is() -> None:
    text = (
        "# Ropes\n\n## Halyard\n\n- A rope that hoists a sail.\n- A line of steel on large ships.\n\n"
        "## Sheet\n\nThe crew holds it all day.\n"
    )
    assert document_defines(text) == [("heading", "Halyard", "A rope that hoists a sail")]


def test_a_term_is_asked_for_with_the_article_that_its_document_uses() -> None:
    text = "**Halyard**: a rope that hoists a sail.\n\nThe crew ties a halyard to the mast of the ship every day.\n"
    reading = Reading(requests_for(read_source(text.encode(), "a.md")))
    reading.terms.language = "en"
    (definition,) = defined(reading.docs[0], reading.sentences[0], reading.terms)
    assert next(q.question for q in from_definition(definition)) == "What is a halyard?"


def test_a_meaning_is_cut_to_what_was_asked() -> None:
    assert essence("just a rule (see below) that binds") == "a rule that binds"
    assert essence("the term for a rule that binds") == "a rule that binds"
    tail = "which two men proposed in Paris in the spring of 1961"
    long = f"a model of gene regulation that explains how cells switch genes on, {tail}"
    assert essence(long) == "a model of gene regulation that explains how cells switch genes on"


def test_german_and_chinese_sentences_define_by_their_own_words() -> None:
    found = list(german.definitions_in("Unter Erosion versteht man den Abtrag von Boden durch Wind und Wasser."))
    assert [(d.term, d.meaning) for d in found] == [("Erosion", "der Abtrag von Boden durch Wind und Wasser")]
    found = list(german.definitions_in("Dieser ist ein Vertrag zwischen zwei Parteien."))
    assert found == []
    found = list(chinese.definitions_in("虚拟内存是一种内存管理技术，它让程序使用更多内存。"))
    assert [d.term for d in found] == ["虚拟内存"]
    assert list(chinese.definitions_in("当用户登录时是一种特殊的情况，需要注意。")) == []


@pytest.mark.parametrize(
    ("text", "formulas", "said"),
    [
        (
            "The formula $!A. B?$ is a sentence. It holds.",
            ["$!A. B?$"],
            ["The formula $!A. B?$ is a sentence.", "It holds."],
        ),
        ("So $$a = b.$$ Then $3.5$ is.", ["$$a = b.$$", "$3.5$"], ["So $$a = b.$$", "Then $3.5$ is."]),
    ],
)
def test_a_sentence_does_not_end_inside_a_formula(text: str, formulas: list[str], said: list[str]) -> None:
    spans = tuple(Span(kind="math", start=text.index(f), end=text.index(f) + len(f)) for f in formulas)
    request = ExtractRequest(title="", language="en", headings=(), text=text, marks=spans)
    assert [s.text for s in sentences(request)] == said


def test_a_chinese_answer_ends_with_one_full_stop_and_is_no_question() -> None:
    found = Definition("虚拟内存", "一种内存管理技术。", "lead")
    assert [q.answer for q in chinese.from_definition(found)] == ["一种内存管理技术。", "虚拟内存。"]
    assert list(chinese.from_definition(Definition("排他性", "阻止别人享受，有多难？", "lead"))) == []


@pytest.mark.parametrize(
    ("paragraph", "found"),
    [
        (
            "*Sheave*: A sheave turns in a block and carries the rope.",
            [("Sheave", "A sheave turns in a block and carries the rope")],
        ),
        ("*Note*: All of this may change in the next edition of the book.", []),
    ],
)
def test_a_label_that_the_sentence_after_it_takes_up_is_a_term_that_it_explains(
    paragraph: str, found: list[tuple[str, str]]
) -> None:
    reading = Reading(requests_for(read_source(f"# Terms\n\n{paragraph}\n".encode(), "a.md")))
    (sentence,), (doc,) = reading.sentences, reading.docs
    assert [(d.term, d.meaning) for d in defined(doc, sentence, reading.terms)] == found


def test_a_clause_that_the_parser_took_apart_defines_nothing() -> None:
    whole = "Autolyse is a rest of an hour after flour and water are mixed and before salt is added."
    assert definitions(whole) == []
    assert definitions("Proofing is the final rise of shaped dough before it is baked.")
