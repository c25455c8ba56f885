"""A compile whose replies come from others than the embedded engine: kept, resumed, rebuilt, redone where needed."""

from __future__ import annotations

import random
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.model.report import Report
from compiler.model.requests import (
    CheckReply,
    CheckRequest,
    ComposeReply,
    ComposeRequest,
    ExtractReply,
    ExtractRequest,
    Reply,
    Request,
    Term,
)
from compiler.query.verify import verify
from compiler.replies.asker import Waiting
from tests.builders import vault_with_sources
from tests.compiler.conftest import new_vault
from tests.compiler.scripted import Scripted
from tests.compiler.test_build import silent, tree
from vault.model.card import parse_deck
from vault.vault import Vault

MORNING = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
MITOSIS = """# Mitosis

Mitosis is a process in which one cell becomes two equal cells.
Chromosomes line up because spindle fibres pull them to the middle of the cell.

A spindle is a structure of fibres that pulls chromosomes apart.
The spindle is used to part the copies of each chromosome.
"""
MEIOSIS = """# Meiosis

Meiosis is a division that halves the number of chromosomes.
Unlike mitosis, meiosis gives four cells rather than two.

A spindle is a structure that forms anew in both divisions.
"""


@pytest.fixture
def cells(tmp_path: Path) -> Vault:
    return vault_with_sources(tmp_path / "vault", {"mitosis.md": MITOSIS, "meiosis.md": MEIOSIS})


def compiled(vault: Vault, backend: Scripted | None, at: datetime = MORNING, **options: bool) -> Report:
    engine = "claude" if backend is not None else "journal"
    return compile_vault(vault, Options(engine=engine, **options), at, silent, backend=backend)  # type: ignore[arg-type]


def test_a_scripted_model_compiles_a_vault_that_verifies(cells: Vault) -> None:
    backend = Scripted()
    report = compiled(cells, backend)
    assert report.articles["created"] >= 3 and report.cards["created"] >= 2
    assert report.cost["input_tokens"] == 100 * len(backend.asked)
    verdict = verify(cells, silent)
    assert verdict.clean and verdict.sentences > 5
    assert "generator: journal/1" in next((cells.root / "learning/flashcards").iterdir()).read_text()


def test_nothing_is_asked_twice_and_a_rebuild_asks_nobody(cells: Vault) -> None:
    compiled(cells, Scripted())
    before = tree(cells)
    again = Scripted()
    assert compiled(cells, again, MORNING + timedelta(hours=1)).nothing_new and not again.asked
    shutil.rmtree(cells.root / ".retain")
    for folder in ("wiki", "learning/flashcards"):
        shutil.rmtree(cells.root / folder)
    compiled(cells, None, MORNING + timedelta(days=1), fresh=True)
    assert tree(cells) == before


def test_a_build_that_ends_early_keeps_what_it_paid_for_and_publishes_nothing(cells: Vault) -> None:
    first = Scripted(fail_after=3)
    with pytest.raises(Waiting) as stopped:
        compiled(cells, first)
    assert stopped.value.requests and not list((cells.root / "wiki").rglob("*.md"))
    second, whole = Scripted(), Scripted()
    compiled(cells, second, MORNING + timedelta(hours=1))
    compiled(vault_with_sources(cells.root.parent / "other", {"mitosis.md": MITOSIS, "meiosis.md": MEIOSIS}), whole)
    assert len(first.asked) + len(second.asked) == len(whole.asked)


def test_without_anybody_to_ask_open_questions_are_an_error_that_says_what_to_do(cells: Vault) -> None:
    with pytest.raises(Waiting, match="no answer yet"):
        compiled(cells, None)
    assert not list((cells.root / "wiki").rglob("*.md"))


def test_where_a_model_has_no_answer_the_embedded_engine_stands_in_and_is_named(cells: Vault) -> None:
    report = compiled(cells, Scripted(broken=lambda r: "the model declined" if isinstance(r, ExtractRequest) else ""))
    assert report.articles["created"] and [n for n in report.notices if n.code == "stood-in"]
    before = tree(cells)
    compiled(cells, None, MORNING + timedelta(days=1), fresh=True)
    assert tree(cells) == before


def test_an_edited_sentence_costs_one_question_and_leaves_the_rest_byte_for_byte(cells: Vault) -> None:
    compiled(cells, Scripted())
    before = tree(cells)
    source = cells.root / "raw/articles/meiosis.md"
    source.write_text(MEIOSIS.replace("four cells rather than two", "five cells rather than two"), encoding="utf-8")
    # A model that says everything in other words when asked again: only what is new may change.
    backend = Scripted(reword=lambda words: words.replace("gives", "yields"))
    compiled(cells, backend, MORNING + timedelta(hours=1))
    assert [r.fresh for r in backend.asked if isinstance(r, ExtractRequest)] == [
        ("Unlike mitosis, meiosis gives five cells rather than two.",)
    ]
    changed = {path for path, _ in tree(cells).items() ^ before.items()}
    changed = {p for p in changed if p.startswith(("wiki/concepts/", "learning/flashcards/"))}
    assert changed == {"wiki/concepts/meiosis.md"}
    assert verify(cells, silent).clean


def test_the_order_in_which_sources_come_plays_no_part(tmp_path: Path) -> None:
    documents = {"mitosis.md": MITOSIS, "meiosis.md": MEIOSIS, "third.md": MITOSIS.replace("Mitosis", "Cytokinesis")}
    found = []
    for seed in range(3):
        vault = vault_with_sources(tmp_path / str(seed), {})
        order = sorted(documents)
        random.Random(seed).shuffle(order)
        for n, name in enumerate(order):
            (vault.root / "raw/articles" / name).write_text(documents[name], encoding="utf-8")
            compiled(vault, Scripted(), MORNING + timedelta(hours=n))
        concepts = {p.name for p in (vault.root / "wiki/concepts").iterdir()}
        claims = {
            line
            for p in (vault.root / "wiki/summaries").iterdir()
            for line in p.read_text().splitlines()
            if line.startswith("^c-")
        }
        found.append((concepts, claims))
    assert found[0] == found[1] == found[2]


def test_the_small_documents_compile_by_a_script_too(tmp_path: Path) -> None:
    vault = new_vault(tmp_path / "vault")
    report = compiled(vault, Scripted())
    assert report.claims["added"] > 5 and verify(vault, silent).clean


def test_a_segment_of_code_alone_is_not_asked_about(tmp_path: Path) -> None:
    code = "# Code\n\n```python\nfor cell in cells:\n    cell.divide(into=2)  # one cell becomes two\n```\n"
    vault = vault_with_sources(tmp_path / "vault", {"mitosis.md": MITOSIS + "\n" + code})
    backend = Scripted()
    compiled(vault, backend)
    assert [r.headings[-1] for r in backend.asked if isinstance(r, ExtractRequest)] == ["Mitosis"]


def test_whoever_reads_later_is_told_the_names_that_others_gave(tmp_path: Path) -> None:
    vault = vault_with_sources(tmp_path / "vault", {"mitosis.md": MITOSIS})
    compiled(vault, Scripted())
    (vault.root / "raw/articles/meiosis.md").write_text(MEIOSIS, encoding="utf-8")
    backend = Scripted()
    compiled(vault, backend, MORNING + timedelta(hours=1))
    asked = [r for r in backend.asked if isinstance(r, ExtractRequest)]
    assert {"mitosis", "spindle"} <= {name.casefold() for name in asked[0].known}


def test_a_concept_of_which_nothing_is_worth_a_page_gets_none(cells: Vault) -> None:
    class Terse(Scripted):
        def reply(self, request: Request) -> Reply:
            empty = isinstance(request, ComposeRequest) and request.title.casefold() == "spindle"
            return ComposeReply(sections=()) if empty else super().reply(request)

    compiled(cells, Terse())
    pages = {p.stem for p in (cells.root / "wiki/concepts").iterdir()}
    assert "mitosis" in pages and "spindle" not in pages and verify(cells, silent).clean


MODELS = """# Models

BERT is a model that reads text in both directions at once.
It uses eight heads in every one of its layers.
"""


class Naming(Scripted):
    """Puts the name of what the text was about in place of "It"; whether that holds, a check says by the context."""

    def reply(self, request: Request) -> Reply:
        reply = super().reply(request)
        if isinstance(reply, ExtractReply):
            said = [c.model_copy(update={"statement": c.quote.replace("It ", "BERT ")}) for c in reply.claims]
            named = [c if s.statement == c.quote else s for c, s in zip(reply.claims, said, strict=True)]
            return reply.model_copy(update={"claims": tuple(named)})
        if isinstance(request, CheckRequest) and request.words.startswith("BERT uses"):
            return CheckReply(entailed="yes" if "BERT" in request.context.rpartition(": ")[2] else "no")
        return reply


def test_what_it_means_is_checked_where_the_quote_stands_and_again_when_that_changes(tmp_path: Path) -> None:
    vault = vault_with_sources(tmp_path / "vault", {"models.md": MODELS})
    compiled(vault, Naming())
    stated = "BERT uses eight heads in every one of its layers."
    assert stated in (vault.root / "wiki/summaries/models.md").read_text() and verify(vault, silent).clean
    (vault.root / "raw/articles/models.md").write_text(MODELS.replace("BERT", "GPT"), encoding="utf-8")
    compiled(vault, Naming(), MORNING + timedelta(hours=1))
    assert stated not in (vault.root / "wiki/summaries/models.md").read_text() and verify(vault, silent).clean


def test_a_quote_that_stands_twice_is_verified_where_it_means_what_was_said(tmp_path: Path) -> None:
    other = MODELS.replace("# Models", "# Others").replace("BERT", "GPT").replace("both directions", "one direction")
    vault = vault_with_sources(tmp_path / "vault", {"models.md": f"{other}\n{MODELS}"})
    compiled(vault, Naming())
    assert verify(vault, silent).clean


def test_two_concepts_that_ask_about_one_claim_have_a_card_each_that_stays(cells: Vault) -> None:
    class Sharing(Scripted):
        def reply(self, request: Request) -> Reply:
            reply = super().reply(request)
            if isinstance(reply, ExtractReply):
                both = [c.model_copy(update={"about": (*c.about, "Spindle", "Mitosis")}) for c in reply.claims]
                return reply.model_copy(update={"claims": tuple(both)})
            return reply

    compiled(cells, Sharing())
    decks = {p.stem: [c.id for c in parse_deck(p.read_text(), p.name).cards] for p in _decks(cells)}
    ids = [id_ for deck in decks.values() for id_ in deck]
    assert len(ids) == len(set(ids)) > 1
    (cells.root / "raw/articles/new.md").write_text("# Osmosis\n\nOsmosis is a flow of water through a membrane.\n")
    compiled(cells, Sharing(), MORNING + timedelta(hours=1))
    after = {p.stem: [c.id for c in parse_deck(p.read_text(), p.name).cards] for p in _decks(cells)}
    assert {stem: after[stem] for stem in decks} == decks


def _decks(vault: Vault) -> list[Path]:
    return sorted((vault.root / "learning/flashcards").iterdir())


def test_a_card_that_names_its_concept_where_the_evidence_does_not_is_checked_first(tmp_path: Path) -> None:
    class Misfiling(Scripted):
        def reply(self, request: Request) -> Reply:
            if isinstance(request, CheckRequest):
                return CheckReply(entailed="no")
            reply = super().reply(request)
            if isinstance(reply, ExtractReply):
                claims = tuple(c.model_copy(update={"about": ("Transformer",)}) for c in reply.claims)
                return ExtractReply(claims=claims, terms=(Term(name="Transformer", signal="definition"),))
            return reply

    text = "# Transformer\n\nMitosis is a process in which one cell becomes two equal cells.\n"
    vault = vault_with_sources(tmp_path / "vault", {"transformer.md": text})
    report = compiled(vault, Misfiling())
    assert report.cards["created"] == 0 and [r for r in report.rejections if r.gate == "card"]


@pytest.mark.parametrize("address", ["see [keys](http://evil.example)", "see www.evil.example", "see [[wiki/x]]"])
def test_a_sentence_with_an_address_that_its_evidence_lacks_is_refused_whatever_a_check_says(
    cells: Vault, address: str
) -> None:
    report = compiled(cells, Scripted(reword=lambda words: f"{words[:-1]}, {address}."))
    assert report.sentences["dropped"] and not [
        p for p in (cells.root / "wiki").rglob("*.md") if "evil" in p.read_text() or "wiki/x" in p.read_text()
    ]
