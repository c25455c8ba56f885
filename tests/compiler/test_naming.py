"""Which names are one, and which have evidence enough for an article."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest

from compiler.concepts.evidence import SourceClaims
from compiler.concepts.resolve import Resolution, resolve
from compiler.model.requests import Signal, Term
from tests.compiler.name_pairs import ALL, SPELLINGS, Labelled
from vault.ids import ClaimId, SourceId
from vault.log.ledger import Ids
from vault.model.claim import Claim, ClaimKind

AT = "2026-01-01T00:00:00.000Z"


def source(
    number: int, terms: Sequence[Term], claims: Sequence[tuple[str, ClaimKind, tuple[str, ...]]], language: str = "en"
) -> SourceClaims:
    made = tuple(
        (Claim(ClaimId(f"{number}{i:09d}"), SourceId(f"s{number}"), kind, words, ""), about)
        for i, (words, kind, about) in enumerate(claims)
    )
    return SourceClaims(SourceId(f"s{number}"), f"Notes {number}", language, made, tuple(terms))


def names_of(resolution: Resolution) -> dict[str, tuple[str, ...]]:
    return {c.title: c.aliases for c in resolution.concepts.values()}


def term(name: str, signal: Signal, *aliases: str) -> Term:
    return Term(name=name, aliases=aliases, signal=signal)


KEEL = ("A keel is a fin that keeps a boat upright.", ClaimKind.DEFINITION, ("keel",))


def test_an_acronym_with_one_meaning_is_another_name_of_it() -> None:
    one = source(1, [term("dynamic sail area", "acronym", "DSA")], [("DSA grows.", ClaimKind.FACT, ("DSA",))])
    assert names_of(resolve([one], Ids(), AT)) == {"Dynamic sail area": ("DSA",)}


def test_two_ideas_never_meet_by_way_of_an_acronym_they_share() -> None:
    sources = [
        source(1, [term("dynamic sail area", "acronym", "DSA")], [("DSA grows here.", ClaimKind.FACT, ("DSA",))]),
        source(2, [term("deep sea anchor", "acronym", "DSA")], [("DSA holds fast.", ClaimKind.FACT, ("DSA",))]),
    ]
    for order in itertools.permutations(sources):
        found = resolve(order, Ids(), AT)
        assert names_of(found) == {"Dynamic sail area": (), "Deep sea anchor": ()}
        told = {c.title: [m.words for m in c.main] for c in found.concepts.values()}
        assert told == {"Dynamic sail area": ["DSA grows here."], "Deep sea anchor": ["DSA holds fast."]}


def test_names_in_two_languages_meet_where_a_text_gives_both() -> None:
    chinese = source(1, [term("龙骨", "alias", "keels")], [("龙骨使船平衡。", ClaimKind.MECHANISM, ("龙骨",))], "zh")
    english = source(2, [term("keel", "definition")], [KEEL])
    (concept,) = resolve([chinese, english], Ids(), AT).concepts.values()
    assert {concept.title, *concept.aliases} == {"Keel", "龙骨"}


def test_names_that_only_part_their_words_otherwise_are_one() -> None:
    sources = [
        source(1, [term("mainsail trimming", "heading")], [("It helps.", ClaimKind.FACT, ("mainsail trimming",))]),
        source(2, [term("main-sail trimming", "heading")], [("It works.", ClaimKind.FACT, ("main-sail trimming",))]),
    ]
    assert len(resolve(sources, Ids(), AT).concepts) == 1


@pytest.mark.parametrize(
    ("terms", "claims", "made"),
    [
        ([term("keel", "definition")], [KEEL], True),
        ([term("keel", "heading")], [("The keel is long and heavy.", ClaimKind.FACT, ("keel",))], True),
        ([term("keel", "heading")], [], False),
        ([], [("The keel is long and heavy.", ClaimKind.FACT, ("keel",))], False),
        ([term("SailKit", "link")], [("SailKit stores shapes.", ClaimKind.MECHANISM, ("SailKit",))], True),
        ([term("SailKit", "link")], [("SailKit is from Kiel.", ClaimKind.FACT, ("SailKit",))], False),
        ([term("beam reach", "index")], [("Boats like a beam reach most.", ClaimKind.FACT, ("boats",))], False),
        ([term("beam reach", "index")], [("On it, called a beam reach, all go.", ClaimKind.FACT, ("boats",))], True),
        ([term("beam reach", "heading")], [("Boats like a beam reach most.", ClaimKind.FACT, ("boats",))], False),
        ([term("whale", "emphasis")], [("A whale, a whale!", ClaimKind.FACT, ("boats",))] * 3, False),
    ],
)
def test_a_name_is_admitted_by_its_own_evidence(
    terms: list[Term], claims: list[tuple[str, ClaimKind, tuple[str, ...]]], made: bool
) -> None:
    assert bool(resolve([source(1, terms, claims)], Ids(), AT).concepts) is made


def test_a_claim_about_two_concepts_belongs_to_the_first_of_them() -> None:
    both = ("Keels and rudders lie under water.", ClaimKind.FACT, ("keels", "rudders"))
    found = resolve([source(1, [term("keel", "heading"), term("rudder", "heading")], [both])], Ids(), AT)
    by_title = {c.title: c for c in found.concepts.values()}
    assert {title: len(c.main) for title, c in by_title.items()} == {"Keel": 1, "Rudder": 1}
    assert list(found.owners.values()) == [by_title["Keel"].id]


def told(resolution: Resolution) -> dict[str, list[str]]:
    return {c.title: [m.words for m in c.main] for c in resolution.concepts.values()}


def test_a_sentence_about_one_thing_makes_no_article_of_what_it_merely_names() -> None:
    terms = [term("halyard", "definition"), term("ropework", "index"), term("jib sheet", "index")]
    hoists = ("A halyard is a line that, unlike many of ropework, hoists a sail.", ClaimKind.DEFINITION, ("halyard",))
    leads = ("Halyards end at the mast, or at a cleat called a jib sheet.", ClaimKind.FACT, ("halyard", "jib sheet"))
    made = told(resolve([source(1, terms, [hoists, leads])], Ids(), AT))
    assert made == {"Halyard": [hoists[0], leads[0]], "Jib sheet": [leads[0]]}


def test_three_sentences_that_name_a_listed_thing_are_an_article_and_open_with_none_that_another_opens_with() -> None:
    terms = [term("halyard", "definition"), term("ropework", "index")]
    claims: list[tuple[str, ClaimKind, tuple[str, ...]]] = [
        ("A halyard is a line of the ropework.", ClaimKind.DEFINITION, ("halyard",)),
        ("Halyards wear like all ropework does.", ClaimKind.FACT, ("halyard",)),
        ("Halyards cost more than other ropework.", ClaimKind.FACT, ("halyard",)),
    ]
    made = told(resolve([source(1, terms, claims)], Ids(), AT))
    assert made["Ropework"] == [claims[1][0], claims[2][0], claims[0][0]]


def test_a_name_inside_a_longer_one_that_is_set_off_is_not_named() -> None:
    terms = [term("sea anchor", "definition"), term("anchor", "index"), term("drag", "definition")]
    holds = ("A sea anchor is a bag that slows a boat.", ClaimKind.DEFINITION, ("sea anchor",))
    drags = ("Drag is what a sea anchor, which is a bag, makes.", ClaimKind.DEFINITION, ("drag",))
    plain = ("A boat that drags needs another anchor, which must be heavier.", ClaimKind.FACT, ("boat",))
    assert set(told(resolve([source(1, terms, [holds, drags])], Ids(), AT))) == {"Sea anchor", "Drag"}
    assert told(resolve([source(1, terms, [holds, drags, plain])], Ids(), AT))["Anchor"] == [plain[0]]


def test_a_translation_that_no_document_of_its_language_gives_names_nothing_there() -> None:
    chinese = source(
        1, [term("双组件", "alias", "two-part")], [("双组件是一种船体。", ClaimKind.DEFINITION, ("双组件",))], "zh"
    )
    english = source(2, [term("keel", "definition")], [KEEL, ("It is of two parts.", ClaimKind.FACT, ("keel",))])
    found = resolve([chinese, english], Ids(), AT)
    assert told(found) == {"双组件": ["双组件是一种船体。"], "Keel": [KEEL[0], "It is of two parts."]}
    assert [[found.concepts[c].title for c in m] for m in found.mentions.values()] == [["双组件"], ["Keel"], []]


def test_a_title_is_in_the_language_that_most_is_said_in() -> None:
    chinese = source(1, [term("龙骨", "alias", "keel")] * 4, [("龙骨使船平衡。", ClaimKind.MECHANISM, ("龙骨",))], "zh")
    more = ("The keel is long.", ClaimKind.FACT, ("keel",))
    english = source(2, [term("keel", "definition")], [KEEL, more])
    (concept,) = resolve([chinese, english], Ids(), AT).concepts.values()
    assert (concept.title, concept.aliases) == ("Keel", ("龙骨",))


@pytest.mark.parametrize(
    ("name", "title"),
    [("Segel-Treibern", "Segel-Treiber"), ("spezielle Rahsegel", "Rahsegel"), ("Stern", "Stern"), ("Kern", "Kern")],
)
def test_a_german_title_is_no_dative_and_opens_with_no_empty_adjective(name: str, title: str) -> None:
    claim = (f"Über {name} wird gesagt, dass sie tragen.", ClaimKind.FACT, (name,))
    assert list(told(resolve([source(1, [term(name, "heading")], [claim], "de")], Ids(), AT))) == [title]


def joined(pair: Labelled) -> bool:
    """Whether two documents, one for each name, that treat it under a heading make one concept."""
    sources = []
    for n, (name, said) in enumerate(zip((pair.one, pair.other), pair.said, strict=True), 1):
        kind = ClaimKind.DEFINITION if said else ClaimKind.FACT
        claim = (said or f"{name} is told of in place {n}.", kind, (name,))
        sources.append(source(n, [term(name, "heading"), term(name, "definition")], [claim]))
    return len(resolve(sources, Ids(), AT).concepts) == 1


def test_the_rules_join_hardly_anything_that_is_two_and_all_that_is_merely_spelled_otherwise() -> None:
    assert len(ALL) >= 60
    found = [p for p in ALL if joined(p)]
    assert sum(p.same for p in found) / len(found) >= 0.98
    assert sum(p.same for p in found) / sum(p.same for p in ALL) >= 0.5
    assert [p for p in SPELLINGS if not joined(p)] == []
