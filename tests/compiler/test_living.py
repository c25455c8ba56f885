"""What an edit of a sentence did to what it says: a labelled set of edits, and the rules that hold for any text."""

from __future__ import annotations

import random
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.language.rewording import Change, classify, likeness, successors, worst
from compiler.language.rewording_words import EMPTY

LABELS = ("cosmetic", "reworded", "fact", "retracted")
EDITS = [
    (edit["label"], edit["old"], edit["new"])
    for edit in tomllib.loads(Path(__file__).with_name("living_edits.toml").read_text(encoding="utf-8"))["edit"]
]
OF = {label: [(old, new) for mine, old, new in EDITS if mine == label] for label in LABELS}
WORDS = st.lists(
    st.sampled_from("river bank flood rain meadow stone bridge tower wall garden slow deep green cold".split()),
    min_size=4,
    max_size=9,
    unique=True,
)


def outcome(old: str, new: str) -> str:
    """What a learner meets who knew `old`, where `new` stands in its place in the source."""
    followed = successors({"claim": old}, {"key": new}) if new else {}
    return classify(old, new).value if followed else "retracted"


def told(old: str, new: str) -> str:
    return f"{old} -> {new or '(deleted)'}"


def test_the_labelled_edits_are_enough_and_all_different() -> None:
    assert len(EDITS) == len({(old, new) for _, old, new in EDITS}) >= 80
    assert all(len(OF[label]) >= 10 for label in LABELS) and sum(map(len, OF.values())) == len(EDITS)


def test_of_the_labelled_edits_no_cosmetic_one_is_noticed_and_changed_facts_are_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    seen = Counter((label, outcome(old, new)) for label, old, new in EDITS)
    rows = [f"{label:>10}" + "".join(f"{seen[label, got]:>10}" for got in LABELS) for label in LABELS]
    with capsys.disabled():
        print("\n" + "\n".join(["label \\ got" + "".join(f"{got:>10}" for got in LABELS)[1:], *rows]))
    assert seen["cosmetic", "cosmetic"] == len(OF["cosmetic"])
    assert seen["retracted", "retracted"] == len(OF["retracted"])
    assert seen["fact", "fact"] >= 0.95 * len(OF["fact"])
    assert seen["reworded", "reworded"] >= 0.7 * len(OF["reworded"])  # the others are shown once too often, or anew


def test_no_changed_fact_passes_for_the_same_facts_in_either_direction() -> None:
    passed = [told(*pair) for old, new in OF["fact"] for pair in ((old, new), (new, old))
              if classify(*pair) is not Change.FACT]  # fmt: skip
    assert passed == []


def test_a_cosmetic_edit_is_cosmetic_backwards_too() -> None:
    assert [told(new, old) for old, new in OF["cosmetic"] if classify(new, old) is not Change.COSMETIC] == []


@given(st.text(max_size=80))
def test_any_text_is_itself(text: str) -> None:
    assert classify(text, text) is Change.COSMETIC


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_are_judged_and_scored(old: str, new: str) -> None:
    assert classify(old, new) in Change and 0.0 <= likeness(old, new) <= 100.0


@given(WORDS)
def test_case_white_space_and_punctuation_say_nothing(words: list[str]) -> None:
    plain = " ".join(words)
    for dressed in (plain.capitalize() + ".", plain.title(), "  ".join(words), ", ".join(words), f"**{plain}**!"):
        assert classify(plain, dressed) is Change.COSMETIC


@given(WORDS, st.data())
def test_a_word_more_fewer_or_other_is_a_fact(words: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(words) - 1))
    strange = data.draw(st.sampled_from(["not", "never", "all", "some", "17", "3.5", "%", "before", "copper", "no"]))
    plain = " ".join(words)
    for other in ([*words[:at], strange, *words[at:]], [*words[:at], *words[at + 1 :]],
                  [*words[:at], strange, *words[at + 1 :]]):  # fmt: skip
        assert classify(plain, " ".join(other)) is classify(" ".join(other), plain) is Change.FACT


@given(WORDS, st.data())
def test_two_words_that_change_places_are_a_fact(words: list[str], data: st.DataObject) -> None:
    one, other = data.draw(st.lists(st.integers(0, len(words) - 1), min_size=2, max_size=2, unique=True))
    swapped = list(words)
    swapped[one], swapped[other] = words[other], words[one]
    assert classify(" ".join(words), " ".join(swapped)) is Change.FACT


@given(st.permutations(OF["fact"][:12]), st.permutations(OF["reworded"][:6]))
def test_who_follows_whom_does_not_hang_on_the_order(
    facts: list[tuple[str, str]], reworded: list[tuple[str, str]]
) -> None:
    pairs = [*facts, *reworded]
    gone = {old: old for old, _ in pairs}
    new = {new: new for _, new in reversed(pairs)}
    assert successors(gone, new) == successors(dict(sorted(gone.items())), dict(sorted(new.items())))


def test_all_edits_at_once_are_told_apart() -> None:
    pairs = OF["cosmetic"] + OF["fact"]
    old, new = {f"c{n}": a for n, (a, _) in enumerate(pairs)}, {f"k{n}": b for n, (_, b) in enumerate(pairs)}
    right = {f"k{n}": f"c{n}" for n in range(len(pairs))}
    got = successors(old, new)
    assert all(right[key] == id_ for key, id_ in got.items())  # none takes the place of another
    assert len(got) >= 0.95 * len(pairs)


def test_where_either_might_be_meant_neither_is_taken() -> None:
    gone = {"a": "Step 1 of the wash takes 5 minutes.", "b": "Step 2 of the wash takes 5 minutes."}
    assert successors(gone, {"k": "Step 3 of the wash takes 5 minutes."}) == {}
    assert successors(gone, {"k": "Step 2 of the wash takes 5 min."}) == {"k": "b"}


def test_a_new_statement_is_taken_once_only() -> None:
    gone = {"a": "Heat increases the rate of the reaction.", "b": "Heat increases the rate of the reaction"}
    assert len(successors(gone, {"k": "Heat decreases the rate of the reaction."})) <= 1


@given(st.lists(st.sampled_from(list(Change)), max_size=4))
def test_the_worst_of_several_changes_counts(changes: list[Change]) -> None:
    ranks = [list(Change).index(c) for c in changes]
    assert list(Change).index(worst(changes)) == max(ranks, default=0)


TURNED = {
    "increases": "decreases",
    "more": "less",
    "before": "after",
    "after": "before",
    "all": "some",
    "most": "all",
    "must": "may",
    "can": "cannot",
    "always": "never",
    "with": "without",
    "is": "is not",
    "are": "are not",
    "first": "second",
    "two": "three",
    "and": "or",
    "from": "to",
}


def sentences_below(folder: Path) -> list[str]:
    """The sentences without links in the Markdown documents of a folder."""
    found: set[str] = set()
    for path in folder.rglob("*.md"):
        flowing = re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))
        parts = re.split(r"(?<=[.!?]) ", flowing)
        found |= {s for s in parts if 40 < len(s) < 250 and not re.search(r"\]\(|\[\[", s)}
    return sorted(found)


def _other(word: str) -> str:
    return str(int(word) + 1) if word.isdigit() else TURNED.get(word, "Zanzibar")


def turned(sentence: str, seed: int) -> list[str]:
    """`sentence` with one number, one telling word, one name changed, where it has any; and with two words swapped."""
    rng = random.Random(seed)
    out = []
    for pattern in (r"\d+", rf"\b(?:{'|'.join(TURNED)})\b", r"(?<=[a-z] )[A-Z][a-z]+"):
        if places := list(re.finditer(pattern, sentence)):
            place = rng.choice(places)
            out.append(sentence[: place.start()] + _other(place[0]) + sentence[place.end() :])
    words = sentence.split(" ")
    long = [n for n, word in enumerate(words) if len(re.sub(r"\W", "", word)) > 5 and word.casefold() not in EMPTY]
    if len(long) > 3:
        one, other = rng.sample(long, 2)
        if words[one][:4].casefold() != words[other][:4].casefold():
            words[one], words[other] = words[other], words[one]
            out.append(" ".join(words))
    return out


@pytest.mark.real_data
def test_whatever_is_turned_in_a_real_sentence_is_a_fact(shared_data: Path) -> None:
    sentences = sentences_below(shared_data / "corpus-attention/raw")
    edits = [(s, t) for seed, s in enumerate(sentences) for t in turned(s, seed)]
    missed = [told(old, new) for old, new in edits if classify(old, new) is not Change.FACT]
    assert len(edits) > 150 and missed == []
    assert sum(likeness(old, new) > 0 for old, new in edits) >= 0.95 * len(edits)  # and it is known again


def test_an_edit_that_shares_no_words_is_another_statement() -> None:
    for _, old, _ in EDITS:
        assert likeness(old, "Quokkas graze Rottnest.") == 0.0
