"""Numbers, dates, names and denials that words have and their evidence has not."""

from fractions import Fraction

import pytest

from compiler.gates.facts import name_fault, quantity_fault
from compiler.language.negation import polarity_fault
from compiler.language.quantities import Day, quantities


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("299,792,458 or 299 792 458 or 299.792.458", {299_792_458}),
        ("175 billion, 175B", {175_000_000_000}),
        ("thirty-seven, siebenunddreißig, 37", {37}),
        ("two thirds", {Fraction(2, 3)}),
        ("−39 °C, minus 39 degrees, 39 °C below zero", {-39}),
        ("10万次", {100_000}),
        ("二〇〇八年", {2008}),
        ("GPT-3, C4, ResNet-50, 3D", set()),
    ],
)
def test_a_number_is_read_in_figures_and_in_words(text: str, values: set[Fraction | int]) -> None:
    found = quantities(text).numbers
    assert {v for n in found for v in n.values} == values


def test_a_comma_may_part_thousands_or_decimals() -> None:
    (number,) = quantities("1,500 metres").numbers
    assert number.values == {Fraction(1500), Fraction(3, 2)}


@pytest.mark.parametrize(
    "text", ["on July 14, 1789", "14 July 1789", "1789-07-14", "am 14. Juli 1789", "14.7.1789", "1789年7月14日"]
)
def test_a_date_is_one_date_however_it_is_written(text: str) -> None:
    (day,) = quantities(text).days
    assert (day.year, day.month, day.day) == (1789, 7, 14)


def test_may_is_a_month_only_beside_a_day_or_a_year() -> None:
    assert quantities("It may rain. May I go?").days == ()
    assert quantities("in May 2020").days == (Day("in May 2020", 2020, 5, None),)


@pytest.mark.parametrize(
    ("words", "evidence", "fault"),
    [
        ("It took 3 hours.", "It took three hours.", ""),
        ("It took 3 hours.", "It took 3 days.", "gives 3 in another unit"),
        ("At most 20 came.", "At least 20 came.", "gives 20 as a maximum instead of a minimum"),
        ("It fell in the 1990s.", "It fell in 1994.", ""),
        ("It fell in the 1980s.", "It fell in 1994.", "does not contain 1980s"),
        ("It began in the 20th century.", "It began in 1914.", ""),
        ("The war of 1918", "The war of 1914–18", ""),
        ("18 % of them", "18 percent of them", ""),
        ("Both houses, so two houses", "both houses", ""),
        ("in March 2004", "in May 2004", "does not contain in March 2004"),
        ("on 4 May 2004", "in May 2004", "does not contain 4 May 2004"),
        ("44 BC", "44 AD", "gives 44 in another unit"),
        ("The number of cells minus 1", "df = cells-1", ""),
        ("$t_{1/2}k_{e0}$ is short", "t~1/2~ke0 is short", ""),
        ("The mains have 50 Hz and 240 V.", "The mains have 50Hz and 240V.", ""),
        ("The mains have 60 Hz.", "The mains have 50Hz and 240V.", "does not contain 60"),
        ("the root of -69, and 80", "√−69, and 80/3=26.7", ""),
        ("It helped 1,200 patients.", "It helped 1 of 200 patients.", "does not contain 1,200"),
        ("500 people", "2,500 people", "does not contain 500"),
        ("2 people", "2,500 people", "does not contain 2"),
        ("10 kg", "10^6 kg", "does not contain 10"),
        ("40 degrees", "-40 degrees", "does not contain 40"),
        ("40 degrees", "The temperature was minus 40 degrees.", "does not contain 40"),
        ("40 of them", "7." + "3" * 5_000, "does not contain 40"),
        ("minus 4 degrees", "4 degrees", "does not contain 4"),
        ("row | 100.10", "17 | 18 100.10", ""),
        ("the row of 99.10", "18 100.10", "does not contain 99.10"),
        ("min(8-1,8-1) = 7", "the smaller of 8-1 and 8-1, so 7", ""),
        ("min(8-1,9-1) = 7", "the smaller of 8-1 and 8-1, so 7", "does not contain 1,9"),
    ],
)
def test_numbers_and_dates_have_to_agree(words: str, evidence: str, fault: str) -> None:
    assert quantity_fault(words, [evidence]) == fault


@pytest.mark.parametrize(
    ("words", "evidence", "fault"),
    [
        ("It was written by Ada Lovelace.", "Lovelace wrote it.", "does not mention Ada"),
        ("Rome's roads were made by Romans.", "The Roman roads", ""),
        ("The European Union decided.", "The EU decided.", ""),
        ("They use the GDPR.", "the General Data Protection Regulation", ""),
        ("They use C++.", "They use C#.", "does not mention C++"),
        ("They use GPT-4.", "They use GPT-3.", "does not mention GPT-4"),
        ("They use GPT-3.", "They use GPT-3.5.", "does not mention GPT-3"),
        ("Der Zellkern enthält die Erbsubstanz.", "Im Kern liegt das Erbgut.", ""),
    ],
)
def test_names_have_to_be_those_of_the_evidence(words: str, evidence: str, fault: str) -> None:
    assert name_fault(words, [evidence]) == fault


def test_a_name_of_the_concept_may_be_named() -> None:
    assert name_fault("A KV cache stores keys.", ["It stores keys."]) == "does not mention KV"
    assert name_fault("A KV cache stores keys.", ["It stores keys."], ["KV cache"]) == ""


@pytest.mark.parametrize(
    ("words", "evidence", "wrong"),
    [
        ("UDP retransmits lost packets.", "UDP does not retransmit lost packets.", True),
        ("TCP retransmits segments.", "TCP retransmits segments that are not acknowledged.", False),
        ("The reaction is irreversible.", "The reaction is reversible.", True),
        ("The reaction is not reversible.", "The reaction is irreversible.", False),
        ("Hannibal failed to take Rome.", "Hannibal never took Rome.", False),
        ("Capillary walls lack muscle.", "Capillaries do not have muscle in their walls.", False),
        ("Ein Ei kommt nicht hinein.", "Es wird ohne Ei gebacken.", False),
        ("断电后数据会保留。", "断电以后，数据不会保留。", True),
        ("Unlike a list, a tuple can't be changed.", "A tuple is immutable, whereas a list can be changed.", False),
    ],
)
def test_a_denial_has_to_be_the_evidence_s(words: str, evidence: str, wrong: bool) -> None:
    assert bool(polarity_fault(words, [evidence])) == wrong
