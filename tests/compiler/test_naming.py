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


DEFINED = ClaimKind.DEFINITION
KEEL = ("A keel is a fin that keeps a boat upright.", ClaimKind.DEFINITION, ("keel",))


def test_an_acronym_with_one_meaning_is_another_name_of_it() -> None:
    one = source(1, [term("dynamic sail area", "definition", "DSA")], [("DSA is area.", DEFINED, ("DSA",))])
    assert names_of(resolve([one], Ids(), AT)) == {"Dynamic sail area": ("DSA",)}


def test_two_ideas_never_meet_by_way_of_an_acronym_they_share() -> None:
    sources = [
        source(1, [term("dynamic sail area", "definition", "DSA")], [("DSA is area.", DEFINED, ("DSA",))]),
        source(2, [term("deep sea anchor", "definition", "DSA")], [("DSA is a bag.", DEFINED, ("DSA",))]),
    ]
    for order in itertools.permutations(sources):
        found = resolve(order, Ids(), AT)
        assert names_of(found) == {"Dynamic sail area": (), "Deep sea anchor": ()}
        told = {c.title: [m.words for m in c.main] for c in found.concepts.values()}
        assert told == {"Dynamic sail area": ["DSA is area."], "Deep sea anchor": ["DSA is a bag."]}


def test_names_in_two_languages_meet_where_a_text_gives_both() -> None:
    chinese = source(
        1, [term("龙骨", "definition", "keels")], [("龙骨使船平衡。", ClaimKind.MECHANISM, ("龙骨",))], "zh"
    )
    english = source(2, [term("keel", "definition")], [KEEL])
    (concept,) = resolve([chinese, english], Ids(), AT).concepts.values()
    assert {concept.title, *concept.aliases} == {"Keel", "龙骨"}


def test_names_that_only_part_their_words_otherwise_are_one() -> None:
    sources = [
        source(1, [term("mainsail trimming", "definition")], [("It is help.", DEFINED, ("mainsail trimming",))]),
        source(2, [term("main-sail trimming", "definition")], [("It is work.", DEFINED, ("main-sail trimming",))]),
    ]
    assert len(resolve(sources, Ids(), AT).concepts) == 1


@pytest.mark.parametrize(
    ("terms", "claims", "made"),
    [
        ([term("keel", "definition")], [KEEL], True),
        ([term("keel", "definition")], [("The keel is long and heavy.", ClaimKind.FACT, ("keel",))], False),
        ([term("keel", "definition")], [], False),
        ([term("keel", "named")], [KEEL], False),
        ([], [("The keel is long and heavy.", ClaimKind.FACT, ("keel",))], False),
    ],
)
def test_a_name_is_admitted_by_its_own_evidence(
    terms: list[Term], claims: list[tuple[str, ClaimKind, tuple[str, ...]]], made: bool
) -> None:
    assert bool(resolve([source(1, terms, claims)], Ids(), AT).concepts) is made


def test_a_claim_about_two_concepts_belongs_to_the_first_of_them() -> None:
    both = ("Keels and rudders are parts under water.", DEFINED, ("keels", "rudders"))
    found = resolve([source(1, [term("keel", "definition"), term("rudder", "definition")], [both])], Ids(), AT)
    by_title = {c.title: c for c in found.concepts.values()}
    assert {title: len(c.main) for title, c in by_title.items()} == {"Keel": 1, "Rudder": 1}
    assert list(found.owners.values()) == [by_title["Keel"].id]


def told(resolution: Resolution) -> dict[str, list[str]]:
    return {c.title: [m.words for m in c.main] for c in resolution.concepts.values()}


def test_a_translation_that_no_document_of_its_language_gives_names_nothing_there() -> None:
    chinese = source(
        1, [term("双组件", "definition", "two-part")], [("双组件是一种船体。", ClaimKind.DEFINITION, ("双组件",))], "zh"
    )
    english = source(2, [term("keel", "definition")], [KEEL, ("It is of two parts.", ClaimKind.FACT, ("keel",))])
    found = resolve([chinese, english], Ids(), AT)
    assert told(found) == {"双组件": ["双组件是一种船体。"], "Keel": [KEEL[0], "It is of two parts."]}
    assert [[found.concepts[c].title for c in m] for m in found.mentions.values()] == [["双组件"], ["Keel"], []]


def test_a_title_is_in_the_language_that_most_is_said_in() -> None:
    chinese = source(
        1, [term("龙骨", "definition", "keel")] * 4, [("龙骨使船平衡。", ClaimKind.MECHANISM, ("龙骨",))], "zh"
    )
    more = ("The keel is long.", ClaimKind.FACT, ("keel",))
    english = source(2, [term("keel", "definition")], [KEEL, more])
    (concept,) = resolve([chinese, english], Ids(), AT).concepts.values()
    assert (concept.title, concept.aliases) == ("Keel", ("龙骨",))


@pytest.mark.parametrize(
    ("name", "title"),
    [("Segel-Treibern", "Segel-Treiber"), ("spezielle Rahsegel", "Rahsegel"), ("Stern", "Stern"), ("Kern", "Kern")],
)
def test_a_german_title_is_no_dative_and_opens_with_no_empty_adjective(name: str, title: str) -> None:
    claim = (f"Mit {name} sind die gemeint, die tragen.", DEFINED, (name,))
    assert list(told(resolve([source(1, [term(name, "definition")], [claim], "de")], Ids(), AT))) == [title]


def joined(pair: Labelled) -> bool:
    """Whether two documents, one for each name, that define it make one concept."""
    sources = []
    for n, (name, said) in enumerate(zip((pair.one, pair.other), pair.said, strict=True), 1):
        claim = (said or f"{name} is told of in place {n}.", DEFINED, (name,))
        sources.append(source(n, [term(name, "definition")], [claim]))
    return len(resolve(sources, Ids(), AT).concepts) == 1


def test_the_rules_join_hardly_anything_that_is_two_and_all_that_is_merely_spelled_otherwise() -> None:
    assert len(ALL) >= 60
    found = [p for p in ALL if joined(p)]
    assert sum(p.same for p in found) / len(found) >= 0.98
    assert sum(p.same for p in found) / sum(p.same for p in ALL) >= 0.5
    assert [p for p in SPELLINGS if not joined(p)] == []
