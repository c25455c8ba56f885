"""Pairs of names with what they are, labelled by hand: the same idea, or two. A sentence may say what each is.

`SPELLINGS` must be joined by rule; the other same ones (`SAME`) need somebody's word.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Labelled:
    one: str
    other: str
    same: bool
    said: tuple[str, str] = ("", "")


def _same(*pairs: tuple[str, str]) -> list[Labelled]:
    return [Labelled(a, b, same=True) for a, b in pairs]


def _two(*pairs: tuple[str, str]) -> list[Labelled]:
    return [Labelled(a, b, same=False) for a, b in pairs]


SPELLINGS = _same(
    ("KV cache", "KV caches"), ("self-attention", "Self Attention"), ("word embedding", "word embeddings"),
    ("feed-forward network", "feedforward network"), ("tokenisation", "tokenization"), ("colour model", "color model"),
    ("naïve Bayes", "naive Bayes"), ("encoder–decoder", "encoder-decoder"),
    ("mixture of experts", "mixtures of experts"),
    ("the forgetting curve", "Forgetting Curve"), ("time-stamp server", "timestamp server"),
    ("Gauß curve", "Gauss curve"),
    ("backpropagation", "back-propagation"), ("memory", "memories"), ("law of large numbers", "laws of large numbers"),
    ("matrix", "matrices"), ("LSTMs", "LSTM"), ("behaviour therapy", "behavior therapy"), ("halyard", "halyards"),
)  # fmt: skip
SAME = [
    *_same(
        ("softmax", "softmax function"), ("AdaGrad", "AdaGrad method"), ("keel shape rule", "rule of keel shape"),
        ("Levenshtein distance", "Levenstein distance"), ("RNN", "recurrent neural network"),
        ("LSTM", "long short-term memory"), ("PCA", "principal component analysis"), ("Freebase", "Freebase database"),
        ("Tchebychev inequality", "Chebychev inequality"), ("beam search", "beam search algorithm"),
        ("conversion of units", "unit conversion"), ("sail handling", "handling of sails"),
    ),
    Labelled(
        "testing effect", "retrieval practice effect", same=True,
        said=("The testing effect is the finding that recalling an answer strengthens long-term memory.",
              "The retrieval practice effect is the finding that recalling answers strengthens long-term memory."),
    ),
    Labelled(
        "luff", "leading edge", same=True,
        said=("The luff is the forward edge of a sail next to the mast.",
              "The leading edge is the forward edge of the sail, next to a mast."),
    ),
    Labelled("heart attack", "myocardial infarction", same=True),
    Labelled("autumn", "fall season", same=True),
]  # fmt: skip
TWO = _two(
    ("dot-product attention", "scaled dot-product attention"), ("attention", "self-attention"),
    ("supervised learning", "unsupervised learning"), ("GPT-2", "GPT-3"), ("C++ template", "C# template"),
    ("sail loft", "sail cloth"),
    ("encoder", "decoder"), ("interleaving", "intraleaving"), ("intrinsic load", "extrinsic load"),
    ("tide table", "tide gauge"), ("key vector", "value vector"), ("query vector", "key vector"),
    ("long-term memory", "short-term memory"), ("positive feedback", "negative feedback"),
    ("attention head", "attention"), ("cross-entropy", "entropy"), ("macroeconomics", "microeconomics"),
    ("near transfer", "far transfer"), ("linear regression", "logistic regression"), ("bigram", "trigram"),
    ("hyperthermia", "hypothermia"), ("stationary process", "nonstationary process"), ("hull speed", "hull shape"),
    ("massed practice", "spaced practice"), ("cache", "catch"), ("inference", "interference"),
    ("affect heuristic", "effect heuristic"), ("local attention", "global attention"), ("adaptation", "adoption"),
    ("conversation", "conservation"), ("L1 regularization", "L2 regularization"), ("halyard", "lanyard"),
    ("mitosis", "meiosis"), ("deductive reasoning", "inductive reasoning"), ("free recall", "cued recall"),
)  # fmt: skip
ALL = [*SPELLINGS, *SAME, *TWO]
