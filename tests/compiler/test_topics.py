"""Which concepts belong together: by the sections that explain them, and for as long as they do."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.concepts.topics import MOST, Known, Passage, Topic, topics
from vault.ids import ConceptId, SourceId


def passages(source: str, **sections: str) -> list[Passage]:
    """Two claims about each concept that a section names; `Chapter__Part` is a part of a chapter."""
    out = []
    for headings, concepts in sections.items():
        path = (f"The book {source}", *headings.replace("_", " ").split("  "))
        for name in concepts.split():
            out += [Passage(SourceId(source), path, (ConceptId(name),))] * 2
    return out


def found(said: Sequence[Passage], known: Sequence[Known] = ()) -> list[Topic]:
    keys = {c: str(c) for p in said for c in p.about}
    return topics(said, known, keys)


def members(said: Sequence[Topic]) -> dict[str, set[str]]:
    return {t.title: set(t.members) for t in said}


def remembered(said: Sequence[Topic]) -> list[Known]:
    return [Known(f"id of {t.key}", t.key, t.title, frozenset(t.members), frozenset(t.anchors)) for t in said]


def many(prefix: str, count: int) -> str:
    return " ".join(f"{prefix}{n}" for n in range(count))


BOOK = passages("a", Ships=many("ship", 20), Trees=many("tree", 20), Summary=many("ship", 3))
NOTE = passages("b", Bread="crust crumb yeast oven")


def test_chapters_of_a_large_book_are_topics_and_so_is_a_small_document() -> None:
    assert members(found([*BOOK, *NOTE])) == {
        "Ships": set(many("ship", 20).split()),
        "Trees": set(many("tree", 20).split()),
        "The book b": {"crust", "crumb", "yeast", "oven"},
    }


def test_a_section_that_explains_too_few_concepts_is_no_topic() -> None:
    assert found(passages("a", Bread="crust crumb yeast")) == []
    assert "Masts" not in members(found([*BOOK, *passages("a", Masts="top gaff")]))


def test_a_chapter_with_too_many_concepts_is_parted_at_its_own_headings() -> None:
    chapter = passages("a", Ships__Hulls=many("hull", 20), Ships__Sails=many("sail", 20), Ships__Rest="rope")
    assert set(members(found(chapter))) == {"Hulls", "Sails"}
    assert all(len(t.members) <= MOST for t in found(chapter))


def test_a_heading_used_twice_is_told_apart_by_its_chapter() -> None:
    ships = passages("a", Ships__Timber=many("hull", 20), Ships__Sails=many("sail", 20))
    trees = passages("a", Trees__Timber=many("oak", 20), Trees__Leaves=many("leaf", 20))
    assert set(members(found([*ships, *trees]))) == {"Ships: Timber", "Trees: Timber", "Sails", "Leaves"}


def test_sections_of_two_books_under_one_heading_are_one_topic() -> None:
    other = passages("b", Ships=many("boat", 20), Clouds=many("cloud", 20))
    assert members(found([*BOOK, *other]))["Ships"] == set(many("ship", 20).split()) | set(many("boat", 20).split())


def test_a_concept_goes_where_most_is_said_of_it() -> None:
    elsewhere = passages("c", Clouds=f"{many('cloud', 20)} ship1")
    more = [Passage(SourceId("c"), ("The book c", "Clouds"), (ConceptId("ship1"),))] * 8
    where = {m for t in found([*BOOK, *elsewhere, *more]) if t.title == "The book c" for m in t.members}
    assert "ship1" in where and "ship2" not in where


def test_a_concept_without_a_section_joins_those_that_its_claims_name() -> None:
    loose = Passage(SourceId("c"), ("A letter",), (ConceptId("rudder"),), (ConceptId("ship1"), ConceptId("ship2")))
    assert "rudder" in members(found([*BOOK, loose]))["Ships"]


def test_one_kind_of_a_thing_joins_the_thing() -> None:
    loose = Passage(SourceId("c"), ("A letter",), (ConceptId("sailing ship1"),))
    assert "sailing ship1" in members(found([*BOOK, loose]))["Ships"]


def test_a_source_on_other_matters_moves_nothing() -> None:
    before = found(BOOK)
    after = found([*BOOK, *NOTE], remembered(before))
    assert [t for t in after if t.id] == [Topic(f"id of {t.key}", t.key, t.title, t.members, t.anchors) for t in before]


def test_a_concept_stays_where_it_was_unless_far_more_is_said_of_it_elsewhere() -> None:
    known = remembered(found(BOOK))
    rival = passages("c", Clouds=f"{many('cloud', 20)} ship1")
    assert "ship1" in members(found([*BOOK, *rival], known))["Ships"]
    far_more = [Passage(SourceId("c"), ("The book c", "Clouds"), (ConceptId("ship1"),))] * 20
    assert "ship1" not in members(found([*BOOK, *rival, *far_more], known))["Ships"]


def test_a_topic_outlives_the_loss_of_members_until_next_to_none_is_left() -> None:
    known = remembered(found(NOTE))
    fewer = passages("b", Bread="crust crumb yeast")
    (still,) = found(fewer, known)
    assert still.id == known[0].id and set(still.members) == {"crust", "crumb", "yeast"}
    assert found(passages("b", Bread="crust crumb"), known) == []


def test_a_topic_keeps_its_id_when_its_document_is_gone_and_another_explains_most_of_it() -> None:
    known = remembered(found(NOTE))
    (heir,) = found(passages("new", Baking="crust crumb yeast oven flour"), known)
    assert heir.id == known[0].id and heir.title == known[0].title and "flour" in heir.members


def test_the_matter_of_no_heading_is_a_topic() -> None:
    assert found([Passage(SourceId("a"), ("Introduction",), (ConceptId(c),)) for c in many("x", 9).split()]) == []


names = st.sampled_from([f"{a}{n}" for a in "pqrs" for n in range(8)])
claims = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(["Ships", "Trees", "Clouds", "Stones"]), names, names),
    max_size=120,
)


def told(claim: tuple[str, str, str, str]) -> Passage:
    source, heading, about, named = claim
    return Passage(SourceId(source), (f"Book {source}", heading), (ConceptId(about),), (ConceptId(named),))


@settings(deadline=None, max_examples=60)
@given(claims)
def test_every_concept_has_one_topic_at_most_and_what_comes_out_stays(said: list[tuple[str, str, str, str]]) -> None:
    book = sorted((told(c) for c in said), key=lambda p: p.source)
    first = found(book)
    everyone = [m for t in first for m in t.members]
    assert len(everyone) == len(set(everyone))
    again = found(book, remembered(first))
    assert {t.key: set(t.members) for t in again} == {t.key: set(t.members) for t in first}
    assert all(t.id for t in again)


def test_a_topic_that_a_concept_names_has_that_concept_though_another_says_more_of_it() -> None:
    boats = passages("a", Keel="fin lead bulb bolts wood ballast keel", Hulls=many("hull", 26))
    more = [Passage(SourceId("a"), ("The book a", "Hulls"), (ConceptId("keel"),))] * 9
    found_first = found([*boats, *more])
    assert "keel" in members(found_first)["Keel"]
    before = [Known("h", "hull", "Hulls", frozenset({ConceptId("keel"), ConceptId("hull1")}), frozenset())]
    assert "keel" in members(found([*boats, *more], before))["Keel"]
    assert members(found([*boats, *more], remembered(found_first))) == members(found_first)


def test_a_topic_has_the_concept_of_its_name_first_even_where_all_of_it_is_said_elsewhere() -> None:
    boats = passages("a", Keel="fin lead bulb bolts wood ballast shoe", Hulls=many("hull", 26) + " keel")
    keel = next(t for t in found(boats) if t.title == "Keel")
    assert keel.members[0] == "keel"
    assert {t.title: t.members for t in found(boats, remembered(found(boats)))}["Keel"] == keel.members
