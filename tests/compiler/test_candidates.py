"""Which pairs of names are joined by rule, which are asked about, and what the answers come to."""

from __future__ import annotations

import random
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from compiler.concepts.evidence import SourceClaims
from compiler.concepts.match_questions import PER_NAME, Question, doubt_events, doubts, genus, questions, ruled, survey
from compiler.concepts.resolve import resolve
from compiler.concepts.rulings import Rulings
from compiler.concepts.similarity import similar_pairs
from compiler.model.requests import MatchReply, Verdict, rests
from tests.compiler.name_pairs import ALL, SPELLINGS, TO_ASK, TWO, Labelled
from tests.compiler.test_naming import AT, names_of, source, term, told
from vault.log.ledger import Ids
from vault.model.claim import ClaimKind

DEFINED = ClaimKind.DEFINITION


def sources_of(pair: Labelled) -> list[SourceClaims]:
    """Two documents, one for each name, that treat it under a heading and say what it is, if the label does."""
    made = []
    for n, (name, said) in enumerate(zip((pair.one, pair.other), pair.said, strict=True), 1):
        kind = DEFINED if said else ClaimKind.FACT
        terms = [term(name, "heading"), term(name, "definition")]
        made.append(source(n, terms, [(said or f"{name} is told of in place {n}.", kind, (name,))]))
    return made


def asked_of(sources: Sequence[SourceClaims], rulings: Rulings | None = None) -> list[Question]:
    rulings = rulings or Rulings()
    return questions(survey(sources, Ids(), rulings), rulings)


def joined(pair: Labelled) -> bool:
    return len(survey(sources_of(pair), Ids(), Rulings()).names) == 1


def test_the_rules_join_hardly_anything_that_is_two_and_all_that_is_merely_spelled_otherwise() -> None:
    assert len(ALL) >= 60
    found = [p for p in ALL if joined(p)]
    precision = sum(p.same for p in found) / len(found)
    recall = sum(p.same for p in found) / sum(p.same for p in ALL)
    assert precision >= 0.98 and recall >= 0.5
    assert [p for p in SPELLINGS if not joined(p)] == []


def test_what_may_be_one_is_asked_about_and_what_is_surely_two_is_not() -> None:
    assert [p for p in TO_ASK if bool(asked_of(sources_of(p))) is p.unseen] == []
    needless = [p for p in TWO if asked_of(sources_of(p))]
    assert len(needless) <= 3


SETS = st.dictionaries(st.text("abcdef", min_size=1, max_size=3), st.frozensets(st.sampled_from("uvwxyz")), max_size=8)


@given(SETS, st.sampled_from([0.2, 0.4, 0.5, 0.8, 1.0]))
def test_the_search_misses_no_two_sets_that_are_alike(sets: dict[str, frozenset[str]], least: float) -> None:
    plainly = {
        (a, b): len(sets[a] & sets[b]) / len(sets[a] | sets[b])
        for a in sets
        for b in sets
        if a < b and sets[a] and sets[b] and len(sets[a] & sets[b]) / len(sets[a] | sets[b]) >= least
    }
    assert similar_pairs(sets, least) == plainly


def answered(sources: Sequence[SourceClaims], same: Verdict, rulings: Rulings | None = None) -> Rulings:
    rulings = rulings or Rulings()
    seen = survey(sources, Ids(), rulings)
    asked = questions(seen, rulings)
    assert asked
    return ruled(seen, asked, [MatchReply(same=same)] * len(asked), rulings)


SOFTMAX = Labelled("softmax", "softmax function", same=True)


def test_yes_joins_and_no_and_unsure_join_nothing() -> None:
    sources = sources_of(SOFTMAX)
    verdicts: list[tuple[Verdict, int]] = [("yes", 1), ("no", 2), ("unsure", 2)]
    for verdict, concepts in verdicts:
        assert len(resolve(sources, Ids(), AT, answered(sources, verdict)).concepts) == concepts


def test_what_a_human_said_is_not_asked_again() -> None:
    sources = sources_of(SOFTMAX)
    two = ("softmax", "softmax function")
    assert asked_of(sources, Rulings(apart=frozenset({two}))) == []
    assert asked_of(sources, Rulings(same=frozenset({two}))) == []


def test_an_unsure_answer_is_a_doubt_until_it_is_settled() -> None:
    seen = survey(sources_of(SOFTMAX), Ids(), Rulings())
    asked = questions(seen, Rulings())
    (doubt,) = doubts(asked, [MatchReply(same="unsure", why="too little is said")])
    assert doubt.titles == ("Softmax", "Softmax function") and doubt.why == "too little is said"
    ids = Ids()
    (born,) = doubt_events([doubt], ids, AT)
    ids.apply(born)
    assert doubt_events([doubt], ids, AT) == []
    (gone,) = doubt_events([], ids, AT)
    assert (gone["type"], gone["id"]) == ("retire", born["id"])
    ids.apply(gone)
    assert [e["type"] for e in doubt_events([doubt], ids, AT)] == ["revive"]


def homonym(number: int, words: str, *more: str) -> SourceClaims:
    claims = [(words, DEFINED, ("transformer",)), *((m, ClaimKind.FACT, ("transformer",)) for m in more)]
    return source(number, [term("transformer", "definition")], claims)


NETWORK = "A transformer is a neural network made of attention layers."
DEVICE = "A transformer is an electrical device that changes the voltage by induction between coils."
DEVICES = "A transformer is a device that changes an electrical voltage by coils and induction."


def test_one_name_that_sources_define_far_apart_is_asked_about_and_becomes_two_on_a_no() -> None:
    sources = [homonym(1, NETWORK), homonym(2, DEVICE, "Transformers hum."), homonym(3, DEVICES)]
    asked = asked_of(sources)
    assert [(q.source, q.request.a.title, q.request.b.title) for q in asked] == [
        ("s2", "Transformer", "Transformer"), ("s3", "Transformer", "Transformer"),
    ]  # fmt: skip
    found = resolve(sources, Ids(), AT, answered(sources, "no"))
    assert told(found) == {
        "Transformer": [NETWORK], "Transformer (electrical device)": [DEVICE, "Transformers hum.", DEVICES],
    }  # fmt: skip
    assert names_of(resolve(sources, Ids(), AT, answered(sources, "yes"))) == {"Transformer": ()}


def test_a_source_that_says_nearly_the_same_of_a_name_is_not_asked_about() -> None:
    assert asked_of([homonym(1, DEVICE), homonym(2, DEVICES)]) == []


def test_what_a_human_says_of_a_homonym_stands_above_the_model() -> None:
    sources = [homonym(1, NETWORK), homonym(2, DEVICE)]
    one = Rulings(same=frozenset({("transformer", "transformer (electrical device)")}))
    assert len(resolve(sources, Ids(), AT, answered(sources, "no", one)).concepts) == 1


def test_the_kind_of_thing_is_read_off_a_definition() -> None:
    assert genus(DEVICE, ["transformer"]) == "electrical device"
    assert genus(NETWORK, ["transformer"]) == "network made" or genus("A keel is a fin of a boat.", []) == "fin"
    assert genus("Keels everywhere.", []) == "other sense"


def test_a_name_in_another_language_with_an_english_gloss_is_asked_about() -> None:
    chinese = source(1, [term("龙骨", "definition")], [("龙骨（keel）是船底的鳍。", DEFINED, ("龙骨",))], "zh")
    english = source(2, [term("keel", "definition")], [("A keel is a fin below a boat.", DEFINED, ("keel",))])
    (question,) = asked_of([chinese, english])
    assert {question.request.a.title, question.request.b.title} == {"Keel", "龙骨"}


WORDS = [a + b + c for a in ("ba", "de", "ki", "lo", "mu", "ne") for b in ("ra", "so", "ti") for c in ("n", "rt", "ck")]


def made(number: int) -> SourceClaims:
    rng = random.Random(number)
    found = sorted({" ".join(rng.sample(WORDS, 3)) for _ in range(6)})
    said = [(f"{n.capitalize()} is a {' '.join(rng.choices(WORDS, k=9))}.", DEFINED, (n,)) for n in found]
    return source(number, [term(n, "definition") for n in found], said)


def test_a_new_source_asks_no_more_of_a_large_wiki_than_a_name_may_ask() -> None:
    sources = [made(n) for n in range(120)]
    before = {rests(q.request) for q in asked_of(sources[:-1])}
    seen = survey(sources, Ids(), Rulings())
    asked = questions(seen, Rulings(), lambda request: rests(request) in before)
    assert len(seen.names) > 600
    assert before <= {rests(q.request) for q in asked}  # what was answered is used as long as its names are there
    assert len(asked) - len(before) <= PER_NAME * len(sources[-1].terms)


@given(st.randoms(use_true_random=False))
def test_the_order_of_sources_changes_no_question_and_no_ruling(rng: random.Random) -> None:
    sources = [made(n) for n in range(6)] + [homonym(70, NETWORK), homonym(71, DEVICE)]
    sources += [s for n, pair in enumerate(TO_ASK[:4]) for s in sources_of(pair)[n % 2 :]]
    mixed = sources[:]
    rng.shuffle(mixed)
    one, other = (asked_of(s) for s in (sources, mixed))
    assert [(rests(q.request), q.pair, q.source) for q in one] == [(rests(q.request), q.pair, q.source) for q in other]
    assert answered(sources, "no") == answered(mixed, "no")


def test_names_that_a_human_joined_are_put_to_nobody_again_and_homonyms_beside_them_are() -> None:
    store = source(
        1, [term("database", "definition")], [(NETWORK.replace("transformer", "database"), DEFINED, ("database",))]
    )
    bank = source(
        2, [term("data bank", "definition")], [(DEVICE.replace("transformer", "data bank"), DEFINED, ("data bank",))]
    )
    merged = Rulings(same=frozenset({("data bank", "database")}))
    assert asked_of([store, bank], merged) == []
    others = [homonym(3, NETWORK), homonym(4, DEVICE)]
    asked = asked_of([store, bank, *others], merged)
    assert [q.pair for q in asked if q.source] == [("transformer", "transformer")]
