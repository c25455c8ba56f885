"""What two sources cannot both be right about."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from compiler.claims.contradictions import disagreements
from compiler.language.opposites import direction
from vault.ids import ClaimId, SourceId
from vault.model.claim import Claim, ClaimKind


def claim(id_: str, source: str, words: str, kind: ClaimKind = ClaimKind.FACT) -> Claim:
    return Claim(ClaimId(id_), SourceId(source), kind, words)


def disagree(
    first: str, second: str, *, of: tuple[str, str] = ("a", "b"), published: Mapping[str, str] = MappingProxyType({})
) -> bool:
    pair = [claim("1", of[0], first), claim("2", of[1], second)]
    return bool(disagreements([pair], pair, lambda source: source, lambda source: published.get(source, "")))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The standard encoder of the model has 6 layers.", "The standard encoder of the model has 12 layers."),
        ("Spaced practice helps children with amnesia.", "Spaced practice does not help children with amnesia."),
        ("Sparse attention is faster than dense attention.", "Sparse attention is slower than dense attention."),
        ("The tree kernel outperforms the linear kernel.", "The linear kernel outperforms the tree kernel."),
    ],
)
def test_what_cannot_both_hold_is_a_disagreement(first: str, second: str) -> None:
    assert disagree(first, second) and disagree(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The encoder has 6 layers.", "The decoder of the larger model has 12 attention heads."),
        ("The model was trained for 3 days on 8 devices.", "The model was trained for 4 days on 16 devices."),
        ("Spacing does not only help memory but transfer too.", "Spacing helps memory and transfer too."),
        ("Feedback helps recall of facts if errors occur.", "Feedback does not help recall of facts if errors hide."),
        ("Spaced practice helps children with severe amnesia.", "Spaced practice does not help children with amnesia."),
        ("The number of documents on shard 1 is computed.", "The number of documents on shard 2 is computed."),
        ("The query returns the value 4 for the shard.", "The query returns the value 6 for the shard."),
        ("Blue says that the ratio is smaller than one.", "Red says that the ratio is larger than one."),
        ("Latency and loss of packets are zero", "Latency and loss of packets are NOT zero"),
        ("Subjects did better than chance on average.", "Subjects did worse than chance on the last question."),
        ("Expanding retrieval is easier than equal gaps.", "Equal gaps give better retention than expanding ones."),
        ("Sparse attention is faster than dense attention.", "Dense attention is slower than sparse attention."),
        ("Sparse attention is faster than dense attention.", "Linear attention is faster than sparse attention."),
        ("Sparse attention is not faster than dense attention.", "Dense attention is faster than sparse attention."),
    ],
)  # fmt: skip
def test_what_may_both_hold_is_none(first: str, second: str) -> None:
    assert not disagree(first, second)


_WORDS = (
    "better worse more less higher lower larger greater bigger smaller faster slower easier simpler harder stronger"
    " weaker longer shorter deeper shallower dearer cheaper richer poorer safer riskier later earlier"
).split()
DIRECTIONS = {word: direction(word) for word in _WORDS}


@pytest.mark.parametrize("first", _WORDS)
def test_whether_comparisons_contradict_does_not_depend_on_their_order(first: str) -> None:
    scale, sign = DIRECTIONS[first] or ("", 0)
    assert sign
    said = f"Sparse attention is {first} than dense attention."
    for second in _WORDS:
        same, turned = DIRECTIONS[second] == (scale, sign), DIRECTIONS[second] == (scale, -sign)
        straight = f"Sparse attention is {second} than dense attention."
        crossed = f"Dense attention is {second} than sparse attention."
        assert disagree(said, straight) == disagree(straight, said) == turned, second
        assert disagree(said, crossed) == disagree(crossed, said) == same, second


@pytest.mark.parametrize(
    ("up", "down"), [("greater", "smaller"), ("larger", "smaller"), ("more", "fewer"), ("more", "less")]
)
def test_one_word_may_be_the_opposite_of_several(up: str, down: str) -> None:
    words = [f"Our corpus of letters has {how} pages than the corpus of poems." for how in (up, down)]
    assert disagree(*words) and disagree(*reversed(words))


def test_a_source_does_not_disagree_with_itself_nor_with_its_copy() -> None:
    words = ("The standard encoder of the model has 6 layers.", "The standard encoder of the model has 12 layers.")
    assert not disagree(*words, of=("a", "a"))
    pair = [claim("1", "a", words[0]), claim("2", "copy of a", words[1])]
    assert disagreements([pair], pair, lambda source: SourceId(source[-1]), lambda source: "") == []


def test_what_was_published_on_different_days_may_each_have_been_so() -> None:
    words = ("The standard encoder of the model has 6 layers.", "The standard encoder of the model has 12 layers.")
    assert not disagree(*words, published={"a": "2019", "b": "2023"})
    assert disagree(*words, published={"a": "2023", "b": "2023"})


def test_a_question_asserts_nothing() -> None:
    words = (
        "Does the standard encoder of the model have 6 layers?",
        "The standard encoder of the model has 12 layers.",
    )
    pair = [claim("1", "a", words[0], ClaimKind.QUESTION), claim("2", "b", words[1])]
    assert disagreements([pair], pair, lambda source: source, lambda source: "") == []
