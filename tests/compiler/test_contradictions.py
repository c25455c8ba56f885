"""Which pairs of claims a model is asked about, against a labelled set of which half was seen by no rule."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from compiler.claims.contradictions import Candidate, candidates
from vault.ids import ClaimId, SourceId
from vault.model.claim import Claim, ClaimKind

CASES = Path(__file__).parent / "contradictions"
OPPOSED = {"conflict", "changed"}  # a model is to be asked about these; it need not be about any other


def labelled(half: str) -> list[dict[str, Any]]:
    pairs: list[dict[str, Any]] = tomllib.loads((CASES / f"{half}.toml").read_text(encoding="utf-8"))["pair"]
    return pairs


def found(
    first: str, second: str, published: tuple[str, str] = ("", ""), of: str = "ab", about: str = "Encoder"
) -> list[Candidate]:
    sources = dict(zip(("a", "b"), published, strict=True))
    said = zip(("1111111111", "2222222222"), of, (first, second), strict=True)
    claims = [Claim(ClaimId(id_), SourceId(source), ClaimKind.FACT, words) for id_, source, words in said]
    return candidates(about, claims, lambda source: source, lambda source: sources.get(source, ""))


def of_pair(pair: dict[str, Any]) -> list[Candidate]:
    first, second = pair.get("published", ("", ""))
    return found(pair["a"], pair["b"], (first, second), about=pair["about"])


def figures(half: str) -> dict[str, float]:
    """What the rules do with one half; with an oracle for a model, only pairs that are asked or sure can be wrong."""
    asked: Counter[str] = Counter()
    every = Counter(pair["is"] for pair in labelled(half))
    wrongly_sure = 0
    for pair in labelled(half):
        here = of_pair(pair)
        asked[pair["is"]] += bool(here)
        wrongly_sure += bool(here) and here[0].sure and pair["is"] != "conflict"
    none = [label for label in every if label not in {*OPPOSED, "reported"}]
    return {
        "recall": sum(asked[k] for k in OPPOSED) / sum(every[k] for k in OPPOSED),
        "precision": asked["conflict"] / max(asked.total(), 1),
        "spared": 1 - sum(asked[k] for k in none) / sum(every[k] for k in none),
        "wrongly sure": wrongly_sure,
    }


def test_the_labelled_set_is_large_and_has_every_kind_in_both_halves() -> None:
    kinds = [Counter(p["is"] for p in labelled(half)) for half in ("development", "held_out")]
    assert sum(k.total() for k in kinds) >= 90
    assert all(k.keys() == {"conflict", "paraphrase", "conditions", "reported", "changed", "entities"} for k in kinds)


@pytest.mark.parametrize(("half", "recall", "spared"), [("development", 0.95, 0.95), ("held_out", 0.9, 0.7)])
def test_nearly_every_contradiction_is_asked_about_and_few_pairs_that_can_both_hold(
    half: str, recall: float, spared: float, record_property: Any
) -> None:
    measured = figures(half)
    for name, figure in measured.items():
        record_property(name, round(figure, 3))
    assert measured["recall"] >= recall
    assert measured["spared"] >= spared
    assert measured["wrongly sure"] == 0


def test_the_order_of_two_claims_plays_no_part() -> None:
    for pair in [*labelled("development"), *labelled("held_out")]:
        assert bool(of_pair(pair)) == bool(of_pair({**pair, "a": pair["b"], "b": pair["a"]})), pair


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The standard encoder has 6 layers.", "The standard encoder has 12 layers."),
        ("The standard encoder does not use recurrence.", "The standard encoder uses recurrence."),
    ],
)
def test_what_differs_in_a_number_or_a_denial_alone_is_sure(first: str, second: str) -> None:
    (one,) = found(first, second)
    assert one.sure
    (later,) = found(first, second, ("2017", "2023"))
    assert not later.sure  # the world may have changed


def test_what_somebody_says_is_never_sure() -> None:
    (one,) = found(
        "The authors claim that the standard encoder has 6 layers.",
        "The authors claim that the standard encoder has 12 layers.",
    )
    assert not one.sure


def test_within_one_source_nothing_is_sure() -> None:
    words = ("The standard encoder has 6 layers.", "The standard encoder has 12 layers.")
    assert [c.sure for c in found(*words)] == [True] and not any(c.sure for c in found(*words, of="aa"))


def test_claims_in_other_languages_meet_by_their_numbers() -> None:
    assert found("Der Encoder hat 6 Schichten im Modell.", "Der Encoder besteht im Modell aus 12 Schichten.")
    assert not found("Der Encoder hat 6 Schichten im Modell.", "Der Encoder besteht im Modell aus sechs Schichten.")
