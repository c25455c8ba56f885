"""Decisions about names: what they come to in any order, and what resolving makes of them."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.concepts.decisions import Decision, Op, decisions_in, event_of, rulings_of
from compiler.concepts.resolve import Resolution, resolve
from compiler.concepts.rulings import Rulings, Sense, Union, pair, sense_key
from tests.compiler.test_naming import AT, names_of, source, term, told
from vault.ids import ConceptId, mint
from vault.log.ledger import Event, Ids, fold
from vault.model.claim import ClaimKind

DEFINED = ClaimKind.DEFINITION


def decision(number: int, op: Op, **fields: Any) -> Event:
    return event_of(Decision(mint("deed", str(number)), op, f"2026-01-01T00:00:00.{number:03d}Z", **fields))


def sails(*names: str) -> list[Any]:
    """A source for each name, which defines it."""
    return [
        source(n, [term(name, "definition")], [(f"The {name} is sail number {n} of a boat.", DEFINED, (name,))])
        for n, name in enumerate(names, 1)
    ]


def after(resolution: Resolution, ids: Ids) -> Ids:
    for event in resolution.events:
        ids.apply(event)
    return ids


def id_of(ids: Ids, name: str) -> ConceptId:
    return ConceptId(next(i for i, b in ids.births.items() if b.name == name))


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.booleans()), max_size=12))
def test_what_is_kept_apart_never_meets_by_way_of_others(steps: list[tuple[int, int, bool]]) -> None:
    union, parted = Union(), list[tuple[str, str]]()
    for a, b, joins in steps:
        one, other = str(a), str(b)
        if joins:
            assert union.join(one, other) is (union.find(one) == union.find(other))
        elif union.part(one, other):
            parted.append((one, other))
        assert all(union.find(x) != union.find(y) and not union.join(x, y) for x, y in parted)


OPS = st.sampled_from(["merge", "never", "alias", "unalias", "undo"])


@given(st.lists(st.tuples(OPS, st.integers(0, 4), st.integers(0, 4)), max_size=10), st.randoms(use_true_random=False))
def test_the_fold_is_the_same_in_any_order_and_agrees_with_itself(
    steps: list[tuple[str, int, int]], rng: random.Random
) -> None:
    names, ids = ["jib", "genoa", "spanker", "topsail", "main"], [mint("concept", str(n)) for n in range(5)]
    events: list[Event] = []
    for n, (op, a, b) in enumerate(steps):
        if op == "undo":
            events.append(decision(n, Op.UNDO, voids=mint("deed", str(a + b))))
        elif op in ("merge", "never"):
            events.append(decision(n, Op(op), id=ids[a], into=ids[b], keys=(names[a],), other=(names[b],)))
        else:
            events.append(decision(n, Op(op), id=ids[a], name=names[b], keys=(names[a],)))
    first = rulings_of(events)
    shuffled = [*events, *events[:2]]
    rng.shuffle(shuffled)
    assert rulings_of(shuffled) == first
    union = Union(first.apart)
    assert all(union.join(*one) for one in first.same)


def test_of_two_decisions_that_contradict_each_other_the_later_counts() -> None:
    one, other = mint("concept", "a"), mint("concept", "b")
    both = {"id": one, "into": other, "keys": ("jib",), "other": ("genoa",)}
    assert rulings_of([decision(1, Op.MERGE, **both), decision(2, Op.NEVER, **both)]).same == frozenset()
    assert rulings_of([decision(1, Op.NEVER, **both), decision(2, Op.MERGE, **both)]).apart == frozenset()


def test_an_undo_can_be_undone() -> None:
    renamed = decision(1, Op.RENAME, id=mint("concept", "a"), name="Genoa", keys=("jib",))
    undo = decision(2, Op.UNDO, voids=renamed["deed"])
    again = decision(3, Op.UNDO, voids=undo["deed"])
    assert rulings_of([renamed, undo]).names == {}
    assert list(rulings_of([again, renamed, undo]).names.values()) == ["Genoa"]


def test_an_answer_in_the_inbox_counts_like_a_decision_until_it_is_taken_back() -> None:
    said: Event = {"type": "inbox", "of": "names", "id": "abc", "names": ["jib", "genoa"], "at": AT}
    assert rulings_of([said | {"decision": "accept"}]).same == {("genoa", "jib")}
    assert rulings_of([said | {"decision": "keep"}]).apart == {("genoa", "jib")}
    undo: Event = {"type": "inbox", "decision": "undo", "voids": "abc", "at": "2026-01-02T00:00:00.000Z"}
    assert rulings_of([said | {"decision": "accept"}, undo]).same == frozenset()


@pytest.mark.parametrize(
    "spoilt",
    [
        {"name": "../../insights/x"},
        {"name": "<script>"},
        {"name": "a]]b"},
        {"name": "x" * 10_000},
        {"name": "\u202egenoa"},
        {"name": "\x1b[31mred"},
        {"name": 7},
        {"id": "../../../x"},
        {"deed": "no id"},
        {"op": "transmute"},
        {"keys": "jib"},
        {"keys": ["jib"] * 501},
        {"keys": [""]},
    ],
)
def test_a_line_of_the_ledger_that_makes_no_sense_decides_nothing(spoilt: dict[str, object]) -> None:
    whole = decision(1, Op.RENAME, id=mint("concept", "a"), name="Genoa", keys=("jib",))
    assert decisions_in([whole]) != [] and decisions_in([whole | spoilt]) == []


def test_brackets_tell_one_name_from_another() -> None:
    assert sense_key("Transformer (electrical device)") == "transformer (electrical device)"
    assert sense_key("Transformers") == "transformer" and sense_key("Transformer ()") == "transformer"


def test_without_decisions_resolving_is_as_it_was() -> None:
    sources = sails("jib", "genoa", "jibs")
    assert resolve(sources, Ids(), AT) == resolve(sources, Ids(), AT, Rulings())


def test_two_names_that_a_human_joined_are_one_concept_of_the_id_that_was_chosen() -> None:
    ids = after(resolve(sails("jib", "genoa"), Ids(), AT), Ids())
    jib, genoa = id_of(ids, "Jib"), id_of(ids, "Genoa")
    for into in (jib, genoa):
        other = genoa if into == jib else jib
        found = resolve(sails("jib", "genoa"), ids, AT, Rulings(same=frozenset({("genoa", "jib")}), into={other: into}))
        (concept,) = found.concepts.values()
        assert concept.id == into and len(concept.main) == 2
        assert {concept.title, *concept.aliases} == {"Jib", "Genoa"}
        assert [(e["type"], e["id"], e["into"]) for e in found.events] == [("merge", other, into)]


def test_what_was_joined_is_two_again_with_its_old_ids_when_nobody_joins_it_any_more() -> None:
    ids = after(resolve(sails("jib", "genoa"), Ids(), AT), Ids())
    jib, genoa = id_of(ids, "Jib"), id_of(ids, "Genoa")
    joined = Rulings(same=frozenset({("genoa", "jib")}), into={jib: genoa})
    ids = after(resolve(sails("jib", "genoa"), ids, AT, joined), ids)
    assert not ids.alive(jib)
    back = resolve(sails("jib", "genoa"), ids, AT)
    assert set(back.concepts) == {jib, genoa} and after(back, ids).alive(jib)


def test_names_set_apart_are_joined_by_no_rule_and_by_way_of_no_third_name() -> None:
    sources = [
        *sails("jib", "genoa"),
        source(3, [term("jib", "definition", "headsail"), term("genoa", "definition", "headsail")], []),
    ]
    assert len(resolve(sources, Ids(), AT).concepts) == 1
    for order in (sources, sources[::-1]):
        found = resolve(order, Ids(), AT, Rulings(apart=frozenset({("genoa", "jib")})))
        assert names_of(found) == {"Genoa": ("Headsail",), "Jib": ()}
        asked = Rulings(apart=frozenset({("genoa", "jib")}), likely=frozenset({("headsail", "jib")}))
        assert len(resolve(order, Ids(), AT, asked).concepts) == 2


def test_a_name_that_was_taken_out_stays_out_whichever_join_would_bring_it_back() -> None:
    sources = [
        *sails("jib", "genoa"),
        source(3, [term("jib", "definition", "genoa"), term("jib", "definition", "foresail")], []),
    ]
    sources.append(source(4, [term("genoa", "definition", "foresail")], []))
    out = rulings_of([decision(1, Op.UNALIAS, id=mint("concept", "jib"), name="genoa", keys=("jib",))])
    assert names_of(resolve(sources, Ids(), AT, out)) == {"Jib": ("Foresail",), "Genoa": ()}


def test_a_model_joins_what_no_rule_does_but_not_what_a_user_holds_apart() -> None:
    sources = sails("jib", "genoa", "spanker")
    yes = Rulings(likely=frozenset({("genoa", "jib"), ("genoa", "spanker")}))
    assert len(resolve(sources, Ids(), AT, yes).concepts) == 1
    no = Rulings(likely=yes.likely, apart=frozenset({("jib", "spanker")}))
    assert len(resolve(sources, Ids(), AT, no).concepts) == 2


def test_a_renamed_concept_keeps_its_id_and_gets_its_old_path_back_with_its_old_name() -> None:
    ids = after(resolve(sails("jib"), Ids(), AT), Ids())
    jib = id_of(ids, "Jib")
    ruled = Rulings(names={jib: "Foresail (of a sloop)"}, same=frozenset({("foresail (of a sloop)", "jib")}))
    found = resolve(sails("jib"), ids, AT, ruled)
    concept = found.concepts[jib]
    assert (concept.title, concept.slug, concept.aliases) == ("Foresail (of a sloop)", "foresail-of-a-sloop", ("Jib",))
    ids = after(found, ids)
    assert ids.former_slugs("concept") == {"jib": jib} and resolve(sails("jib"), ids, AT, ruled).events == []
    held = resolve(sails("jib"), ids, AT, held=frozenset({jib})).concepts[jib]
    assert (held.title, held.slug) == ("Jib", "foresail-of-a-sloop")
    back = resolve(sails("jib"), ids, AT).concepts[jib]
    assert (back.title, back.slug) == ("Jib", "jib")


def test_a_path_that_was_left_is_given_to_nobody_else() -> None:
    ids = after(resolve(sails("jib"), Ids(), AT), Ids())
    jib = id_of(ids, "Jib")
    ids = after(resolve(sails("jib"), ids, AT, Rulings(names={jib: "Genoa"})), ids)
    both = [*sails("jib"), source(9, [term("Genoa", "definition")], [("The genoa is a sail.", DEFINED, ("Genoa",))])]
    slugs = {c.slug for c in resolve(both, ids, AT, Rulings(names={jib: "Genoa"})).concepts.values()}
    assert "genoa" in slugs and len(slugs) == 2 and "jib" not in slugs


def transformers() -> list[Any]:
    return [
        source(
            1,
            [term("transformer", "definition")],
            [("A transformer is a network of attention layers.", DEFINED, ("transformer",)),
             ("Transformers read all words at once.", ClaimKind.MECHANISM, ("transformers",))],
        ),
        source(
            2,
            [term("transformer", "definition"), term("coil", "definition")],
            [("A transformer is an electrical device with two coils.", DEFINED, ("transformer",)),
             ("A coil is a wire of a transformer.", DEFINED, ("coil",))],
        ),
    ]  # fmt: skip


def test_one_name_of_two_ideas_becomes_two_concepts_with_their_own_claims_and_mentions() -> None:
    key = "transformer (electrical device)"
    ruled = Rulings(
        senses={"s2": (Sense(0, "transformer", key),)},
        titles={key: "Transformer (electrical device)"},
        apart=frozenset({pair("transformer", key)}),
        kept=frozenset({key, "transformer"}),
    )
    for order in (transformers(), transformers()[::-1]):
        found = resolve(order, Ids(), AT, ruled)
        assert {title: len(claims) for title, claims in told(found).items()} == {
            "Transformer": 2, "Transformer (electrical device)": 1, "Coil": 1,
        }  # fmt: skip
        by_title = {c.title: c for c in found.concepts.values()}
        (coil,) = by_title["Coil"].main
        assert by_title["Transformer (electrical device)"].id in found.mentions[coil.id]
        assert by_title["Transformer"].id not in found.mentions[coil.id]
        assert {c.slug for c in found.concepts.values()} == {"transformer", "transformer-electrical-device", "coil"}


def test_a_single_claim_can_be_parted_and_parted_again() -> None:
    (claim, _), _ = transformers()[1].claims
    events = [
        decision(
            1, Op.SPLIT, id=mint("concept", "t"), name="Transformer (coil)", keys=("transformer",), places=("s2",)
        ),
        decision(
            2, Op.SPLIT, id=mint("concept", "u"), name="Mains unit", keys=("transformer (coil)",), places=(claim.id,)
        ),
    ]
    found = resolve(transformers(), Ids(), AT, rulings_of(events))
    assert told(found)["Mains unit"] == [claim.words]
    moved_back = decision(
        3, Op.SPLIT, id=mint("concept", "u"), name="Transformer", keys=("mains unit",), places=(claim.id,)
    )
    assert claim.words in told(resolve(transformers(), Ids(), AT, rulings_of([*events, moved_back])))["Transformer"]


@given(st.randoms(use_true_random=False))
def test_with_decisions_of_all_kinds_the_order_of_sources_never_matters(rng: random.Random) -> None:
    sources = [*sails("jib", "genoa", "spanker", "topsail"), *[s for n, s in enumerate(transformers()) if n]]
    sources.append(source(8, [term("jib", "definition", "headsail"), term("genoa", "definition", "headsail")], []))
    sources.append(source(9, [term("topsail", "definition", "spanker")], []))
    ruled = rulings_of(
        [
            decision(1, Op.NEVER, keys=("jib",), other=("genoa",)),
            decision(
                2, Op.MERGE, id=mint("concept", "x"), into=mint("concept", "y"), keys=("spanker",), other=("jib",)
            ),
            decision(3, Op.UNALIAS, id=mint("concept", "z"), name="spanker", keys=("topsail",)),
        ]
    )
    usual = resolve(sources, Ids(), AT, ruled)
    mixed = sources[:]
    rng.shuffle(mixed)
    found = resolve(mixed, Ids(), AT, ruled)
    assert names_of(found) == names_of(usual) and set(found.concepts) == set(usual.concepts)


def test_clones_that_renamed_two_things_alike_end_with_two_paths() -> None:
    events: list[Event] = [
        {"type": "birth", "of": "concept", "id": f"{n}{n}aaaaaaaa", "at": AT, "key": k, "name": k, "slug": k}
        for n, k in ((1, "jib"), (2, "genoa"))
    ]
    for n, key in ((1, "jib"), (2, "genoa")):
        later = f"2026-01-0{n + 1}T00:00:00.000Z"
        head: Event = {"type": "rename", "of": "concept", "id": f"{n}{n}aaaaaaaa", "at": later}
        events.append(head | {"key": key, "name": "Headsail", "slug": "headsail"})
    for order in (events, events[::-1]):
        slugs = {i: b.slug for i, b in fold(order).births.items()}
        assert slugs == {"11aaaaaaaa": "headsail", "22aaaaaaaa": "headsail-22aa"}
