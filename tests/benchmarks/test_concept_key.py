"""Keys are read strictly, and names meet whatever their case, hyphens, plural and accents."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.concept_key import Key, KeyProblem, folded, read_judged, read_key

ROOT = Path(__file__).resolve().parents[2]
KEYS = ROOT / "benchmarks" / "keys"
GOOD = """
long = ["book.md"]

[[concept]]
name = "Attention weight"
aliases = ["注意力权重"]
files = ["book.md", "short.md"]
core = true

[[concept]]
name = "Padding"
files = ["short.md"]
minor = true

[[not_concept]]
name = "Exercises"

[[gap]]
name = "Softcapping"
files = ["short.md"]
"""


def key_of(folder: Path, text: str) -> Key:
    for name in ("book.md", "short.md"):
        (folder / name).write_text("words", encoding="utf-8")
    (folder / "key.toml").write_text(text, encoding="utf-8")
    return read_key(folder / "key.toml", folder)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Scaled dot-product attention", "scaled dot product attentions"),
        ("The Transformer", "transformers"),
        ("Naïve Bayes", "Naive Bayes"),
        ("Naı̈ve Bayes", "naive bayes"),  # as PDFs have it: a dotless i and a loose diaeresis
        ("Encoder–decoder", "encoder-decoder"),
        ("Multi-head attention (MHA)", "multi-head attention"),
        ("Bayes’ rule", "Bayes rule"),
        ("F -MEASURE", "F-measure"),
        ("Finite state automata", "finite-state automaton"),
        ("Sequence labelling", "sequence labeling"),
        ("Add & norm", "add and norm"),
        ("自注意力 机制", "自注意力机制"),
    ],
)
def test_names_that_a_reader_takes_for_one_meet(one: str, other: str) -> None:
    assert folded(one) == folded(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [("Self-attention", "Attention"), ("Bias", "Biased"), ("GPT-2", "GPT-3"), ("C", "C++"), ("Loss", "Los")],
)
def test_names_of_different_things_stay_apart(one: str, other: str) -> None:
    assert folded(one) != folded(other)


@given(st.text(max_size=60))
def test_any_name_can_be_folded_and_has_no_space_at_its_ends(name: str) -> None:
    assert folded(name) == folded(name).strip()


@given(st.from_regex(r"[A-Za-z]{2,9}([ -][A-Za-z]{2,9}){0,3}", fullmatch=True))
def test_case_and_hyphens_never_part_a_name(name: str) -> None:
    assert folded(name) == folded(name.upper()) == folded(name.replace("-", " "))


def test_a_key_is_read_with_all_it_says(tmp_path: Path) -> None:
    key = key_of(tmp_path, GOOD)

    weight, padding = key.concepts
    assert (weight.aliases, weight.core, weight.minor) == (("注意力权重",), True, False)
    assert (padding.files, padding.core, padding.minor) == (("short.md",), False, True)
    assert [g.name for g in key.gaps] == ["Softcapping"]
    assert key.not_concepts == ("Exercises",)
    assert key.long == {"book.md"}
    assert key.concept_index()[folded("attention weights")] is weight


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[concept]]\nname = "A b"\nfiles = ["book.md"]\npage = 3\n', "concept 'A b': unknown field 'page'"),
        ('[[concept]]\nname = "A b"\n', "concept 'A b': no 'files'"),
        ('[[concept]]\nname = "A b"\nfiles = []\n', "no file explains it"),
        ('[[concept]]\nname = "--"\nfiles = ["book.md"]\n', "a name must be words"),
        ('[[concept]]\nname = "A b"\nfiles = ["gone.md"]\n', "gone.md is not in"),
        ('[[concept]]\nname = "A b"\nfiles = "book.md"\n', "'files' must be a list of words"),
        ('[[concept]]\nname = "A b"\nfiles = ["book.md"]\ncore = 1\n', "'core' must be true or false"),
        ('[[concept]]\nname = "A b"\nfiles = ["book.md"]\ncore = true\nminor = true\n', "core and minor"),
        ('concept = "A b"\n', "'concept' must be tables"),
        ('[[concepts]]\nname = "A b"\n', "unknown entry 'concepts'"),
        ('long = ["gone.md"]\n', "long: gone.md is not in"),
        ("[[concept]\n", "not TOML"),
        (
            '[[concept]]\nname = "Beam"\nfiles = ["book.md"]\n'
            '[[gap]]\nname = "Ray"\naliases = ["beams"]\nfiles = ["book.md"]\n',
            "'beams' of 'Ray' is already a name of 'Beam'",
        ),
    ],
)
def test_what_is_wrong_with_a_key_is_one_clear_error(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(KeyProblem) as caught:
        key_of(tmp_path, text)

    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_key_that_is_not_there_is_said_to_be_unreadable(tmp_path: Path) -> None:
    with pytest.raises(KeyProblem, match="cannot be read"):
        read_key(tmp_path / "none.toml", tmp_path)


def test_verdicts_are_read_by_folded_title(tmp_path: Path) -> None:
    path = tmp_path / "judged.toml"
    path.write_text('"Case conversions" = "concept"\n"Blubber" = "not"\n', encoding="utf-8")

    assert read_judged(path) == {folded("case conversion"): True, folded("Blubber"): False}


@pytest.mark.parametrize(
    ("text", "words"),
    [('"A b" = "yes"\n', "must be 'concept' or 'not'"), ('"Beam" = "not"\n"beams" = "concept"\n', "judged twice")],
)
def test_a_verdict_that_is_none_is_one_clear_error(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "judged.toml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(KeyProblem, match=words):
        read_judged(path)


def test_the_key_of_the_examples_fits_the_examples() -> None:
    key = read_key(KEYS / "examples.toml", ROOT / "examples" / "sources")

    explained = {f for c in key.concepts for f in c.files}
    assert explained == {p.name for p in (ROOT / "examples" / "sources").iterdir()}


def test_the_verdicts_on_the_real_documents_can_be_read() -> None:
    assert set(read_judged(KEYS / "corpus-attention-judged.toml").values()) == {True, False}


@pytest.mark.real_data
def test_the_key_of_the_real_documents_fits_them(shared_data: Path) -> None:
    key = read_key(KEYS / "corpus-attention.toml", shared_data / "corpus-attention" / "raw")

    assert any(set(c.files) & key.long for c in key.concepts)
    assert any(set(c.files) - key.long for c in key.concepts)
