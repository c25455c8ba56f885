"""The one reader of each thing in language: stems, negation, opposites, comparisons, quantities, dates, languages."""

from __future__ import annotations

from fractions import Fraction

import pytest

from compiler.language.comparisons import Comparison, comparisons, contrary
from compiler.language.detection import language_of, sentence_language
from compiler.language.lexicon import LEMMAS, singular, stem, word_list
from compiler.language.negation import negations, polarity_fault
from compiler.language.opposites import direction, opposite
from compiler.language.quantities import quantities
from compiler.language.rewording import Change, classify
from compiler.language.tokens import folded_stem


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("stopped", "stop"), ("stores", "stored"), ("rose", "risen"), ("fell", "fall"), ("taught", "teach"),
        ("bore", "borne"), ("shrank", "shrunk"), ("chose", "chosen"), ("gewählt", "wählte"), ("1,500", "1500"),
    ],
)  # fmt: skip
def test_forms_of_one_word_have_one_stem(one: str, other: str) -> None:
    assert folded_stem(one) == folded_stem(other)


@pytest.mark.parametrize(
    ("plural", "word"),
    [("matrices", "matrix"), ("children", "child"), ("caches", "cache"), ("series", "series"), ("studies", "study")],
)
def test_plurals_have_one_singular(plural: str, word: str) -> None:
    assert singular(plural) == word


def test_an_irregular_form_belongs_to_one_verb_and_is_none_itself() -> None:
    verbs = [row.split()[0] for row in word_list("irregular_verbs").split(",")]
    assert len(verbs) == len(set(verbs)) and not LEMMAS.keys() & set(verbs)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("increases", "decreases"), ("rises", "falls"), ("faster", "slower"), ("greater", "smaller"),
        ("more", "fewer"), ("better", "worse"), ("before", "after"), ("above", "below"), ("north", "south"),
        ("linearly", "quadratically"), ("activates", "inhibits"), ("steigt", "sinkt"), ("forward", "backward"),
        ("positive", "negative"), ("first", "last"), ("with", "without"),
    ],
)  # fmt: skip
def test_opposites_are_opposites_in_either_order(one: str, other: str) -> None:
    a, b = stem(one), stem(other)
    assert opposite(a, b) and opposite(b, a) and not opposite(a, a)


@pytest.mark.parametrize(("one", "other"), [("fast", "warm"), ("increases", "raises"), ("before", "below")])
def test_words_of_one_side_or_of_two_scales_are_no_opposites(one: str, other: str) -> None:
    assert not opposite(stem(one), stem(other))


@pytest.mark.parametrize(
    ("word", "scale", "sign"),
    [
        ("larger", "size", 1), ("smaller", "size", -1), ("faster", "speed", 1), ("schneller", "speed", 1),
        ("worse", "worth", -1), ("dearer", "cost", 1), ("kälter", "heat", -1), ("later", "lateness", -1),
    ],
)  # fmt: skip
def test_a_comparative_has_a_scale_and_a_direction(word: str, scale: str, sign: int) -> None:
    assert direction(word) == (scale, sign)


def compared(text: str) -> Comparison:
    (one,) = comparisons(text)
    return one


@pytest.mark.parametrize(
    ("first", "second", "clash"),
    [
        ("Copper is harder than tin.", "Tin is harder than copper.", True),
        ("Copper is harder than tin.", "Tin is easier than copper.", False),
        ("Copper is harder than tin.", "Copper is easier than tin.", True),
        ("Copper is harder than tin.", "Copper is heavier than tin.", False),
        ("Trees beat lists.", "Lists outperform trees.", True),
        ("Trees beat lists.", "Trees surpass lists.", False),
        ("The seal is set before the print.", "The print is set before the seal.", True),
        ("The seal is set before the print.", "The print is set after the seal.", False),
        ("Trees give better recall than lists.", "Lists give better speed than trees.", False),
        ("铜比锡重。", "锡比铜重。", True),
    ],
)
def test_comparisons_of_the_same_things_clash_where_one_is_turned_round(first: str, second: str, clash: bool) -> None:
    a, b = compared(first), compared(second)
    assert contrary(a, b) == contrary(b, a) == clash


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It does not hold.", ["not"]),
        ("Nobody knows it, nor can they.", ["nobody", "nor"]),
        ("It doesn’t hold without a key.", ["doesn't", "without"]),
        ("Das gilt nicht und ohne Grund.", ["nicht", "ohne"]),
        ("它没有键。", ["没有"]),
        ("It holds.", []),
    ],
)
def test_negations_are_named_in_order(text: str, words: list[str]) -> None:
    assert negations(text) == words


@pytest.mark.parametrize(
    ("words", "evidence", "wrong"),
    [
        ("Bats cannot see in dim light.", "Bats can see in dim light.", True),
        ("Bats can see in dim light.", "Bats cannot see in dim light.", True),
        ("Bats can see in dim light.", "Bats can see not only by day but in dim light.", False),
        ("The reaction is unstable.", "The reaction is stable.", True),
        ("Der Prozess ist stabil.", "Der Prozess ist nicht stabil.", True),
    ],
)
def test_a_denial_may_neither_come_nor_go(words: str, evidence: str, wrong: bool) -> None:
    assert bool(polarity_fault(words, [evidence])) == wrong


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("twenty-five species", 25, ""), ("1.5 million euros", 1_500_000, "€"), ("1,500,000 euros", 1_500_000, "€"),
        ("fünfundzwanzig Jahre", 25, "years"), ("20 milliseconds", 20, "ms"), ("20 ms", 20, "ms"), ("3 kB", 3, "KB"),
        ("5 kilogrammes", 5, "kg"), ("50 percent", 50, "%"), ("三十公里", 30, ""),
    ],
)  # fmt: skip
def test_a_number_is_the_same_in_figures_and_in_words(text: str, value: int, unit: str) -> None:
    (number,) = quantities(text).numbers
    assert Fraction(value) in number.values and number.unit == unit


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("on 3 May 1986", (1986, 5, 3)), ("on May 3, 1986", (1986, 5, 3)), ("am 3. Mai 1986", (1986, 5, 3)),
        ("1986-05-03", (1986, 5, 3)), ("1986年5月3日", (1986, 5, 3)), ("in October 1917", (1917, 10, None)),
    ],
)  # fmt: skip
def test_a_date_is_the_same_in_every_form(text: str, date: tuple[int, int, int | None]) -> None:
    (day,) = quantities(text).days
    assert (day.year, day.month, day.day) == date


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The cat is on the mat and it does not move at all.", "en"),
        ("Die Katze ist auf der Matte und sie bewegt sich nicht mehr.", "de"),
        ("猫在垫子上，它没有动。", "zh"),
        ("", ""),
    ],
)
def test_documents_and_sentences_have_one_language(text: str, language: str) -> None:
    assert language_of(text) == sentence_language(text) == language


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The guild chooses the new stones.", "The guild builds the new stones."),
        ("It holds, but only here.", "It holds, although only here."),
    ],
)
def test_words_of_two_rows_of_synonyms_are_not_exchanged(old: str, new: str) -> None:
    assert classify(old, new) is Change.FACT
