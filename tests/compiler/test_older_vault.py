"""A vault that a model compiled before passages were read whole: what becomes of it with today's protocol.

`older_vault` was written by the version before, whose journal has single claims, sentences and cards (version 1).
"""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from compiler.replies.asker import Waiting
from compiler.replies.journal import Journal
from compiler.verification.verify import verify
from tests.builders import copy_vault
from tests.compiler.scripted import Scripted
from tests.compiler.test_build import silent, tree
from tests.compiler.test_journaled import compiled, saying
from vault.log import ledger
from vault.model.card import Card, parse_deck
from vault.model.frontmatter import read_properties
from vault.vault import Vault

TODAY = datetime(2026, 11, 21, 9, tzinfo=UTC)
PRACTICE = "CONCEPT Retrieval practice | page\nFROM 4:1\nSUM 1"  # which the rules do not find in "is the act of"


@pytest.fixture
def older(tmp_path: Path) -> Vault:
    return copy_vault(Path(__file__).parent / "older_vault", tmp_path / "vault")


def cards_of(vault: Vault) -> dict[str, Card]:
    decks = (parse_deck(p.read_text(), p.name) for p in sorted((vault.root / "learning/flashcards").glob("*.md")))
    return {str(card.id): card for deck in decks for card in deck.cards}


def claims_of(vault: Vault) -> dict[str, str]:
    """The claims that are alive, id -> quote, as the ledger has them."""
    ids = ledger.fold(ledger.ordered(vault.ledger_events(ledger.IDS)[0]))
    return {i: ids.quotes[i] for i, birth in ids.births.items() if birth.noun == "claim" and ids.alive(i)}


def concepts_of(vault: Vault) -> dict[str, str]:
    pages = (vault.root / "wiki/concepts").glob("*.md")
    return {read_properties(p.read_text()).text("id"): p.name for p in pages}


def test_its_former_answers_are_no_damage_and_answer_nothing_today(older: Vault) -> None:
    journal, found = Journal.of(older)
    assert not found and not journal.entries and len(journal.former) > 10
    with pytest.raises(Waiting, match=r"in this vault ha(s|ve) no answer"):
        compiled(older, None, TODAY)


def test_a_compile_keeps_ids_of_claims_concepts_and_cards_and_retires_nothing_that_stands(older: Vault) -> None:
    claims, cards, concepts = claims_of(older), cards_of(older), concepts_of(older)
    assert len(cards) == 6 and len(claims) == 15
    backend = Scripted(reword=saying(read={"SUM 1": PRACTICE}))
    report = compiled(older, backend, TODAY)
    assert {"read": 1, "write": 1}.items() <= backend.counts().items()
    assert claims_of(older).items() >= claims.items()
    now = cards_of(older)
    assert now.keys() >= cards.keys() and report.cards["suspended"] == 0
    assert all((now[i].question, now[i].answer) == (card.question, card.answer) for i, card in cards.items())
    assert concepts_of(older).items() >= concepts.items()
    verdict = verify(older, silent)
    assert verdict.clean, (verdict.unverified, verdict.uncited, verdict.unsupported)


def test_nothing_is_asked_again_and_a_rebuild_gives_the_same_bytes(older: Vault) -> None:
    compiled(older, Scripted(), TODAY)
    again = Scripted()
    assert compiled(older, again, TODAY).nothing_new and not again.asked
    before = tree(older)
    shutil.rmtree(older.root / ".retain")
    shutil.rmtree(older.root / "wiki")
    compiled(older, None, TODAY, fresh=True)
    assert tree(older) == before


def test_its_ledger_is_only_added_to(older: Vault) -> None:
    before = {p: p.read_bytes() for p in (older.root / "ledger").rglob("*.jsonl")}
    compiled(older, Scripted(), TODAY)
    assert all(p.read_bytes().startswith(data) for p, data in before.items())


def test_a_claim_whose_words_went_meanwhile_goes_with_its_cards(older: Vault) -> None:
    path = older.root / "raw/articles/meiosis.md"
    sentence = "Meiosis is a division that halves the number of chromosomes."
    path.write_text(path.read_text().replace(sentence, "Nothing of it is left here, and nothing like it."))
    (card,) = [i for i, c in cards_of(older).items() if c.question == "What is Meiosis?"]
    compiled(older, Scripted(), TODAY)
    assert card not in cards_of(older) and sentence not in claims_of(older).values()


def test_hostile_lines_of_the_former_version_keep_nothing_and_break_nothing(older: Vault) -> None:
    lines = [
        {
            "v": 1,
            "type": "reply",
            "of": "extract",
            "about": "../../etc",
            "reply": {"claims": [{"kind": "fact", "quote": 7}]},
        },
        {"v": 1, "type": "reply", "of": "extract", "about": "k7q2m9xd3f", "reply": []},
        {"v": 1, "type": "reply", "of": "extract", "about": 7, "reply": {}},
        {
            "v": 1,
            "type": "reply",
            "of": "extract",
            "about": "k7q2m9xd3f",
            "reply": {"claims": [{"kind": "fact", "quote": "x" * 50_000}]},
        },
        {"v": 1, "type": "reply", "of": "compose", "about": {}, "reply": None},
    ]
    text = "".join(json.dumps({**line, "at": "2026-10-21T09:00:00.000Z"}) + "\n" for line in lines)
    (older.root / "ledger/replies/0.jsonl").write_text(text)
    claims = claims_of(older)
    compiled(older, Scripted(), TODAY)
    assert claims_of(older).items() >= claims.items() and verify(older, silent).clean
