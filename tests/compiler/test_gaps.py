"""What the agenda asks for: terms that several sources use and none explains, contradictions, central concepts."""

from __future__ import annotations

import pytest

from compiler.cards.gaps import LACKS_DEFINITION, LONGEST_USE, Shelf, find_gaps, use_of
from compiler.concepts.resolve import Resolution, Resolved
from compiler.concepts.unexplained import Lacking
from compiler.language.mentions import clause_explains
from compiler.language.passing_mentions import explained_by_list, only_dropped
from vault.ids import ClaimId, ConceptId, SourceId
from vault.model.claim import Claim, ClaimKind
from vault.model.source import Mark, MarkKind, Segment, SourceText

KEEL = ConceptId("keel000000")
HAULS = "The crew hoist the sails with it, and the capstan hauls the chain."
TURNS = "Six sailors turn the capstan. The capstan of a large ship has twelve bars."


def concept(id_: ConceptId, title: str, *said: tuple[str, ClaimKind]) -> Resolved:
    claims = tuple(
        Claim(ClaimId(f"{id_[:4]}{n:06d}"), SourceId("s"), kind, words, "") for n, (words, kind) in enumerate(said)
    )
    return Resolved(id_, title, (), title.casefold(), "en", frozenset({title.casefold()}), claims)


def shelf(*texts: str, marks: tuple[Mark, ...] = ()) -> Shelf:
    """Documents with a section for each paragraph; `marks` are those of the first."""
    sources = {}
    for n, text in enumerate(texts):
        sections, at = [], 0
        for number, part in enumerate(text.split("\n\n")):
            sections.append(Segment(at, at + len(part), (f"Part {number}",)))
            at += len(part) + 2
        sources[SourceId(f"s{n}")] = SourceText(
            "test/1", text, f"Document {n}", "en", tuple(sections), () if n else marks
        )
    return Shelf(sources, {id_: f"[[{text.title}]]" for id_, text in sources.items()}, {})


def wanted(on: Shelf, *lacking: Lacking) -> dict[str, str]:
    """Term -> the sentence that the agenda shows for it."""
    known = Resolution(lacking={one.keys[0]: one for one in lacking})
    return {gap.what: gap.use for gap in find_gaps(known, {}, {}, on)}


def name(written: str) -> Lacking:
    return Lacking(written, (written.casefold(),), (written,))


def asked(*concepts: Resolved, leaning: int, text: str = "") -> dict[str, str]:
    """The last part of each gap's key -> what is missing. `leaning` other concepts name the first."""
    others = [concept(ConceptId(f"mast{n:06d}"), f"Mast {n}", ("It leans.", ClaimKind.FACT)) for n in range(leaning)]
    known = Resolution(
        concepts={c.id: c for c in (*concepts, *others)},
        mentions={claim.id: (concepts[0].id,) for c in others for claim in c.main},
    )
    links: dict[str, str] = {id_: f"[[{id_}]]" for id_ in known.concepts}
    found = find_gaps(known, {}, links, shelf(text))
    return {gap.key.removeprefix("epistemic:"): gap.missing for gap in found}


def test_a_term_that_two_documents_use_and_none_explains_is_wanted_with_a_sentence_that_uses_it() -> None:
    found = wanted(shelf(HAULS, "The weather was fine.", TURNS, f"Old ships differ. {HAULS}"), name("capstan"))
    assert found == {"capstan": "The capstan of a large ship has twelve bars"}


def test_of_a_long_sentence_the_part_around_the_term_is_shown() -> None:
    long = f"{'before it ' * 20}the capstan {'after it ' * 20}ends"
    part = use_of(long, ["capstan"])
    assert part.startswith("…") and part.endswith("…") and " the capstan " in part and len(part) <= LONGEST_USE + 2


def test_a_term_of_one_document_is_not_wanted_unless_it_is_all_there_is() -> None:
    others = ("The weather was fine.", "It rained.", "It snowed.")
    one = f"{TURNS}\n\n{HAULS}\n\nA worn capstan slips."
    assert wanted(shelf(one, *others), name("capstan")) == {}
    assert list(wanted(shelf(one), name("capstan"))) == ["capstan"]
    assert wanted(shelf(f"{TURNS} {HAULS} A worn capstan slips."), name("capstan")) == {}, "one section"


@pytest.mark.parametrize(
    "said",
    [
        "A capstan is a drum that is turned to haul a rope.",
        "The deck has a drum for the anchor, called a capstan.",
        "Each ship has a capstan (a drum that hauls the anchor).",
        "The drums, or capstans, are made of oak.",
        "They turn the capstan, the large drum of the foredeck.",
    ],
)
def test_a_term_that_any_document_explains_is_not_wanted(said: str) -> None:
    assert list(wanted(shelf(HAULS, TURNS, HAULS, "It rained."), name("capstan"))) == ["capstan"]
    assert wanted(shelf(HAULS, TURNS, HAULS, said), name("capstan")) == {}


def test_a_term_that_a_document_sets_off_or_gives_its_long_form_is_not_wanted() -> None:
    texts = (f"Capstan\n\n{HAULS}", TURNS, HAULS)
    for kind in (MarkKind.HEADING, MarkKind.EMPHASIS, MarkKind.TERM):
        assert wanted(shelf(*texts, marks=(Mark(kind, 0, 7),)), name("capstan")) == {}
    tides = ["The tide runs at the HW of the day.", "After HW the tide turns, and at HW it stands."]
    tides.append("An early HW floods the quay.")
    assert list(wanted(shelf(*tides), name("HW"))) == ["HW"]
    assert wanted(shelf(*tides, "At high water (HW) ships leave."), name("HW")) == {}


def test_what_stands_in_code_is_no_use_of_a_term() -> None:
    code = "capstan = 1; print(capstan, capstan)"
    on = shelf(f"{code}\n\nThe capstan is old.", HAULS, marks=(Mark(MarkKind.CODE, 0, len(code)),))
    assert wanted(on, name("capstan")) == {}


def test_words_that_only_meet_are_no_term_and_of_a_term_and_a_longer_one_one_is_wanted() -> None:
    meet = "The old rope broke. An old man saw it. The old rope was wet. Old ropes of old ships rot. A rope is cheap."
    assert wanted(shelf(meet, meet.replace("saw", "mended"), "The rope held."), name("old rope")) == {}
    long = [f"Haul the capstan bar {how}. Men push the capstan bar." for how in ("home", "tight")]
    assert list(wanted(shelf(*long, "It rained."), name("capstan"), name("capstan bar"))) == ["capstan bar"]
    many = [f"{text} {TURNS}" for text in long]
    assert list(wanted(shelf(*many, "It rained."), name("capstan"), name("capstan bar"))) == ["capstan"]


def test_a_sentence_explains_the_name_that_opens_it_and_not_the_one_inside() -> None:
    assert clause_explains("it rained. capstans are made of oak.", ["capstan"])
    assert not clause_explains("six sailors who turn the capstan are strong.", ["capstan"])
    assert not clause_explains("the ship had gear (see the capstan) of oak.", ["capstan"])


def test_only_of_a_central_concept_is_asked_what_it_is_and_only_where_no_document_says_it() -> None:
    facts = concept(KEEL, "Keel", ("Keels wear fast.", ClaimKind.FACT))
    assert asked(facts, leaning=2) == {}
    assert asked(facts, leaning=3) == {f"{KEEL}:definitional": LACKS_DEFINITION[0]}
    assert asked(facts, leaning=3, text="Below it is a fin of lead, called the keel.") == {}
    defined = concept(KEEL, "Keel", ("A keel is a fin of lead.", ClaimKind.DEFINITION))
    assert asked(defined, leaning=3) == {}, "what else there is to say of it is no gap"


def test_a_contradiction_that_nothing_decides_comes_first() -> None:
    facts = concept(KEEL, "Keel", ("Keels wear fast.", ClaimKind.FACT))
    found = find_gaps(Resolution(concepts={KEEL: facts}), {}, {KEEL: "[[Keel]]"}, shelf(""), {KEEL})
    assert [gap.key for gap in found] == [f"epistemic:{KEEL}:contested"]


def test_what_a_thing_is_is_not_asked_under_a_sentence_that_says_it() -> None:
    for said in (("A keel is a fin of lead.", ClaimKind.FACT), ("The keel holds a boat upright.", ClaimKind.MECHANISM)):
        assert f"{KEEL}:definitional" not in asked(concept(KEEL, "Keel", said), leaning=3)


def test_names_in_thanks_advertisements_rules_and_labels_are_dropped_and_others_are_not() -> None:
    assert only_dropped("We sail far. Thanks to Hullworks for the paint. All is well.", ["Hullworks"])
    assert only_dropped("Check out the trailer of the KnotSchool programme:\n\nWe sail.", ["KnotSchool"])
    assert only_dropped("S → SPref N\n\nSPref → re+", ["SPref"])
    assert only_dropped("An ANCHOR tag goes with each anchor.", ["ANCHOR"])
    assert not only_dropped("Thanks to Hullworks. The hull was built by Hullworks in a week.", ["Hullworks"])
    assert not only_dropped("Boats sail with a KnotSchool line.", ["KnotSchool"])


def test_a_list_after_a_name_says_what_it_is() -> None:
    assert explained_by_list("the drift metrics (brook, 1992) score each run via:\n\nleeway.", ["Drift"])
    assert not explained_by_list("the drift metrics are many, and so on.", ["Drift"])
