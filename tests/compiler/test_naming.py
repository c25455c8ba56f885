"""Which names are one, and which have evidence enough for an article."""

from __future__ import annotations

import itertools

import pytest

from compiler.engines.port import Signal, Term
from compiler.naming import SourceClaims
from compiler.resolve import Resolution, resolve
from vault.claim import Claim, ClaimKind
from vault.ids import ClaimId, SourceId
from vault.ledger import Ids

AT = "2026-01-01T00:00:00.000Z"


def source(
    number: int, terms: list[Term], claims: list[tuple[str, ClaimKind, tuple[str, ...]]], language: str = "en"
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
        ([term("beam reach", "index")], [("Boats like a beam reach most.", ClaimKind.FACT, ("boats",))], True),
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
