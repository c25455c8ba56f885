"""What a blind reader misses on a card: the thing "the" points to, the end of a list, the word that limits."""

from __future__ import annotations

import pytest

from compiler.engines.extractive import ExtractiveEngine
from compiler.engines.extractive.questions.worth import Evidence, worth_asking
from compiler.language.names import is_name
from compiler.model.requests import CardsRequest, ClaimView, ComposeRequest, ExtractRequest
from vault.model.claim import ClaimKind

KIND = {
    "definitional": ClaimKind.DEFINITION,
    "mechanistic": ClaimKind.MECHANISM,
    "relational": ClaimKind.RELATION,
    "applied": ClaimKind.APPLICATION,
}


def asked(kind: str, title: str, words: str) -> list[tuple[str, str]]:
    claim = ClaimView(id="0" * 10, kind=KIND[kind], words=words, quote=words, source="Notes", about=(title,))
    request = CardsRequest(title=title, aliases=(), language="en", claims=(claim,))
    return [(c.question, c.answer) for c in ExtractiveEngine().cards(request).cards]


@pytest.mark.parametrize(
    ("kind", "title", "words"),
    [
        ("mechanistic", "Route planning", "Route planning is done by optimizing the solution."),
        ("mechanistic", "Tide table", "A tide table is computed by summing each harmonic constant k over the year."),
        ("mechanistic", "Dead reckoning", "Dead reckoning works because we add the run of each hour."),
        ("applied", "Docking", "Docking is complete when all lines are fast and the engine is stopped."),
        ("applied", "Steering", "The goal of steering is to keep the wake straight."),
        ("mechanistic", "Hull speed", "Hull speed can be estimated by multiplying a constant by the root of length:"),
    ],
)
def test_no_card_leans_on_what_only_its_page_tells(kind: str, title: str, words: str) -> None:
    assert asked(kind, title, words) == []


@pytest.mark.parametrize(
    ("kind", "title", "words"),
    [
        ("definitional", "Sextant", "A sextant is an instrument that measures the angle between two visible objects."),
        ("mechanistic", "Ballast keel", "A ballast keel keeps a boat upright because it lowers the centre of gravity."),
        (
            "mechanistic",
            "Anchor chain",
            "An anchor chain holds better than a rope, because it is much heavier than the rope of a kedge.",
        ),
        ("applied", "Storm jib", "A storm jib is useful when the wind is too strong for any other sail."),
        ("definitional", "Type B lantern", "A type B lantern is a lamp that burns oil under a glass chimney."),
    ],
)
def test_a_card_that_holds_all_it_speaks_of_is_kept(kind: str, title: str, words: str) -> None:
    assert len(asked(kind, title, words)) == 1


@pytest.mark.parametrize(
    ("kind", "question", "answer", "words", "title"),
    [
        (
            "mechanistic",
            "What can barges carry?",
            "Coal, haul grain across lakes.",
            "Barges can carry coal, haul grain across lakes, and serve as floating shops.",
            "Barge",
        ),
        (
            "applied",
            "When are gulls more likely to dive?",
            "When gulls are near a trawler than in harbour.",
            "Gulls are more likely to dive when they are near a trawler than in harbour.",
            "Gull",
        ),
        (
            "definitional",
            "What is a sea chest?",
            "A box that holds a knife.",
            "A sea chest is a box that holds a knife, a spare shirt, and a bible.",
            "Sea chest",
        ),
        (
            "definitional",
            "What is a neap?",
            "A low in the height of high water.",
            "The tide may be at its neap, which is a low in the height of high water, and a high in that of low water.",
            "Neap",
        ),
        (
            "definitional",
            "What is a flag hoist?",
            "A message in which red means stop, blue means wait.",
            "A flag hoist is a message in which red means stop, blue means wait, and +white means sail on.",
            "Flag hoist",
        ),
        (
            "definitional",
            "What is a dory?",
            "A working boat, since fishers row it.",
            "A dory is a working boat, since fishers row it.",
            "Dory",
        ),
        (
            "relational",
            "How do ketches compare with cutters?",
            "Ketches are easier to manage than cutters.",
            "Ketches are easier to manage than cutters.",
            "Ketch",
        ),
        (
            "applied",
            "What is tar used for?",
            "To proof rope.",
            "Tar is mainly used to proof rope.",
            "Tar",
        ),
        (
            "definitional",
            "What is a schooner?",
            "A subclass of a sailing ship.",
            "A schooner is a subclass of a sailing ship.",
            "Schooner",
        ),
        (
            "definitional",
            "What is cordage?",
            "A special set of ropes.",
            "A special set of ropes, known as cordage, can bear heavy loads.",
            "Cordage",
        ),
        (
            "applied",
            "What has oakum been applied to?",
            "Sealing of decks.",
            "Oakum has been applied to sealing of decks.",
            "Oakum",
        ),
        (
            "applied",
            "When can a sea anchor be used?",
            "If the weather has certain characteristics.",
            "If the weather has certain characteristics, a sea anchor can be used.",
            "Sea anchor",
        ),
        (
            "mechanistic",
            "Why is ship-toshore radio slow?",
            "Because its band is narrow.",
            "Ship-toshore radio is slow because its band is narrow.",
            "Ship-to-shore radio",
        ),
        (
            "mechanistic",
            "In the days before engines and before weather charts came to them by radio, why did ships wait?",
            "Because the wind was foul.",
            "Ships waited because the wind was foul.",
            "Ship",
        ),
    ],
)
def test_a_card_that_says_less_than_its_quote_is_not_worth_asking(
    kind: str, question: str, answer: str, words: str, title: str
) -> None:
    assert not worth_asking(kind, question, answer, Evidence(words, title, defined=True))


def test_a_word_that_limits_stays_with_the_card_that_says_it() -> None:
    words = "Tar is mainly used to proof rope."
    assert worth_asking("applied", "What is tar mainly used for?", "To proof rope.", Evidence(words, "Tar"))


def test_a_denial_keeps_its_verb_once() -> None:
    words = "A bowline does not slip because its loop is locked by a turn around the rope."
    (card,) = asked("mechanistic", "Bowline", words)
    assert card[0] == "Why does a bowline not slip?"


def test_a_definition_stops_before_what_its_subject_does_next() -> None:
    (card,) = asked("definitional", "Taffrail", "A taffrail is a rail around the stern of a ship, and is often carved.")
    assert card == ("What is a taffrail?", "A rail around the stern of a ship.")


def test_greek_and_latin_plurals_take_a_plural_verb() -> None:
    words = "The toys of the court were clockwork automata, a kind of machine in which wheels move figures of people."
    assert asked("definitional", "Clockwork automata", words)[0][0] == "What are clockwork automata?"


def claims_of(text: str) -> list[tuple[str, str]]:
    request = ExtractRequest(title="Notes", language="en", headings=("Sailing",), text=text)
    return [(c.kind.value, c.statement or c.quote) for c in ExtractiveEngine().extract(request).claims]


@pytest.mark.parametrize(
    "text",
    [
        "Reefing is the folding away of part of a sail to make it smaller.",
        "The height of tide is the difference in level between the sea and the chart datum that sailors use:",
    ],
)
def test_a_noun_made_of_a_verb_and_a_difference_between_two_things_define(text: str) -> None:
    assert claims_of(text) == [("definition", text.rstrip(".:") + ".")]


def test_a_sentence_with_a_hole_where_a_formula_stood_is_no_claim() -> None:
    assert claims_of("If a = , then the anchor chain is the part that bears the load of the ship.") == []


def test_a_definition_in_passing_keeps_its_whole_list() -> None:
    text = (
        "A voyage can be planned as a decision process, which is a model that includes a set of states, a set of "
        "actions, a function that tells what follows, and a cost."
    )
    (found,) = [said for kind, said in claims_of(text) if kind == "definition"]
    assert found.endswith("a set of actions, a function that tells what follows, and a cost.")


@pytest.mark.parametrize("name", ["Definition 2", "Corollary 7", "Priori", "Long short-term"])
def test_labels_and_halves_of_fixed_phrases_are_no_names(name: str) -> None:
    assert not is_name(name)


def test_an_article_does_not_open_with_a_scrap_or_with_what_announces_a_formula() -> None:
    views = tuple(
        ClaimView(id=f"{n:010d}", kind=ClaimKind.FACT, words=words, quote=words, source="Notes", about=("Heel",))
        for n, words in enumerate(
            (
                "Heel is likely to be large.",
                "Heel is the sum of the moments that act on the hull in a steady breeze:",
                "Heel grows with the height of the mast and with the square of the speed of the wind.",
            )
        )
    )
    reply = ExtractiveEngine().compose(ComposeRequest(title="Heel", aliases=(), language="en", claims=views))
    assert reply.sections[0].heading == ""
    assert reply.sections[0].paragraphs[0][0].text == views[2].words
    said = [s.text for section in reply.sections for paragraph in section.paragraphs for s in paragraph]
    assert len(said) == len(set(said))
