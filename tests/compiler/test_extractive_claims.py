"""What the embedded engine takes from a segment: claims of the right kind, about the right thing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.engines.extractive import ExtractiveEngine
from compiler.model.requests import ExtractedClaim, ExtractReply, ExtractRequest, Span
from vault.model.claim import ClaimKind

ENGINE = ExtractiveEngine()


def read(
    text: str, *, language: str = "en", headings: tuple[str, ...] = (), marks: tuple[Span, ...] = ()
) -> ExtractReply:
    return ENGINE.extract(ExtractRequest(title="Notes", language=language, headings=headings, text=text, marks=marks))


def claim(text: str, language: str = "en") -> ExtractedClaim:
    claims = read(text, language=language).claims
    assert len(claims) == 1, claims
    return claims[0]


def mark(text: str, words: str, kind: str = "emphasis") -> Span:
    start = text.index(words)
    return Span(kind=kind, start=start, end=start + len(words))


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("For example, copper wires are used to carry current.", "Copper wires are used to carry current."),
        ("As shown above, the water cycle is driven by the sun.", "The water cycle is driven by the sun."),
        ("Recall that the water cycle is driven by heat.", "The water cycle is driven by heat."),
        ("But note that yeast makes bread rise in the oven.", "Yeast makes bread rise in the oven."),
    ],
)
def test_openers_that_lean_on_the_text_before_are_left_out_of_the_statement(sentence: str, said: str) -> None:
    found = claim(sentence)
    assert (found.quote, found.statement) == (sentence, said)


@pytest.mark.parametrize(
    ("sentence", "kind", "name"),
    [
        ("A glacier is a large mass of ice that flows slowly over land.", "definition", "glacier"),
        ("The water cycle is the movement of water between sea, air and land.", "definition", "water cycle"),
        ("Photosynthesis refers to the process by which plants turn light into sugar.", "definition", "Photosynthesis"),
        ("Free trade means buying and selling across borders without tariffs.", "definition", "Free trade"),
        ("The process of splitting text into words is called tokenization.", "definition", "tokenization"),
        ("Rocks that form from cooled magma are known as igneous rocks.", "definition", "igneous rocks"),
        ("We call a number that divides two others a common divisor.", "definition", "common divisor"),
        ("Erosion is the problem of losing soil to wind and water.", "definition", "Erosion"),
        ("A stack can be viewed as a list that grows at one end only.", "definition", "stack"),
        ("Yeast makes bread rise because it gives off carbon dioxide.", "mechanism", "Yeast"),
        ("Heat pumps warm houses by moving heat from the ground.", "mechanism", "Heat pumps"),
        ("Spaced study works better, since each review comes when the memory has faded.", "mechanism", "Spaced study"),
        ("Unlike annual plants, perennial plants live for many years.", "relation", "perennial plants"),
        ("Bronze differs from brass in that it contains tin instead of zinc.", "relation", "Bronze"),
        ("Copper wires are used to carry electric current in houses.", "application", "Copper wires"),
        ("Crop rotation is useful when the soil loses nitrogen every year.", "application", "Crop rotation"),
        ("A drawback of solar panels is that they give no power at night.", "limitation", "solar panels"),
        ("Binary search cannot find an item in a list that is not sorted.", "limitation", "Binary search"),
    ],
)
def test_a_sentence_becomes_a_claim_of_its_kind_about_its_subject(sentence: str, kind: str, name: str) -> None:
    found = claim(sentence)
    assert (found.kind.value, found.about[0].casefold()) == (kind, name.casefold())
    assert found.quote == sentence
    assert found.statement == ""


@pytest.mark.parametrize(
    "sentence",
    [
        "It is a large mass of ice that flows slowly over land.",
        "This method is used to carry electric current in houses.",
        "These rocks form because magma cools slowly under the ground.",
        "In this section the water cycle is explained in some detail.",
        "Figure 3 shows the water cycle between sea, air and land.",
        "The water cycle is described in chapter 4 of the book.",
        "The former is used to carry electric current in houses.",
        "Let's look at how the water cycle moves water around.",
        "What is the water cycle and how does it move water around?",
        "We will discuss the water cycle in the rest of this book.",
        "The water cycle is defined as w = s + a + l for all basins.",
        "Call `cycle.run()` because the water cycle needs to be started.",
        "Smith, J. and Brown, A. Water cycles of the north, 2001.",
        "The water cycle, because",
        "My favourite cycle is the water cycle because I like rain.",
        "Glaciers move.",
        "The growth is larger because the sun shines for longer.",
    ],
)
def test_what_leans_on_other_words_orders_or_asks_gives_no_claim(sentence: str) -> None:
    assert read(sentence).claims == ()


def test_a_too_long_sentence_is_left_out() -> None:
    assert read("A glacier is a mass of ice that " + "slowly " * 60 + "flows.").claims == ()


@pytest.mark.parametrize("kind", ["heading", "code", "table", "caption", "math", "title"])
def test_only_prose_is_read(kind: str) -> None:
    text = "A glacier is a large mass of ice that flows slowly over land."
    assert read(text, marks=(Span(kind=kind, start=0, end=len(text)),)).claims == ()


@pytest.mark.parametrize(
    "heading", ["References", "Exercises", "Acknowledgements", "7 Bibliography", "Further reading"]
)
def test_reference_lists_exercises_and_thanks_are_passed_over(heading: str) -> None:
    assert read("A glacier is a large mass of ice that flows slowly.", headings=(heading,)) == ExtractReply()


def test_a_pronoun_is_named_where_the_sentence_before_leaves_no_doubt() -> None:
    text = "A glacier is a large mass of ice that flows slowly. It carries rocks, because ice freezes onto the ground."
    first, second = read(text).claims
    assert first.statement == ""
    assert second.statement == "A glacier carries rocks, because ice freezes onto the ground."
    assert second.quote == text
    assert second.about[0] == "glacier"


@pytest.mark.parametrize(
    "follow",
    [
        "It is possible to walk on one because the ice is thick.",  # stands for what comes after
        "They carry rocks, because ice freezes onto the ground.",  # does not agree
        "This theory explains valleys because ice freezes onto the ground.",  # names something else
    ],
)
def test_a_doubtful_pronoun_gives_no_claim(follow: str) -> None:
    assert len(read(f"A glacier is a large mass of ice that flows slowly. {follow}").claims) == 1


def test_a_pronoun_is_not_carried_into_the_next_paragraph() -> None:
    text = "A glacier is a large mass of ice that flows slowly.\n\nIt carries rocks, because ice freezes onto them."
    assert len(read(text).claims) == 1


def test_a_name_given_by_the_next_sentence_is_a_definition_over_both() -> None:
    text = "Warm air rises and pulls in cooler air from its sides. This is known as convection."
    found = [c for c in read(text).claims if c.kind is ClaimKind.DEFINITION]
    assert [(c.about, c.quote) for c in found] == [(("convection",), text)]


def test_a_reason_in_the_next_sentence_joins_its_claim() -> None:
    text = "Glaciers move slowly over the land. This is because ice deforms under its own weight."
    last = read(text).claims[-1]
    assert last.kind is ClaimKind.MECHANISM
    assert last.statement == "Glaciers move slowly over the land, because ice deforms under its own weight."
    assert last.quote == text


def test_a_downside_belongs_to_the_subject_before() -> None:
    text = "A windmill turns wind into power by spinning its sails. The downside is that it stands still on calm days."
    last = read(text).claims[-1]
    assert last.statement.startswith("The downside of a windmill is that")
    assert last.kind in (ClaimKind.LIMITATION, ClaimKind.APPLICATION)


def test_a_glossary_item_defines_its_term() -> None:
    text = "Estuary – the wide mouth of a river where it meets the sea."
    reply = read(text, marks=(Span(kind="item", start=0, end=len(text)), mark(text, "Estuary")))
    assert [(c.kind.value, c.about) for c in reply.claims] == [("definition", ("Estuary",))]
    assert {t.signal for t in reply.terms} >= {"glossary", "item"}


@pytest.mark.parametrize(
    "item",
    [
        "Note: this is the wide mouth of a river.",
        "Step 1: open the gate to the river.",
        "Estuary: see the chapter on rivers.",
    ],
)
def test_a_label_before_a_colon_is_no_glossary_entry(item: str) -> None:
    assert read(item, marks=(Span(kind="item", start=0, end=len(item)),)).claims == ()


def test_a_definition_list_is_read_with_its_term() -> None:
    text = "Estuary\n\nthe wide mouth of a river where it meets the sea."
    (found,) = read(text, marks=(mark(text, "Estuary", "term"),)).claims
    assert found.statement == "Estuary: the wide mouth of a river where it meets the sea."
    assert found.quote == text


def test_an_aside_defines_what_stands_before_it() -> None:
    found = claim("The plain was shaped by a moraine, which is a ridge of rocks left by moving ice.")
    assert (found.kind, found.about[0]) == (ClaimKind.DEFINITION, "moraine")


def test_structure_and_acronyms_offer_terms_with_their_signal() -> None:
    text = "The **net primary production** (NPP) grows with rain. See the carbon budget.".replace("**", "")
    marks = (mark(text, "net primary production"), mark(text, "carbon budget", "link"))
    terms = read(text, headings=("Ecology", "2. Food webs and energy flow"), marks=marks).terms
    offered = {(t.name, t.signal) for t in terms}
    assert {
        ("Food webs", "heading"), ("energy flow", "heading"), ("net primary production", "emphasis"),
        ("carbon budget", "link"), ("net primary production", "acronym"),
    } <= offered  # fmt: skip
    assert ("NPP",) in {t.aliases for t in terms if t.signal == "acronym"}


@pytest.mark.parametrize("stressed", ["only", "very", "Note:", "must", "requires", "PROVIDE"])
def test_stressed_words_offer_no_term(stressed: str) -> None:
    text = f"The river is {stressed} deep in spring because the snow melts."
    assert stressed.rstrip(":") not in {t.name for t in read(text, marks=(mark(text, stressed),)).terms}


def test_another_name_makes_an_alias() -> None:
    terms = read("The aurora borealis is also called the northern lights.").terms
    assert [(t.name, t.aliases) for t in terms if t.signal == "definition"] == [
        ("aurora borealis", ("northern lights",))
    ]


def test_a_heading_that_runs_into_its_sentence_is_left_out_of_the_quote() -> None:
    text = "Soil erosion Soil erosion is the loss of fertile ground to wind and water."
    assert claim(text).quote == "Soil erosion is the loss of fertile ground to wind and water."


PARTS = [
    "A glacier is a large mass of ice that flows slowly over land.", "It moves because gravity pulls it down.",
    "Unlike rivers, glaciers flow slowly.", "See Figure 2.", "Glaciers – ice that flows.", "z. B. Eis", "(a) x = y",
    "\n\n", "This is called calving.", "e.g. ice", "Why?", "冰川是一种流动的冰。", "…",
    'The term "firn" refers to old snow that is dense.',
]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=12), st.sampled_from(["en", "de", "zh", "", "fr"]))
def test_every_quote_stands_in_the_text_and_the_same_request_has_the_same_reply(
    parts: list[str], language: str
) -> None:
    text = " ".join(parts)
    reply = read(text, language=language)
    assert reply == read(text, language=language)
    for found in reply.claims:
        assert text[found.start :].startswith(found.quote)
        assert found.about


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    for language in ("en", "de", "zh"):
        for found in read(text, language=language).claims:
            assert found.quote in text


def test_german_definitions_reasons_and_uses_are_claims() -> None:
    kinds = {
        "Ein Gletscher ist eine große Masse aus Eis, die langsam talwärts fließt.": ("definition", "Gletscher"),
        "Unter Erosion versteht man die Abtragung von Boden durch Wind und Wasser.": ("definition", "Erosion"),
        "Gletscher können Felsen bewegen, weil das Eis am Boden festfriert.": ("mechanism", "Gletscher"),
        "Kupfer wird für elektrische Leitungen verwendet.": ("application", "Kupfer"),
    }
    for sentence, (kind, name) in kinds.items():
        found = claim(sentence, "de")
        assert (found.kind.value, found.about[0]) == (kind, name)
    for leaning in (
        "Er ist eine große Masse aus Eis, die langsam fließt.",
        "Wir nennen das eine Masse aus Eis, siehe oben.",
    ):
        assert read(leaning, language="de").claims == ()


def test_chinese_definitions_are_claims() -> None:
    found = claim("冰川是一种在陆地上缓慢流动的巨大冰体。", "zh")
    assert (found.kind, found.about) == (ClaimKind.DEFINITION, ("冰川",))
    assert claim("侵蚀（erosion）是指风和水带走土壤的过程。", "zh").about == ("侵蚀",)
    for leaning in (
        "它是一种在陆地上缓慢流动的巨大冰体。",
        "如图所示，冰川是一种缓慢流动的冰体。",
        "冰川是寒冷的，也很漂亮。",
    ):
        assert read(leaning, language="zh").claims == ()


def test_a_language_without_rules_gives_nothing() -> None:
    assert read("Un glacier est une grande masse de glace qui coule lentement.", language="fr") == ExtractReply()
