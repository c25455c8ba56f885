"""Mastery: what the scores promise, for any memory."""

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from learning.memory.state import MemoryState, Phase, Remembered
from learning.stats.mastery import Studied, by_tag, grouped, is_known, mastery, score, strength, weakest
from vault.ids import CardId

NOW = datetime(2026, 6, 1, tzinfo=UTC)
KNOWN = MemoryState(Phase.REVIEW, 365.0, 5.0, None, NOW, NOW, 1, 365, 9)
DAYS = st.floats(0.001, 36_500)


def sure(state: Remembered) -> float:
    return 1.0


@given(DAYS, DAYS, st.floats(0, 1))
def test_a_score_lies_between_nothing_and_one_and_grows_with_stability(a: float, b: float, chance: float) -> None:
    low, high = sorted((a, b))
    assert 0 <= strength(low) <= strength(high) <= 1
    assert 0 <= score(replace(KNOWN, stability=a), lambda _: chance) <= chance


def test_the_scores_are_those_that_the_words_name() -> None:
    shown = {days: round(strength(days), 2) for days in (0, 7, 21, 90, 365, 3650)}
    assert shown == {0: 0.0, 7: 0.35, 21: 0.52, 90: 0.76, 365: 1.0, 3650: 1.0}


def test_what_was_never_seen_or_changed_since_scores_nothing() -> None:
    assert score(None, sure) == score(MemoryState(), sure) == score(replace(KNOWN, changed=True), sure) == 0
    assert score(KNOWN, sure) == 1.0


def test_a_concept_is_the_mean_of_its_kinds_and_a_kind_that_of_its_cards() -> None:
    cards = [
        Studied(CardId("a"), "k", "K", "definitional"),
        Studied(CardId("b"), "k", "K", "definitional"),
        Studied(CardId("c"), "k", "K", "applied"),
        Studied(CardId("gone"), "k", "K", "relational"),
    ]
    states = {CardId("a"): KNOWN, CardId("c"): KNOWN, CardId("gone"): replace(KNOWN, retracted=True)}
    (found,) = mastery(cards, states, sure)
    assert found.profile == {"definitional": 0.5, "mechanistic": None, "relational": None, "applied": 1.0}
    assert (found.score, found.cards, found.seen, found.known) == (0.75, 3, 2, False)


def test_cards_without_a_kind_count_for_the_concept() -> None:
    (found,) = mastery([Studied(CardId("a"), "k", "K")], {CardId("a"): KNOWN}, sure)
    assert found.score == 1.0
    assert found.known
    assert set(found.profile.values()) == {None}


def test_a_card_is_known_only_in_review_for_weeks_and_unchanged() -> None:
    assert is_known(KNOWN)
    for no in (
        None,
        replace(KNOWN, stability=20.9),
        replace(KNOWN, phase=Phase.RELEARNING),
        replace(KNOWN, changed=True),
        replace(KNOWN, retracted=True),
        replace(KNOWN, suspended=True),
    ):
        assert not is_known(no)


def test_a_suspended_card_neither_makes_a_concept_known_nor_prevents_it() -> None:
    cards = [Studied(CardId("a"), "k", "K", "definitional"), Studied(CardId("b"), "k", "K", "applied")]
    both = {CardId("a"): KNOWN, CardId("b"): replace(KNOWN, suspended=True)}
    assert mastery(cards, both, sure)[0].known
    assert not mastery(cards, {CardId("b"): replace(KNOWN, suspended=True)}, sure)[0].known
    assert not mastery(cards[1:], both, sure)[0].known


def test_groups_are_means_over_their_concepts_each_once() -> None:
    cards = [Studied(CardId(c), c, c.upper(), "definitional", ("exam", "b") if c == "x" else ("exam",)) for c in "xyz"]
    concepts = mastery(cards, {CardId("x"): KNOWN, CardId("y"): replace(KNOWN, stability=21)}, sure)
    tags = grouped(concepts, by_tag(cards))
    assert [(g.name, g.concepts, g.seen, g.known) for g in tags] == [("b", 1, 1, 1), ("exam", 3, 2, 2)]
    assert tags[1].score == sum(c.score for c in concepts) / 3
    assert grouped(concepts, {"T": ["x", "x", "nothing"], "empty": ["nothing"]})[0].concepts == 1
    assert [c.title for c in weakest(concepts, 5)] == ["Y", "X"]
