"""What the embedded engine asks: a grammatical question of the kind that the sentence shows."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.engines.extractive import ExtractiveEngine
from compiler.model.requests import CardsReply, CardsRequest, ClaimView, ExtractRequest, ProposedCard
from vault.model.claim import ClaimKind

ENGINE = ExtractiveEngine()
KIND = {
    "definitional": ClaimKind.DEFINITION,
    "mechanistic": ClaimKind.MECHANISM,
    "relational": ClaimKind.RELATION,
    "applied": ClaimKind.APPLICATION,
}


def view(words: str, title: str, kind: ClaimKind, number: int = 0) -> ClaimView:
    return ClaimView(id=f"{number:010d}", kind=kind, words=words, quote=words, source="Notes", about=(title,))


def cards_for(
    title: str, *claims: ClaimView, aliases: tuple[str, ...] = (), language: str = "en"
) -> tuple[ProposedCard, ...]:
    return ENGINE.cards(CardsRequest(title=title, aliases=aliases, language=language, claims=claims)).cards


def asked(
    words: str, title: str, kind: str, language: str = "en", aliases: tuple[str, ...] = ()
) -> list[tuple[str, str]]:
    found = cards_for(title, view(words, title, KIND[kind]), language=language, aliases=aliases)
    assert all(c.kind == kind and c.cites == ("0000000000",) for c in found)
    return [(c.question, c.answer) for c in found]


@pytest.mark.parametrize(
    ("kind", "title", "sentence", "question", "answer"),
    [
        ("definitional", "Glacier", "A glacier is a mass of ice that flows slowly over land.",
         "What is a glacier?", "A mass of ice that flows slowly over land."),
        ("definitional", "Water cycle", "The water cycle is the movement of water between sea, air and land.",
         "What is the water cycle?", "The movement of water between sea, air and land."),
        ("definitional", "Igneous rocks", "Igneous rocks are rocks that form when magma cools.",
         "What are igneous rocks?", "Rocks that form when magma cools."),
        ("definitional", "Photosynthesis", "Photosynthesis refers to the process by which plants make sugar.",
         "What is photosynthesis?", "The process by which plants make sugar."),
        ("definitional", "Tokenization", "The process of splitting text into words is called tokenization.",
         "What is tokenization?", "The process of splitting text into words."),
        ("definitional", "Cue", "Cue – anything that brings a memory back to mind, such as a smell.",
         "What is a cue?", "Anything that brings a memory back to mind, such as a smell."),
        ("definitional", "Moraine", "The plain was shaped by a moraine, which is a ridge of rocks left by moving ice.",
         "What is a moraine?", "A ridge of rocks left by moving ice."),
        ("definitional", "Convection", "Warm air rises and pulls in cooler air. This is known as convection.",
         "Warm air rises and pulls in cooler air. What is this called?", "Convection."),
        ("definitional", "Cloud type", "There are three main types of cloud: cumulus, stratus and cirrus.",
         None, None),
        ("definitional", "Stack", "A stack can be viewed as a list that grows at one end only.",
         "What can a stack be viewed as?", "A list that grows at one end only."),
        ("mechanistic", "Yeast", "Yeast makes bread rise because it gives off carbon dioxide.",
         "Why does yeast make bread rise?", "Because yeast gives off carbon dioxide."),
        ("mechanistic", "Glacier", "Glaciers carve deep valleys, since they drag rocks along their beds.",
         "Why do glaciers carve deep valleys?", "Because glaciers drag rocks along their beds."),
        ("mechanistic", "Ice", "Because ice is lighter than water, ice floats on lakes in winter.",
         "Why does ice float on lakes in winter?", "Because ice is lighter than water."),
        ("mechanistic", "Heat pump", "A heat pump warms a house by moving heat from the ground.",
         "How does a heat pump warm a house?", "By moving heat from the ground."),
        ("mechanistic", "Steel", "Steel is galvanized in order to keep water away from the iron.",
         "Why is steel galvanized?", "To keep water away from the iron."),
        ("mechanistic", "Sluice", "A sluice allows farmers to lead water onto their fields.",
         "What does a sluice allow farmers to do?", "Lead water onto their fields."),
        ("mechanistic", "Erosion", "Erosion depends on the slope of the ground and the strength of the rain.",
         "What does erosion depend on?", "The slope of the ground and the strength of the rain."),
        ("mechanistic", "Tide", "Tides have not been stopped by any wall because the sea always finds a way.",
         "Why have tides not been stopped by any wall?", "Because the sea always finds a way."),
        ("mechanistic", "Fever", "Fever can help the body because many germs die at higher temperatures.",
         "Why can fever help the body?", "Because many germs die at higher temperatures."),
        ("relational", "Bronze", "Bronze differs from brass in that it contains tin instead of zinc.",
         "How does bronze differ from brass?", "In that bronze contains tin instead of zinc."),
        ("relational", "Perennial plant", "Unlike annual plants, perennial plants live for many years.",
         "How do perennial plants differ from annual plants?", "Perennial plants live for many years."),
        ("relational", "Weathering", "Weathering breaks rock where it lies, whereas erosion carries it away.",
         "How does weathering differ from erosion?",
         "Weathering breaks rock where it lies, whereas erosion carries it away."),
        ("relational", "Violin", "A violin is smaller than a cello and sounds higher.",
         "How does a violin compare with a cello?", "A violin is smaller than a cello and sounds higher."),
        ("relational", "Chess", "Chess is based on an old Indian game of four armies.",
         "What is chess based on?", "An old Indian game of four armies."),
        ("relational", "Owl", "Both owls and bats hunt small animals at night.",
         "What do owls and bats have in common?", "Both hunt small animals at night."),
        ("applied", "Copper wire", "Copper wires are used to carry electric current in houses.",
         "What are copper wires used for?", "To carry electric current in houses."),
        ("applied", "Crop rotation", "Crop rotation is useful when the soil loses nitrogen every year.",
         "When is crop rotation useful?", "When the soil loses nitrogen every year."),
        ("applied", "Bellows", "Bellows work best if they are filled slowly and pressed fast.",
         "When do bellows work best?", "If bellows are filled slowly and pressed fast."),
        ("applied", "Solar panel", "A drawback of solar panels is that they give no power at night.",
         "What is a drawback of solar panels?", "Solar panels give no power at night."),
        ("applied", "Binary search", "Binary search cannot find an item in a list that is not sorted.",
         "What is a limitation of binary search?", "Binary search cannot find an item in a list that is not sorted."),
        ("applied", "Logistic regression", "The goal of logistic regression is to predict which of two classes fits.",
         "What is the goal of logistic regression?", "To predict which of two classes fits."),
    ],
)  # fmt: skip
def test_a_sentence_gives_its_question_and_answer(
    kind: str, title: str, sentence: str, question: str | None, answer: str | None
) -> None:
    expected = [] if question is None else [(question, answer)]
    assert asked(sentence, title, kind) == expected


@pytest.mark.parametrize(
    ("kind", "title", "sentence"),
    [
        ("definitional", "Glacier", "A glacier is a good example of slow movement."),
        ("definitional", "Glacier", "A glacier is impressive to see in the morning light."),
        ("definitional", "Glacier", "A glacier is not a mass of snow that lies still."),
        ("definitional", "Glacier", "A mass of ice is the reason for the valley, which a glacier has left."),
        ("mechanistic", "Glacier", "Glaciers are old and people admire them."),
        ("mechanistic", "Yeast", "Bread rises because it gives off carbon dioxide."),  # does not name the concept
        ("mechanistic", "Yeast", "The report explains why yeast is used because many readers asked."),
        ("mechanistic", "Glacier", "It is not because of rain that glaciers grow in cold years."),
        ("relational", "Bronze", "Bronze differs from brass in a simple way."),
        ("relational", "Bronze", "Bronze has been found in more than sixty graves."),
        ("relational", "Bronze", "Unlike this, bronze contains tin."),
        ("applied", "Copper wire", "Copper wires are used."),
        ("applied", "Copper wire", "Copper wires are used in several ways."),
        ("applied", "Solar panel", "A drawback is that they give no power at night."),
    ],
)
def test_without_confidence_there_is_no_card(kind: str, title: str, sentence: str) -> None:
    assert asked(sentence, title, kind) == []


def test_a_card_needs_a_claim_of_its_kind() -> None:
    words = "Yeast makes bread rise because it gives off carbon dioxide."
    assert cards_for("Yeast", view(words, "Yeast", ClaimKind.FACT)) == ()
    assert cards_for("Yeast", view(words, "Yeast", ClaimKind.DEFINITION)) == ()


def test_a_claim_about_another_concept_is_asked_there() -> None:
    words = "Unlike annual plants, perennial plants live for many years."
    other = ClaimView(
        id="0000000000",
        kind=ClaimKind.RELATION,
        words=words,
        quote=words,
        source="n",
        about=("Perennial plant", "Annual plant"),
    )
    assert cards_for("Annual plant", other) == ()
    assert len(cards_for("Perennial plant", other)) == 1


def test_an_acronym_is_asked_for_its_words() -> None:
    words = "Net primary production (NPP) is the carbon that plants keep after they have used what they need."
    found = cards_for(
        "Net primary production", view(words, "Net primary production", ClaimKind.DEFINITION), aliases=("NPP",)
    )
    assert found[0].question == "What is net primary production?"


def test_an_alias_in_the_question_names_the_concept() -> None:
    found = asked(
        "FSRS computes the next interval by solving a curve.", "Free scheduler", "mechanistic", aliases=("FSRS",)
    )
    assert found == [("How does FSRS compute the next interval?", "By solving a curve.")]


def test_names_keep_their_capitals_inside_a_question() -> None:
    proper = "Markov chains are sequences of states in which each state depends on the one before."
    assert asked(proper, "Markov chain", "definitional")[0][0] == "What are Markov chains?"
    common = "Sequences of states are lists in which each state depends on the one before."
    assert asked(common, "Sequences of states", "definitional") == []
    acronym = "DNA is a molecule that carries the plan of a living thing."
    assert asked(acronym, "DNA", "definitional")[0][0] == "What is DNA?"


def test_citations_and_pointers_in_brackets_stay_out_of_a_card() -> None:
    words = "A glacier is a mass of ice (see chapter 5) that flows slowly over land (Smith, 1999)."
    assert asked(words, "Glacier", "definitional") == [
        ("What is a glacier?", "A mass of ice that flows slowly over land.")
    ]


def test_the_best_of_many_claims_are_kept_two_a_kind_and_none_twice() -> None:
    reasons = ["the ice is heavy", "the ground is steep", "meltwater oils the bed", "snow keeps falling"]
    claims = [
        view(f"Glaciers {verb} because {why}.", "Glacier", ClaimKind.MECHANISM, i)
        for i, (verb, why) in enumerate(
            zip(["move downhill", "move fast", "slide along", "grow in winter"], reasons, strict=True)
        )
    ]
    same = view("A glacier is a mass of ice that flows slowly over land.", "Glacier", ClaimKind.DEFINITION, 7)
    again = view("Glaciers are masses of ice that flow slowly over the land.", "Glacier", ClaimKind.DEFINITION, 8)
    found = cards_for("Glacier", *claims, same, again)
    assert [c.kind for c in found].count("mechanistic") == 2
    assert [c.kind for c in found].count("definitional") == 1
    assert found == cards_for("Glacier", *claims, same, again)
    assert len({(c.kind, c.cites) for c in found}) == len(found)


def test_german_and_chinese_questions_are_in_the_language_of_the_source() -> None:
    assert asked(
        "Ein Gletscher ist eine große Masse aus Eis, die langsam talwärts fließt.", "Gletscher", "definitional", "de"
    ) == [("Was ist ein Gletscher?", "Eine große Masse aus Eis, die langsam talwärts fließt.")]
    assert asked(
        "Gletscher können Felsen bewegen, weil das Eis am Boden festfriert.", "Gletscher", "mechanistic", "de"
    ) == [("Warum können Gletscher Felsen bewegen?", "Weil das Eis am Boden festfriert.")]
    assert asked("Kupfer wird für elektrische Leitungen verwendet.", "Kupfer", "applied", "de") == [
        ("Wofür wird Kupfer verwendet?", "Für elektrische Leitungen.")
    ]
    assert asked("冰川是一种在陆地上缓慢流动的巨大冰体。", "冰川", "definitional", "zh") == [
        ("什么是冰川？", "一种在陆地上缓慢流动的巨大冰体。")
    ]
    assert asked("由于重力的作用，冰川会向下缓慢流动。", "冰川", "mechanistic", "zh") == [
        ("为什么冰川会向下缓慢流动？", "因为重力的作用。")
    ]


SUBJECTS = "A glacier|The water cycle|Solar panels|Yeast|Binary search trees|Dr. Smith|It|The method".split("|")
VERBS = "is|are|can be|makes|move|was used|has|reduces|depends on|differs from|does not|cannot".split("|")
OBJECTS = (
    "a mass of ice|the same|this method|keys that unlock doors|by moving heat|used to carry current|faster than brass"
).split("|")
TAILS = (
    "| because it melts|, since they are old| when the ice is thick|, which is a ridge of rock| in order to grow"
    "| (see Figure 2)|, whereas erosion is fast|; this is known as calving| than a river| and the rest is lost"
).split("|")
DANGLING = re.compile(
    r"^(?:it|they|this|these|those|he|she)\b|\b(?:this method|see figure|above|below)\b", re.IGNORECASE
)


@settings(max_examples=250, deadline=None)
@given(st.sampled_from(SUBJECTS), st.sampled_from(VERBS), st.sampled_from(OBJECTS), st.sampled_from(TAILS))
def test_whatever_a_sentence_says_its_cards_keep_the_rules(subject: str, verb: str, rest: str, tail: str) -> None:
    sentence = f"{subject} {verb} {rest}{tail}."
    reply = ENGINE.extract(ExtractRequest(title="Notes", language="en", headings=(), text=sentence))
    for claim in reply.claims:
        title = claim.about[0]
        for card in cards_for(title, view(claim.statement or claim.quote, title, claim.kind)):
            question, answer = card.question, card.answer
            assert question.endswith("?") and question[0].isupper() and "  " not in question
            assert answer.endswith((".", "!")) and (answer[0].isupper() or answer[0].isdigit())
            assert answer.rstrip(".").casefold() not in question.casefold()
            assert not DANGLING.search(answer) and not DANGLING.search(question)
            assert len(question) <= 190 and len(answer) <= 300


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200), st.text(min_size=1, max_size=40), st.sampled_from(["en", "de", "zh", "", "fr"]))
def test_any_words_can_be_asked_about(words: str, title: str, language: str) -> None:
    claims = tuple(view(words, title, kind, i) for i, kind in enumerate(KIND.values()))
    reply = ENGINE.cards(CardsRequest(title=title, aliases=(), language=language, claims=claims))
    assert isinstance(reply, CardsReply)
