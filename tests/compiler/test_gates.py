import pytest

from compiler.claims.extract import claims_in
from compiler.gates.gates import (
    StrictCardGate,
    VaultCardGate,
    content_words,
    sentence_refused,
    statement_refused,
    strict_card_fault,
)
from compiler.model.requests import CardKindName, ClaimView, ExtractedClaim, ExtractReply, ProposedCard, Sentence
from vault.model.claim import ClaimKind
from vault.model.source import Segment, SourceText

CACHE = ClaimView(
    id="aaaaaaaaaa",
    kind=ClaimKind.DEFINITION,
    words="A KV cache stores 2 tensors per layer, so that keys and values are not computed again.",
    quote="A KV cache stores 2 tensors per layer, so that keys and values are not computed again.",
    source="Notes",
)
WHY = CACHE.replaced(id="bbbbbbbbbb", kind=ClaimKind.MECHANISM)
CLAIMS = {c.id: c for c in (CACHE, WHY)}


def card(question: str, answer: str, kind: CardKindName = "definitional", cite: str = "aaaaaaaaaa") -> ProposedCard:
    return ProposedCard(kind=kind, question=question, answer=answer, cites=(cite,))


def test_a_sound_card_passes_each_kind_on_its_own_evidence() -> None:
    assert strict_card_fault(card("What is a KV cache?", "It stores 2 tensors per layer."), "KV cache", CLAIMS) == ""
    why = card("What does a KV cache spare?", "Keys and values are not computed again.", "mechanistic", "bbbbbbbbbb")
    assert strict_card_fault(why, "KV cache", CLAIMS) == ""


@pytest.mark.parametrize(
    ("proposed", "reason"),
    [
        (card("What is a KV cache?", "It stores 3 tensors per layer."), "does not contain 3"),
        (card("What is a KV cache?", "It never stores 2 tensors per layer."), "does not contain never"),
        (card("What is a KV cache?", "It encrypts passwords with elliptic curves."), "does not support it"),
        (card("Does a KV cache store 2 tensors per layer?", "It stores 2 tensors per layer."), "gives away its answer"),
        (card("What stores tensors per layer?", "Tensors per layer."), "contains its answer"),
        (card("What is a KV cache?", "A KV cache."), "contains its answer"),
        (card("What stores tensors?", "It is the KV cache."), "only names the concept"),
        (
            card("How does this method work?", "Keys and values are not computed again."),
            "refers to something that is not on",
        ),
        (card("What is a KV cache?", "As shown above, it stores tensors."), "refers to something that is not on"),
        (card("Name the KV cache.", "It stores 2 tensors per layer."), "is not phrased as a question"),
        (card("What is a KV cache?", ""), "no question or no answer"),
        (card("What is a KV cache?", "It stores tensors.\x1b[31m"), "control characters"),
        (card("What is a KV cache?", "It stores tensors.", cite="0000000000"), "cites no claim"),
        (card("What is a KV cache?", "It stores tensors. " * 60), "too long"),
    ],
)
def test_a_card_that_fails_is_told_why(proposed: ProposedCard, reason: str) -> None:
    assert reason in strict_card_fault(proposed, "KV cache", CLAIMS)


def test_a_new_card_rests_on_a_claim_of_its_kind_and_one_of_the_vault_need_not() -> None:
    why = card("Why a KV cache?", "It stores 2 tensors per layer.", "mechanistic")
    assert "no cited claim supports" in StrictCardGate().refused(why, "KV cache", CLAIMS)
    assert VaultCardGate(accepted=lambda *_: False).refused(why, "KV cache", CLAIMS) == ""


def test_no_card_repeats_another_of_the_vault() -> None:
    gate = StrictCardGate()
    assert gate.refused(card("What is a KV cache?", "It stores 2 tensors per layer."), "KV cache", CLAIMS) == ""
    assert "the same answer" in gate.refused(card("What's in it?", "it stores 2 tensors per layer"), "KV cache", CLAIMS)
    assert "asks the same" in gate.refused(
        card("What is a KV cache?", "It stores keys and values."), "KV cache", CLAIMS
    )
    nearly = card("What is a KV-cache ?", "It stores keys and values.")
    assert "asks" in gate.refused(nearly, "KV cache", CLAIMS)


@pytest.mark.parametrize(
    ("text", "cites", "reason"),
    [
        (CACHE.quote, ("aaaaaaaaaa",), ""),
        ("A KV cache stores tensors so that keys are not computed again.", ("aaaaaaaaaa",), ""),
        ("A KV cache stores 4 tensors per layer.", ("aaaaaaaaaa",), "does not contain 4"),
        (
            "A KV cache stores tensors so that keys are not computed, without layers.",
            ("aaaaaaaaaa",),
            "does not contain without",
        ),
        ("A KV cache stores old tensors per layer.", ("aaaaaaaaaa",), "does not support it"),
        ("Bananas ripen faster in warm kitchens.", ("aaaaaaaaaa",), "does not support it"),
        ("A KV cache stores tensors.", (), "cites nothing"),
        ("A KV cache stores tensors.", ("0000000000",), "does not exist"),
        ("", ("aaaaaaaaaa",), "empty"),
    ],
)
def test_a_sentence_stands_only_on_its_claims(text: str, cites: tuple[str, ...], reason: str) -> None:
    refused = sentence_refused(Sentence(text=text, cites=cites), CLAIMS)
    assert reason in refused and bool(reason) == bool(refused)


def test_endings_that_a_question_turns_do_not_hide_a_word() -> None:
    assert content_words("It stored the caches") == content_words("storing a cache")


@pytest.mark.parametrize(
    ("statement", "quote", "reason"),
    [
        ("", "Recall strengthens memory.", ""),
        ("Retrieval practice strengthens memory.", "Retrieval practice is hard. It strengthens memory.", ""),
        ("A cache is used for keys.", "A cache is used not only for keys but for values.", ""),
        ("The cache holds values.", "The cache does not hold keys; the cache holds values.", ""),
        ("Drinking bleach cures forgetting within 3 days.", "Recall strengthens memory.", "does not contain 3"),
        ("Bleach strengthens memory.", "Recall strengthens memory.", "does not support it"),
        ("Recall never strengthens memory.", "Recall strengthens memory.", "does not contain never"),
        ("Recall strengthens memory.", "Recall never strengthens memory.", "says “never”, which the text leaves out"),
        (
            "Recall strengthens memory.",
            "Recall doesn’t strengthen memory.",
            "says “doesn't”, which the text leaves out",
        ),
        (
            "Der Abruf stärkt das Gedächtnis.",
            "Der Abruf stärkt nicht das Gedächtnis.",
            "says “nicht”, which the text leaves out",
        ),
    ],
)
def test_a_statement_says_what_its_quote_says(statement: str, quote: str, reason: str) -> None:
    refused = statement_refused(statement, quote)
    assert reason in refused and bool(reason) == bool(refused)


def test_a_claim_whose_statement_its_quote_does_not_prove_does_not_enter() -> None:
    text = "Recall is hard. It strengthens memory."
    source = SourceText("text/1", text, "Recall", "en", (Segment(0, len(text)),))
    sound = ExtractedClaim(kind=ClaimKind.FACT, quote=text, statement="Recall strengthens memory.")
    forged = sound.replaced(statement="Drinking bleach cures forgetting within 3 days.")
    extracted = claims_in(source, [ExtractReply(claims=(forged, sound))])
    assert [c.statement for c in extracted.claims] == ["Recall strengthens memory."]
    assert [(r.gate, r.words) for r in extracted.rejections] == [("statement", forged.statement)]


def test_a_sentence_does_not_lose_the_not_of_its_claim() -> None:
    claim = CACHE.replaced(quote="A cache never forgets its keys.", words="A cache never forgets its keys.")
    assert "leaves out" in sentence_refused(
        Sentence(text="A cache forgets its keys.", cites=(claim.id,)), {claim.id: claim}
    )
