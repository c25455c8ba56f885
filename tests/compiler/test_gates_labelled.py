"""The gates on the labelled set: `benchmarks/gates.py` prints the same by kind."""

import time

import pytest

from benchmarks.gates import HALVES, PLANTED, Case, cases, rows, shares
from compiler.gates.card_form import contained_fault, ideas_fault, kind_fault
from compiler.gates.entailment import judge
from compiler.gates.gates import judge_card, needs_check

HOSTILE = 10_000  # characters
BOUND = 10  # seconds of the processor for one hostile text, which takes a fraction of one


@pytest.mark.parametrize("half", HALVES)
def test_each_half_holds_enough_of_every_kind(half: str) -> None:
    found = {r.kind: r.total for r in rows(cases(half))}
    assert all(found[kind] >= 20 for kind in PLANTED if kind != "scope")
    assert sum(n for kind, n in found.items() if kind.startswith("true")) >= 80
    assert all(found[f"card: {fault}"] >= 3 for fault in ("kind", "leak", "duplicate", "ideas", "contained", "support"))


@pytest.mark.parametrize("half", HALVES)
def test_planted_errors_are_refused_and_true_words_are_not(half: str) -> None:
    found = rows(cases(half))
    refused, alarms = shares(found, "rules and a check")
    assert refused >= 0.95
    assert alarms <= 0.05


@pytest.mark.parametrize(("half", "least"), [("development", 0.85), ("held_out", 0.80)])
def test_rules_alone_hold_most_of_it(half: str, least: float) -> None:
    refused, alarms = shares(rows(cases(half)), "rules alone")
    assert refused >= least
    assert alarms <= 0.05


def test_without_a_gate_all_planted_errors_stand_and_words_alone_refuse_most_that_is_true() -> None:
    for half in HALVES:
        found = rows(cases(half))
        assert shares(found, "no gate") == (0, 0)
        assert shares(found, "words alone")[1] > 0.5


def test_no_text_stands_in_both_halves() -> None:
    assert not {c.words for c in cases("development")} & {c.words for c in cases("held_out")}


def test_what_nobody_has_checked_does_not_enter() -> None:
    asked: list[str] = []

    def unchecked(words: str, evidence: object) -> None:
        asked.append(words)

    held = [c for c in cases("development") if c.kind == "true statements"]
    reasons = [c.refused(unchecked) for c in held]
    assert all(not r or r.startswith("nobody has checked") for r in reasons)
    assert sum(map(bool, reasons)) == len(asked) > len(held) / 2


def test_each_statement_that_waits_for_a_check_is_one_that_rules_ask_for() -> None:
    for quote, words in [
        ("Salt slows yeast.", "Yeast works more slowly with salt."),
        ("Salt slows yeast.", "Salt slows yeast."),
        ("Salt slows yeast.", "Salt does not slow yeast."),
    ]:
        judgement = judge(words, [quote])
        assert needs_check(words, [quote]) == judgement.needs_check
        assert [judgement.passes, judgement.needs_check, bool(judgement.refused)].count(True) == 1


@pytest.mark.parametrize(
    "seed",
    [
        *(
            "a",
            "1",
            "A",
            "1,",
            "1.",
            "1/",
            "1^",
            "a_",
            "aB",
            "a1",
            "Aa-",
            "(",
            "é",
            "\u200b",
            "\n",
            "不",
            "比大",
            "2008年",
        ),
        *("not ", "a, ", "A b ", "than ", "before ", "from a to b ", "twenty ", "1 000 ", "May 1 ", "x is part of y "),
        *("$", "$a ", "\\mathbf{", "x_{", "(a ", "[", "²", "𝑡", "$\\mathbf{a}_{i}$ ", "and to ", "x^2 ", "key-value "),
        *("no x, ", "more x than y, ", "x slows y. ", "A of the ", "and ", "it is ", "n't ", "从中到大"),
    ],
)
def test_hostile_text_costs_little(seed: str) -> None:
    text = (seed * (HOSTILE // len(seed) + 1))[:HOSTILE]
    start = time.process_time()
    judge(f"{text[:1900]} x.", [text])
    judge("The quick fox is not faster than 3 dogs, before May 2020.", [text, text[::-1]])
    kind_fault("definitional", f"{text}?")
    kind_fault("applied", f"{text}?")
    ideas_fault(f"{text}?", text)
    contained_fault(f"{text}?", text, [text])
    assert time.process_time() - start < BOUND


def test_a_thousand_judgements_are_nothing_beside_a_call_of_a_model() -> None:
    held: list[Case] = [*cases("development"), *cases("held_out")] * 2
    start = time.process_time()
    for case in held:
        case.refused(lambda words, evidence: True)
    assert len(held) > 1000
    assert time.process_time() - start < BOUND


def test_a_card_in_the_very_words_of_its_claim_still_has_to_answer_its_question() -> None:
    from compiler.model.requests import ProposedCard

    quote = "A KV cache is of no use in training, where all positions are computed at once."
    asked = ProposedCard(kind="applied", question="When is a KV cache useful?", answer=quote, cites=("aaaaaaaaaa",))
    assert judge_card(asked, ["KV cache"], [quote]).needs_check
