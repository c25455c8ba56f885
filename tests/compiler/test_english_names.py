"""What a text in another language is called in English: a reason to ask whether two names are one, and no more."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.concepts.edits import Shelf
from compiler.concepts.evidence import SourceClaims
from compiler.concepts.match_questions import Question, questions, survey
from compiler.concepts.rulings import Rulings
from compiler.gates.proposed_names import terms_in
from compiler.model.requests import (
    ExtractReply,
    ExtractRequest,
    MatchReply,
    MatchRequest,
    Reply,
    Request,
    Term,
    Verdict,
)
from compiler.orders.faults import judge_reply
from tests.builders import vault_with_sources
from tests.compiler.scripted import Scripted
from tests.compiler.test_names_asked import MORNING
from tests.compiler.test_naming import source
from vault.log.ledger import Ids
from vault.model.claim import ClaimKind
from vault.vault import Vault

DOCUMENTS = {
    "de.md": "# Sternhaufen\n\nSternhaufen halten zusammen, weil sich ihre Sterne gegenseitig anziehen und binden.\n",
    "en.md": "# Keel\n\nA keel is a long fin below the hull that keeps every boat upright in a strong wind.\n",
}


def treated(number: int, name: str, language: str, english: str = "") -> SourceClaims:
    """A document with that name as a heading, and a sentence about it."""
    terms = [Term(name=name, signal="heading", english=english)]
    return source(number, terms, [(f"{name} {number}", ClaimKind.FACT, (name,))], language)


def asked(*sources: SourceClaims) -> list[Question]:
    return questions(survey(sources, Ids(), Rulings()), Rulings())


PAIRS = [
    ("注意力机制", "zh", "attention mechanism", "attention mechanisms"),
    ("Transformer-Modell", "de", "Transformer", "transformer"),
    ("Auftriebskörper", "de", "the buoyancy aid", "buoyancy aid"),
]


@pytest.mark.parametrize(("name", "language", "english", "other"), PAIRS)
def test_a_name_that_is_another_in_english_is_asked_about_and_not_joined(
    name: str, language: str, english: str, other: str
) -> None:
    sources = [treated(1, name, language, english), treated(2, other, "en")]
    assert len(survey(sources, Ids(), Rulings()).names) == 2
    (question,) = asked(*sources)
    assert english not in (*question.request.a.aliases, *question.request.b.aliases)


def test_without_the_english_name_nothing_would_have_shown_them_alike() -> None:
    assert asked(treated(1, "注意力机制", "zh"), treated(2, "attention mechanism", "en")) == []


def test_two_names_with_one_english_name_are_asked_about_though_no_text_is_english() -> None:
    (question,) = asked(treated(1, "注意力机制", "zh", "attention"), treated(2, "Aufmerksamkeit", "de", "Attention"))
    assert {question.request.a.title, question.request.b.title} == {"注意力机制", "Aufmerksamkeit"}


def test_in_an_english_text_it_says_nothing() -> None:
    assert asked(treated(1, "rudder", "en", "keel"), treated(2, "keel", "en")) == []


def test_it_need_not_stand_in_the_text_but_must_be_a_name() -> None:
    given = [
        Term(name="Kiel", signal="heading", english=english)
        for english in ("the keel", "", "\x1b[31mkeel", "f(x) = {y}", "keel " * 9)
    ]
    kept, refused = terms_in("Der Kiel hält das Boot.", given)
    assert [term.english for term in kept[:2]] == ["keel", ""] and not refused
    assert "\x1b" not in kept[2].english and [term.english for term in kept[3:]] == ["", ""]


@pytest.mark.parametrize(
    ("english", "says"),
    [
        ("one two three four five six seven", "7 words"),
        ("attention (dot-product) mechanism", "'('"),
        ("x = y", "'='"),
        ("k" * 70, "70 characters"),
        ("42", "no letter"),
    ],
)
def test_a_reply_is_told_why_a_name_is_none(english: str, says: str) -> None:
    request = ExtractRequest(title="Kiel", language="de", headings=(), text="Der Kiel hält das Boot.")
    reply = {"claims": [], "terms": [{"name": "Kiel", "signal": "heading", "english": english}]}
    (fault,) = judge_reply(request, reply).faults
    assert fault.path == "terms[0].english" and says in fault.why


def test_replies_from_before_it_was_asked_for_are_read_as_they_were() -> None:
    old = {"terms": [{"name": "Kiel", "signal": "heading"}]}
    assert ExtractReply.model_validate(old).model_dump(mode="json", exclude_defaults=True)["terms"] == old["terms"]


# --- on a vault -----------------------------------------------------------------------------------------------------


@dataclass
class Translating(Scripted):
    """Says what the German document's idea is called in English, and the same of every two names."""

    same: Verdict = "yes"

    def reply(self, request: Request) -> Reply:
        if isinstance(request, MatchRequest):
            return MatchReply(same=self.same)
        said = super().reply(request)
        if isinstance(request, ExtractRequest) and isinstance(said, ExtractReply) and "Sternhaufen" in request.text:
            return said.model_copy(update={"terms": (Term(name="Sternhaufen", signal="heading", english="keel"),)})
        return said


@pytest.mark.parametrize(("same", "concepts"), [("yes", 1), ("no", 2)])
def test_a_vault_in_two_languages_joins_what_whoever_is_asked_says_is_one(
    tmp_path: Path, same: Verdict, concepts: int
) -> None:
    vault: Vault = vault_with_sources(tmp_path / "vault", DOCUMENTS)
    backend = Translating(same=same)
    compile_vault(vault, Options("claude"), MORNING, lambda event: None, backend=backend)
    assert backend.counts()["match"] == 1 and len(Shelf.of(vault).concepts) == concepts
    again = Translating(same=same)
    compile_vault(vault, Options("claude"), MORNING, lambda event: None, backend=again)
    assert not again.counts().total()
