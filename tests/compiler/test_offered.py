"""Names that a model offers must stand in the text that it was shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.gates.proposed_names import SearchableText

TEXT = """Scaled dot-product attention divides by the square root. Feedforward networks follow (FFNs).
Die Attention-Layer sind breit. 自注意力机制很重要。 C++ templates, colour models and U.S. dollars."""


@pytest.mark.parametrize(
    "name",
    [
        "scaled dot-product attention", "Scaled Dot Product Attention", "dot-product attentions", "C++ template",
        "FFN", "FFNs", "the square root", "Attention-Layer", "自注意力", "color model", "US dollar",
        "feed-forward network",
    ],
)  # fmt: skip
def test_a_name_that_the_text_has_in_any_spelling_stands(name: str) -> None:
    assert SearchableText.of(TEXT).has(name)


@pytest.mark.parametrize(
    "name",
    ["cross attention", "attention dot", "roots of square", "", "()", "多头", "model network", "x" * 10_000, "C#"],
)
def test_a_name_that_the_text_has_not_does_not(name: str) -> None:
    assert not SearchableText.of(TEXT).has(name)


@given(st.lists(st.sampled_from(["sail", "keels", "Rudder", "jib-boom", "the"]), min_size=1, max_size=4))
def test_whatever_run_of_words_a_text_has_stands_in_it(parts: list[str]) -> None:
    name = " ".join(parts)
    bare = [p for p in parts if p != "the"]
    assert SearchableText.of(f"Before {name} after.").has(name) is bool(bare) or parts[-1] == "the"


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_may_be_asked_for_any_name(text: str, name: str) -> None:
    assert SearchableText.of(text).has(name) in (True, False)
