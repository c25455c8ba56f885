"""Which claims a sentence of an embedded engine's article cites."""

from __future__ import annotations

from compiler.engines.extractive.compose import compose
from compiler.model.requests import ClaimView, ComposeRequest
from vault.ids import ClaimId
from vault.model.claim import ClaimKind

DEFINED = "A reassessment is a further attempt at a component which a student has failed."
ONE, TWO = ClaimId("aaaaaaaaa1"), ClaimId("aaaaaaaaa2")


def view(id_: ClaimId, words: str, kind: ClaimKind = ClaimKind.FACT) -> ClaimView:
    return ClaimView(id=id_, kind=kind, words=words, quote=words, source="", about=("Reassessment",))


def shown(one: str, two: str) -> dict[str, tuple[str, ...]]:
    """Return the sentences of an article and what each cites, where the claims ONE and TWO have these words."""
    claims = (view(ClaimId("aaaaaaaaa0"), DEFINED, ClaimKind.DEFINITION), view(ONE, one), view(TWO, two))
    request = ComposeRequest(title="Reassessment", aliases=(), language="en", claims=claims, concept="cccccccccc")
    sentences = [s for section in compose(request).sections for paragraph in section.paragraphs for s in paragraph]
    return {s.text: s.cites for s in sentences}


def test_sentences_that_differ_in_a_figure_are_both_shown_and_each_cites_its_own_claim() -> None:
    one, two = (f"A student may be reassessed in no more than {n} credits in any one academic year." for n in (40, 60))
    assert shown(one, two).items() >= {one: (ONE,), two: (TWO,)}.items()


def test_a_sentence_of_two_sources_is_shown_once_and_cites_both() -> None:
    said = "A student may be reassessed in no more than 40 credits."
    assert shown(said, f" {said}")[said] == (ONE, TWO)
