"""The rules on the labelled sets: `benchmarks/gates.py` prints the same by kind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.gates import BY_RULE, SETS, cases, rows, share
from compiler.gates.written import MAX_SENTENCE, card_fault, known_names, sentence_fault
from compiler.model.requests import ProposedCard

PASSAGE = (
    "A KV cache stores 2 tensors per layer, so that keys and values are not computed again. See https://kv.example."
)


@pytest.mark.parametrize("name", SETS)
def test_each_set_holds_enough_true_words_and_planted_errors(name: str) -> None:
    found = rows(cases(name))
    assert sum(r.total for r in found if not r.fault) >= 60
    assert sum(r.total for r in found if r.fault in BY_RULE) >= 60


def test_errors_that_rules_decide_are_refused_and_true_words_are_not() -> None:
    everything = rows([case for name in SETS for case in cases(name)])
    assert share(everything, BY_RULE) >= 0.98
    assert share(everything, ("",)) <= 0.03


def test_no_text_stands_in_two_sets() -> None:
    words = [case.words for name in SETS for case in cases(name)]
    assert len(words) == len(set(words))


@pytest.mark.parametrize(
    ("words", "mark", "fault"),
    [
        ("It stores 2 tensors per layer.", "", ""),
        ("It stores 3 tensors per layer.", "", "the cited passages do not contain 3"),
        ("With 2 tensors in each of 12 layers these are 24.", "", "do not contain"),
        ("With 2 tensors in each of 12 layers these are 12 × 2 = 24.", "derived", ""),
        ("With 2 tensors in each of 12 layers these are 12 × 2 = 26.", "derived", "the result is 24"),
        ("With 2 tensors in each of 12 layers these are 24.", "computed", ""),
        ("As Ada Lovelace wrote, keys and values are not computed again.", "derived", "do not mention"),
        ("It is explained at https://kv.example.", "", ""),
        ("It is explained at https://evil.example.", "", "a link or an address"),
        ("It is explained [here](../../etc).", "", "a link or an address"),
        ("It is [[wiki/x]].", "", "a link or an address"),
        ("It is <script>alert()</script>.", "", "a link or an address"),
        ("   ", "", "the text is empty"),
        ("It stores tensors. " * 200, "", "the text is too long"),
    ],
)
def test_a_sentence_is_refused_for_what_its_passages_have_not(words: str, mark: str, fault: str) -> None:
    found = sentence_fault(words, mark, [PASSAGE], known_names([PASSAGE]))
    assert fault in found and bool(found) == bool(fault)


def test_names_may_come_from_any_text_that_is_known_and_numbers_only_from_the_cited_ones() -> None:
    elsewhere = "Ada Lovelace found 17 of them."
    known = known_names([PASSAGE, elsewhere])
    assert sentence_fault("As Ada Lovelace found, values are not computed again.", "", [PASSAGE], known) == ""
    assert "17" in sentence_fault("Values are not computed again in 17 of them.", "", [PASSAGE], known)


@pytest.mark.parametrize(
    ("question", "answer", "fault"),
    [
        ("What does a KV cache store?", "Two tensors per layer.", ""),
        ("Per layer, a KV cache stores …", "2 tensors", ""),
        ("What does a KV cache store?", "3 tensors per layer.", "do not contain 3"),
        ("What did Ada Lovelace store in it?", "Two tensors per layer.", "do not mention"),
        ("What does a KV cache store?", "A KV cache.", "contains its answer"),
        ("Which cache stores tensors?", "The KV cache.", ""),
        ("Name the KV cache", "Two tensors per layer.", "is not phrased as a question"),
        ("What does a KV cache store?", "", "no question or no answer"),
        ("What does a KV cache store?", "Tensors.\x1b[31m", "control characters"),
        ("What does a KV cache store?", "Tensors per layer. " * 60, "too long"),
        ("What does a KV cache store?", "See [keys](http://evil.example).", "a link or an address"),
    ],
)
def test_a_card_is_refused_for_what_rules_see(question: str, answer: str, fault: str) -> None:
    card = ProposedCard(kind="definitional", question=question, answer=answer, cites=())
    found = card_fault(card, [PASSAGE], known_names([PASSAGE, "KV cache"]))
    assert fault in found and bool(found) == bool(fault)


@given(st.text(max_size=300), st.text(max_size=300), st.sampled_from(["", "derived", "computed"]))
def test_any_words_are_judged_and_a_passage_itself_holds(words: str, passage: str, mark: str) -> None:
    assert isinstance(sentence_fault(words, mark, [passage], known_names([passage])), str)


@pytest.mark.parametrize("text", ["1 + " * 400 + "1 = 3", "3 ×" * 600, "A.B." * 450, "1,000 " * 300, "x = " * 490])
def test_hostile_text_costs_little(text: str) -> None:
    assert len(text) <= MAX_SENTENCE + 400
    sentence_fault(text[:MAX_SENTENCE], "derived", [text], known_names([text]))
