"""What the agenda asks for: once where one sentence is known, by kind for what has weight, and no dropped names."""

from __future__ import annotations

from compiler.cards.gaps import Shelf, find_gaps
from compiler.concepts.resolve import Resolution, Resolved
from compiler.language.passing_mentions import explained_by_list, names_beyond_limit, only_dropped
from vault.ids import ClaimId, ConceptId, SourceId
from vault.model.claim import Claim, ClaimKind

KEEL, MAST = ConceptId("keel000000"), ConceptId("mast000000")


def concept(id_: ConceptId, title: str, *said: tuple[str, ClaimKind]) -> Resolved:
    claims = tuple(
        Claim(ClaimId(f"{title[:4]}{n:06d}"), SourceId("s"), kind, words, "") for n, (words, kind) in enumerate(said)
    )
    return Resolved(id_, title, (), title.casefold(), "en", frozenset({title.casefold()}), claims)


def asked(*concepts: Resolved, leaning: ConceptId | None = None) -> dict[str, str]:
    """The last part of each gap's key -> what is missing. All claims but its own name the concept `leaning`."""
    named = (leaning,) if leaning else ()
    known = Resolution(
        concepts={c.id: c for c in concepts},
        mentions={claim.id: named for c in concepts for claim in c.main},
    )
    links: dict[str, str] = {c.id: f"[[{c.title}]]" for c in concepts}
    origins: dict[str, int] = {c.id: 1 for c in concepts}
    found = find_gaps(known, {}, links, origins, Shelf({}, {}, {}))
    return {gap.key.removeprefix("epistemic:"): gap.missing for gap in found}


def test_a_concept_known_from_one_sentence_has_one_gap_where_another_leans_on_it() -> None:
    keel = concept(KEEL, "Keel", ("Keels wear.", ClaimKind.FACT))
    mast = concept(MAST, "Mast", ("A mast stands on the keel.", ClaimKind.FACT))
    assert asked(keel, mast, leaning=KEEL) == {f"{KEEL}:one-sentence": "one sentence is all that is known of it"}
    assert asked(keel, mast) == {}


def test_a_concept_of_weight_is_asked_for_each_kind_that_it_lacks() -> None:
    facts = [(f"Keels wear {how}.", ClaimKind.FACT) for how in ("fast", "slowly", "not at all")]
    assert set(asked(concept(KEEL, "Keel", *facts))) == {
        f"{KEEL}:{kind}" for kind in ("definitional", "mechanistic", "relational", "applied")
    }
    facts[0] = ("Keels steady a boat.", ClaimKind.MECHANISM)
    assert f"{KEEL}:mechanistic" not in asked(concept(KEEL, "Keel", *facts))


def test_what_a_thing_is_is_not_asked_under_a_sentence_that_says_it() -> None:
    facts = [(f"Keels wear {how}.", ClaimKind.FACT) for how in ("fast", "slowly")]
    for said in (("A keel is a fin of lead.", ClaimKind.FACT), ("The keel holds a boat upright.", ClaimKind.MECHANISM)):
        assert f"{KEEL}:definitional" not in asked(concept(KEEL, "Keel", said, *facts))


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


def test_one_sentence_asks_for_a_handful_of_names() -> None:
    names_ = [f"Boat{letter}" for letter in "abcdefgh"]
    text = "We rowed. Such are " + ", ".join(names_) + ". And Boatz sank."
    first = {name: ("s", text.index(name)) for name in [*names_, "Boatz"]}
    assert names_beyond_limit(first, {"s": text}) == set(names_[5:])
