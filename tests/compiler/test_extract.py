"""Without a model a question is answered by quotes, each with its place; weak evidence is called weak."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.orders.answer import answer_question
from compiler.orders.board import OrderDesk
from compiler.query.answer import Answer
from tests.builders import make_vault
from tests.compiler.test_search import KNOTS, NOON, ROPES
from vault.vault import Vault

FILLING = " ".join(
    f"Part {n} of it is made of oak, is as long as a mast, and is bolted to the next." for n in range(20)
)


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = make_vault(tmp_path / "v", {"raw/articles/ropes.md": ROPES, "raw/articles/knots.md": KNOTS})
    compile_vault(made, Options(), NOON, lambda event: None)
    return made


def answer(vault: Vault, question: str) -> Answer:
    return answer_question(OrderDesk(vault), question, "extractive", NOON)


def test_the_sentence_that_states_the_answer_is_quoted_with_its_place_and_article(vault: Vault) -> None:
    told = answer(vault, "What is a halyard?")
    first = told.quotes[0]
    assert first.text.startswith("A halyard is a rope that hoists a sail.") and not told.is_weak and not told.missing
    assert first.path == "raw/articles/ropes.md" and ("wiki/concepts/halyard.md", "Halyard") in first.articles


def test_a_word_that_is_nowhere_is_named_and_the_rest_is_answered(vault: Vault) -> None:
    told = answer(vault, "How does brackish salt water harm ropes?")
    assert "stiff" in told.quotes[0].text and "brackish" in told.missing


def test_a_definition_comes_before_passages_with_more_of_the_words(vault: Vault) -> None:
    more = "A simple use of a keelson is to hold the keelson of another. What a keelson costs, no keelson tells.\n\n"
    text = f"# Ships\n\n{more * 12}## Parts\n\n{FILLING}\n\nA keelson is a beam that lies on the keel of a ship.\n"
    (vault.root / "raw/articles/ships.md").write_text(text)
    compile_vault(vault, Options(), NOON, lambda event: None)
    assert "A keelson is a beam" in answer(vault, "What is a keelson?").quotes[0].text
    assert "keelson costs" in answer(vault, "How much does a keelson cost?").quotes[0].text


def test_a_word_that_only_begins_like_another_is_nowhere(vault: Vault) -> None:
    told = answer(vault, "How many ropeways are there in Bern?")
    assert "ropeways" in told.missing and "bern" in told.missing.casefold()


def test_a_question_of_which_the_sources_have_few_words_has_weak_evidence(vault: Vault) -> None:
    told = answer(vault, "How long does sourdough bread rise before a baker shapes the dough by a rope pattern?")
    assert told.quotes and told.is_weak and "weak" in told.missing


def test_where_nothing_is_said_nothing_is_quoted(vault: Vault) -> None:
    told = answer(vault, "Who won the football match in Bern?")
    assert told.quotes == () and told.is_weak and "football" in told.missing
