"""What can name a concept, and which spellings are one name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.language import names


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Self-Attention", "self attention"),
        ("the KV cache", "KV Caches"),
        ("A hidden Markov model", "Hidden Markov Models"),
        ("RNNs", "RNN"),
        ("Mixtures of Experts", "mixture of experts"),
        ("memories", "memory"),
        ("Normalisation", "normalization"),
        ("Behaviour", "behavior"),
        ("2.3 Gradient descent", "gradient descent"),
        ("A.1.2 Law of large numbers", "law of large numbers"),
        ("Encoder (left)", "encoder"),
        ("“working memory”", "working memory"),
        ("Naïve Bayes", "naive Bayes"),
        ("U.S. dollar", "US dollar"),
        ("encoder–decoder", "encoder-decoder"),
    ],
)
def test_variants_of_one_name_share_a_key(one: str, other: str) -> None:
    assert names.key(one) == names.key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("C", "C++"), ("C", "C#"), ("bias", "bia"), ("analysis", "analysi"), ("loss", "los"), ("classes", "classe")],
)
def test_different_names_keep_different_keys(one: str, other: str) -> None:
    assert names.key(one) != names.key(other)


def test_only_english_endings_are_cut() -> None:
    assert names.key("Häuser", "de") == "häuser"
    assert names.key("das Gewicht", "de") == "gewicht"
    assert names.key("注意力 机制", "zh") == names.key("注意力机制", "zh")


@given(
    st.lists(st.sampled_from(["memories", "neural", "Matrices", "of", "Self-", "caches", "biases", "RNNs", "the", "ß"]))
)
def test_a_key_is_its_own_key(parts: list[str]) -> None:
    key = names.key(" ".join(parts))
    assert names.key(key) == key


@given(st.text(max_size=80))
def test_any_text_may_be_asked_for_a_name(text: str) -> None:
    assert names.is_name(text) in (True, False)
    assert isinstance(names.title([text]), str)


@pytest.mark.parametrize(
    "name",
    [
        "attention", "dot-product attention", "retrieval practice", "KV cache", "LSTM", "GPT-2", "softmax", "chunking",
        "worked example", "forgetting curve", "bag of words", "part of speech", "learning rate", "WordNet", "cue",
        "saddle point", "speech to text", "Bayesian inference", "the testing effect", "working memory",
    ],
)  # fmt: skip
def test_names_of_concepts_are_names(name: str) -> None:
    assert names.is_name(name)


@pytest.mark.parametrize(
    "junk",
    [
        "", "x", "42", "Summary", "Exercises", "Introduction", "Figure 3", "Table 2", "Chapter 4", "2017",
        "our approach", "this method", "the model", "large models", "How it works", "What is attention?",
        "torch.nn.Linear", "get_text()", "Vaswani et al., 2017", "https://example.org",
        "keys, queries and values", "Registering the cache buffers",
        "it is a mechanism", "John Sweller", "MultiHeadAttention", "further reading", "advantages of recursion",
        "related work", "better results", "supervised", "quickly", "a = b", "of memory", "memory of", "gap of a day",
        "training in concept mapping", "recurring topic of debate", "the resulting classifier", "encoder and decoder",
    ],
)  # fmt: skip
def test_headings_labels_code_and_persons_are_no_names(junk: str) -> None:
    assert not names.is_name(junk)


def test_names_in_german_and_chinese() -> None:
    assert names.is_name("Maskierte Sprachmodellierung", "de")
    assert not names.is_name("Zusammenfassung", "de")
    assert not names.is_name("wir lernen", "de")
    assert names.is_name("多头注意力", "zh")
    assert not names.is_name("我们的方法", "zh")
    assert not names.is_name("小结", "zh")


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("a memory management unit (MMU) maps", ("MMU", "memory management unit")),
        ("recurrent neural networks (RNNs) read", ("RNN", "recurrent neural networks")),
        ("the GPU (graphics processing unit) is", ("GPU", "graphics processing unit")),
        ("part-of-speech (POS) tags", ("POS", "part-of-speech")),
        ("a rectified linear unit (ReLU)", ("ReLU", "rectified linear unit")),
        ("Encoder Representations from Transformers (ERT)", ("ERT", "Encoder Representations from Transformers")),
    ],
)
def test_an_acronym_is_found_with_its_whole_long_form(text: str, pair: tuple[str, str]) -> None:
    assert names.acronym_pairs(text) == (pair,)


@pytest.mark.parametrize("text", ["the result (see above)", "numbers (NUM)", "in 1998 (AD)", "he said (OK)", "(XYZ)"])
def test_brackets_that_abbreviate_nothing_give_no_pair(text: str) -> None:
    assert names.acronym_pairs(text) == ()


@pytest.mark.parametrize(
    ("variants", "title"),
    [
        (["Scaled Dot-Product Attention", "scaled dot-product attention"], "Scaled dot-product attention"),
        (["KV Cache", "KV cache", "KV caches"], "KV cache"),
        (["word embeddings", "word embedding"], "Word embedding"),
        (["the forgetting curve."], "Forgetting curve"),
        (["FSRS"] * 5 + ["Free Spaced Repetition Scheduler"], "FSRS"),
        (["BPE", "byte pair encoding", "byte pair encoding"], "Byte pair encoding"),
        (["Kneser-Ney smoothing"], "Kneser-Ney smoothing"),
        (["Hidden Markov Models", "hidden Markov model"], "Hidden Markov model"),
        (["Überwachtes Lernen"], "Überwachtes Lernen"),
        ([], ""),
    ],
)
def test_one_title_is_chosen_from_the_variants(variants: list[str], title: str) -> None:
    assert names.title(variants) == title


def test_german_nouns_keep_their_capitals() -> None:
    assert names.title(["Transfer Learning"], "de") == "Transfer Learning"
    assert names.title(["Transfer Learning"]) == "Transfer learning"


def test_the_order_of_variants_does_not_matter() -> None:
    variants = ["Self-Attention", "self-attention", "Self attention", "self-attentions"]
    assert names.title(variants) == names.title(variants[::-1])
