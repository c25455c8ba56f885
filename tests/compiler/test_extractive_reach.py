"""What the embedded engine reaches beyond plain sentences: names set off, openers, asides, formulas, labels."""

from __future__ import annotations

import pytest

from compiler.engines.extractive import SIGNALS, ExtractiveEngine
from compiler.engines.extractive.grammar.leads import with_end, without_lead
from compiler.model.requests import ExtractReply, ExtractRequest, Span


def read(
    text: str,
    *,
    headings: tuple[str, ...] = (),
    marks: tuple[Span, ...] = (),
    language: str = "en",
    without: frozenset[str] = frozenset(),
) -> ExtractReply:
    request = ExtractRequest(title="Notes", language=language, headings=headings, text=text, marks=marks)
    return ExtractiveEngine(without).extract(request)


def mark(text: str, words: str, level: int = 0, kind: str = "emphasis") -> Span:
    start = text.index(words)
    return Span(kind=kind, start=start, end=start + len(words), level=level)


def about(reply: ExtractReply) -> set[str]:
    return {name.casefold() for claim in reply.claims for name in claim.about}


def terms(reply: ExtractReply, signal: str) -> set[str]:
    return {t.name for t in reply.terms if t.signal == signal}


@pytest.mark.parametrize(
    ("sentence", "rest"),
    [
        ("Specifically, the keel keeps the boat upright.", "The keel keeps the boat upright."),
        ("But note that kites need wind.", "Kites need wind."),
        ("It is worth noting that kites need wind.", "Kites need wind."),
        ("According to […], kites need wind.", "Kites need wind."),
        ("Kites need wind.", "Kites need wind."),
        ("Firstly the keel was laid.", "Firstly the keel was laid."),
    ],
)
def test_openers_are_told_from_what_is_said(sentence: str, rest: str) -> None:
    assert without_lead(sentence) == rest


@pytest.mark.parametrize(
    ("sentence", "whole"),
    [
        ("The mean unit adds up its weighted inputs,", "The mean unit adds up its weighted inputs."),
        ("The loss is computed as follows:", "The loss is computed as follows:"),
        ("There are three kinds:", "There are three kinds:"),
        ("Kites fly.", "Kites fly."),
    ],
)
def test_a_sentence_before_a_formula_gets_its_end_unless_the_formula_is_needed(sentence: str, whole: str) -> None:
    assert with_end(sentence) == whole


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "In our last talk we met the kedge -- a light anchor that is used to move a ship.",
            "The kedge is a light anchor that is used to move a ship.",
        ),
        (
            "He then drops a kedge (a light anchor that is used to move a ship) and waits for us.",
            "Kedge is a light anchor that is used to move a ship.",
        ),
    ],
)
def test_what_a_sentence_explains_in_passing_is_a_claim_that_quotes_only_that(text: str, said: str) -> None:
    (found,) = [c for c in read(text).claims if c.statement]
    assert (found.statement, found.kind.value) == (said, "definition")
    assert found.quote in text
    assert len(found.quote) < len(text)


@pytest.mark.parametrize(
    "text",
    [
        "We saw Ada Stone — a leading researcher who works on boats — at the quay.",
        "Her friend uses single rope, a thing for ships.",
        "You saw contradictions (the truth of one implies that the other is false) here.",
    ],
)
def test_persons_and_scraps_are_not_explained_in_passing(text: str) -> None:
    assert not [c for c in read(text).claims if c.statement]


def test_a_sentence_that_leans_on_the_one_before_is_kept_with_it_where_it_introduces_a_name() -> None:
    text = "Sailors turn the bow through the wind. This is known as tacking in most ports of the world."
    reply = read(text, marks=(mark(text, "tacking"),))
    assert [c.quote for c in reply.claims if "tacking" in c.about] == [text]


def test_a_name_in_bold_type_is_what_its_sentence_tells_of() -> None:
    text = "Most boats under sail balance their course with a small fin, the skeg."
    assert "skeg" not in about(read(text))
    assert "skeg" in about(read(text, marks=(mark(text, "skeg", 2),)))


def test_italics_beside_bold_type_set_off_a_name_only_where_words_call_it_one() -> None:
    text = "The word whale turns up in logbooks. A turn through the wind is called tacking."
    slanted = read(text, marks=(mark(text, "whale", 1), mark(text, "tacking", 1)))
    assert terms(slanted, "emphasis") == {"tacking"}


def test_a_section_tells_of_what_its_heading_names() -> None:
    text = "Tacking\n\nEvery crew that goes to windward learns tacking early, and practises it often."
    heading = mark(text, "Tacking", 1, "heading")
    assert "tacking" in about(read(text, headings=("Tacking",), marks=(heading,)))
    bare = read(text, headings=("Tacking",), marks=(heading,), without=frozenset({"section"}))
    assert "tacking" not in about(bare)


def test_a_bold_heading_that_runs_into_its_paragraph_names_what_the_paragraph_tells_of() -> None:
    text = "Storm anchoring. The crew backs the jib and lashes the helm, so that the boat lies still."
    assert "storm anchoring" in about(read(text, marks=(mark(text, "Storm anchoring.", 2),)))


def test_an_item_tells_of_its_label() -> None:
    text = "SailKit: Provides a format that stores the shapes of sails."
    reply = read(text, marks=(mark(text, text, 1, "item"),))
    assert about(reply) == {"sailkit"}


def test_an_index_gives_names_and_no_claims() -> None:
    text = "anchor, 3\nballast, 12, 14\n\nfixed, 15\n\nbeam reach, 20\nkeel, 7–9\nship (SHP), 4\nstern\nwharf, see quay"
    reply = read(text, headings=("Index",))
    assert reply.claims == ()
    assert terms(reply, "index") == {"anchor", "ballast", "beam reach", "keel", "ship"}  # "fixed" stands under ballast
    assert [t.aliases for t in reply.terms if t.name == "ship"] == [("SHP",)]


def test_short_formulas_may_stand_in_a_claim() -> None:
    text = r"Righting levers grow with the heel angle $\theta$, because the hull $H$ shifts its buoyancy outwards."
    assert [c.quote for c in read(text).claims] == [text]
    assert read(text, without=frozenset({"formula"})).claims == ()


def test_names_given_in_two_languages_are_offered_as_one() -> None:
    german = "Die Wende (engl. tack) dreht den Bug durch den Wind."
    assert ("Wende", ("tack",)) in {(t.name, t.aliases) for t in read(german, language="de").terms}
    chinese = "船员通过换舷（tacking）让船头转过风向。"
    assert ("换舷", ("tacking",)) in {(t.name, t.aliases) for t in read(chinese, language="zh").terms}


def test_german_sentences_tell_of_their_subject() -> None:
    reply = read("Der Kiel verhindert die Abdrift, damit das Boot seinen Kurs hält.", language="de")
    assert about(reply) == {"kiel"}
    passing = read("Im Heck liegt die Pinne, eine lange Stange, die das Ruder dreht.", language="de")
    assert [c.statement for c in passing.claims if c.statement] == [
        "Die Pinne ist eine lange Stange, die das Ruder dreht."
    ]


def test_chinese_sentences_tell_of_the_name_they_begin_with() -> None:
    reply = read("龙骨通过自身的重量使船保持平衡，从而防止船翻倒。", language="zh")
    assert about(reply) == {"龙骨"}


@pytest.mark.parametrize("signal", SIGNALS)
def test_every_signal_can_be_left_out(signal: str) -> None:
    engine = ExtractiveEngine(frozenset({signal}))
    assert signal in engine.name
    assert engine.name != ExtractiveEngine().name


def test_what_is_no_signal_cannot_be_left_out() -> None:
    with pytest.raises(ValueError, match="no signal of the engine: luck"):
        ExtractiveEngine(frozenset({"luck"}))
